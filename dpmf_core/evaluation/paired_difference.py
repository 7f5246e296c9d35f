"""The difference of two methods over the same draws of split and noise: is it more than chance?"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class PairedDifference:
    """One method's figure minus the other's, per draw, in the figure's unit."""

    differences: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.differences)

    @property
    def interval(self) -> tuple[float, float]:
        """Student's 95% interval for the mean difference; infinite for one draw."""
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
        """-1 if the first is smaller beyond chance, 1 if it is larger, else 0.

        Beyond chance means that the interval does not contain 0.
        """
        low, high = self.interval
        if high < 0:
            return -1
        return int(low > 0)


def compare_pairs(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """Compare equally many figures, draw by draw.

    Raises
    ------
    ValueError
        If the numbers of figures differ or are 0.
    """
    if not first:
        raise ValueError("There is nothing to compare: no draw has finished.")
    return PairedDifference(
        tuple(one - other for one, other in zip(first, second, strict=True))
    )
