"""The gain over guessing that private runs keep: of the way from the trivial predictor to the twin
without privacy, the share that they go; and the epsilon that keeps a wanted share.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.needed_epsilon import NeededEpsilon, first_reaching

Draws = Sequence[tuple[float, ...]]  # (private, twin, trivial) of one draw each, as errors
DIGITS = 2  # decimals of a share that are printed: 80%


def shares_kept(draws: Draws) -> tuple[float, ...] | None:
    """The share of each draw, 1 for all of the gain, below 0 for worse than guessing; None where
    there is no draw, or where in one of them the twin gains nothing.
    """
    if not draws or any(trivial <= twin for _, twin, trivial in draws):
        return None
    return tuple((trivial - private) / (trivial - twin) for private, twin, trivial in draws)


def share_kept(draws: Draws) -> float | None:
    """The median share; of the medians where in some draw the twin gains nothing, None where it
    gains nothing at their median either.
    """
    if (shares := shares_kept(draws)) is not None:
        return statistics.median(shares)
    if not draws:
        return None
    private, twin, trivial = (statistics.median(column) for column in zip(*draws, strict=True))
    return (trivial - private) / (trivial - twin) if twin < trivial else None


@dataclass(frozen=True)
class KeptGain:
    """What a method keeps at a measured epsilon: the share of each draw."""

    epsilon: float
    shares: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.shares)


def kept_at(epsilon: float, draws: Draws) -> KeptGain | None:
    """What these draws keep; None where they say nothing of it."""
    shares = shares_kept(draws)
    if shares is None:
        share = share_kept(draws)
        shares = None if share is None else (share,)
    return None if shares is None else KeptGain(epsilon, shares)


def kept_along(grid: EpsilonGrid) -> list[KeptGain]:
    """What a method keeps at each measured epsilon of a grid, ascending; without those that
    nothing can be said of.
    """
    gains = (kept_at(point.epsilon, point.beside) for point in grid.points)
    return [it for it in gains if it is not None]


@dataclass(frozen=True)
class Keeping:
    """The epsilon that a share takes: by the median draw, by the best draw at each epsilon, and by
    the worst; None of each that does not reach it anywhere.
    """

    median: NeededEpsilon | None
    best: NeededEpsilon | None
    worst: NeededEpsilon | None


def first_keeping(line: Sequence[KeptGain], share: float) -> Keeping:
    """The smallest epsilon that keeps a share, from what was measured: log-linear between measured
    points, nothing beyond them. A share that is printed as the wanted one is kept.
    """

    def at(of: Callable[[tuple[float, ...]], float]) -> NeededEpsilon | None:
        points = [(it.epsilon, of(it.shares)) for it in line]
        return first_reaching(points, share, larger_is_better=True, digits=DIGITS)

    return Keeping(at(statistics.median), at(max), at(min))
