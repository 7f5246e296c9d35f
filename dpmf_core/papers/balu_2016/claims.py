"""Balu & Furon 2016, "Differentially Private Matrix Factorization using Sketching Techniques": its
figures as claims.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.clauses import Clause, MissingResult, Results, line
from dpmf_core.papers.figures import Claim, Runs, by_metric, first_present
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Point, Summary, Sweep

B16 = "Balu & Furon 2016"
SKETCH, HASHING, REGULAR = "Count sketch, k = 4", "Feature hashing, k = 1", "Regular MF"
TOP_USERS = ", busiest users"  # ends the label of a divergence over these alone
NO_THRESHOLD = 1e6
LEVEL = {"rmse": 5e-4, "kl": 2e-4}  # smaller differences are of the draw
ORDER_OF_MAGNITUDE = math.sqrt(10)  # a ratio above it is nearer to 10 than to 1
# section 4: 80/10/10, rare users and items left out of validation and test
SPLIT = SplitSpec(test_fraction=0.1, validation_fraction=0.1, least_judged=10)
EACHMOVIE = "EachMovie (61,265 users, 1,623 films, 2,811,718 ratings from 1 to 6)"
MOVIELENS = "MovieLens 1M"


def _movielens() -> DataSpec:
    return DataSpec(id=first_present("ml-1m", "cinema"))


def _eachmovie(full: bool) -> DataSpec:
    return DataSpec(id=first_present("ml-1m", "cinema")) if full else _movielens()


# ---- what is run ---------------------------------------------------------------------------------


def _sketches(depths: Sequence[int], **fixed: Value) -> tuple[Method, ...]:
    labels = {1: HASHING, 4: SKETCH}
    return tuple(
        Method(algorithm="sketch", label=labels[depth], parameters={"depth": depth, **fixed})
        for depth in depths
    )


def regular(**fixed: Value) -> Method:
    """Factorisation without a sketch, by the source's own update."""
    defaults: dict[str, Value] = {"model": "centred", "decay": 1.0, "learning_rate": 0.05}
    return Method(algorithm="sgd-mf", label=REGULAR, parameters={**defaults, **fixed})


def _by_regularisation(full: bool) -> tuple[Sweep, ...]:
    size: dict[str, Value] = {"rank": 32 if full else 8, "steps": 100 if full else 20}
    few = (0.1, 0.04, 0.02, 0.0)
    values = (10.0, 3.0, 1.0, 0.3, 0.1, 0.06, 0.03, 0.01, 0.003, 0.0) if full else few
    return (
        Sweep(
            data=_eachmovie(full),
            methods=(*_sketches((4, 1), threshold=NO_THRESHOLD, **size), regular(**size)),
            grid={"regularisation": values},
            split=SPLIT,
        ),
    )


def _best_regularisation(full: bool) -> tuple[Sweep, ...]:
    ranks, gains = ((8, 16, 32), (1.0, 2.0, 4.0)) if full else ((4, 8), (1.0, 4.0))
    steps = 40 if full else 15
    return (
        Sweep(
            data=_movielens(),
            methods=_sketches((4,), threshold=NO_THRESHOLD, steps=steps),
            grid={
                "regularisation": (0.02, 0.04, 0.08),
                "rank": ranks,
                "space_gain": gains,
            },
            split=SPLIT,
        ),
    )


def _by_threshold(full: bool) -> tuple[Sweep, ...]:
    size: dict[str, Value] = {
        "rank": 32 if full else 8,
        "steps": 100 if full else 10,
        "regularisation": 0.06 if full else 0.04,
    }
    return (
        Sweep(
            data=_movielens(),
            methods=_sketches((4, 1), **size),
            grid={
                "threshold": (2.0, 4.0, 8.0, NO_THRESHOLD),
                "space_gain": (1.0, 2.0, 4.0) if full else (1.0, 4.0),
            },
            split=SPLIT,
        ),
        Sweep(data=_movielens(), methods=(regular(**size),), split=SPLIT),
    )


def sketch_table(full: bool) -> tuple[Sweep, ...]:
    ranks, gains = ((8, 16, 32), (1.0, 2.0, 4.0)) if full else ((8,), (1.0, 4.0))
    thresholds = (2.0, 4.0, 8.0, NO_THRESHOLD) if full else (2.0, NO_THRESHOLD)
    steps = 40 if full else 10
    grid: dict[str, tuple[Value, ...]] = {
        "rank": ranks,
        "space_gain": gains,
        "threshold": thresholds,
    }
    return (
        Sweep(data=_movielens(), methods=_sketches((4, 1), steps=steps), grid=grid),
        Sweep(data=_movielens(), methods=(regular(steps=steps),), grid={"rank": ranks}),
    )


def sizes_ranked(results: Results) -> str:
    """For each dimension regular factorisation's error, and the range of both sketches'."""
    ranks = sorted({int(it.grid["rank"]) for it in results})
    return " ".join(_at_rank(results, rank) for rank in ranks)


def _at_rank(results: Results, rank: int) -> str:
    at = [it for it in results if it.grid["rank"] == rank]
    beside = statistics.fmean(it.median for it in at if it.label == REGULAR)
    errors = {label: [it.median for it in at if it.label == label] for label in (SKETCH, HASHING)}
    ranges = "; ".join(
        f"{name} {min(them):.4f} to {max(them):.4f}" for name, them in errors.items()
    )
    return f"d = {rank}: regular factorisation {beside:.4f}; {ranges}."


# ---- what is judged ------------------------------------------------------------------------------


def _along(results: Results, name: str, label: str) -> dict[float, float]:
    """Mean over everything else of a method's medians, by the value of one parameter."""
    groups: dict[float, list[float]] = {}
    for it in results:
        if it.label == label:
            groups.setdefault(float(it.grid[name]), []).append(it.median)
    if not groups:
        raise MissingResult(f"{label} has no result along {name}")
    return {value: statistics.fmean(groups[value]) for value in sorted(groups)}


def _mean(results: Results, label: str) -> float:
    medians = [it.median for it in results if it.label == label]
    if not medians:
        raise MissingResult(f"{label} has no result")
    return statistics.fmean(medians)


def _figures(values: Mapping[float, float]) -> str:
    return ", ".join(
        f"{value:.4f} at {'none' if at == NO_THRESHOLD else f'{at:g}'}"
        for at, value in values.items()
    )


def _fall(values: Sequence[float], level: float) -> float:
    """By how much values fall: the last is below the first, none above the one before but for
    `level`.
    """
    steps = (before + level - after for before, after in itertools.pairwise(values))
    return min(values[0] - values[-1], *steps)


def _rise_at_zero(results: Results, label: str) -> float:
    """Error without regularisation less the smallest error with some."""
    values = line(results, label, "regularisation")
    if 0.0 not in values or len(values) < 2:
        raise MissingResult(f"{label} has no result at λ = 0, or nowhere else")
    return values[0.0] - min(value for at, value in values.items() if at)


def _rise_figures(results: Results, *labels: str) -> str:
    return ", ".join(f"{label} {_rise_at_zero(results, label):.4f}" for label in labels)


def _loses_less(label: str, other: str) -> Clause:
    return Clause(
        f"from the best λ to λ = 0 the error rises less in {label} than in {other}",
        lambda results: _rise_at_zero(results, other) - _rise_at_zero(results, label),
        lambda results: _rise_figures(results, label, other),
    )


def best_regularisations(results: Results) -> dict[tuple[float, float], float]:
    """The best λ by dimension and space gain: the lowest point of a parabola in log λ through the
    best measured place and its neighbours; a measured place where the best lies at an end.
    """
    cells: dict[tuple[float, float], dict[float, float]] = {}
    for it in results:
        place = (float(it.grid["rank"]), float(it.grid["space_gain"]))
        cells.setdefault(place, {})[float(it.grid["regularisation"])] = it.median
    if not cells:
        raise MissingResult("no dimension and space gain has a result")
    return {place: _lowest(values) for place, values in sorted(cells.items())}


def _lowest(values: Mapping[float, float]) -> float:
    places = sorted(values)
    at = min(range(len(places)), key=lambda index: values[places[index]])
    if not 0 < at < len(places) - 1:
        return places[at]
    x = [math.log(place) for place in places[at - 1 : at + 2]]
    y = [values[place] for place in places[at - 1 : at + 2]]
    left, right = (x[1] - x[0]) * (y[1] - y[2]), (x[1] - x[2]) * (y[1] - y[0])
    if left == right:
        return places[at]
    return math.exp(x[1] - ((x[1] - x[0]) * left - (x[1] - x[2]) * right) / (2 * (left - right)))


def _smaller_needs_less(results: Results) -> float:
    """By how many decades the best λ falls from the smallest space gain to the largest, mean over
    dimensions.
    """
    best = best_regularisations(results)
    gains = [gain for _, gain in best]
    ranks = sorted({rank for rank, _ in best})
    falls = (math.log10(best[rank, min(gains)] / best[rank, max(gains)]) for rank in ranks)
    return statistics.fmean(falls)


def _best_figures(results: Results) -> str:
    return "; ".join(
        f"d {d:g}, γ {gamma:g}: λ {best:.3f}"
        for (d, gamma), best in best_regularisations(results).items()
    )


def _error_falls(label: str) -> Clause:
    return Clause(
        f"the error of {label} falls as the threshold rises",
        lambda results: _fall(list(_along(results, "threshold", label).values()), LEVEL["rmse"]),
        lambda results: _figures(_along(results, "threshold", label)),
    )


def _divergence_rises(label: str) -> Clause:
    return Clause(
        f"the divergence of {label} rises with the threshold",
        lambda results: _fall(
            list(_along(results, "threshold", label).values())[::-1], LEVEL["kl"]
        ),
        lambda results: _figures(_along(results, "threshold", label)),
    )


def _divergence_falls(label: str) -> Clause:
    return Clause(
        f"the divergence of {label} falls with the space gain",
        lambda results: _fall(list(_along(results, "space_gain", label).values()), LEVEL["kl"]),
        lambda results: _figures(_along(results, "space_gain", label)),
    )


def _below_regular(label: str) -> Clause:
    def largest(results: Results) -> float:
        _mean(results, label)  # there must be some
        return max(it.median for it in results if it.label == label)

    return Clause(
        f"the divergence of {label} lies below that of regular factorisation everywhere",
        lambda results: _mean(results, REGULAR) - largest(results),
        lambda results: f"at most {largest(results):.4f}, regular {_mean(results, REGULAR):.4f}",
    )


def _smaller_for_top_users(label: str) -> Clause:
    return Clause(
        f"over the busiest users the divergence of {label} is an order of magnitude smaller than"
        " over all",
        lambda results: (
            _mean(results, label) - ORDER_OF_MAGNITUDE * _mean(results, label + TOP_USERS)
        ),
        lambda results: (
            f"{_mean(results, label + TOP_USERS):.4f} of {_mean(results, label):.4f}, mean over"
            " thresholds and space gains"
        ),
    )


def _divergences(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """The divergence over all ratings, and over those of the busiest users."""
    busy = by_metric(points, runs, "kl_top_users")
    return by_metric(points, runs, metric) + [
        replace(it, label=it.label + TOP_USERS) for it in busy
    ]


_OF_DIVERGENCE: tuple[Callable[[str], Clause], ...] = (
    _divergence_rises,
    _divergence_falls,
    _below_regular,
    _smaller_for_top_users,
)

CLAIMS = (
    Claim(
        id="balu-fig1",
        title="RMSE as the regularisation goes to 0",
        source=f"{B16}, Fig. 1",
        words="No threshold; γ = 1. At page size d = 8 and 20 passes over the ratings.",
        sweeps=_by_regularisation,
        clauses=(
            Clause(
                f"even {SKETCH} errs more at λ = 0 than at its best λ",
                lambda results: _rise_at_zero(results, SKETCH),
                lambda results: f"{_rise_at_zero(results, SKETCH):+.4f}",
            ),
            _loses_less(SKETCH, HASHING),
            _loses_less(HASHING, REGULAR),
        ),
        source_data=EACHMOVIE,
        page="sketch",
        axis="regularisation",
    ),
    Claim(
        id="balu-fig2",
        title="Best regularisation by dimension and space gain",
        source=f"{B16}, Fig. 2",
        words="No threshold. At full size 40 passes over the ratings, where the source makes 100.",
        sweeps=_best_regularisation,
        clauses=(
            Clause(
                "the smaller the sketch, the smaller its best λ",
                _smaller_needs_less,
                _best_figures,
            ),
        ),
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="regularisation",
    ),
    Claim(
        id="balu-fig3",
        title="RMSE against the threshold",
        source=f"{B16}, Fig. 3",
        words="Larger errors are passed over. At page size d = 8 and 10 passes over the ratings.",
        sweeps=_by_threshold,
        clauses=(_error_falls(SKETCH), _error_falls(HASHING)),
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="threshold",
    ),
    Claim(
        id="balu-fig4",
        title="KL divergence against the threshold",
        source=f"{B16}, Fig. 4",
        words=(
            "Of the errors in training from those held out. At page size d = 8 and 10 passes over"
            " the ratings."
        ),
        sweeps=_by_threshold,
        measure=_divergences,
        clauses=tuple(clause(label) for label in (SKETCH, HASHING) for clause in _OF_DIVERGENCE),
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="threshold",
        metric="kl",
    ),
)
