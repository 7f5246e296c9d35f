"""Statements of Balu & Furon 2016 about its figures, as clauses.

Where the paper gives a word and no number ("close", "much smaller"), the clause names the number
used here.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from dpmf_core.papers.balu_2016.protocol import (
    HASHING,
    LEVEL,
    NO_THRESHOLD,
    ORDER_OF_MAGNITUDE,
    REGULAR,
    SKETCH,
    TOP_USERS,
)
from dpmf_core.papers.clauses import Clause, MissingResult, Results, line, rises


def _along(results: Results, name: str, label: str) -> dict[float, float]:
    """Return a method's medians by the value of one parameter, averaged over everything else."""
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
    """Return how far values fall: last below first, and no step rises by more than `level`."""
    steps = (before + level - after for before, after in itertools.pairwise(values))
    return min(values[0] - values[-1], *steps)


def _rise_at_zero(results: Results, label: str) -> float:
    """Return the error without regularisation minus the smallest error with some."""
    values = line(results, label, "regularisation")
    if 0.0 not in values or len(values) < 2:
        raise MissingResult(f"{label} has no result at λ = 0, or nowhere else")
    return values[0.0] - min(value for at, value in values.items() if at)


def _rise_figures(results: Results, *labels: str) -> str:
    return ", ".join(f"{label} {_rise_at_zero(results, label):.4f}" for label in labels)


def _best_place(results: Results, label: str) -> float:
    """Return the λ of the smallest error, interpolated as in `_lowest`."""
    values = line(results, label, "regularisation")
    return _lowest({at: value for at, value in values.items() if at})


def _best_places(results: Results) -> dict[str, float]:
    return {label: _best_place(results, label) for label in (SKETCH, HASHING, REGULAR)}


def _rise_beyond_best(results: Results) -> float:
    """Return the smallest rise among methods from the best to the largest λ."""
    lines = [line(results, label, "regularisation") for label in (SKETCH, HASHING, REGULAR)]
    return min(list(values.values())[-1] - min(values.values()) for values in lines)


def _at_zero(results: Results, label: str) -> float:
    values = line(results, label, "regularisation")
    if 0.0 not in values:
        raise MissingResult(f"{label} has no result at λ = 0")
    return values[0.0]


def _loses_less(other: str) -> Clause:
    return Clause(
        f"from the best λ to λ = 0 the error rises less in {SKETCH} than in {other}",
        lambda results: _rise_at_zero(results, other) - _rise_at_zero(results, SKETCH),
        lambda results: _rise_figures(results, SKETCH, other),
    ).quoting(
        "section 5.2, Fig. 1",
        "The degradation of count sketch factorization is not as worse as the other two",
    )


def _better_at_zero(other: str) -> Clause:
    return Clause(
        f"at λ = 0 {SKETCH} is more accurate than {other}",
        lambda results: _at_zero(results, other) - _at_zero(results, SKETCH),
        lambda results: (
            f"{SKETCH} {_at_zero(results, SKETCH):.4f}, {other} {_at_zero(results, other):.4f}"
        ),
    ).quoting(
        "section 5.2, Fig. 1",
        "Even when the regularization is turned off [...] our scheme performs better than the other"
        " two, for the same d.",
    )


FIG_1 = (
    Clause(
        "the best λ is around .1 in all three: above .05 and below .2",
        lambda results: min(
            min(math.log(best / 0.05), math.log(0.2 / best))
            for best in _best_places(results).values()
        ),
        lambda results: ", ".join(
            f"{label} {best:.3f}" for label, best in _best_places(results).items()
        ),
    ).quoting("section 5.2, Fig. 1", "The optimal λ is around 0.1"),
    Clause(
        "at the largest λ all three err more than at the best",
        _rise_beyond_best,
        lambda results: f"by at least {_rise_beyond_best(results):.4f}",
    ).quoting("section 5.2, Fig. 1", "the RMSE increases with λ beyond this value"),
    Clause(
        "at λ = 0 all three err more than at the best λ",
        lambda results: min(_rise_at_zero(results, label) for label in (SKETCH, HASHING, REGULAR)),
        lambda results: _rise_figures(results, SKETCH, HASHING, REGULAR),
    ).quoting(
        "section 5.2, Fig. 1", "When we decrease λ below the optimal value, the RMSE degrades"
    ),
    _loses_less(HASHING),
    _loses_less(REGULAR),
    _better_at_zero(HASHING),
    _better_at_zero(REGULAR),
)


def best_regularisations(results: Results) -> dict[tuple[float, float], float]:
    """Return the best λ by dimension and space gain.

    It is the lowest point of a parabola in log λ through the best measured place and its
    neighbours, or the measured place if that is at an end.
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


def _decades_by_gain(results: Results) -> float:
    """Return the smallest fall of the best λ in decades, from smallest to largest space gain."""
    best = best_regularisations(results)
    gains = [gain for _, gain in best]
    ranks = {rank for rank, _ in best}
    return min(math.log10(best[rank, min(gains)] / best[rank, max(gains)]) for rank in ranks)


def _decades_by_rank(results: Results) -> float:
    """Return the mean fall of the best λ in decades, from largest to smallest dimension."""
    best = best_regularisations(results)
    ranks = [rank for rank, _ in best]
    gains = {gain for _, gain in best}
    return statistics.fmean(
        math.log10(best[max(ranks), gain] / best[min(ranks), gain]) for gain in gains
    )


def _share_of_small(results: Results) -> float:
    best = best_regularisations(results).values()
    return sum(value < 0.01 for value in best) / len(best)


def _corner(results: Results) -> float:
    """Return the best λ of the largest dimension with the smallest space gain."""
    best = best_regularisations(results)
    return best[max(rank for rank, _ in best), min(gain for _, gain in best)]


def _best_figures(results: Results) -> str:
    return "; ".join(
        f"d {d:g}, γ {gamma:g}: λ {best:.3f}"
        for (d, gamma), best in best_regularisations(results).items()
    )


FIG_2 = (
    Clause(
        "the best λ is below .01 in more than half of the sizes",
        lambda results: _share_of_small(results) - 0.5,
        _best_figures,
    ).quoting("section 5.2, Fig. 2", "The optimal value is often lower than"),
    Clause(
        "with the largest d and the smallest γ it is at least .01",
        lambda results: math.log10(_corner(results) / 0.01) + 1e-9,
        _best_figures,
    ).quoting(
        "section 5.2, Fig. 2", "except in the top right corner, where γ is small while d is big"
    ),
    Clause("it falls as d falls, mean over γ", _decades_by_rank, _best_figures).quoting(
        "section 5.2, Fig. 2",
        "value diminishes with d: a smaller model requires less regularization",
    ),
    Clause("it falls as γ rises, at each d", _decades_by_gain, _best_figures).quoting(
        "section 5.2, Fig. 2", "lowers with increase in γ and it is true even for a fixed d"
    ),
)


def _error_falls(label: str) -> Clause:
    return Clause(
        f"the error of {label} falls as the threshold rises",
        lambda results: _fall(list(_along(results, "threshold", label).values()), LEVEL["rmse"]),
        lambda results: _figures(_along(results, "threshold", label)),
    ).quoting("section 5.3, Fig. 3", "lowering the privacy by increasing ϵ improves the utility")


def _gains_less_and_less(label: str) -> Clause:
    def margin(results: Results) -> float:
        values = list(_along(results, "threshold", label).values())
        steps = [before - after for before, after in itertools.pairwise(values)]
        return steps[0] - max(steps[1:])

    return Clause(
        f"the first rise of the threshold helps {label} more than any later one",
        margin,
        lambda results: _figures(_along(results, "threshold", label)),
    ).quoting(
        "section 5.3, Fig. 3",
        "The improvement is significant in the lower range of ϵ and drops gradually",
    )


def _close_to_regular(label: str) -> Clause:
    def above(results: Results) -> float:
        """Return the percentage above regular factorisation without a threshold, at γ = 1."""
        at_one = [it for it in results if it.grid.get("space_gain", 1.0) == 1.0]
        values = line(at_one, label, "threshold")
        return 100 * (values[NO_THRESHOLD] / _mean(results, REGULAR) - 1)

    return Clause(
        f"without a threshold the error of {label} is within 1% of regular factorisation (γ = 1)",
        lambda results: 1.0 - abs(above(results)),
        lambda results: f"{above(results):+.2f}%",
    ).quoting(
        "section 5.3, Fig. 3",
        "When the epsilon is above 16 the RMSE is close to regular factorization.",
    )


def _divergence_rises(label: str) -> Clause:
    return Clause(
        f"the divergence of {label} rises with the threshold",
        lambda results: _fall(
            list(_along(results, "threshold", label).values())[::-1], LEVEL["kl"]
        ),
        lambda results: _figures(_along(results, "threshold", label)),
    ).quoting(
        "section 5.4, Fig. 4", "KL divergence increases along with the targeted level of privacy"
    )


def _divergence_falls(label: str) -> Clause:
    return Clause(
        f"the divergence of {label} falls with the space gain",
        lambda results: _fall(list(_along(results, "space_gain", label).values()), LEVEL["kl"]),
        lambda results: _figures(_along(results, "space_gain", label)),
    ).quoting(
        "section 5.4, Fig. 4",
        "compact models (higher γ or lower d) produce recommendations leaking less information",
    )


def _below_regular(label: str) -> Clause:
    def share(results: Results) -> float:
        values = [it.median for it in results if it.label == label]
        if not values:
            raise MissingResult(f"{label} has no result")
        return sum(value < _mean(results, REGULAR) for value in values) / len(values)

    return Clause(
        f"in most cases the divergence of {label} is below that of regular factorisation",
        lambda results: share(results) - 0.5,
        lambda results: f"in {share(results):.0%} of the cases",
    ).quoting(
        "section 5.4, Fig. 4",
        "The KL divergence of regular factorization without any differential privacy mechanism is"
        " higher for most of the cases.",
    )


def _below_threshold(label: str) -> Clause:
    def largest(results: Results) -> float:
        values = _along(results, "threshold", label)
        return max(value / at for at, value in values.items() if at != NO_THRESHOLD)

    return Clause(
        f"the divergence of {label} is less than a tenth of the threshold",
        lambda results: 0.1 - largest(results),
        lambda results: f"at most {largest(results):.4f} of it",
    ).quoting(
        "section 5.4, Fig. 4",
        "KL divergence which is a measurement on average is indeed much smaller than the target",
    )


def smaller_for_top_users(label: str) -> Clause:
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
    ).quoting(
        "section 5.4",
        "the KL divergence measured on this population is smaller by one order of magnitude",
    )


def better_for_top_users(label: str) -> Clause:
    """State that users with many ratings get better predictions."""
    return Clause(
        f"the error of {label} is lower for users who rate much, mean over thresholds and space"
        " gains",
        lambda results: _mean(results, label) - _mean(results, label + TOP_USERS),
        lambda results: (
            f"{_mean(results, label + TOP_USERS):.4f}, over all {_mean(results, label):.4f}"
        ),
    ).quoting("section 5.4", "the RMSE measured on this population is lower")


OF_ERROR: tuple[Callable[[str], Clause], ...] = (
    _error_falls,
    _gains_less_and_less,
    _close_to_regular,
)
OF_DIVERGENCE: tuple[Callable[[str], Clause], ...] = (
    _divergence_rises,
    _divergence_falls,
    _below_regular,
    _below_threshold,
)
LOWER_DIMENSION = rises(
    f"the divergence of {SKETCH} rises with the dimension", SKETCH, "rank"
).quoting(
    "section 5.4, Fig. 4",
    "compact models (higher γ or lower d) produce recommendations leaking less information",
)
