"""A line search in two stages on logarithmic scales (Balu & Furon 2016, section 4).

One parameter after the other goes through places evenly apart in the logarithm of its range, then
through finer ones around the best of these; the others stay where they were best so far.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

COARSE, FINE = 5, 4  # places of each stage

Place = Mapping[str, float]


class Range(Protocol):
    """A parameter's range, 0 < low < high."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...


def trials(ranges: Mapping[str, Range]) -> int:
    """How many places a search visits."""
    return len(ranges) * (COARSE + FINE)


def stage(
    ranges: Mapping[str, Range],
    number: int,
    start: Place,
    scored_places: Sequence[tuple[Place, float]],
) -> list[dict[str, float]]:
    """The places of a stage, counted from 0; none after the last.

    start: where the first line passes through; parameters that it lacks start in the middle of
    their range. scored_places: places with their scores, smaller is better.
    """
    names = list(ranges)
    if number >= 2 * len(names):
        return []
    middle = {name: math.sqrt(it.low * it.high) for name, it in ranges.items()}
    best = min(scored_places, key=lambda it: it[1])[0] if scored_places else {**middle, **start}
    name = names[number // 2]
    around = _coarse(ranges[name]) if number % 2 == 0 else _fine(ranges[name], best[name])
    return [{**best, name: value} for value in around]


def _coarse(it: Range) -> list[float]:
    ratio = (it.high / it.low) ** (1 / (COARSE - 1))
    return [it.low, *(it.low * ratio**step for step in range(1, COARSE - 1)), it.high]


def _fine(it: Range, best: float) -> list[float]:
    """Evenly between the best coarse place and its neighbours; at an end of the range, between it
    and its one neighbour.
    """
    step = (it.high / it.low) ** (1 / (COARSE - 1))
    if math.isclose(best, it.low):
        return [best * step ** (place / (FINE + 1)) for place in range(1, FINE + 1)]
    if math.isclose(best, it.high):
        return [best / step ** (place / (FINE + 1)) for place in range(1, FINE + 1)]
    side = FINE // 2
    shares = [place / (side + 1) for place in range(1, side + 1)]
    return [best * step ** (sign * share) for sign in (-1, 1) for share in shares]
