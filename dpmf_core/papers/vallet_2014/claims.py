"""Vallet, Friedman & Berkovsky 2014, "Matrix Factorization without User Data Retention": its
figures as claims. What is measured is the excess in RMSE over keeping everything, in percent.
"""

import functools
import itertools
import statistics
from collections.abc import Mapping

import numpy as np

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.clauses import Clause, MissingResult, Results, between, falls, line
from dpmf_core.papers.figures import Claim, Mark, first_present
from dpmf_core.papers.vallet_2014 import retention_excess
from dpmf_core.papers.vallet_2014.retention_excess import BASELINE, KNOWN_SHARE, QUARTERS
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

V14 = "Vallet et al. 2014"
OURS, SHARED = "Online, least squares", "Rated, shared step"
SLOPE_ONE = Method(algorithm="slope-one", label="Slope One")
VARIANTS: dict[str, dict[str, Value]] = {
    BASELINE: {"variant": "baseline"},
    "Static": {"variant": "static"},
    "Rated": {"variant": "rated"},
    "New": {"variant": "new"},
    "Online": {"variant": "online", "online_fit": "gradients"},
    OURS: {"variant": "online"},
    SHARED: {"variant": "rated", "rated_step": "shared"},
}
# Table 1, mean excess in percent, the smallest first
RANDOM = {"Online": 0.37, "New": 1.98, "Rated": 2.09, "Static": 3.22, "Slope One": 4.28}
BY_TIME = {"Online": 0.12, "Rated": 1.02, "New": 2.33, "Slope One": 4.70, "Static": 6.75}
FEWEST_PAIRS = 8  # below it a two-sided signed rank test cannot reach .01
MONTHS, FIRST_MONTHS = 72, 4


def _method(label: str, full: bool, **more: Value) -> Method:
    epochs: dict[str, Value] = {"steps": 200 if full else 30}
    return Method(
        algorithm="no-retention", label=label, parameters={**VARIANTS[label], **epochs, **more}
    )


# ---- what is run ---------------------------------------------------------------------------------


def _by_share(
    full: bool, data: DataSpec, labels: tuple[str, ...], seeds: int, by_time: bool = False
) -> tuple[Sweep, ...]:
    """The baseline and Slope One, which know no share, and the variants at every share."""
    split = SplitSpec(kind="time" if by_time else "random")
    arrival: dict[str, Value] = {"arrival": "time"} if by_time else {}
    shares = tuple(tenth / 10 for tenth in range(10)) if full else (0.0, 0.5, 0.9)
    whole = (_method(BASELINE, full), SLOPE_ONE)
    moving = tuple(_method(label, full, **arrival) for label in labels)
    every = tuple(range(seeds))
    return (
        Sweep(data=data, methods=whole, seeds=every, split=split),
        Sweep(data=data, methods=moving, seeds=every, split=split, grid={"static_share": shares}),
    )


def _random(full: bool) -> tuple[Sweep, ...]:
    names = ("ml-10m", "ml-1m", "cinema") if full else ("ml-100k", "cinema-small")
    labels = ("Static", "Rated", "New", "Online")
    return _by_share(full, DataSpec(id=first_present(*names)), labels, 10 if full else 8)


def _by_time(full: bool) -> tuple[Sweep, ...]:
    data = first_present("netflix", "cinema") if full else "cinema-small"
    labels = ("Static", "Rated", "New", "Online", OURS, SHARED)
    return _by_share(full, DataSpec(id=data), labels, 3 if full else 2, by_time=True)


def _by_activity(full: bool) -> tuple[Sweep, ...]:
    """New ratings that have not arrived yet are left out of training, as validation ratings."""
    names = ("ml-10m", "ml-1m", "cinema") if full else ("ml-100k", "cinema-small")
    data, seeds = DataSpec(id=first_present(*names)), tuple(range(3 if full else 2))
    arrival_shares = (
        tuple(tenth / 10 for tenth in range(11)) if full else (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    test_fraction = SplitSpec().test_fraction
    sweeps = [Sweep(data=data, methods=(_method(BASELINE, full),), seeds=seeds)]
    for share in arrival_shares:
        left_out = (1 - test_fraction) * (1 - KNOWN_SHARE) * (1 - share)
        known_share = KNOWN_SHARE / (KNOWN_SHARE + (1 - KNOWN_SHARE) * share)
        methods = tuple(
            _method(label, full, static_share=known_share) for label in ("New", "Rated")
        )
        split = SplitSpec(test_fraction=test_fraction, validation_fraction=round(left_out, 9))
        sweeps.append(Sweep(data=data, methods=methods, seeds=seeds, split=split))
    return tuple(sweeps)


def _by_month(full: bool) -> tuple[Sweep, ...]:
    data = DataSpec(id=first_present("netflix", "cinema") if full else "cinema-small")
    stretches = tuple(range(FIRST_MONTHS, MONTHS)) if full else (4, 8, 16, 32, 48, 71)
    return tuple(
        Sweep(
            data=data,
            methods=(
                _method(BASELINE, full),
                _method("New", full, static_share=FIRST_MONTHS / stretch, arrival="time"),
            ),
            seeds=tuple(range(3)),
            split=SplitSpec(kind="window", windows=MONTHS, window=stretch),
        )
        for stretch in stretches
    )


# ---- what is judged ------------------------------------------------------------------------------


def excess(results: Results, label: str) -> float:
    """A method's mean excess over shares and draws."""
    draws = [draw for it in results if it.label == label for draw in it.draws]
    if not draws:
        raise MissingResult(f"{label} has no result")
    return statistics.fmean(draws)


def _costs_less(better: str, worse: str, source_values: Mapping[str, float]) -> Clause:
    def figures(results: Results) -> str:
        return ", ".join(
            f"{label} {excess(results, label):.2f}% (published {source_values[label]:.2f}%)"
            for label in (better, worse)
        )

    return Clause(
        f"{better} costs less than {worse}",
        lambda results: excess(results, worse) - excess(results, better),
        figures,
    )


def _costs_something(label: str, source_values: Mapping[str, float]) -> Clause:
    return Clause(
        f"even {label}, the closest, is not as good as keeping everything",
        lambda results: excess(results, label),
        lambda results: f"{excess(results, label):.2f}% (published {source_values[label]:.2f}%)",
    )


def _order(source_values: Mapping[str, float]) -> tuple[Clause, ...]:
    """A row of the table: the methods from the closest to the worst."""
    pairs = itertools.pairwise(source_values)
    return (
        _costs_something(next(iter(source_values)), source_values),
        *(_costs_less(better, worse, source_values) for better, worse in pairs),
    )


def by_draw(results: Results, label: str) -> np.ndarray:
    """A method's mean excess over shares in each draw (n_draws,). Raises MissingResult."""
    lines = [it.draws for it in results if it.label == label]
    if not lines or len({len(draws) for draws in lines}) != 1:
        raise MissingResult(f"{label} lacks draws")
    return np.mean(lines, axis=0)  # type: ignore[no-any-return]


def _largest_p(results: Results, labels: tuple[str, ...]) -> float:
    draws = [by_draw(results, label) for label in labels]
    if len(draws[0]) < FEWEST_PAIRS:
        raise MissingResult(f"{len(draws[0])} draws are too few for a signed rank test")
    return max(_signed_rank(tuple(one - other)) for one, other in itertools.pairwise(draws))


@functools.lru_cache(256)
def _signed_rank(differences: tuple[float, ...]) -> float:
    """The two-sided p of Wilcoxon's test; 1 where nothing differs."""
    if min(differences) > 0 or max(differences) < 0:
        return 2.0 ** (1 - len(differences))  # the smallest there is, without ranking
    from scipy import stats  # half a second, of every start

    return float(stats.wilcoxon(differences).pvalue) if any(differences) else 1.0


def significant(source_values: Mapping[str, float]) -> Clause:
    """That neighbours in the order of a row differ, by a signed rank test over paired draws."""
    labels = tuple(source_values)
    return Clause(
        "each method differs from the next one in this order by more than chance (Wilcoxon's"
        " signed rank test, p < .01)",
        lambda results: 0.01 - _largest_p(results, labels),
        lambda results: (
            f"the largest p is {_largest_p(results, labels):.3g}, with"
            f" {len(by_draw(results, labels[0]))} pairs of draws"
        ),
    )


def _less_at_every_share(label: str) -> Clause:
    def gaps(results: Results) -> dict[float, float]:
        own, static = (line(results, it, "static_share") for it in (label, "Static"))
        return {share: static[share] - own[share] for share in own}

    return Clause(
        f"{label} costs less than static factors, whatever share is known from the start",
        lambda results: min(gaps(results).values()),
        lambda results: ", ".join(
            f"{gap:.2f} points less at {share:g}" for share, gap in gaps(results).items()
        ),
    )


CURVES = (
    falls("static factors cost more, the less is known from the start", "Static", "static_share"),
    _less_at_every_share("Rated"),
    _less_at_every_share("New"),
)


def _falls_everywhere(label: str) -> tuple[Clause, ...]:
    return tuple(
        falls(
            f"the gap of {label} closes as new data arrive, {quarter} of the users",
            f"{label}, {quarter}",
            "new_share",
        )
        for quarter in QUARTERS
    )


def _at_end(place: int) -> Clause:
    words, low, high = (
        ("at the first month the gap is about 2%", 1.0, 3.0)
        if place == 0
        else ("at the last month the gap is nothing", -0.5, 0.5)
    )
    return between(
        words,
        lambda results: list(line(results, "New", "stretch").values())[place],
        low,
        high,
        "the gap in %",
    )


def _marks(source_values: Mapping[str, float], data: str) -> tuple[Mark, ...]:
    """Means over all shares, drawn in the middle of the axis."""
    return tuple(
        Mark(label, 0.45, value, f"{V14}, Table 1: mean over shares, {data}")
        for label, value in source_values.items()
    )


MOVIELENS, NETFLIX = "MovieLens 10M", "a tenth of the users of the Netflix Prize"
NO_TEXT = "The curves' numbers are not printed; judged is what the axis and Table 1 say of them."

CLAIMS = (
    Claim(
        id="vallet-table1",
        title="What keeping nothing costs, ratings in random order",
        source=f"{V14}, Table 1, random split",
        words=(
            "Excess in RMSE over a baseline that keeps everything; the statements are of means over"
            " static shares and draws."
        ),
        sweeps=_random,
        measure=retention_excess.by_share,
        quantity=retention_excess.AXIS_TITLE,
        clauses=(*_order(RANDOM), significant(RANDOM)),
        source_data=MOVIELENS,
        source_ids=("ml-10m",),
        page="retention",
        axis="static_share",
        marks=_marks(RANDOM, MOVIELENS),
    ),
    Claim(
        id="vallet-table1-time",
        title="What keeping nothing costs, ratings in the order of time",
        source=f"{V14}, Table 1, time split",
        words=(
            "The last 10% of every user's ratings are held out, and ratings arrive by time. Online"
            " is the source's, by gradients; two variants of ours stand beside: online by least"
            " squares, and rated with one step shared among all that she has rated."
        ),
        sweeps=_by_time,
        measure=retention_excess.by_share,
        quantity=retention_excess.AXIS_TITLE,
        clauses=_order(BY_TIME),
        source_data=NETFLIX,
        page="retention",
        axis="static_share",
        marks=_marks(BY_TIME, "Netflix"),
    ),
    Claim(
        id="vallet-fig1a",
        title="Excess against what is known from the start, random order",
        source=f"{V14}, Fig. 1a",
        words=f"From R_s = 0, where nothing is known, to .9. {NO_TEXT}",
        sweeps=_random,
        measure=retention_excess.by_share,
        quantity=retention_excess.AXIS_TITLE,
        clauses=CURVES,
        source_data=MOVIELENS,
        source_ids=("ml-10m",),
        page="retention",
        axis="static_share",
    ),
    Claim(
        id="vallet-fig1b",
        title="Excess against what is known from the start, by time",
        source=f"{V14}, Fig. 1b",
        words=f"From R_s = 0, where nothing is known, to .9. {NO_TEXT}",
        sweeps=_by_time,
        measure=retention_excess.by_share,
        quantity=retention_excess.AXIS_TITLE,
        clauses=CURVES,
        source_data=NETFLIX,
        page="retention",
        axis="static_share",
    ),
    Claim(
        id="vallet-fig2",
        title="Excess by activity, as new data arrive",
        source=f"{V14}, Fig. 2",
        words=(
            "R_s = .3; users in four equal groups by how much they rate (in the source they end at"
            " 35, 69 and 156 ratings). The baseline keeps all ratings, those to come included."
        ),
        sweeps=_by_activity,
        measure=retention_excess.by_activity,
        quantity=retention_excess.AXIS_TITLE,
        clauses=(*_falls_everywhere("New"), *_falls_everywhere("Rated")),
        source_data=MOVIELENS,
        source_ids=("ml-10m",),
        page="retention",
        axis="new_share",
    ),
    Claim(
        id="vallet-fig3",
        title="Month by month",
        source=f"{V14}, Fig. 3",
        words=(
            "The first 4 of 72 months are known from the start; each later one is predicted from"
            " those before it, with a baseline that is trained anew. Here a month is one of 72"
            " stretches of time with equally many ratings."
        ),
        sweeps=_by_month,
        measure=retention_excess.by_stretch,
        quantity=retention_excess.AXIS_TITLE,
        clauses=(
            _at_end(0),
            _at_end(-1),
            falls(
                "the gap falls, rises of half a point aside",
                "New",
                "stretch",
                level=0.5,
            ),
        ),
        source_data="72 months of ratings",
        source_ids=("netflix",),
        page="retention",
        axis="stretch",
        marks=(
            Mark("New", 5, 2.0, f"{V14}, Fig. 3: about 2%"),
            Mark("New", 72, 0.0, f"{V14}, Fig. 3: nothing"),
        ),
    ),
)
