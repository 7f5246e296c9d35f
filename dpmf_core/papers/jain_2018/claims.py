"""Claims of Jain, Thakkar & Thakurta 2018, "Differentially Private Matrix Completion Revisited"."""

import statistics

from dpmf_core.papers.clauses import Clause, Mean, Median, MissingResult, Results, between, less
from dpmf_core.papers.figures import Claim, tuned
from dpmf_core.papers.jain_2018.bounds import frank_wolfe_floor
from dpmf_core.papers.jain_2018.sweeps import (
    DELTA,
    DPFW,
    DPFW_EXACT,
    FRANK_WOLFE,
    OJA,
    PGD,
    SVD,
    TRUE_NORM,
    Line,
    RankOne,
    RealRatings,
    non_private_line,
    rank_one,
    tuned_sweeps,
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


def leads(results: Results, label: str, other: str) -> dict[float, float]:
    """Return how much one method's error is below another's at each common epsilon."""
    first, second = means_along(results, label), means_along(results, other)
    if not (common := [at for at in first if at in second]):
        raise MissingResult(f"{label} and {other} have no epsilon in common")
    return {at: second[at] - first[at] for at in common}


def almost_always_less(label: str, other: str, words: str) -> Clause:
    """State that a method is more accurate than another at all but one in four epsilons."""

    def margin(results: Results) -> float:
        values = sorted(leads(results, label, other).values())
        return values[len(values) // 4]

    def figures(results: Results) -> str:
        first, second = means_along(results, label), means_along(results, other)
        return ", ".join(
            f"{first[at]:.4f} against {second[at]:.4f} at ε = {budget_text(at)}"
            for at in leads(results, label, other)
        )

    return Clause(words, margin, figures)


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


def _beats(other: str, name: str, place: str, quote: str) -> Clause:
    return almost_always_less(
        DPFW.name,
        other,
        f"private Frank-Wolfe, with its source's noise, is almost always more accurate than {name}",
    ).quoting(place, quote)


BEATS_CLEANSING = _beats(
    "SVD after cleansing", "SVD after cleansing", "section 4, Results", RESULTS
)
BEATS_GRADIENT = _beats("Private PGD", "private projected gradient", "section 4, Results", RESULTS)
BEATS_CLEANSING_C = _beats(
    "SVD after cleansing", "SVD after cleansing", "Appendix C, Fig. 3", APPENDIX_C
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
        of_exact, of_source = (means_along(results, it.name) for it in (DPFW_EXACT, DPFW))
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
FIG_2 = (BEATS_CLEANSING, BEATS_GRADIENT, CLOSE_TO_NON_PRIVATE)


def _simulated_claim(place: str, items: int, id: str, of_fig_2: bool) -> Claim:  # noqa: A002
    return Claim(
        id=f"jain-fig{place}",
        title=f"Rank one, {items} items",
        source=f"{J18}, Fig. {place}",
        words=PRIVATE if of_fig_2 else PRIVATE_900,
        sweeps=RankOne(id, of_fig_2),
        measure=tuned,
        clauses=FIG_2 if of_fig_2 else (BEATS_CLEANSING_C,),
        remark=on_rank_one,
        source_data=f"a simulated matrix of rank one, 500,000 users and {items} items",
        source_ids=(id,),
    )


def _real_claim(place: str, title: str, source_data: str, ratings: RealRatings) -> Claim:
    return Claim(
        id=f"jain-fig{place}",
        title=title,
        source=f"{J18}, Fig. {place}",
        words=PRIVATE if ratings.of_fig_2 else PRIVATE_900,
        sweeps=ratings,
        measure=tuned,
        clauses=FIG_2 if ratings.of_fig_2 else (BEATS_CLEANSING_C,),
        remark=exactly_accounted,
        source_data=source_data,
        source_ids=ratings.ids,
    )


FILMS = ("ml-10m", "netflix")  # Yahoo! Music cannot be had


def _films(top: int) -> str:
    return f"the {top} most rated items of MovieLens 10M, Netflix and Yahoo! Music, a panel each"


FIG_2C = RealRatings(FILMS, 400)


# ---- other statements ----------------------------------------------------------------------------


def _baselines(full: bool) -> tuple[Sweep, ...]:
    gradient = Line(
        PGD, {"nuclear_norm": (0.3, 1.0) if full else (0.3,), "step_size": (0.5, 1.0, 2.0)}
    )
    return tuned_sweeps(FIG_2C.data(full), (non_private_line(full), gradient), (), 1)


def _with_oja(full: bool) -> tuple[Sweep, ...]:
    lines = [Line(it, {"nuclear_norm": (TRUE_NORM,), "steps": (5,)}) for it in (DPFW, OJA)]
    return tuned_sweeps(rank_one("rankone", full), tuple(lines), (1.0, 10.0), 1)


def _svd_and_frank_wolfe(full: bool) -> tuple[Sweep, ...]:
    lines = Line(DPFW, {"nuclear_norm": (TRUE_NORM,), "steps": (5,)}), Line(SVD, {"rank": (1,)})
    return tuned_sweeps(DataSpec(id="rankone-20k"), lines, (10.0,), 3 if full else 1)


CLAIMS = (
    _simulated_claim("2a", 400, "rankone", of_fig_2=True),
    _real_claim("2b", "Jester", "Jester (100 jokes)", RealRatings(("jester",), 100, capped=False)),
    _real_claim("2c", "The 400 most rated items, Fig. 2c to 2e", _films(400), FIG_2C),
    _simulated_claim("3a", 900, "rankone-900", of_fig_2=False),
    _real_claim(
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
