"""Mechanisms: one class per kind, with its draw, its privacy loss distribution and its Renyi curve.

A mechanism is inert: it describes a release and knows no data.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

ONE_WAY = 700.0  # a pure loss so large never goes the other way: exp(-700) is 1e-304


ROUNDING = 2.0**-10  # of the sensitivity: what `DiscreteGaussian` adds to it


MOST_GROUPS = 10_000  # of disjoint groups


FINE = 2**12  # steps of a grid to one standard deviation, at least


# noise of a continuous Gaussian that, rounded at random, is the discrete one; more than
# sqrt(1 - (4 / FINE)^2) needs: docs/PRIVACY.md, "Noise"
CONTINUOUS_SHARE = 1 - 2.0**-20


class UnsupportedEvent(ValueError):
    """A rule does not cover this event."""


class Relation(StrEnum):
    """Which data sets are neighbours."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


MECHANISMS: dict[str, type["Mechanism"]] = {}  # by name; a subclass that has one enters itself


@dataclass(frozen=True)
class Mechanism(ABC):
    """One release. A kind of mechanism is one subclass, which holds all that depends on the kind:
    its Renyi curve, its privacy loss distribution, and, where it adds noise, the draw
    (`AdditiveNoise`).

    noise_multiplier: scale of the noise over the sensitivity; z below, after division by the factor
    of the neighbouring relation.
    sensitivity: add-or-remove one unit, in the statistic's own scale and in the norm of the kind.
    replace_one_factor: by how much replacing a unit moves the statistic more than removing it, at
    most (1 to 2).
    companion, joint_factor: of a release that replacing a unit cannot move as far as the factor
    says while it also moves the companion, another release, as far as its factor says. Counted next
    to a release of the companion, joint_factor takes the place of the factor: the sum of both
    squares is then a bound on what a replaced unit moves. `normal_form` drops it where no companion
    is there.
    groups: into how many disjoint groups the units are split, on each of which the same is released
    once; a unit is in one of them, so the cost is that of one release. Raises ValueError unless the
    first three are finite and above 0, and `groups` a whole number of at least 1, which only some
    kinds allow above 1.
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
        for name in ("noise_multiplier", "sensitivity", "replace_one_factor"):
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
                f"The 'joint_factor' of {type(self).__name__} must be above 0 and at most its"
                f" 'replace_one_factor', and 0 without a companion. Got {self.joint_factor!r}."
            )
        if type(self.groups) is not int or not 1 <= self.groups <= self._most_groups:
            raise ValueError(
                f"The 'groups' of {type(self).__name__} must be a whole number from 1 to"
                f" {self._most_groups}. Got {self.groups!r}."
            )

    @property
    def _most_groups(self) -> int:
        return MOST_GROUPS if self.allows_groups else 1

    @property
    def title(self) -> str:
        """The kind of release, as printed in a ledger."""
        return title_of(self.statistic, self.groups)

    def multiplier(self, relation: Relation) -> float:
        """z: the noise over what one step between neighbours moves."""
        return self.noise_multiplier / self._factor(relation)

    def _factor(self, relation: Relation) -> float:
        """How much further one step between neighbours moves the statistic than the sensitivity."""
        if relation is Relation.ADD_REMOVE:
            return 1.0
        return self.joint_factor or self.replace_one_factor

    @property
    def alone(self) -> "Mechanism":
        """The release as it is counted without its companion."""
        return replace(self, companion="", joint_factor=0.0) if self.companion else self

    @property
    def failure(self) -> float:
        """The probability that the release reveals a unit completely; 0 for most kinds."""
        return 0.0

    @property
    def otherwise(self) -> "Mechanism":
        """The release as it is when it does not fail."""
        return self

    @staticmethod
    @abstractmethod
    def pure_epsilon(z: float) -> float:
        """The epsilon of one release at delta = 0; infinite where it has none."""

    @staticmethod
    @abstractmethod
    def renyi(alpha: float, z: float) -> float:
        """The Renyi divergence of order alpha > 1 between neighbours, at most."""

    @staticmethod
    @abstractmethod
    def privacy_loss(z: float, interval: float) -> Any:
        """A `dp_accounting` privacy loss distribution that dominates one release, on a grid of
        this interval.
        """

    @staticmethod
    def delta_alone(z: float, epsilon: float) -> float | None:
        """delta of one release in closed form, None where there is none."""
        return None

    @staticmethod
    def epsilon_alone(z: float, delta: float) -> float | None:
        """epsilon of one release in closed form, None where there is none."""
        return None


def title_of(statistic: str, groups: int) -> str:
    """What is released, and on how many disjoint groups."""
    if groups == 1:
        return statistic
    return f"{statistic}, on each of {groups} disjoint groups"


class AdditiveNoise(Mechanism):
    """A release that adds independent noise of scale `noise_multiplier * sensitivity` to every
    coordinate.
    """

    def grid(self, size: int) -> tuple[float, float]:
        """The step of the grid on which a release of `size` coordinates is made (0: on none),
        and the scale of its noise.
        """
        return 0.0, self.noise_multiplier * self.sensitivity

    @staticmethod
    @abstractmethod
    def draw(
        generator: np.random.Generator, out: npt.NDArray[np.float64], scale: float, step: float
    ) -> None:
        """Fill every element of `out` (size,) with independent noise of this scale, on the grid
        of this step.
        """

    @staticmethod
    @abstractmethod
    def log_density(noise: npt.NDArray[np.float64]) -> float:
        """The log density of independent noise of scale 1 at `noise`, less its value at 0."""


class Gaussian(AdditiveNoise):
    """Gaussian noise of standard deviation `noise_multiplier * sensitivity`; the sensitivity is
    in L2 norm.
    """

    mechanism: ClassVar[str] = "Gaussian"
    allows_groups: ClassVar[bool] = True

    @staticmethod
    def log_density(noise: npt.NDArray[np.float64]) -> float:
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
        generator: np.random.Generator, out: npt.NDArray[np.float64], scale: float, step: float
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
    """A statistic rounded to a grid, plus noise that is exactly discrete Gaussian on that grid
    (Canonne, Kamath & Steinke 2020).

    sensitivity: of the exact statistic, in L2 norm. rounding: what the grid adds to it. Each of two
    neighbouring statistics of d coordinates is moved by at most step sqrt(d) / 2, so that their
    distance grows by step sqrt(d) at most, whatever the relation. The step is the largest power of
    two up to rounding / (2 sqrt(d)): as much again is left for the floating-point sums that were
    rounded, and k * step is exact in float64.
    The standard deviation is a whole number of steps, at least 4,096, not below `noise_multiplier *
    sensitivity`. Such noise costs no more than continuous Gaussian noise that is smaller by
    `CONTINUOUS_SHARE`: docs/PRIVACY.md, "Noise".
    """

    rounding: float = ROUNDING

    mechanism: ClassVar[str] = "discrete Gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.rounding > 0 and math.isfinite(self.rounding)):
            raise ValueError(
                "The 'rounding' of DiscreteGaussian must be a finite number above 0. Got"
                f" {self.rounding!r}."
            )

    def multiplier(self, relation: Relation) -> float:
        """z of the continuous noise that costs at least as much: over what one step between
        neighbours moves, rounding included.

        Next to a companion rounding counts twice: docs/PRIVACY.md, "Lemmas", 8.
        """
        twice = self.companion and relation is Relation.REPLACE_ONE
        shift = self.sensitivity * self._factor(relation) + self.rounding * (2 if twice else 1)
        return CONTINUOUS_SHARE * self.noise_multiplier * self.sensitivity / shift

    def grid(self, size: int) -> tuple[float, float]:
        scale = self.noise_multiplier * self.sensitivity
        _, exponent = math.frexp(min(self.rounding / (2 * math.sqrt(max(size, 1))), scale / FINE))
        step = math.ldexp(1.0, exponent - 1)
        return step, math.ceil(scale / step) * step

    @staticmethod
    def draw(
        generator: np.random.Generator, out: npt.NDArray[np.float64], scale: float, step: float
    ) -> None:
        # compiled code is loaded when first needed
        from dpmf_core.kernels.discrete import discrete_gaussian

        steps = np.empty(len(out), np.int64)
        discrete_gaussian(generator.bit_generator.random_raw, round(scale / step), steps)
        np.multiply(steps, step, out=out)


class Laplace(AdditiveNoise):
    """Laplace noise of scale `noise_multiplier * sensitivity`; the sensitivity is in L1 norm."""

    mechanism: ClassVar[str] = "Laplace"

    @staticmethod
    def draw(
        generator: np.random.Generator, out: npt.NDArray[np.float64], scale: float, step: float
    ) -> None:
        out[:] = generator.laplace(size=len(out))
        out *= scale

    @staticmethod
    def log_density(noise: npt.NDArray[np.float64]) -> float:
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
        """The mass by which one density exceeds e^epsilon times the other: between both centres
        and up to where the loss falls below epsilon.
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
    """One draw from a density that adding or removing a unit changes by a factor of at most e^(1 /
    noise_multiplier): pure DP, no noise is added.

    sensitivity: of the log density, over which the loss is measured. Any such draw is dominated by
    randomised response (Kairouz, Oh & Viswanath 2015).
    """

    mechanism: ClassVar[str] = "posterior sample"

    @staticmethod
    def pure_epsilon(z: float) -> float:
        return 1 / z

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        """Of randomised response at epsilon = 1 / z."""
        keep, flip = -math.log1p(math.exp(-1 / z)), -1 / z - math.log1p(math.exp(-1 / z))
        return float(
            np.logaddexp(alpha * keep + (1 - alpha) * flip, alpha * flip + (1 - alpha) * keep)
        ) / (alpha - 1)

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        from dp_accounting.pld import common, privacy_loss_distribution

        if 1 / z > ONE_WAY:
            return (
                privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(
                    {math.ceil(1 / z / interval): 1.0}, 0.0, interval
                )
            )
        return privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(1 / z, 0), value_discretization_interval=interval
        )


class DisjointGroup(NamedTuple):
    """Group `number`, from 0, of a split of all units into `of` groups. What is released on each of
    them, once, costs a unit what one release costs; docs/PRIVACY.md, "Disjoint groups of units".
    """

    number: int
    of: int


EVERYBODY = DisjointGroup(0, 1)
