"""Statements of Vallet et al. 2014 about its figures that are computed.

All are about the excess in RMSE over the baseline, in percent. Where the paper gives a word and no
number ("stable", "similar"), the clause names the number used here.
"""

import functools
import itertools
import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np

from dpmf_core.papers.clauses import (
    Clause,
    MissingResult,
    Quantity,
    Results,
    above,
    along,
    between,
    fall,
    judged,
    line,
)
from dpmf_core.papers.compared_figures import gaps, part
from dpmf_core.papers.vallet_2014.protocol import RANDOM_ORDER
from dpmf_core.papers.vallet_2014.retention_excess import (
    QUARTERS,
    by_draw,
    mean_line,
    quarters,
    signed_rank,
)

# by their mean excess in Table 1, the smallest first
RANDOM = ("Online", "New", "Rated", "Static", "Slope One")
BY_TIME = ("Online", "Rated", "New", "Slope One", "Static")
in_points = functools.partial(along, form="{:.2f}".format)

# ---- forms of clauses ----------------------------------------------------------------------------


def _significant(
    words: str, differences: Callable[[Results], list[np.ndarray]]
) -> Clause:
    """State that every one of several differences (n_draws,) is significant.

    The margin is the smallest mean difference in points, negative if not significant.
    """

    def tested(results: Results) -> list[tuple[float, float, int]]:
        each = differences(results)
        return [
            (abs(float(values.mean())), signed_rank(tuple(values)), len(values))
            for values in each
        ]

    return judged(
        f"{words} (Wilcoxon's signed rank test over draws, p < .01; the source does not say what"
        " it pairs)",
        tested,
        lambda tested: min(mean if p < 0.01 else -mean for mean, p, _ in tested),
        lambda tested: (
            f"the largest p is {max(p for _, p, _ in tested):.3g}, with {tested[0][2]} pairs"
        ),
    )


def significant_order(labels: Sequence[str]) -> Clause:
    """State that each method of Fig. 1 differs from the next one in Table 1's order."""

    def differences(results: Results) -> list[np.ndarray]:
        draws = [by_draw(results, label) for label in labels]
        return [one - other for one, other in itertools.pairwise(draws)]

    words = "each method differs from the next one in the order of Table 1, means over shares"
    return _significant(words, differences)


SIGNIFICANT_QUARTERS = _significant(
    "the excess of each quarter of the users differs from 0, means over what has arrived",
    lambda results: [by_draw(results, f"Rated, {quarter}") for quarter in QUARTERS],
)

# ---- Fig. 2 --------------------------------------------------------------------------------------

CONVERGES = judged(
    "the excess of Rated falls as ratings arrive (mean over the quarters, rises of a quarter of"
    " a point aside)",
    mean_line,
    lambda means: fall(list(means.values()), 0.25),
    in_points,
)


FIG_2A = (
    CONVERGES,
    SIGNIFICANT_QUARTERS,
)


def _progress(results: Results, label: str) -> float:
    """The share of the whole fall that is reached when half has arrived."""
    values = mean_line(results, label)
    if 0.5 not in values:
        raise MissingResult(f"{label} was not measured with half arrived")
    start, *_, end = values.values()
    if start != end:
        return (start - values[0.5]) / abs(start - end)
    return math.nan


def _bucket_spread(results: Results, label: str) -> float:
    """The points between the highest and the lowest quarter, averaged along the axis."""
    columns = zip(
        *(result.values() for result in quarters(results, label)), strict=True
    )
    return statistics.fmean(max(column) - min(column) for column in columns)


def _top_difference(results: Results) -> float:
    _, _, third, fourth = (result.values() for result in quarters(results))
    return statistics.fmean(abs(a - b) for a, b in zip(third, fourth, strict=True))


def _less_by_time(
    words: str, quantity: Callable[[Results, str], float], name: str
) -> Clause:
    return above(
        words,
        lambda results: quantity(results, RANDOM_ORDER),
        lambda results: quantity(results, "Rated"),
        f"{name}: {{1:.2f}} by time, {{0:.2f}} in random order",
    )


FIG_2B = (
    CONVERGES,
    _less_by_time(
        "the excess falls more slowly by time than in random order: less of the fall is done when"
        " half has arrived",
        _progress,
        "share of the fall",
    ),
    _less_by_time(
        "the quarters differ less by time than in random order",
        _bucket_spread,
        "points between the highest and the lowest quarter",
    ),
    between(
        "the two more active quarters behave alike: they differ by less than half a point",
        _top_difference,
        high=0.5,
        name="mean difference in points",
    ),
    SIGNIFICANT_QUARTERS,
)

# ---- Fig. 3 --------------------------------------------------------------------------------------


def _months(results: Results, low: float, high: float) -> list[float]:
    return list(part(line(results, "Rated", "stretch"), low, high).values())


def _distance(low: float, high: float) -> Quantity:
    """The mean distance between New and Rated in these months."""

    def distance(results: Results) -> float:
        of_months = part(gaps(results, "New", "Rated", "stretch"), low, high)
        return statistics.fmean(map(abs, of_months.values()))

    return distance


def _rated_wins(results: Results) -> float:
    of_months = gaps(results, "New", "Rated", "stretch").values()
    return sum(gap > 0 for gap in of_months) / len(of_months)


FIG_3 = (
    Clause(
        "the excess of Rated falls after month 24 (spikes up to month 40 and rises of a quarter of"
        " a point aside)",
        lambda results: fall(
            [_months(results, 24, 24)[0], *_months(results, 41, 72)], 0.25
        ),
        lambda results: in_points(line(results, "Rated", "stretch")),
    ),
    between(
        "Rated is better than New in most months",
        _rated_wins,
        low=0.5,
        name="share of months",
    ),
    above(
        "in the last months New and Rated are closer to each other than up to month 24",
        _distance(4, 24),
        _distance(68, 72),
        "{1:.2f} points from month 68 on, {0:.2f} up to month 24",
    ),
)
