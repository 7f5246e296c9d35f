"""Statements of Balu & Furon 2016 about its figures that are computed.

Where the paper gives a word and no number ("close", "much smaller"), the clause names the number
used here.
"""

import functools
import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from dpmf_core.papers.balu_2016.protocol import HASHING, NO_THRESHOLD, REGULAR, SKETCH
from dpmf_core.papers.clauses import (
    Clause,
    MissingResult,
    Results,
    above,
    judged,
    line,
    of_label,
)
from dpmf_core.papers.compared_figures import MeasuredFigure, MeasuredLine

ALL = (SKETCH, HASHING, REGULAR)
Best = dict[tuple[float, float], float]  # the best λ by dimension and space gain


def _best_place(results: Results, label: str) -> float:
    """The λ of a method's smallest error, interpolated as in `_lowest`."""
    return _lowest(
        {
            at: median
            for at, median in line(results, label, "regularisation").items()
            if at
        }
    )


def _rise_beyond_best(results: Results, label: str) -> float:
    """The rise of a method's error from the best to the largest λ."""
    values = list(line(results, label, "regularisation").values())
    return values[-1] - min(values)


def _at_zero(results: Results, label: str) -> float:
    """A method's error without regularisation."""
    values = line(results, label, "regularisation")
    if 0.0 not in values or len(values) < 2:
        raise MissingResult(f"{label} has no result at λ = 0, or nowhere else")
    return values[0.0]


def _rise_at_zero(results: Results, label: str) -> float:
    """How far the error without regularisation is above the smallest with some."""
    values = line(results, label, "regularisation")
    return _at_zero(results, label) - min(value for at, value in values.items() if at)


def _of_all(
    words: str,
    figure: Callable[[Results, str], float],
    margin: Callable[[Iterable[float]], float],
    form: str,
) -> Clause:
    """State something about a figure of each method."""
    return judged(
        words,
        lambda results: {label: figure(results, label) for label in ALL},
        lambda figures: margin(figures.values()),
        lambda figures: ", ".join(
            f"{label} {form.format(value)}" for label, value in figures.items()
        ),
    )


FIG_1 = (
    _of_all(
        "the best λ is around .1 in all three: above .05 and below .2",
        _best_place,
        lambda places: min(
            min(math.log(best / 0.05), math.log(0.2 / best)) for best in places
        ),
        "{:.3f}",
    ),
    judged(
        "at the largest λ all three err more than at the best",
        lambda results: min(_rise_beyond_best(results, label) for label in ALL),
        lambda rise: rise,
        "by at least {:.4f}".format,
    ),
    _of_all(
        "at λ = 0 all three err more than at the best λ", _rise_at_zero, min, "{:.4f}"
    ),
    *(
        above(
            f"from the best λ to λ = 0 the error rises less in {SKETCH} than in {other}",
            functools.partial(_rise_at_zero, label=other),
            functools.partial(_rise_at_zero, label=SKETCH),
            f"{SKETCH} {{1:.4f}}, {other} {{0:.4f}}",
        )
        for other in (HASHING, REGULAR)
    ),
)


def best_regularisations(results: Results) -> Best:
    """The best λ by dimension and space gain.

    It is the lowest point of a parabola in log λ through the best measured place and its
    neighbours. If the best measured place is at an end, it is that place.
    """
    cells: dict[tuple[float, float], dict[float, float]] = {}
    for result in results:
        place = (float(result.grid["rank"]), float(result.grid["space_gain"]))
        cells.setdefault(place, {})[float(result.grid["regularisation"])] = (
            result.median
        )
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
    left = (x[1] - x[0]) * (y[1] - y[2])
    right = (x[1] - x[2]) * (y[1] - y[0])
    if left == right:
        return places[at]
    return math.exp(
        x[1] - ((x[1] - x[0]) * left - (x[1] - x[2]) * right) / (2 * (left - right))
    )


def _of_best(words: str, margin: Callable[[Best], float]) -> Clause:
    """State something about the best λ by dimension and space gain."""
    return judged(
        words,
        best_regularisations,
        margin,
        lambda best: "; ".join(
            f"d {d:g}, γ {gamma:g}: λ {value:.3f}" for (d, gamma), value in best.items()
        ),
    )


def _decades_by_gain(best: Best) -> float:
    """The smallest fall of the best λ in decades, from smallest to largest space gain."""
    ranks, gains = zip(*best, strict=True)
    return min(
        math.log10(best[rank, min(gains)] / best[rank, max(gains)])
        for rank in set(ranks)
    )


def _decades_by_rank(best: Best) -> float:
    """The mean fall of the best λ in decades, from largest to smallest dimension."""
    ranks, gains = zip(*best, strict=True)
    falls = (
        best[max(ranks), gain] / best[min(ranks), gain] for gain in sorted(set(gains))
    )
    return statistics.fmean(map(math.log10, falls))


FIG_2 = (
    _of_best(
        "the best λ is below .01 in more than half of the sizes",
        lambda best: sum(value < 0.01 for value in best.values()) / len(best) - 0.5,
    ),
    _of_best(
        "with the largest d and the smallest γ it is at least .01",
        lambda best: math.log10(best[max(best)[0], min(best)[1]] / 0.01) + 1e-9,
    ),
    _of_best("it falls as d falls, mean over γ", _decades_by_rank),
    _of_best("it falls as γ rises, at each d", _decades_by_gain),
)


def _first_step_is_largest(errors: Sequence[float]) -> float:
    steps = [before - after for before, after in itertools.pairwise(errors)]
    return steps[0] - max(steps[1:])


def of_error(label: str) -> Clause:
    """What is computed of what Fig. 3 states of a sketch's error."""
    by_threshold = MeasuredLine(
        label=label,
        along="threshold",
        averaged=True,
        none=NO_THRESHOLD,
    )
    return judged(
        f"the first rise of the threshold helps {label} more than any later one",
        by_threshold,
        lambda errors: _first_step_is_largest(list(errors.values())),
        by_threshold.words,
    )


def of_divergence(label: str) -> tuple[Clause, Clause]:
    """What is computed of what Fig. 4 states of a sketch's divergence."""
    by_threshold = MeasuredLine(
        label=label,
        along="threshold",
        averaged=True,
    )

    def share(results: Results) -> float:
        values = of_label(results, label)
        regular = MeasuredFigure(label=REGULAR, over="mean")(results)
        return sum(place.median < regular for place in values) / len(values)

    def largest(results: Results) -> float:
        values = by_threshold(results)
        return max(value / at for at, value in values.items() if at != NO_THRESHOLD)

    return (
        judged(
            f"in most cases the divergence of {label} is below that of regular factorisation",
            share,
            lambda share: share - 0.5,
            "in {:.0%} of the cases".format,
        ),
        judged(
            f"the divergence of {label} is less than a tenth of the threshold",
            largest,
            lambda largest: 0.1 - largest,
            "at most {:.4f} of it".format,
        ),
    )
