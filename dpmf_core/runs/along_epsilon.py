"""A method's line along epsilon: its value between measured points, and which epsilon is enough."""

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from dpmf_core.runs.measurements import Measured


@dataclass(frozen=True)
class NeededEpsilon:
    """The smallest epsilon that reaches a goal.

    Attributes
    ----------
    epsilon
        Its value, at a measured point or between two.
    is_measured
        Whether it was measured itself.
    is_first
        Whether nothing smaller was measured.
    """

    epsilon: float
    is_measured: bool = True
    is_first: bool = False

    @property
    def rounded(self) -> float:
        """The epsilon with two digits if it lies between measured points."""
        if self.is_measured:
            return self.epsilon
        return float(f"{self.epsilon:.2g}")


def interpolate(line: Iterable[Measured], epsilon: float) -> Measured | None:
    """A line's value at an epsilon, linear along log epsilon between measured points.

    At a measured epsilon it is that point. Between two it has the name of the nearer one, and its
    draws are the lowest, the median and the highest. None outside: nothing is extrapolated.
    """
    points = [(one.epsilon, one) for one in line if one.epsilon is not None]
    below = [point for point in points if point[0] <= epsilon]
    above = [point for point in points if point[0] >= epsilon]
    if not below or not above:
        return None
    low, before = max(below, key=lambda point: point[0])
    high, after = min(above, key=lambda point: point[0])
    if low == high:
        return before
    part = math.log(epsilon / low) / math.log(high / low)
    values = zip(_range(before), _range(after), strict=True)
    draws = tuple((1 - part) * left + part * right for left, right in values)
    nearer = before if part <= 0.5 else after
    return replace(
        nearer,
        epsilon=epsilon,
        draws=draws,
        seeds=(),
        totals=(),
    )


def _range(one: Measured) -> tuple[float, float, float]:
    return one.low, one.median, one.high


def needed_epsilon(
    line: Iterable[Measured],
    goal: float,
    of_draws: Callable[[tuple[float, ...]], float] = statistics.median,
    digits: int = 2,
) -> NeededEpsilon | None:
    """The smallest epsilon at which the value is at least the goal, such as a share.

    Between measured points the value is linear in log epsilon. It is never extrapolated.

    Parameters
    ----------
    line
        The measured points along epsilon.
    goal
        The value to reach.
    of_draws
        The value that counts at each epsilon, from its draws.
    digits
        The decimals that are compared.

    Returns
    -------
    NeededEpsilon or None
        None if no point reaches the goal.
    """
    points = sorted(
        (one.epsilon, of_draws(one.draws)) for one in line if one.epsilon is not None
    )
    for place, (epsilon, value) in enumerate(points):
        if round(value, digits) < round(goal, digits):
            continue
        if place == 0 or value <= goal:
            return NeededEpsilon(epsilon, is_first=place == 0)
        epsilon_before, value_before = points[place - 1]
        share = (goal - value_before) / (value - value_before)
        between = epsilon_before * math.exp(share * math.log(epsilon / epsilon_before))
        return NeededEpsilon(between, is_measured=False)
    return None
