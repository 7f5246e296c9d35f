"""Claims of Jain, Thakkar & Thakurta 2018, "Differentially Private Matrix Completion Revisited"."""

import functools
from collections.abc import Callable

from dpmf_core.papers.clauses import (
    Clause,
    Mean,
    Median,
    MissingResult,
    Results,
    between,
    judged,
    less,
    line,
)
from dpmf_core.papers.figures import Claim, Preset, as_published, tuned
from dpmf_core.papers.jain_2018 import sweeps as runs
from dpmf_core.papers.jain_2018.bounds import frank_wolfe_floor
from dpmf_core.papers.jain_2018.sweeps import (
    DELTA,
    DPFW,
    FRANK_WOLFE,
    OJA,
    PGD,
    SVD,
    TRUE_NORM,
    Line,
    Panel,
    real_ratings,
)
from dpmf_core.papers.source_noise import jain
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.privacy.accounting import epsilon as exact_epsilon
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec, RunSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

CLOSE = 0.1  # what "very close" is taken for: a tenth more
SAME = 0.01  # what "the same" and "identical" are taken for: one percent
INNER_STEPS_ARE_OPEN = (
    "How many products the paper takes for a direction, and with which step, is not in our copy of"
    " its text: here five."
)
SECTION_4 = (
    "private FW provides accuracy very close to that of the non-private baseline, and almost always"
    " significantly outperforms both the private baselines"
)
RESULTS = (
    "our private FW method almost always incurs a significantly lower test RMSE than the two"
    " private baselines"
)
APPENDIX_C = (
    "the test RMSE for private Frank-Wolfe almost always incurs a significantly lower error than"
    " the method of [43]"
)


# ---- clauses -------------------------------------------------------------------------------------


means_along = functools.partial(line, name="epsilon", means=True)


def almost_always_less(label: str, other: str, words: str) -> Clause:
    """State that a method is more accurate than another at all but one in four epsilons."""

    def errors(results: Results) -> dict[float, tuple[float, float]]:
        first, second = means_along(results, label), means_along(results, other)
        if not (common := {at: (first[at], second[at]) for at in first if at in second}):
            raise MissingResult(f"{label} and {other} have no epsilon in common")
        return common

    return judged(
        words,
        errors,
        lambda errors: sorted(theirs - ours for ours, theirs in errors.values())[len(errors) // 4],
        lambda errors: ", ".join(
            f"{ours:.4f} against {theirs:.4f} at ε = {budget_text(at)}"
            for at, (ours, theirs) in errors.items()
        ),
    )


def _error_over_non_private(results: Results) -> float:
    error = list(means_along(results, DPFW.name).values())[-1]
    return error / Mean(FRANK_WOLFE.name)(results)


CLOSE_TO_NON_PRIVATE = between(
    f"private Frank-Wolfe is very close to non-private Frank-Wolfe (within {CLOSE:.0%}) at the"
    " largest ε",
    _error_over_non_private,
    0.0,
    1 + CLOSE,
    "error over that without privacy",
).quoting("section 4", SECTION_4)


def _beats(other: str, name: str) -> Clause:
    return almost_always_less(
        DPFW.name,
        other,
        f"private Frank-Wolfe, with its source's noise, is almost always more accurate than {name}",
    )


CLEANSING, GRADIENT = (
    _beats("SVD after cleansing", "SVD after cleansing"),
    _beats("Private PGD", "private projected gradient"),
)
FIG_2 = (
    CLEANSING.quoting("section 4, Results", RESULTS),
    GRADIENT.quoting("section 4, Results", RESULTS),
    CLOSE_TO_NON_PRIVATE,
)
FIG_3 = (CLEANSING.quoting("Appendix C, Fig. 3", APPENDIX_C),)


def _within(label: str, other: str, words: str, epsilon: float | None = None) -> Clause:
    """State that the errors of two methods agree to within SAME."""

    def ratio(results: Results) -> float:
        return Mean(label, epsilon)(results) / Mean(other, epsilon)(results)

    return between(words, ratio, 1 - SAME, 1 + SAME, f"error of {label} over that of {other}")


# ---- remarks -------------------------------------------------------------------------------------


def exactly_accounted(results: Results) -> str:
    """Return private Frank-Wolfe's errors with noise for its baselines' exact epsilon."""
    try:
        of_exact, of_source = (means_along(results, it.name) for it in (runs.DPFW_EXACT, DPFW))
    except MissingResult:
        return ""
    first, last = min(of_source), max(of_source)
    costs = [exact_epsilon(jain(at, DELTA).event, DELTA) for at in (first, last)]
    return (
        f"With its source's noise, ε = {budget_text(first)} and {budget_text(last)} cost"
        f" {costs[0]:.3f} and {costs[1]:.2f} exactly. With noise for the same exact ε as the"
        f" baselines it has {of_exact.get(first, float('nan')):.4f} and"
        f" {of_exact.get(last, float('nan')):.4f}."
    )


def on_rank_one(results: Results) -> str:
    """Return the same, and the limit of the source's step size on a matrix of rank one."""
    floor = frank_wolfe_floor(5) * TRUE_NORM
    return (
        f"{exactly_accounted(results)} One draw; the source's figure has the means of ten. With"
        " five or more steps of 1/T and the matrix's own nuclear norm, the RMSE stays above about"
        f" {floor:.1f}, even without noise."
    ).strip()


# ---- figures -------------------------------------------------------------------------------------

FILMS_400 = Panel(real_ratings(400))
RANK_ONE, RANK_ONE_900 = (
    Panel(functools.partial(runs.rank_one, name), of_fig_2, TRUE_NORM)
    for name, of_fig_2 in (("rankone", True), ("rankone-900", False))
)


def _panel(name: str, panel: Panel) -> Claim:
    return Claim.of(
        __package__,
        name,
        sweeps=panel,
        measure=tuned,
        clauses=FIG_2 if panel.of_fig_2 else FIG_3,
        remark=on_rank_one if panel.true_norm else exactly_accounted,
    )


# ---- other statements ----------------------------------------------------------------------------


def _baselines(full: bool) -> tuple[Sweep, ...]:
    gradient = Line(
        PGD, {"nuclear_norm": (0.3, 1.0) if full else (0.3,), "step_size": (0.5, 1.0, 2.0)}
    )
    return runs.tuned_sweeps(FILMS_400.data(full), (runs.non_private_line(full), gradient), (), 1)


def _with_oja(full: bool) -> tuple[Sweep, ...]:
    lines = [Line(it, {"nuclear_norm": (TRUE_NORM,), "steps": (5,)}) for it in (DPFW, OJA)]
    return runs.tuned_sweeps(runs.rank_one("rankone", full), tuple(lines), (1.0, 10.0), 1)


def _svd_and_frank_wolfe(full: bool) -> tuple[Sweep, ...]:
    lines = Line(DPFW, {"nuclear_norm": (TRUE_NORM,), "steps": (5,)}), Line(SVD, {"rank": (1,)})
    return runs.tuned_sweeps(DataSpec(id="rankone-20k"), lines, (10.0,), 3 if full else 1)


CLAIMS = (
    _panel("jain-fig2a", RANK_ONE),
    _panel("jain-fig2b", Panel(real_ratings(100, ("jester",), capped=False))),
    _panel("jain-fig2c", FILMS_400),
    _panel("jain-fig3a", RANK_ONE_900),
    _panel("jain-fig3b", Panel(real_ratings(900), of_fig_2=False)),
    Claim.of(
        __package__,
        "jain-baseline",
        sweeps=_baselines,
        measure=tuned,
        clauses=(
            _within(
                PGD.name,
                FRANK_WOLFE.name,
                f"non-private projected gradient and Frank-Wolfe agree within {SAME:.0%}",
            ).quoting(
                "section 4, Non-private baseline",
                "non-private FW and non-private PGD converge to the same accuracy after tuning",
            ),
        ),
    ),
    Claim.of(
        __package__,
        "jain-oja",
        sweeps=_with_oja,
        measure=tuned,
        clauses=tuple(
            _within(
                OJA.name,
                DPFW.name,
                f"private Frank-Wolfe with Oja has the same error (within {SAME:.0%}) at"
                f" ε = {budget_text(epsilon)}",
                epsilon,
            ).quoting(
                "section 4, footnote 6",
                "did not suffer any perceivable loss of accuracy as compared to the variant in"
                " Algorithm 1; all the plots in Figure 2 remain identical",
            )
            for epsilon in (1.0, 10.0)
        ),
        limits=lambda full: INNER_STEPS_ARE_OPEN,
    ),
    Claim.of(
        __package__,
        "jain-svd",
        sweeps=_svd_and_frank_wolfe,
        clauses=(
            less(
                Median(SVD.name),
                Median(DPFW.name),
                "private SVD is more accurate than private Frank-Wolfe in such a setting",
            ).quoting(
                "section 1.1.1, SVD-based method",
                "there are settings where this method outperforms our FW-based method",
            ),
        ),
    ),
)


# ---- the methods as published --------------------------------------------------------------------

RATINGS = runs.real_ratings(400)


def _frank_wolfe_line(full: bool) -> Line:
    return runs.private_lines(full, (DPFW,))[0]


def _oja_line(full: bool) -> Line:
    """Return Algorithm 2's line; on a page with five steps, because each takes six releases."""
    line = runs.private_lines(full, (OJA,))[0]
    return line if full else Line(OJA, {**line.grid, "steps": (5,)})


def _svd_line(full: bool) -> Line:
    grid: runs.Grid = {"rank": (1, 2, 5, 10) if full else (1, 5), "row_clip": (0.05, 0.1)}
    return Line(SVD, grid)


def _run(method: Method, **parameters: Value) -> RunSpec:
    """Return one run at ε = 1 on the simulated cinema, which is on every machine."""
    budget = Budget(
        epsilon=1.0, delta=runs.DELTA, calibration=method.calibration or Calibration.EXACT
    )
    return RunSpec.parse(
        data={"id": "cinema", "most_per_user": 80},
        algorithm=method.algorithm,
        parameters={**as_published(method).parameters, **parameters},
        budget=budget.model_dump(mode="json"),
        split={"test_fraction": 0.01},
    ).canonical()


def _preset(name: str, line: Callable[[bool], Line], **parameters: Value) -> Preset:
    """Return a method tuned over the grid of a size, and its run with these parameters."""

    def sweeps(full: bool) -> tuple[Sweep, ...]:
        epsilons, draws = (runs.EPSILONS, 10) if full else ((0.5, 1.0, 5.0), 1)
        return runs.tuned_sweeps(RATINGS(full), (line(full),), epsilons, draws)

    run = _run(line(False).method, **parameters)
    return Preset.of(__package__, f"jain-preset-{name}", sweeps=sweeps, measure=tuned, run=run)


PRESETS = (
    _preset("dpfw", _frank_wolfe_line, steps=5, nuclear_norm=0.3),
    _preset("oja", _oja_line, steps=5, nuclear_norm=0.3),
    _preset("svd", _svd_line, rank=1),
    _preset("cleansing", runs.cleansing_line, rank=5),
    _preset("pgd", runs.private_gradient_line, steps=5),
)
