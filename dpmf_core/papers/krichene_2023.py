"""Krichene, Jain, Song, Sundararajan, Thakurta & Zhang 2023, "Multi-Task Differential Privacy Under
Distribution Skew": its figures as claims.

Every rating enters the item step of Ada-DPALS, weighted by the rarity of its item; DPALS takes k of
a user. Settings are ours, for MovieLens 1M; ratings are as they are, without item offsets.
"""

from collections.abc import Sequence

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.chien_2021 import ML10M
from dpmf_core.papers.chien_sweeps import LIKES, LISTS, POPULARITY, likes
from dpmf_core.papers.clauses import Clause, Median, Results, larger, less, line
from dpmf_core.papers.figures import Claim, Mark, Runs
from dpmf_core.papers.methods import ADA, ALS, DPALS, FRESH, films
from dpmf_core.runs.record import value_of
from dpmf_core.runs.specification import Value
from dpmf_core.runs.sweep import Method, Point, Summary, Sweep

K23 = "Krichene et al. 2023"
NOTEBOOK = f"the notebook of {K23}"
EPSILONS = (1.0, 20.0)
QUARTER, RARE, POPULAR = "popularity_quarter", 1, 4


def _with(method: Method, label: str, **parameters: Value) -> Method:
    return method.model_copy(update={"label": label, "parameters": parameters})


UNIFORM = _with(DPALS, "DPALS, uniform sample", biases=False)
RAREST = _with(DPALS, "DPALS, rarest items", biases=False, sampling="adaptive")
RARITY_WEIGHTED = _with(ADA, "Ada-DPALS", biases=False)


def _ratings(full: bool) -> tuple[Sweep, ...]:
    return (
        Sweep(
            data=films(full, None),
            methods=(UNIFORM, RAREST, RARITY_WEIGHTED, ALS),
            epsilons=(0.5, 1.0, 5.0, 10.0, 20.0) if full else EPSILONS,
            seeds=tuple(range(5 if full else 2)),
        ),
    )


def _quarters(full: bool) -> tuple[Sweep, ...]:
    return (
        Sweep(
            data=films(full, None),
            methods=(UNIFORM, RARITY_WEIGHTED),
            epsilons=(20.0,),
            seeds=tuple(range(5 if full else 2)),
        ),
    )


def _exponents(full: bool) -> tuple[Sweep, ...]:
    values = (0.0, 0.25, 1 / 3, 0.5, 1.0) if full else (0.0, 0.25, 0.5, 1.0)
    return (
        Sweep(
            data=films(full, None),
            methods=(RARITY_WEIGHTED,),
            epsilons=(20.0,),
            seeds=tuple(range(5 if full else 2)),
            grid={"rarity_exponent": values},
        ),
    )


def _lists(full: bool) -> tuple[Sweep, ...]:
    methods = (
        _with(DPALS, UNIFORM.label, **LISTS),
        _with(ADA, RARITY_WEIGHTED.label, **LISTS),
        LIKES,
        POPULARITY,
    )
    return (
        Sweep(
            data=likes(full),
            split=SplitSpec(kind="users", test_fraction=0.1),
            methods=methods,
            epsilons=(1.0, 5.0, 10.0, 20.0) if full else EPSILONS,
            seeds=FRESH if full else FRESH[:2],
        ),
    )


def by_popularity(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """The draws of a metric by quarter of held-out ratings, from the rarest items (1) to the most
    popular ones (4).
    """
    draws: dict[tuple[str, str, float | None, int], list[float]] = {}
    for point in points:
        for place, row in enumerate(runs[point.key].record.buckets["popularity"], RARE):
            key = point.label, point.spec.algorithm, point.epsilon, place
            draws.setdefault(key, []).append(value_of(row, metric))
    return [
        Summary(label, algorithm, epsilon, {QUARTER: place}, tuple(values))
        for (label, algorithm, epsilon, place), values in draws.items()
    ]


def gain(results: Results, quarter: int) -> float:
    """By what share of DPALS's RMSE Ada-DPALS is better on a quarter."""
    at = {QUARTER: quarter}
    return 1 - Median(RARITY_WEIGHTED.label, grid=at)(results) / Median(UNIFORM.label, grid=at)(
        results
    )


def _gains(results: Results) -> str:
    return (
        f"{gain(results, RARE):+.1%} on the rarest quarter, {gain(results, POPULAR):+.1%} on the"
        " most popular"
    )


def _inner_beats(end: float) -> Clause:
    """That some exponent strictly between 0 and 1 does better than this end."""

    def both(results: Results) -> tuple[float, float]:
        values = line(results, RARITY_WEIGHTED.label, "rarity_exponent")
        inner = min(value for at, value in values.items() if 0 < at < 1)
        return inner, values[end]

    return Clause(
        f"some rarity exponent between 0 and 1 does better than {end:g}",
        lambda results: both(results)[1] - both(results)[0],
        lambda results: "{:.4f} against {:.4f}".format(*both(results)),
    )


CLAIMS = (
    Claim(
        id="krichene-rmse",
        title="RMSE against epsilon with weights by rarity",
        source=f"{K23}, MovieLens 10M",
        words="All ratings weighted by the rarity of their item, against k ratings a user.",
        sweeps=_ratings,
        clauses=tuple(
            less(Median(RARITY_WEIGHTED.label, epsilon), Median(baseline.label, epsilon))
            for epsilon in EPSILONS
            for baseline in (UNIFORM, RAREST)
        ),
        source_data=ML10M,
        source_ids=("ml-10m",),
        marks=(
            Mark("ALS", None, 0.777, f"{NOTEBOOK}, ML-10M, without privacy"),
            Mark("Ada-DPALS by gradient steps", 1.0, 0.899, f"{NOTEBOOK}, ML-10M"),
        ),
    ),
    Claim(
        id="krichene-recall",
        title="Recall@20 against epsilon with weights by rarity",
        source=f"{K23}, MovieLens 20M",
        words="What people liked, ranked for people whose ratings were not trained on.",
        sweeps=_lists,
        clauses=tuple(
            larger(Median(RARITY_WEIGHTED.label, epsilon), Median(UNIFORM.label, epsilon))
            for epsilon in EPSILONS
        ),
        source_data="MovieLens 20M, ratings above 3.5",
        source_ids=("ml-20m",),
        metric="recall_at_20",
        marks=(Mark("ALS", None, 0.363, f"{NOTEBOOK}, ML-20M, without privacy"),),
    ),
    Claim(
        id="krichene-tail",
        title="Who gains from weights by rarity",
        source=f"{K23}, by popularity",
        words=(
            "Held-out ratings in quarters, from those of the rarest films to those of the most"
            " popular ones; ε = 20. The source groups films."
        ),
        sweeps=_quarters,
        measure=by_popularity,
        clauses=(
            Clause(
                "rare films gain from weights by rarity",
                lambda results: gain(results, RARE),
                _gains,
            ),
            Clause(
                "rare films gain more than popular ones",
                lambda results: gain(results, RARE) - gain(results, POPULAR),
                _gains,
            ),
        ),
        source_data=ML10M,
        source_ids=("ml-10m",),
        axis=QUARTER,
    ),
    Claim(
        id="krichene-exponent",
        title="RMSE against the rarity exponent",
        source=f"{K23}, weights",
        words="0 weighs all ratings of a user alike, 1 all items. ε = 20.",
        sweeps=_exponents,
        clauses=(_inner_beats(0.0), _inner_beats(1.0)),
        source_data=ML10M,
        source_ids=("ml-10m",),
        axis="rarity_exponent",
    ),
)
