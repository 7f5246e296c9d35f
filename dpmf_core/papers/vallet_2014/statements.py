"""Statements of Vallet et al. 2014 about its figures, as clauses.

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
    near,
)
from dpmf_core.papers.vallet_2014.protocol import RANDOM_ORDER
from dpmf_core.papers.vallet_2014.retention_excess import (
    QUARTERS,
    between_places,
    by_draw,
    excess,
    gaps_between,
    mean_line,
    quarters,
    signed_rank,
)

# Table 1, mean excess in percent, the smallest first
RANDOM = {"Online": 0.37, "New": 1.98, "Rated": 2.09, "Static": 3.22, "Slope One": 4.28}
BY_TIME = {"Online": 0.12, "Rated": 1.02, "New": 2.33, "Slope One": 4.70, "Static": 6.75}
FEW_DATA = 0.4  # the static share from which "new" is better than "rated" in Fig. 1a
in_points = functools.partial(along, form="{:.2f}".format)

# ---- forms of clauses ----------------------------------------------------------------------------


def _better(words: str, better: str, worse: str, low: float = 0, high: float = 1) -> Clause:
    """State that one line is below another at every static share from `low` to `high`."""
    return judged(
        words,
        lambda results: between_places(
            gaps_between(results, worse, better, "static_share"), low, high
        ),
        lambda gaps: min(gaps.values()),
        lambda gaps: f"{worse} less {better}, in points: {in_points(gaps)}",
    )


def _published(label: str, value: float) -> Clause:
    """State that a mean excess equals the published one to within half of it."""
    words = f"the mean excess of {label} is {value:.2f}%, to within half of it"
    return near(words, excess(label), value, 0.5)


def _baseline_is_best(labels: Sequence[str]) -> Clause:
    def smallest(results: Results) -> tuple[float, str]:
        if missing := set(labels) - {it.label for it in results}:
            raise MissingResult(f"{', '.join(sorted(missing))} has no result")
        return min((it.median, it.label) for it in results if it.label in labels)

    return judged(
        "keeping everything is the most accurate, at every share",
        smallest,
        lambda smallest: smallest[0],
        lambda smallest: "the smallest excess is {:.2f}%, of {}".format(*smallest),
    )


def _significant(words: str, differences: Callable[[Results], list[np.ndarray]]) -> Clause:
    """State that every one of several differences (n_draws,) is significant.

    The margin is the smallest mean difference in points, negative if not significant.
    """

    def tested(results: Results) -> list[tuple[float, float, int]]:
        each = differences(results)
        return [(abs(float(it.mean())), signed_rank(tuple(it)), len(it)) for it in each]

    return judged(
        f"{words} (Wilcoxon's signed rank test over draws, p < .01; the source does not say what"
        " it pairs)",
        tested,
        lambda tested: min(mean if p < 0.01 else -mean for mean, p, _ in tested),
        lambda tested: (
            f"the largest p is {max(p for _, p, _ in tested):.3g}, with {tested[0][2]} pairs"
        ),
    )


def _significant_order(labels: Sequence[str]) -> Clause:
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

# ---- Table 1 and Fig. 1 --------------------------------------------------------------------------

TABLE_RANDOM = tuple(_published(label, value) for label, value in RANDOM.items())
TABLE_TIME = (
    *(_published(label, value) for label, value in BY_TIME.items()),
    judged(
        "Rated is much closer to the baseline than to Slope One: its excess is less than half",
        lambda results: (excess("Rated")(results), excess("Slope One")(results)),
        lambda means: means[1] / 2 - means[0],
        lambda means: "Rated {:.2f}%, Slope One {:.2f}%".format(*means),
    ),
)
FIG_1A = (
    _baseline_is_best(tuple(RANDOM)),
    _better("New is better than Rated from a share of .4 on", "New", "Rated", FEW_DATA),
    _better("New is worse than Rated at lower shares", "Rated", "New", high=FEW_DATA - 0.05),
    _better("at the highest share Static is better than Rated, too", "Static", "Rated", 0.9),
    _better("Rated is better than Static at lower shares", "Rated", "Static", high=0.35),
    _significant_order(tuple(RANDOM)),
)


def _spread(results: Results) -> float:
    values = line(results, "Rated", "static_share").values()
    return max(values) - min(values)


FIG_1B = (
    _baseline_is_best(tuple(BY_TIME)),
    _better("Rated is better than New at every share", "Rated", "New"),
    above(
        "Rated is better than Static, means over the shares",
        excess("Static"),
        excess("Rated"),
        "Rated {1:.2f}%, Static {0:.2f}%",
    ),
    _better("Online is better than Rated at every share", "Online", "Rated"),
    between(
        "the excess of Rated is stable over the shares: it moves by less than a point",
        _spread,
        high=1.0,
        name="points between its highest and lowest",
    ),
    _significant_order(tuple(BY_TIME)),
)

# ---- Fig. 2 --------------------------------------------------------------------------------------

CONVERGES = judged(
    "the excess of Rated falls as ratings arrive (mean over the quarters, rises of a quarter of"
    " a point aside)",
    mean_line,
    lambda means: fall(list(means.values()), 0.25),
    in_points,
)


def _at_end(results: Results) -> list[float]:
    """Return the excess of each quarter once all has arrived."""
    return [list(it.values())[-1] for it in quarters(results)]


FIG_2A = (
    CONVERGES,
    judged(
        "the more a quarter of the users rates, the smaller its excess (means over what has"
        " arrived)",
        lambda results: {it: excess(f"Rated, {it}")(results) for it in QUARTERS},
        lambda means: min(one - other for one, other in itertools.pairwise(means.values())),
        lambda means: ", ".join(f"{quarter} {mean:.2f}%" for quarter, mean in means.items()),
    ),
    between(
        "once all has arrived, the two more active quarters (our reading of a moderate amount) are"
        " within a point of the baseline",
        lambda results: max(map(abs, _at_end(results)[2:])),
        high=1.0,
        name="the larger excess, in points,",
    ),
    between(
        "once all has arrived, the least active quarter is still worse than with the baseline",
        lambda results: _at_end(results)[0],
        low=0.0,
        name="its excess in points",
    ),
    SIGNIFICANT_QUARTERS,
)


def _progress(results: Results, label: str) -> float:
    """Return the share of the whole fall that is reached when half has arrived."""
    values = mean_line(results, label)
    if 0.5 not in values:
        raise MissingResult(f"{label} was not measured with half arrived")
    start, *_, end = values.values()
    return (start - values[0.5]) / abs(start - end) if start != end else math.nan


def _bucket_spread(results: Results, label: str) -> float:
    """Return the points between the highest and the lowest quarter, averaged along the axis."""
    columns = zip(*(it.values() for it in quarters(results, label)), strict=True)
    return statistics.fmean(max(column) - min(column) for column in columns)


def _top_difference(results: Results) -> float:
    _, _, third, fourth = (it.values() for it in quarters(results))
    return statistics.fmean(abs(a - b) for a, b in zip(third, fourth, strict=True))


def _less_by_time(words: str, quantity: Callable[[Results, str], float], name: str) -> Clause:
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


def _months(results: Results, low: float, high: float, label: str = "Rated") -> list[float]:
    return list(between_places(line(results, label, "stretch"), low, high).values())


def _mean_of_months(low: float, high: float) -> Quantity:
    return lambda results: statistics.fmean(_months(results, low, high))


def _peak(label: str) -> Quantity:
    return lambda results: max(_months(results, 25, 40, label))


def _distance(low: float, high: float) -> Quantity:
    """Return the mean distance between New and Rated in these months."""

    def distance(results: Results) -> float:
        gaps = between_places(gaps_between(results, "New", "Rated", "stretch"), low, high)
        return statistics.fmean(map(abs, gaps.values()))

    return distance


def _rated_wins(results: Results) -> float:
    gaps = gaps_between(results, "New", "Rated", "stretch").values()
    return sum(gap > 0 for gap in gaps) / len(gaps)


FIG_3 = (
    between(
        "up to month 24 the excess of Rated is about 2%",
        _mean_of_months(4, 24),
        1.0,
        3.0,
        "its mean in %",
    ),
    above(
        "up to month 40 the excess of Rated rises above its mean up to month 24 (the source names"
        " no first month; here it is 25)",
        _peak("Rated"),
        _mean_of_months(4, 24),
        "at most {:.2f}%, mean before {:.2f}%",
    ),
    above(
        "in these months New rises higher than Rated",
        _peak("New"),
        _peak("Rated"),
        "New at most {:.2f}%, Rated {:.2f}%",
    ),
    Clause(
        "the excess of Rated falls after month 24 (spikes up to month 40 and rises of a quarter of"
        " a point aside)",
        lambda results: fall([_months(results, 24, 24)[0], *_months(results, 41, 72)], 0.25),
        lambda results: in_points(line(results, "Rated", "stretch")),
    ),
    between(
        "around month 55 it is smaller than 1%",
        _mean_of_months(53, 57),
        high=1.0,
        name="its mean in %",
    ),
    between(
        "from month 68 on it is within a quarter of a point of 0",
        lambda results: max(map(abs, _months(results, 68, 72))),
        high=0.25,
        name="farthest from 0, in points",
    ),
    between(
        "Rated is better than New in most months", _rated_wins, low=0.5, name="share of months"
    ),
    above(
        "in the last months New and Rated are closer to each other than up to month 24",
        _distance(4, 24),
        _distance(68, 72),
        "{1:.2f} points from month 68 on, {0:.2f} up to month 24",
    ),
)
