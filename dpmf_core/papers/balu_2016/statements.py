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
from dpmf_core.papers.clauses import (
    Clause,
    MissingResult,
    Quantity,
    Results,
    above,
    fall,
    judged,
    line,
    of_label,
    rises,
)

ALL = (SKETCH, HASHING, REGULAR)
COMPACT = "compact models (higher γ or lower d) produce recommendations leaking less information"
Best = dict[tuple[float, float], float]  # the best λ by dimension and space gain


def _along(results: Results, name: str, label: str) -> dict[float, float]:
    """Return a method's medians by the value of one parameter, averaged over everything else."""
    groups: dict[float, list[float]] = {}
    for it in of_label(results, label):
        groups.setdefault(float(it.grid[name]), []).append(it.median)
    return {value: statistics.fmean(groups[value]) for value in sorted(groups)}


def _mean(label: str) -> Quantity:
    return lambda results: statistics.fmean(it.median for it in of_label(results, label))


def _figures(values: Mapping[float, float]) -> str:
    return ", ".join(
        f"{value:.4f} at {'none' if at == NO_THRESHOLD else f'{at:g}'}"
        for at, value in values.items()
    )


def _at_zero(results: Results, label: str) -> tuple[float, float]:
    """Return the error without regularisation, and how far it is above the smallest with some."""
    values = line(results, label, "regularisation")
    if 0.0 not in values or len(values) < 2:
        raise MissingResult(f"{label} has no result at λ = 0, or nowhere else")
    return values[0.0], values[0.0] - min(value for at, value in values.items() if at)


def _best_places(results: Results) -> dict[str, float]:
    """Return the λ of each method's smallest error, interpolated as in `_lowest`."""
    lines = {label: line(results, label, "regularisation") for label in ALL}
    return {
        label: _lowest({at: value for at, value in values.items() if at})
        for label, values in lines.items()
    }


def _rise_beyond_best(results: Results) -> float:
    """Return the smallest rise among methods from the best to the largest λ."""
    lines = [list(line(results, label, "regularisation").values()) for label in ALL]
    return min(values[-1] - min(values) for values in lines)


def _at_zero_better(words: str, other: str, place: int, quote: str) -> Clause:
    """State that a figure of `_at_zero` is smaller for the sketch than for another method."""
    return above(
        words,
        lambda results: _at_zero(results, other)[place],
        lambda results: _at_zero(results, SKETCH)[place],
        f"{SKETCH} {{1:.4f}}, {other} {{0:.4f}}",
    ).quoting("section 5.2, Fig. 1", quote)


FIG_1 = (
    judged(
        "the best λ is around .1 in all three: above .05 and below .2",
        _best_places,
        lambda places: min(
            min(math.log(best / 0.05), math.log(0.2 / best)) for best in places.values()
        ),
        lambda places: ", ".join(f"{label} {best:.3f}" for label, best in places.items()),
    ).quoting("section 5.2, Fig. 1", "The optimal λ is around 0.1"),
    judged(
        "at the largest λ all three err more than at the best",
        _rise_beyond_best,
        lambda rise: rise,
        lambda rise: f"by at least {rise:.4f}",
    ).quoting("section 5.2, Fig. 1", "the RMSE increases with λ beyond this value"),
    judged(
        "at λ = 0 all three err more than at the best λ",
        lambda results: {label: _at_zero(results, label)[1] for label in ALL},
        lambda rises: min(rises.values()),
        lambda rises: ", ".join(f"{label} {rise:.4f}" for label, rise in rises.items()),
    ).quoting(
        "section 5.2, Fig. 1", "When we decrease λ below the optimal value, the RMSE degrades"
    ),
    *(
        _at_zero_better(
            f"from the best λ to λ = 0 the error rises less in {SKETCH} than in {other}",
            other,
            1,
            "The degradation of count sketch factorization is not as worse as the other two",
        )
        for other in (HASHING, REGULAR)
    ),
    *(
        _at_zero_better(
            f"at λ = 0 {SKETCH} is more accurate than {other}",
            other,
            0,
            "Even when the regularization is turned off [...] our scheme performs better than the"
            " other two, for the same d.",
        )
        for other in (HASHING, REGULAR)
    ),
)


def best_regularisations(results: Results) -> Best:
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


def _of_best(words: str, margin: Callable[[Best], float]) -> Clause:
    """State something about the best λ by dimension and space gain."""
    return judged(
        words,
        best_regularisations,
        margin,
        lambda best: "; ".join(
            f"d {d:g}, γ {gamma:g}: λ {it:.3f}" for (d, gamma), it in best.items()
        ),
    )


def _decades_by_gain(best: Best) -> float:
    """Return the smallest fall of the best λ in decades, from smallest to largest space gain."""
    ranks, gains = zip(*best, strict=True)
    return min(math.log10(best[rank, min(gains)] / best[rank, max(gains)]) for rank in set(ranks))


def _decades_by_rank(best: Best) -> float:
    """Return the mean fall of the best λ in decades, from largest to smallest dimension."""
    ranks, gains = zip(*best, strict=True)
    falls = (best[max(ranks), gain] / best[min(ranks), gain] for gain in sorted(set(gains)))
    return statistics.fmean(map(math.log10, falls))


FIG_2 = (
    _of_best(
        "the best λ is below .01 in more than half of the sizes",
        lambda best: sum(it < 0.01 for it in best.values()) / len(best) - 0.5,
    ).quoting("section 5.2, Fig. 2", "The optimal value is often lower than"),
    _of_best(
        "with the largest d and the smallest γ it is at least .01",
        lambda best: math.log10(best[max(best)[0], min(best)[1]] / 0.01) + 1e-9,
    ).quoting(
        "section 5.2, Fig. 2", "except in the top right corner, where γ is small while d is big"
    ),
    _of_best("it falls as d falls, mean over γ", _decades_by_rank).quoting(
        "section 5.2, Fig. 2",
        "value diminishes with d: a smaller model requires less regularization",
    ),
    _of_best("it falls as γ rises, at each d", _decades_by_gain).quoting(
        "section 5.2, Fig. 2", "lowers with increase in γ and it is true even for a fixed d"
    ),
)


def _of_line(
    words: str, label: str, margin: Callable[[Sequence[float]], float], name: str = "threshold"
) -> Clause:
    """State something about a method's medians along one parameter."""
    return judged(
        words,
        lambda results: _along(results, name, label),
        lambda medians: margin(list(medians.values())),
        _figures,
    )


def _first_step_is_largest(errors: Sequence[float]) -> float:
    steps = [before - after for before, after in itertools.pairwise(errors)]
    return steps[0] - max(steps[1:])


def of_error(label: str) -> tuple[Clause, ...]:
    """Return what Fig. 3 states of a sketch's error."""

    def percent_above(results: Results) -> float:
        """Return the percentage above regular factorisation without a threshold, at γ = 1."""
        at_one = [it for it in results if it.grid.get("space_gain", 1.0) == 1.0]
        values = line(at_one, label, "threshold")
        return 100 * (values[NO_THRESHOLD] / _mean(REGULAR)(results) - 1)

    return (
        _of_line(
            f"the error of {label} falls as the threshold rises",
            label,
            lambda errors: fall(errors, LEVEL["rmse"]),
        ).quoting(
            "section 5.3, Fig. 3", "lowering the privacy by increasing ϵ improves the utility"
        ),
        _of_line(
            f"the first rise of the threshold helps {label} more than any later one",
            label,
            _first_step_is_largest,
        ).quoting(
            "section 5.3, Fig. 3",
            "The improvement is significant in the lower range of ϵ and drops gradually",
        ),
        judged(
            f"without a threshold the error of {label} is within 1% of regular factorisation"
            " (γ = 1)",
            percent_above,
            lambda percent: 1.0 - abs(percent),
            lambda percent: f"{percent:+.2f}%",
        ).quoting(
            "section 5.3, Fig. 3",
            "When the epsilon is above 16 the RMSE is close to regular factorization.",
        ),
    )


def of_divergence(label: str) -> tuple[Clause, ...]:
    """Return what Fig. 4 states of a sketch's divergence."""

    def share(results: Results) -> float:
        values = of_label(results, label)
        return sum(it.median < _mean(REGULAR)(results) for it in values) / len(values)

    def largest(results: Results) -> float:
        values = _along(results, "threshold", label)
        return max(value / at for at, value in values.items() if at != NO_THRESHOLD)

    clauses = (
        _of_line(
            f"the divergence of {label} rises with the threshold",
            label,
            lambda medians: fall(medians[::-1], LEVEL["kl"]),
        ),
        _of_line(
            f"the divergence of {label} falls with the space gain",
            label,
            lambda medians: fall(medians, LEVEL["kl"]),
            "space_gain",
        ),
        judged(
            f"in most cases the divergence of {label} is below that of regular factorisation",
            share,
            lambda share: share - 0.5,
            lambda share: f"in {share:.0%} of the cases",
        ),
        judged(
            f"the divergence of {label} is less than a tenth of the threshold",
            largest,
            lambda largest: 0.1 - largest,
            lambda largest: f"at most {largest:.4f} of it",
        ),
    )
    quotes = (
        "KL divergence increases along with the targeted level of privacy",
        COMPACT,
        "The KL divergence of regular factorization without any differential privacy mechanism is"
        " higher for most of the cases.",
        "KL divergence which is a measurement on average is indeed much smaller than the target",
    )
    return tuple(
        clause.quoting("section 5.4, Fig. 4", quote)
        for clause, quote in zip(clauses, quotes, strict=True)
    )


def smaller_for_top_users(label: str) -> Clause:
    return judged(
        f"over the busiest users the divergence of {label} is an order of magnitude smaller than"
        " over all",
        lambda results: (_mean(label)(results), _mean(label + TOP_USERS)(results)),
        lambda means: means[0] - ORDER_OF_MAGNITUDE * means[1],
        lambda means: "{1:.4f} of {0:.4f}, mean over thresholds and space gains".format(*means),
    ).quoting(
        "section 5.4",
        "the KL divergence measured on this population is smaller by one order of magnitude",
    )


def better_for_top_users(label: str) -> Clause:
    return above(
        f"the error of {label} is lower for users who rate much, mean over thresholds and space"
        " gains",
        _mean(label),
        _mean(label + TOP_USERS),
        "{1:.4f}, over all {0:.4f}",
    ).quoting("section 5.4", "the RMSE measured on this population is lower")


LOWER_DIMENSION = rises(
    f"the divergence of {SKETCH} rises with the dimension", SKETCH, "rank"
).quoting("section 5.4, Fig. 4", COMPACT)
