"""Quantities for the clauses of Vallet et al. 2014: means, gaps and the signed rank test."""

import functools
import statistics

import numpy as np

from dpmf_core.papers.clauses import MissingResult, Results, line
from dpmf_core.papers.vallet_2014.protocol import DRAWS
from dpmf_core.papers.vallet_2014.retention_excess import QUARTERS

Line = dict[float, float]  # along an axis


def excess(results: Results, label: str) -> float:
    """Return a method's mean excess over all places and draws; raise MissingResult."""
    draws = [draw for it in results if it.label == label for draw in it.draws]
    if not draws:
        raise MissingResult(f"{label} has no result")
    return statistics.fmean(draws)


def by_draw(results: Results, label: str) -> np.ndarray:
    """Return a method's mean excess in each draw, (n_draws,); raise MissingResult."""
    lines = [it.draws for it in results if it.label == label]
    if not lines or len({len(draws) for draws in lines}) != 1:
        raise MissingResult(f"{label} lacks draws")
    return np.mean(lines, axis=0)  # type: ignore[no-any-return]


@functools.lru_cache(256)
def signed_rank(differences: tuple[float, ...]) -> float:
    """Return the two-sided p of Wilcoxon's signed rank test; 1 if nothing differs.

    Raises MissingResult for too few pairs to reach p < .01.
    """
    if len(differences) < DRAWS:
        raise MissingResult(f"{len(differences)} draws are too few for a signed rank test")
    if min(differences) > 0 or max(differences) < 0:
        return 2.0 ** (1 - len(differences))  # the smallest there is, without ranking
    from scipy import stats  # half a second, of every start

    return float(stats.wilcoxon(differences).pvalue) if any(differences) else 1.0


def gaps_between(results: Results, larger: str, smaller: str, name: str) -> Line:
    """Return how far one line is above another, in points."""
    above, below = line(results, larger, name), line(results, smaller, name)
    if above.keys() != below.keys():
        raise MissingResult(f"{larger} and {smaller} were not measured at the same places")
    return {at: above[at] - below[at] for at in above}


def mean_line(results: Results, label: str) -> Line:
    """Return the mean over the quarters of users, by the share that has arrived."""
    lines = [line(results, f"{label}, {quarter}", "arrived_share") for quarter in QUARTERS]
    return {at: statistics.fmean(it[at] for it in lines) for at in lines[0]}


def points_text(values: Line) -> str:
    return ", ".join(f"{value:.2f} at {at:g}" for at, value in values.items())


def values_within(values: Line, low: float, high: float) -> list[float]:
    chosen_values = [value for at, value in values.items() if low <= at <= high]
    if not chosen_values:
        raise MissingResult(f"nothing was measured from {low:g} to {high:g}")
    return chosen_values
