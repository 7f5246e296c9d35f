"""The progress of a run or of another long computation."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The progress of a run: steps done and planned, seconds so far, and the curves by step.

    Curves are raw data and not released. part: the place of the partition being read, and the
    number of partitions.
    """

    step: int
    steps: int
    seconds: float
    curves: tuple[dict[str, float], ...]
    part: tuple[int, int] | None = None


Report = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """A progress report that does nothing."""
