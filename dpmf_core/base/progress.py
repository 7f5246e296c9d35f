"""The progress of a run or of another long computation."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The progress of a run: steps done and to do, seconds so far, and the per-step curves (raw
    data, not released). part: of ratings in parts, which one is being read and how many there are.
    """

    step: int
    steps: int
    seconds: float
    curves: tuple[dict[str, float], ...]
    part: tuple[int, int] | None = None


Report = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """A progress report that does nothing."""
