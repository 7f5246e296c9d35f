"""Held-out errors of people, paired with what needs no model of others, as one sum over people.

docs/PRIVACY.md, "Errors of held-out ratings", proves the sensitivity and derives the intervals.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np

from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.base import INSIDE
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Block, NoisyCurator, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Noise
from dpmf_core.privacy.odometer import HELD_OUT_ERRORS

SIDES = 1.959964  # standard deviations that 5% of normal draws exceed
# the smaller of two falls leaves its interval in three ways, with 1 in 60 each: twice too low, or
# too high; standard deviations that 1 in 60 normal draws exceed on one side
SIDES_OF_SMALLER = 2.128045
# the clip of a difference is such a share of the root of people over noise multiplier: chosen on
# public data, so that noise and clip move the figure about as much
OWN_CLIP = 0.025
CONSTANT_CLIP = 0.05
# least noisy number of people that is usable, in its standard deviations
LEAST_PEOPLE = 4.0
# least noisy mean squared error that is usable, in standard deviations of its noise
LEAST_ERROR = 2.5
STEPS = 2_001  # falls that are falls for each end of an interval


@dataclass(frozen=True)
class PersonalErrors:
    """Mean squared errors over half-range^2 of the people of a block with held-out ratings.

    All are (people,) and at most 1. An error that is not finite counts as 1.

    Attributes
    ----------
    model : (people,)
        The errors of the model.
    own_mean : (people,)
        The errors of each person's own mean.
    constant : (people,)
        The errors of one number for everyone; equal to `model` if there is no such number.
    """

    model: Array
    own_mean: Array
    constant: Array

    @classmethod
    def of(cls, block: Block, model: Recommender, constant: float | None) -> Self:
        """The errors on a block's held-out ratings; people know their other ratings."""
        history: Ratings = block.tables["history"]
        held_out: Ratings = block.tables["test"]
        own_means = Recommender.of_means(held_out.shape)
        of_model = _mean_squares(held_out, _predictions(model, history, held_out))
        of_own_mean = _mean_squares(
            held_out, _predictions(own_means, history, held_out)
        )
        if constant is None:
            return cls(of_model, of_own_mean, of_model)
        same = np.full(len(held_out), constant)
        return cls(of_model, of_own_mean, _mean_squares(held_out, same))


def _predictions(model: Recommender, history: Ratings, held_out: Ratings) -> Array:
    return model.predict(model.personal(history), held_out.users, held_out.items)


def _mean_squares(held_out: Ratings, predictions: Array) -> Array:
    """The mean squared errors over half-range^2 of people with held-out ratings, at most 1."""
    counts = held_out.user_counts
    errors = held_out.values.astype(np.float64) - predictions
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.bincount(held_out.users, errors**2, held_out.n_users)
    means = squares / np.maximum(counts, 1) / held_out.shape.half_range**2
    return np.asarray(np.fmin(means, 1.0)[counts > 0])


@dataclass(frozen=True)
class PairedErrors(Statistic):
    """The sums of (x - 1/2, v, w, 1/2) (4,) over the users with held-out ratings.

    x is a user's mean squared error over half-range^2, at most 1. v is how much larger the error of
    the user's own mean is, over `own_clip`. w is how much larger the error of one constant for
    everyone is, over `constant_clip`. Both are shortened so that ||(x - 1/2, v, w)|| <= `radius`.
    So one user moves the sums by at most sqrt(radius^2 + 1/4). Replacing a user by another moves
    them by at most 2 radius, because the last number stays; this is more than if one of the two has
    no held-out rating. docs/PRIVACY.md, "Errors of held-out ratings".

    Attributes
    ----------
    radius
        From 1/2 to 1. With 1/2 the differences cost nothing: (x - 1/2, 1/2) alone has the same
        sensitivity under both relations. With 1 they are hardly shortened.
    """

    radius: float = 0.5
    own_clip: float = 1.0
    constant_clip: float = 1.0
    name = HELD_OUT_ERRORS

    @classmethod
    def of(cls, n_users: int, noise_multiplier: float, radius: float = 0.5) -> Self:
        """The statistic with clips that suit a public number of users and the noise."""
        root = math.sqrt(n_users / noise_multiplier)
        own_clip = min(OWN_CLIP * root, 1.0) / radius
        constant_clip = min(CONSTANT_CLIP * root, 1.0) / radius
        return cls(radius, own_clip, constant_clip)

    @property
    def sensitivity(self) -> float:
        return math.sqrt(self.radius**2 + 0.25)

    @property
    def replace_one_factor(self) -> float:  # type: ignore[override]
        return 2 * self.radius / self.sensitivity

    def empty(
        self, shape: Shape, model: Recommender, constant: float | None = None
    ) -> Totals:
        return (np.zeros(4),)

    def add(
        self,
        block: Block,
        totals: Totals,
        model: Recommender,
        constant: float | None = None,
    ) -> None:
        errors = PersonalErrors.of(block, model, constant)
        x = on_grid(errors.model, 1.0, block.n_units)
        v = (errors.own_mean - errors.model) / self.own_clip
        w = (errors.constant - errors.model) / self.constant_clip
        longest = np.sqrt(np.maximum(self.radius**2 - (x - 0.5) ** 2, 0.0)) * INSIDE
        shortened = np.minimum(1.0, longest / np.maximum(np.hypot(v, w), 1e-300))
        v = on_grid(v * shortened, 1.0, block.n_units)
        w = on_grid(w * shortened, 1.0, block.n_units)
        totals[0][:] += (x - 0.5).sum(), v.sum(), w.sum(), len(x) / 2


# ---- what the sums show --------------------------------------------------------------------------


@dataclass(frozen=True)
class NoisyError:
    """A held-out error or its fall, released with noise, in units of a rating.

    People have equal weight.

    Attributes
    ----------
    value
        The released figure.
    low, high
        An interval that contains the true figure in at least 95% of draws of the noise. It follows
        from the noisy sums and the public scale of the noise.
    """

    value: float
    low: float
    high: float

    @property
    def is_unknown(self) -> bool:
        """Whether the noise hides everything, so that the interval contains all possible falls."""
        return not self.value and self.low == -self.high < 0


def error_of_sums(
    errors: float, rest: float, scale: float, half_range: float
) -> NoisyError:
    """The error that noisy sums of x and of 1 - x show, each with noise of deviation `scale`.

    docs/PRIVACY.md, "Errors of held-out ratings".
    """

    def error(angle: float) -> float:
        """The error of sums in the direction (sin, cos) of an angle, clipped to true directions."""
        angle = min(max(angle, 0.0), math.pi / 2)
        mean = math.sin(angle) / (math.sin(angle) + math.cos(angle))
        return half_range * math.sqrt(mean)

    angle = math.pi / 4
    if errors + rest > 0:
        angle = math.atan2(errors, rest)
    # the noisy sums are at most `far` away from the line through 0 and the true sums
    far = SIDES * scale
    width = math.asin(far / max(math.hypot(errors, rest), far))
    if errors + rest <= 0 or width > math.pi / 4:
        width = math.pi
    return NoisyError(error(angle), error(angle - width), error(angle + width))


Floor = Literal["own mean", "constant"]  # what needs no model of others
FLOORS: tuple[Floor, ...] = get_args(Floor)
OWN_MEAN, CONSTANT = FLOORS


@dataclass(frozen=True)
class PairedSums:
    """The noisy sums of `PairedErrors`, as errors and falls.

    Attributes
    ----------
    statistic
        The statistic, with its clips.
    sums : (4,)
        The sums. Each has noise of deviation `scale`.
    scale
        The standard deviation of the noise.
    half_range
        Half of the range of ratings.
    has_constant
        Whether the third sum is of differences from a constant.
    excess
        The expected increase of the constant's mean squared error over half-range^2 by its own
        noise.
    """

    statistic: PairedErrors
    sums: tuple[float, ...]
    scale: float
    half_range: float
    has_constant: bool = False
    excess: float = 0.0

    @classmethod
    def released(
        cls,
        curator: NoisyCurator,
        noise: Noise,
        model: Recommender,
        radius: float = 0.5,
        constant: float | None = None,
        variance: float = 0.0,
    ) -> Self:
        """The sums of a model, by the next planned release.

        Parameters
        ----------
        curator, noise
            The curator of the people, and its noise.
        model
            The model.
        radius
            The radius of the statistic.
        constant
            The one number for everyone; None leaves out differences from it.
        variance
            The variance of the constant's noise, in units of a rating.
        """
        shape = curator.shape
        multiplier = noise.next_release(HELD_OUT_ERRORS).noise_multiplier
        statistic = PairedErrors.of(shape.n_units, multiplier, radius)
        scale = curator.scale(statistic)
        return cls(
            statistic,
            tuple(curator.release(statistic, model, constant).tolist()),
            scale,
            shape.half_range,
            has_constant=constant is not None,
            excess=variance / shape.half_range**2,
        )

    @property
    def error(self) -> NoisyError:
        """The model's error."""
        first, *_, half_count = self.sums
        turned = half_count + first, half_count - first
        return error_of_sums(*turned, math.sqrt(2) * self.scale, self.half_range)

    @property
    def falls(self) -> Mapping[Floor, NoisyError]:
        """How far the model's error lies below each floor's, by floor."""
        falls = {OWN_MEAN: self._fall(self.sums[1], self.statistic.own_clip, 0.0)}
        if self.has_constant:
            clip = self.statistic.constant_clip
            falls[CONSTANT] = self._fall(self.sums[2], clip, self.excess)
        return falls

    @property
    def floor(self) -> Floor:
        """The floor with the smaller error."""
        falls = self.falls
        return min(falls, key=lambda name: falls[name].value)

    @property
    def fall(self) -> NoisyError:
        """How far the model's error lies below the error of the better floor."""
        falls = self.falls.values()
        value = min(fall.value for fall in falls)
        low = min(fall.low for fall in falls)
        return NoisyError(value, low, min(fall.high for fall in falls))

    def _fall(self, differences: float, clip: float, excess: float) -> NoisyError:
        """The fall that a noisy sum of clipped differences shows.

        Let W be the number of people, Q and D their summed errors and differences, and e the
        excess. For the true fall f, D - e W - 2 f sqrt(W Q) - f^2 W is 0 without noise. A fall is
        in the interval if this is within its deviations of 0.
        """
        people = 2 * self.sums[3]
        unknown = NoisyError(0.0, -self.half_range, self.half_range)
        if people < LEAST_PEOPLE * 2 * self.scale:
            return unknown
        noise = self.scale / people
        error = min((self.sums[0] + self.sums[3]) / people, 1.0)
        if error < LEAST_ERROR * noise:
            return unknown
        root = math.sqrt(error)
        difference = differences * clip / people - excess
        fall = math.sqrt(min(max(error + difference, 0.0), 1.0)) - root

        def beyond(falls: Array) -> Array:
            """How far each fall (k,) lies outside the interval; below 0 inside."""
            distance = np.abs(difference - 2 * falls * root - falls**2)
            slope_of_count = 2 * excess + falls * (2 * root + 1 / root) + 2 * falls**2
            deviation = noise * np.hypot(np.hypot(clip, falls / root), slope_of_count)
            sides = SIDES_OF_SMALLER if self.has_constant else SIDES
            return np.asarray(distance - sides * deviation)

        low = self.half_range * _first_outside(beyond, fall, -root)
        high = self.half_range * _first_outside(beyond, fall, 1.0)
        return NoisyError(self.half_range * fall, low, high)


def _first_outside(beyond: Callable[[Array], Array], start: float, end: float) -> float:
    """The first place from `start` to `end` at which `beyond` reaches 0; `end` if none."""
    places = np.linspace(start, end, STEPS)
    values = beyond(places)
    outside = np.flatnonzero(values >= 0)
    if not len(outside):
        return end
    at = int(outside[0])
    if at == 0:
        return start
    inner = values[at - 1]
    outer = values[at]
    return float(
        places[at - 1] + (places[at] - places[at - 1]) * inner / (inner - outer)
    )
