"""Claims of Jain, Thakkar & Thakurta 2018, "Differentially Private Matrix Completion Revisited"."""

import statistics

from dpmf_core.papers.clauses import (
    Clause,
    Mean,
    Median,
    MissingResult,
    Results,
    between,
    judged,
    less,
)
from dpmf_core.papers.figures import Claim, tuned
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
    RankOne,
    RealRatings,
)
from dpmf_core.papers.source_noise import jain
from dpmf_core.privacy.accounting import epsilon as exact_epsilon
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Sweep

J18 = "Jain et al. 2018"
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


def means_along(results: Results, label: str) -> dict[float, float]:
    """Return the mean of a method's draws at each epsilon; raise MissingResult."""
    means = {
        it.epsilon: statistics.fmean(it.draws)
        for it in results
        if it.label == label and it.epsilon is not None
    }
    if not means:
        raise MissingResult(f"{label} has no result along epsilon")
    return dict(sorted(means.items()))


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

PRIVATE = (
    "Private Frank-Wolfe, SVD after cleansing and private projected gradient, each tuned on"
    " validation ratings; 1% of the ratings held out."
)
PRIVATE_900 = (
    "Private Frank-Wolfe and SVD after cleansing, each tuned on validation ratings; 1% of the"
    " ratings held out. The source says that private projected gradient takes too long here."
)


def _panel(place: str, title: str, source_data: str, panel: RankOne | RealRatings) -> Claim:
    return Claim(
        id=f"jain-fig{place}",
        title=title,
        source=f"{J18}, Fig. {place}",
        words=PRIVATE if panel.of_fig_2 else PRIVATE_900,
        sweeps=panel,
        measure=tuned,
        clauses=FIG_2 if panel.of_fig_2 else FIG_3,
        remark=on_rank_one if isinstance(panel, RankOne) else exactly_accounted,
        source_data=source_data,
        source_ids=panel.ids,
    )


def _rank_one(items: int) -> str:
    return f"a simulated matrix of rank one, 500,000 users and {items} items"


FILMS = ("ml-10m", "netflix")  # Yahoo! Music cannot be had


def _films(top: int) -> str:
    return f"the {top} most rated items of MovieLens 10M, Netflix and Yahoo! Music, a panel each"


FIG_2C = RealRatings(FILMS, 400)


# ---- other statements ----------------------------------------------------------------------------


def _baselines(full: bool) -> tuple[Sweep, ...]:
    gradient = Line(
        PGD, {"nuclear_norm": (0.3, 1.0) if full else (0.3,), "step_size": (0.5, 1.0, 2.0)}
    )
    return runs.tuned_sweeps(FIG_2C.data(full), (runs.non_private_line(full), gradient), (), 1)


def _with_oja(full: bool) -> tuple[Sweep, ...]:
    lines = [Line(it, {"nuclear_norm": (TRUE_NORM,), "steps": (5,)}) for it in (DPFW, OJA)]
    return runs.tuned_sweeps(runs.rank_one("rankone", full), tuple(lines), (1.0, 10.0), 1)


def _svd_and_frank_wolfe(full: bool) -> tuple[Sweep, ...]:
    lines = Line(DPFW, {"nuclear_norm": (TRUE_NORM,), "steps": (5,)}), Line(SVD, {"rank": (1,)})
    return runs.tuned_sweeps(DataSpec(id="rankone-20k"), lines, (10.0,), 3 if full else 1)


CLAIMS = (
    _panel("2a", "Rank one, 400 items", _rank_one(400), RankOne(("rankone",))),
    _panel("2b", "Jester", "Jester (100 jokes)", RealRatings(("jester",), 100, capped=False)),
    _panel("2c", "The 400 most rated items, Fig. 2c to 2e", _films(400), FIG_2C),
    _panel("3a", "Rank one, 900 items", _rank_one(900), RankOne(("rankone-900",), False)),
    _panel(
        "3b",
        "The 900 most rated items, Fig. 3b to 3d",
        _films(900),
        RealRatings(FILMS, 900, of_fig_2=False),
    ),
    Claim(
        id="jain-baseline",
        title="Frank-Wolfe and projected gradient without privacy",
        source=f"{J18}, section 4, Non-private baseline",
        words="Frank-Wolfe with 400 steps and tuned projected gradient, neither private.",
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
        source_data=_films(400),
        source_ids=FILMS,
    ),
    Claim(
        id="jain-oja",
        title="Frank-Wolfe by Oja's products",
        source=f"{J18}, section 4, footnote 6",
        words="Noisy products with one vector in place of a noisy covariance, Fig. 2a.",
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
        source_data="all data sets of Fig. 2, the simulated one with 500,000 users",
        source_ids=("rankone",),
        limits=lambda full: INNER_STEPS_ARE_OPEN,
    ),
    Claim(
        id="jain-svd",
        title="Private SVD against private Frank-Wolfe",
        source=f"{J18}, Appendix B, Remark 6",
        words="Both as printed, at ε = 10, on a simulated incoherent matrix of rank one with"
        " uniformly observed entries. The source adds that private SVD can be significantly worse,"
        " which no single experiment can contradict.",
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
