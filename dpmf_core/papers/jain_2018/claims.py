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
)
from dpmf_core.papers.methods import Grid
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


# ---- clauses -------------------------------------------------------------------------------------


means_along = functools.partial(line, name="epsilon", means=True)


def _beats(other: str, name: str) -> Clause:
    """State that private Frank-Wolfe is better at all but one in four epsilons."""

    def errors(results: Results) -> dict[float, tuple[float, float]]:
        ours, theirs = means_along(results, DPFW.name), means_along(results, other)
        if not (common := {at: (ours[at], theirs[at]) for at in ours if at in theirs}):
            raise MissingResult(f"{DPFW.name} and {other} have no epsilon in common")
        return common

    return judged(
        f"private Frank-Wolfe, with its source's noise, is almost always more accurate than {name}",
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


FIG_3 = (_beats("SVD after cleansing", "SVD after cleansing"),)
FIG_2 = (
    *FIG_3,
    _beats("Private PGD", "private projected gradient"),
    between(
        f"private Frank-Wolfe is very close to non-private Frank-Wolfe (within {CLOSE:.0%}) at the"
        " largest ε",
        _error_over_non_private,
        0.0,
        1 + CLOSE,
        "error over that without privacy",
    ),
)


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


# ---- runs ----------------------------------------------------------------------------------------


def _panel(
    name: str,
    data: Callable[[bool], DataSpec],
    of_fig_2: bool = True,
    true_norm: float | None = None,
) -> Claim:
    return Claim.of(
        __package__,
        name,
        sweeps=runs.panel(data, of_fig_2, true_norm),
        measure=tuned,
        clauses=FIG_2 if of_fig_2 else FIG_3,
        remark=on_rank_one if true_norm else exactly_accounted,
    )


def _baselines(full: bool) -> tuple[Sweep, ...]:
    gradient = Line(
        PGD, {"nuclear_norm": (0.3, 1.0) if full else (0.3,), "step_size": (0.5, 1.0, 2.0)}
    )
    return runs.tuned_sweeps(FILMS_400(full), (runs.non_private_line(full), gradient), (), 1)


FIVE_STEPS: Grid = {"nuclear_norm": (TRUE_NORM,), "steps": (5,)}


def _with_oja(full: bool) -> tuple[Sweep, ...]:
    lines = Line(DPFW, FIVE_STEPS), Line(OJA, FIVE_STEPS)
    return runs.tuned_sweeps(RANK_ONE(full), lines, (1.0, 10.0), 1)


def _svd_and_frank_wolfe(full: bool) -> tuple[Sweep, ...]:
    lines = Line(DPFW, FIVE_STEPS), Line(SVD, {"rank": (1,)})
    return runs.tuned_sweeps(DataSpec(id="rankone-20k"), lines, (10.0,), 3 if full else 1)


# ---- the claims ----------------------------------------------------------------------------------

FILMS_400, RANK_ONE = runs.real_ratings(400), runs.rank_one("rankone")
CLAIMS = (
    _panel("jain-fig2a", RANK_ONE, true_norm=TRUE_NORM),
    _panel("jain-fig2b", runs.real_ratings(100, ("jester",), capped=False)),
    _panel("jain-fig2c", FILMS_400),
    _panel("jain-fig3a", runs.rank_one("rankone-900"), False, TRUE_NORM),
    _panel("jain-fig3b", runs.real_ratings(900), False),
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
            ),
        ),
    ),
)


# ---- the methods as published --------------------------------------------------------------------


def _oja_line(full: bool) -> Line:
    """Return Algorithm 2's line; on a page with five steps, because each takes six releases."""
    grid = runs.private_grid(full)
    return Line(OJA, grid if full else {**grid, "steps": (5,)})


def _svd_line(full: bool) -> Line:
    return Line(SVD, {"rank": (1, 2, 5, 10) if full else (1, 5), "row_clip": (0.05, 0.1)})


def _run(method: Method, parameters: dict[str, Value]) -> RunSpec:
    """Return one run at ε = 1 on the simulated cinema, which is on every machine."""
    budget = Budget(epsilon=1.0, delta=DELTA, calibration=method.calibration or Calibration.EXACT)
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
        return runs.tuned_sweeps(FILMS_400(full), (line(full),), epsilons, draws)

    run = _run(line(False).method, parameters)
    return Preset.of(__package__, f"jain-preset-{name}", sweeps=sweeps, measure=tuned, run=run)


PRESETS = (
    _preset("dpfw", lambda full: Line(DPFW, runs.private_grid(full)), steps=5, nuclear_norm=0.3),
    _preset("oja", _oja_line, steps=5, nuclear_norm=0.3),
    _preset("svd", _svd_line, rank=1),
    _preset("cleansing", runs.cleansing_line, rank=5),
    _preset("pgd", runs.private_gradient_line, steps=5),
)
