"""The smallest epsilon at which a measured line is good enough."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class NeededEpsilon:
    """An epsilon that is good enough. low, high: the measured ones that it lies between; where it
    was measured itself, both are that one. is_first: whether nothing smaller was measured.
    """

    epsilon: float
    low: float
    high: float
    is_first: bool = False

    @property
    def is_measured(self) -> bool:
        return self.low == self.high


def first_reaching(
    line: Iterable[tuple[float, float]],
    target: float,
    *,
    larger_is_better: bool = False,
    digits: int = 12,
) -> NeededEpsilon | None:
    """The smallest epsilon at which a line is as good as the target, log-linear between measured
    points; None where no point is, never extrapolated.

    line: (epsilon, value) of measured points. digits: decimals at which values and target are
    printed; what reads as good is good.
    """
    sign = -1.0 if larger_is_better else 1.0
    points = sorted((epsilon, sign * value) for epsilon, value in line)
    threshold = sign * target
    for place, (epsilon, at) in enumerate(points):
        if round(at, digits) > round(threshold, digits):
            continue
        if place == 0 or at >= threshold:
            return NeededEpsilon(epsilon, epsilon, epsilon, is_first=place == 0)
        before, was = points[place - 1]
        share = (was - threshold) / (was - at)
        return NeededEpsilon(before * math.exp(share * math.log(epsilon / before)), before, epsilon)
    return None
