"""Two methods over the same draws of split and noise: how far apart they are, and whether that
can be told from chance.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class PairedDifference:
    """differences: one method's figure less the other's, a draw each, in the figure's unit."""

    differences: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.differences)

    @property
    def interval(self) -> tuple[float, float]:
        """Student's 95% interval for the mean difference over draws; all numbers from one draw
        alone.
        """
        k = len(self.differences)
        if k < 2:
            return float("-inf"), float("inf")
        from scipy.special import stdtrit  # loaded when first needed

        half = (
            float(stdtrit(k - 1, (1 + CONFIDENCE) / 2))
            * statistics.stdev(self.differences)
            / k**0.5
        )
        return self.mean - half, self.mean + half

    @property
    def clear(self) -> int:
        """-1 where the first is smaller in every draw and the interval lies below 0, 1 where it
        is larger likewise, else 0.
        """
        low, high = self.interval
        if max(self.differences) < 0 and high < 0:
            return -1
        return int(min(self.differences) > 0 and low > 0)


def compare_pairs(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """Of equally many figures, draw by draw.

    Raises ValueError where their numbers differ or there are none.
    """
    if not first:
        raise ValueError("nothing to compare: no draw has finished")
    return PairedDifference(tuple(one - other for one, other in zip(first, second, strict=True)))
