"""Bounds and measurements: fitted curves, and their meaning in words."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from dpmf_core.papers.bounds import Axis, Bound
from dpmf_core.papers.clauses import Results
from dpmf_core.papers.exponents import Exponent
from dpmf_core.papers.theory_claims import (
    PLACES,
    SYMBOLS,
    bound_exponent,
    draws_along,
    measured_exponent,
    place_at,
)


@dataclass(frozen=True)
class Comparison:
    """A bound and the errors measured along one axis.

    draws: (place on the axis, error). constant: fits the bound to the median at `start`, the first
    place.
    """

    bound: Bound
    axis: Axis
    draws: tuple[tuple[float, float], ...]
    exponent: Exponent
    start: float
    constant: float

    @property
    def bound_exponent(self) -> float:
        """The exponent of the bound's curve over the same places."""
        return bound_exponent(self.bound, self.axis, [x for x, _ in self.draws])

    @property
    def holds(self) -> bool:
        """Whether the measured exponent, within its interval, is as good as the bound's."""
        return self.exponent.low < self.bound_exponent

    @property
    def medians(self) -> dict[float, float]:
        """The median error at each place."""
        return _medians(self.draws)

    def curve(self, values: Sequence[float]) -> list[float]:
        """Return the fitted bound at these places."""
        return [self.constant * self.bound.error(place_at(self.axis, x)) for x in values]


def compare_bound(bound: Bound, axis: Axis, results: Results) -> Comparison:
    """Compare a bound with its algorithm's results along an axis; raise MissingResult."""
    draws = tuple(draws_along(results, axis))
    slope = measured_exponent(results, axis)
    start, error = min(_medians(draws).items())
    constant = bound.constant(error, place_at(axis, start))
    return Comparison(bound, axis, draws, slope, start, constant)


def _medians(draws: Sequence[tuple[float, float]]) -> dict[float, float]:
    places = sorted({x for x, _ in draws})
    return {at: statistics.median(error for x, error in draws if x == at) for at in places}


def places_between(low: float, high: float, count: int = 60) -> list[float]:
    """Return places at equal ratios from low to high."""
    ratio = (high / low) ** (1 / (count - 1))
    return [low * ratio**step for step in range(count)]


# ---- in words ------------------------------------------------------------------------------------


def verdict(it: Comparison) -> str:
    """Return what the exponents show, in one sentence."""
    name = SYMBOLS[it.axis]
    exponent = it.exponent
    sentence = (
        f"Measured exponent of {name}: {exponent.value:+.2f} (95%: {exponent.low:+.2f} to"
        f" {exponent.high:+.2f}); of the bound over the same"
        f" places: {it.bound_exponent:+.2f}."
    )
    if not it.holds:
        return f"{sentence} Over this range the error is worse than the bound."
    if it.exponent.high < it.bound_exponent:
        return f"{sentence} The error is better than the bound, as an upper bound allows."
    return f"{sentence} The bound is within the interval."


def promise(it: Comparison) -> str:
    """Return what the fitted bound gives at the last place, and what was measured there."""
    last, error = max(it.medians.items())
    name = SYMBOLS[it.axis]
    return (
        f"Fitted at {name} = {it.start:,g}, the bound predicts {it.curve([last])[0]:.3f} at"
        f" {name} = {last:,g}; measured {error:.3f}."
    )


def users_for(it: Comparison, error: float = 0.1) -> str:
    """Return how many users the fitted bound requires; '' along other axes."""
    if it.axis != "users" or it.bound.users is None:
        return ""
    n_users = it.bound.users(error / it.constant, PLACES["users"])
    return f"By the fitted bound, an error of {error:g} needs {n_users:,.0f} users."
