"""Mechanisms: one class per kind, with its draw, its privacy loss distribution and its Renyi curve.

A mechanism is inert: it describes a release and knows no data.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpmf_core.base.arrays import Doubles

ONE_WAY = 700.0  # exp(-700) is 1e-304: a pure loss this large never goes the other way
# what the grid of `DiscreteGaussian` adds, as a share of the sensitivity
ROUNDING = 2.0**-10
MOST_GROUPS = 10_000  # disjoint groups of one release
FINE = 2**12  # the least number of grid steps in one standard deviation
# the share of noise that a continuous Gaussian needs to become the discrete one by random
# rounding; rounded up from sqrt(1 - (4 / FINE)^2): docs/PRIVACY.md, "Noise"
CONTINUOUS_SHARE = 1 - 2.0**-20


class UnsupportedEvent(ValueError):
    """A rule does not cover this event."""


class Relation(StrEnum):
    """Which data sets are neighbours."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


# by name; subclasses with a name enter themselves
MECHANISMS: dict[str, type["Mechanism"]] = {}


@dataclass(frozen=True)
class Mechanism(ABC):
    """One release.

    Each kind of mechanism is one subclass, which holds all that depends on the kind: its Renyi
    curve, its privacy loss distribution and, if it adds noise, the draw (`AdditiveNoise`). Formulas
    use z, the noise multiplier over the factor of the neighbouring relation.

    Attributes
    ----------
    noise_multiplier : float
        The scale of the noise over the sensitivity.
    sensitivity : float
        How far adding or removing a unit moves the statistic, in its own scale and in the norm of
        the kind.
    replace_one_factor : float
        From 1 to 2: how far replacing a unit moves the statistic, at most, over the sensitivity.
    companion, joint_factor : str, float
        Another release, and the factor that counts if both are made. Replacing a unit cannot move
        both as far as their factors say; with `joint_factor` the sum of both squares is a bound.
        `normal_form` drops it if the companion was not released.
    groups : int
        The number of disjoint groups of units. This is released once on each. A unit is in one
        group, so the cost is that of one release.

    Raises
    ------
    ValueError
        Unless the first three are finite and above 0 and `groups` is a whole number of at least 1.
        Only some kinds allow more than 1.
    """

    noise_multiplier: float
    statistic: str = "statistic"
    sensitivity: float = 1.0
    replace_one_factor: float = 2.0
    groups: int = field(default=1, kw_only=True)
    companion: str = field(default="", kw_only=True)
    joint_factor: float = field(default=0.0, kw_only=True)

    mechanism: ClassVar[str]
    allows_groups: ClassVar[bool] = False
    positive: ClassVar[tuple[str, ...]] = (
        "noise_multiplier",
        "sensitivity",
        "replace_one_factor",
    )

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        name = cls.__dict__.get("mechanism")
        if name is None:
            return
        other = MECHANISMS.setdefault(name, cls)
        if other.__qualname__ != cls.__qualname__:
            raise TypeError(f"Two mechanisms are called {name!r}.")
        MECHANISMS[name] = cls

    def __post_init__(self) -> None:
        for name in self.positive:
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(
                    f"The '{name}' of {type(self).__name__} must be a finite number above 0. Got"
                    f" {value!r}."
                )
        if not (
            0 < self.joint_factor <= self.replace_one_factor
            if self.companion
            else self.joint_factor == 0
        ):
            raise ValueError(
                f"The 'joint_factor' of {type(self).__name__} must be 0 without a companion, else"
                " above 0 and at most its 'replace_one_factor'. Got"
                f" {self.joint_factor!r}."
            )
        most = MOST_GROUPS if self.allows_groups else 1
        if type(self.groups) is not int or not 1 <= self.groups <= most:
            raise ValueError(
                f"The 'groups' of {type(self).__name__} must be a whole number from 1 to {most}."
                f" Got {self.groups!r}."
            )

    @property
    def title(self) -> str:
        """The release as a ledger prints it."""
        return title_of(self.statistic, self.groups)

    def multiplier(self, relation: Relation) -> float:
        """The noise multiplier z: the noise over what one step between neighbours moves."""
        return self.noise_multiplier / self._factor(relation)

    def _factor(self, relation: Relation) -> float:
        """What one step between neighbours moves, over the sensitivity."""
        if relation is Relation.ADD_REMOVE:
            return 1.0
        return self.joint_factor or self.replace_one_factor

    @property
    def alone(self) -> "Mechanism":
        """The release as it is counted without its companion."""
        if self.companion:
            return replace(self, companion="", joint_factor=0.0)
        return self

    @property
    def failure(self) -> float:
        """The probability that the release reveals a unit; 0 for most kinds."""
        return 0.0

    @property
    def otherwise(self) -> "Mechanism":
        """The release as it is when it does not fail."""
        return self

    @staticmethod
    @abstractmethod
    def pure_epsilon(z: float) -> float:
        """The epsilon of one release at delta = 0; may be infinite."""

    @staticmethod
    @abstractmethod
    def renyi(alpha: float, z: float) -> float:
        """The largest Renyi divergence of order alpha > 1 between neighbours."""

    @staticmethod
    @abstractmethod
    def privacy_loss(z: float, interval: float) -> Any:
        """A `dp_accounting` loss distribution that dominates one release, on a grid."""

    @staticmethod
    def delta_alone(z: float, epsilon: float) -> float | None:
        """The delta of one release in closed form; None if there is none."""
        return None

    @staticmethod
    def epsilon_alone(z: float, delta: float) -> float | None:
        """The epsilon of one release in closed form; None if there is none."""
        return None


def joint_gain(ratio: float) -> float:
    """h / b of Lemma 8: what right-hand sides and their Grams move together, beyond 2 (a + b).

    docs/PRIVACY.md, "Lemmas", 8.

    Parameters
    ----------
    ratio : float
        b / a, where b and a are 1 / noise_multiplier^2 of the right-hand sides and of the Grams.

    Returns
    -------
    float
        From 0 to 1. It increases with the ratio.
    """
    if ratio <= 2:
        return ratio / 4
    return 1 - 1 / ratio


def title_of(statistic: str, groups: int) -> str:
    """What is released, and on how many disjoint groups."""
    if groups == 1:
        return statistic
    return f"{statistic}, on each of {groups} disjoint groups"


class AdditiveNoise(Mechanism):
    """Independent noise of scale `noise_multiplier * sensitivity` on every coordinate."""

    def grid(self, size: int) -> tuple[float, float]:
        """The step of the grid of `size` coordinates (0: none), and the scale of the noise."""
        return 0.0, self.noise_multiplier * self.sensitivity

    @staticmethod
    @abstractmethod
    def draw(
        generator: np.random.Generator,
        out: Doubles,
        scale: float,
        step: float,
    ) -> None:
        """Fill `out` (size,) with independent noise of this scale on the grid of this step."""

    @staticmethod
    @abstractmethod
    def log_density(noise: Doubles) -> float:
        """The log density of noise of scale 1 at `noise`, minus its value at 0."""


class Gaussian(AdditiveNoise):
    """Gaussian noise of standard deviation `noise_multiplier * sensitivity`, sensitivity in L2."""

    mechanism: ClassVar[str] = "Gaussian"
    allows_groups: ClassVar[bool] = True

    @staticmethod
    def log_density(noise: Doubles) -> float:
        return -float((noise**2).sum()) / 2

    @staticmethod
    def pure_epsilon(z: float) -> float:
        return math.inf

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        """Mironov 2017, Prop. 7."""
        return alpha / (2 * z * z)

    @staticmethod
    def draw(
        generator: np.random.Generator,
        out: Doubles,
        scale: float,
        step: float,
    ) -> None:
        generator.standard_normal(out=out)
        out *= scale

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution

        return privacy_loss_distribution.from_gaussian_mechanism(
            z, value_discretization_interval=interval
        )


@dataclass(frozen=True)
class DiscreteGaussian(Gaussian):
    """A statistic rounded to a grid, plus exactly discrete Gaussian noise on that grid.

    The noise is that of Canonne, Kamath & Steinke 2020. A statistic of d coordinates is moved by at
    most step sqrt(d) / 2, so the distance of two neighbours grows by at most step sqrt(d), whatever
    the relation. The step is the largest power of two up to rounding / (2 sqrt(d)). The other half
    of the rounding covers floating-point sums, and k * step is exact in float64.

    The standard deviation is a whole number of steps, at least 4,096, and not below
    `noise_multiplier * sensitivity`. Such noise costs no more than continuous Gaussian noise that
    is smaller by `CONTINUOUS_SHARE`: docs/PRIVACY.md, "Noise".

    Attributes
    ----------
    sensitivity : float
        The sensitivity of the exact statistic, in L2 norm.
    rounding : float
        What the grid adds to it.
    """

    rounding: float = ROUNDING

    mechanism: ClassVar[str] = "discrete Gaussian"
    positive: ClassVar[tuple[str, ...]] = (*Gaussian.positive, "rounding")

    def multiplier(self, relation: Relation) -> float:
        """z of the continuous noise that costs at least as much, rounding included.

        Next to a companion rounding counts twice: docs/PRIVACY.md, "Lemmas", 8.
        """
        twice = self.companion and relation is Relation.REPLACE_ONE
        shift = self.sensitivity * self._factor(relation) + self.rounding * (
            2 if twice else 1
        )
        return CONTINUOUS_SHARE * self.noise_multiplier * self.sensitivity / shift

    def grid(self, size: int) -> tuple[float, float]:
        scale = self.noise_multiplier * self.sensitivity
        _, exponent = math.frexp(
            min(self.rounding / (2 * math.sqrt(max(size, 1))), scale / FINE)
        )
        step = math.ldexp(1.0, exponent - 1)
        return step, math.ceil(scale / step) * step

    @staticmethod
    def draw(
        generator: np.random.Generator,
        out: Doubles,
        scale: float,
        step: float,
    ) -> None:
        # compiled code is loaded when first needed
        from dpmf_core.privacy.noise_kernels import discrete_gaussian

        steps = np.empty(len(out), np.int64)
        discrete_gaussian(
            generator.bit_generator.random_raw, round(scale / step), steps
        )
        np.multiply(steps, step, out=out)


class Laplace(AdditiveNoise):
    """Laplace noise of scale `noise_multiplier * sensitivity`, sensitivity in L1 norm."""

    mechanism: ClassVar[str] = "Laplace"

    @staticmethod
    def draw(
        generator: np.random.Generator,
        out: Doubles,
        scale: float,
        step: float,
    ) -> None:
        out[:] = generator.laplace(size=len(out))
        out *= scale

    @staticmethod
    def log_density(noise: Doubles) -> float:
        return -float(np.abs(noise).sum())

    @staticmethod
    def pure_epsilon(z: float) -> float:
        return 1 / z

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        """Mironov 2017, Prop. 6."""
        first = math.log(alpha / (2 * alpha - 1)) + (alpha - 1) / z
        second = math.log((alpha - 1) / (2 * alpha - 1)) - alpha / z
        return float(np.logaddexp(first, second)) / (alpha - 1)

    @staticmethod
    def delta_alone(z: float, epsilon: float) -> float:
        """The mass of one density above e^epsilon times the other.

        It lies between both centres and up to where the loss falls below epsilon.
        """
        return max(0.0, -math.expm1((epsilon - 1 / z) / 2))

    @staticmethod
    def epsilon_alone(z: float, delta: float) -> float:
        return max(0.0, 1 / z + 2 * math.log1p(-delta))

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution

        return privacy_loss_distribution.from_laplace_mechanism(
            z, value_discretization_interval=interval
        )


class PosteriorSample(Mechanism):
    """One draw from a density that a unit changes by a factor of at most e^(1 / noise_multiplier).

    This is pure DP, and no noise is added. The sensitivity is that of the log density, and the loss
    is measured over it. Any such draw is dominated by randomised response (Kairouz, Oh & Viswanath
    2015).
    """

    mechanism: ClassVar[str] = "posterior sample"

    @staticmethod
    def pure_epsilon(z: float) -> float:
        return 1 / z

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        """The curve of randomised response at epsilon = 1 / z."""
        keep = -math.log1p(math.exp(-1 / z))
        flip = -1 / z - math.log1p(math.exp(-1 / z))
        return float(
            np.logaddexp(
                alpha * keep + (1 - alpha) * flip, alpha * flip + (1 - alpha) * keep
            )
        ) / (alpha - 1)

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        from dp_accounting.pld import common, privacy_loss_distribution

        if 1 / z > ONE_WAY:
            probabilities = {math.ceil(1 / z / interval): 1.0}
            kind = privacy_loss_distribution.PrivacyLossDistribution
            return kind.create_from_rounded_probability(probabilities, 0.0, interval)
        return privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(1 / z, 0),
            value_discretization_interval=interval,
        )


class DisjointGroup(NamedTuple):
    """Group `number`, from 0, of a split of all units into `of` groups.

    One release on each of them costs a unit what one release costs:
    docs/PRIVACY.md, "Disjoint groups of units".
    """

    number: int
    of: int


EVERYBODY = DisjointGroup(0, 1)
