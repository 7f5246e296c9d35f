"""Exponents of measured power laws: slopes of log error over log size, with intervals."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import stdtrit

from dpmf_core.papers.clauses import MissingResult

CONFIDENCE = 0.95
SMALLEST = 1e-12  # an error below it counts as this


@dataclass(frozen=True)
class Exponent:
    """error ~ x^value. low, high: confidence interval. places: number of x."""

    value: float
    low: float
    high: float
    places: int

    def __str__(self) -> str:
        return f"{self.value:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def exponent(draws: Iterable[tuple[float, float]], confidence: float = CONFIDENCE) -> Exponent:
    """Return the exponent of error over x by least squares on logarithms, with Student's interval.

    draws: (x, error) of every run, x positive. Raises MissingResult for fewer than three draws or
    two x.
    """
    logs = [(math.log(x), math.log(max(error, SMALLEST))) for x, error in draws]
    places = len({x for x, _ in logs})
    if len(logs) < 3 or places < 2:
        raise MissingResult(f"an exponent needs three draws at two sizes, there are {len(logs)}")
    mean_x, mean_y = (math.fsum(column) / len(logs) for column in zip(*logs, strict=True))
    spread = math.fsum((x - mean_x) ** 2 for x, _ in logs)
    slope = math.fsum((x - mean_x) * (y - mean_y) for x, y in logs) / spread
    rest = math.fsum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in logs)
    deviation = math.sqrt(rest / (len(logs) - 2) / spread)
    reach = float(stdtrit(len(logs) - 2, 0.5 + confidence / 2)) * deviation
    return Exponent(slope, slope - reach, slope + reach, places)
