"""The progress of a run or of another long computation, and notices that kernels are compiled."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes
    ----------
    step, steps : int
        Steps done and planned.
    seconds : float
        The time so far.
    curves : tuple of dict
        The curves by step. They are raw data and not released.
    part : (int, int) or None
        The place of the partition being read, and the number of partitions.
    """

    step: int
    steps: int
    seconds: float
    curves: tuple[dict[str, float], ...]
    part: tuple[int, int] | None = None


Tell = Callable[[Progress], None]
Stopped = Callable[[], bool]  # whether the work ends before its next step


def ignore(progress: Progress) -> None:
    """A progress report that does nothing."""


_listeners: list[Callable[[], None]] = []


@contextlib.contextmanager
def on_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` whenever a kernel is compiled inside the block: once on a machine."""
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.remove(tell)


def compiling() -> None:
    """Notify the listeners of `on_compiling`."""
    for tell in _listeners:
        tell()
