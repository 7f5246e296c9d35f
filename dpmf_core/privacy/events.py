"""What is released: inert, frozen descriptions. An event knows no data.

Mechanisms (`Gaussian`, `DiscreteGaussian`, `Laplace`, `PosteriorSample`) are leaves; `Repeat` and `Sequence` are their structure.
`normal_form` flattens any event to leaves with counts, so that two ledgers can be compared and no formula for a leaf ever sees a count.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

ONE_WAY = 700.0  # a pure loss so large never goes the other way: exp(-700) is 1e-304


ROUNDING = 2.0**-10  # of the sensitivity: what `DiscreteGaussian` adds to it
FINE = 2**12  # steps of a grid to one standard deviation, at least


class UnsupportedEvent(ValueError):
    """A rule does not cover this event."""


class Relation(StrEnum):
    """Which data sets are neighbours."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


@dataclass(frozen=True)
class Mechanism(ABC):
    """One release. A kind of mechanism is one subclass, which holds all that depends on the kind: its Renyi curve, its privacy loss distribution,
    and, where it adds noise, the draw (`AdditiveNoise`).

    noise_multiplier: scale of the noise over the sensitivity; z below, after division by the factor of the neighbouring relation.
    sensitivity: add-or-remove one unit, in the statistic's own scale and in the norm of the kind.
    replace_one_factor: by how much replacing a unit moves the statistic more than removing it, at most (1 to 2).
    Raises ValueError unless all three are finite and above 0.
    """

    noise_multiplier: float
    statistic: str = "statistic"
    sensitivity: float = 1.0
    replace_one_factor: float = 2.0

    mechanism: ClassVar[str]
    has_loss_distribution: ClassVar[bool] = True  # else it is accounted by its Renyi curve alone

    def __post_init__(self) -> None:
        for name in ("noise_multiplier", "sensitivity", "replace_one_factor"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"The '{name}' of {type(self).__name__} must be a finite number above 0. Got {value!r}.")

    def multiplier(self, relation: Relation) -> float:
        """z: the noise over what one step between neighbours moves."""
        return self.noise_multiplier / (self.replace_one_factor if relation is Relation.REPLACE_ONE else 1.0)

    @property
    def failure(self) -> float:
        """The probability with which the release may give a unit away altogether; 0 for most kinds."""
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
        """A `dp_accounting` privacy loss distribution that dominates one release, on a grid of this interval."""


class AdditiveNoise(Mechanism):
    """A release that adds independent noise of scale `noise_multiplier * sensitivity` to every coordinate."""

    def grid(self, size: int) -> tuple[float, float]:
        """The step of the grid on which a release of `size` coordinates is made (0: on none), and the scale of its noise."""
        return 0.0, self.noise_multiplier * self.sensitivity

    @staticmethod
    @abstractmethod
    def draw(generator: np.random.Generator, out: npt.NDArray[np.float64], scale: float, step: float) -> None:
        """Fill every element of `out` (size,) with independent noise of this scale, on the grid of this step."""

    @staticmethod
    @abstractmethod
    def log_density(noise: npt.NDArray[np.float64]) -> float:
        """The log density of independent noise of scale 1 at `noise`, less its value at 0."""


class Gaussian(AdditiveNoise):
    """Gaussian noise of standard deviation `noise_multiplier * sensitivity`; the sensitivity is in L2 norm."""

    mechanism: ClassVar[str] = "Gaussian"

    @staticmethod
    def draw(generator: np.random.Generator, out: npt.NDArray[np.float64], scale: float, step: float) -> None:
        generator.standard_normal(out=out)
        out *= scale

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
    def privacy_loss(z: float, interval: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution

        return privacy_loss_distribution.from_gaussian_mechanism(z, value_discretization_interval=interval)


@dataclass(frozen=True)
class DiscreteGaussian(AdditiveNoise):
    """A statistic rounded to a grid, plus noise that is exactly discrete Gaussian on that grid (Canonne, Kamath & Steinke 2020).

    sensitivity: of the exact statistic, in L2 norm. rounding: what the grid adds to it. Each of two neighbouring statistics of d coordinates is moved
    by at most step sqrt(d) / 2, so that their distance grows by step sqrt(d) at most, whatever the relation. The step is the largest power of two up to
    rounding / (2 sqrt(d)): as much again is left for the floating-point sums that were rounded, and k * step is exact in float64.
    The standard deviation is a whole number of steps, at least 4,096, not below `noise_multiplier * sensitivity`.
    """

    rounding: float = ROUNDING

    mechanism: ClassVar[str] = "discrete Gaussian"
    has_loss_distribution: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.rounding > 0 and math.isfinite(self.rounding)):
            raise ValueError(f"The 'rounding' of DiscreteGaussian must be a finite number above 0. Got {self.rounding!r}.")

    def multiplier(self, relation: Relation) -> float:
        """z: the noise over what one step between neighbours moves, rounding included."""
        moved = self.sensitivity * (self.replace_one_factor if relation is Relation.REPLACE_ONE else 1.0) + self.rounding
        return self.noise_multiplier * self.sensitivity / moved

    def grid(self, size: int) -> tuple[float, float]:
        scale = self.noise_multiplier * self.sensitivity
        _, exponent = math.frexp(min(self.rounding / (2 * math.sqrt(max(size, 1))), scale / FINE))
        step = math.ldexp(1.0, exponent - 1)
        return step, math.ceil(scale / step) * step

    @staticmethod
    def draw(generator: np.random.Generator, out: npt.NDArray[np.float64], scale: float, step: float) -> None:
        from dpmf_core.kernels.discrete import discrete_gaussian  # compiled code is loaded when first needed

        steps = np.empty(len(out), np.int64)
        discrete_gaussian(generator.bit_generator.random_raw, round(scale / step), steps)
        np.multiply(steps, step, out=out)

    @staticmethod
    def log_density(noise: npt.NDArray[np.float64]) -> float:
        return -float((noise**2).sum()) / 2

    @staticmethod
    def pure_epsilon(z: float) -> float:
        return math.inf

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        """Canonne, Kamath & Steinke 2020, Prop. 5 and Thm. 14: on whole numbers no more than the continuous one, coordinate by coordinate."""
        return alpha / (2 * z * z)

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        raise UnsupportedEvent("Discrete Gaussian noise on a vector is accounted by its Renyi curve.")


class Laplace(AdditiveNoise):
    """Laplace noise of scale `noise_multiplier * sensitivity`; the sensitivity is in L1 norm."""

    mechanism: ClassVar[str] = "Laplace"

    @staticmethod
    def draw(generator: np.random.Generator, out: npt.NDArray[np.float64], scale: float, step: float) -> None:
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
    def privacy_loss(z: float, interval: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution

        return privacy_loss_distribution.from_laplace_mechanism(z, value_discretization_interval=interval)


@dataclass(frozen=True)
class FailingGaussian(Gaussian, ABC):
    """Gaussian noise whose outcome shows, with a probability of at most `failure_probability`, something that only one unit brought.

    With u the unit that is added, the release is a function of a Gaussian release and of a coin that shows "failed" with probability
    p <= failure_probability where u takes part and never where she does not. So it costs no more than both together: Gaussian noise, and a loss that
    is infinite with probability p and log(1 - p) otherwise (with u against without), or -log(1 - p) (without u against with). When one unit replaces
    another there is a coin for each. Raises ValueError unless failure_probability is above 0 and below 1.
    """

    failure_probability: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.failure_probability < 1:
            raise ValueError(f"The 'failure_probability' of {type(self).__name__} must be above 0 and below 1. Got {self.failure_probability!r}.")

    @property
    def failure(self) -> float:
        return self.failure_probability

    @property
    def otherwise(self) -> Mechanism:
        return Gaussian(self.noise_multiplier, self.statistic, self.sensitivity, self.replace_one_factor)

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        return math.inf

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        raise TypeError("The loss of a release that may fail is infinite with the probability of failing: account its `otherwise` and add its `failure`.")


@dataclass(frozen=True)
class ThresholdedCounts(FailingGaussian):
    """Noisy counts of which only those above a threshold are shown, with their names: names that too few units bring stay unknown.

    Every unit spreads a vector of L2 norm at most 1 over at most `most` names: 1 / sqrt(t) on each of the t names that are hers. Names that she alone
    brings must not show. Where t of hers are unknown to all others, each has a count of at most 1 / sqrt(t), and one of them shows with probability at most
    1 - Phi((T - 1 / sqrt(t)) / sigma)^t. The threshold T makes that at most `failure_probability` for every t from 1 to `most`
    (Gopi, Gulhane, Kulkarni, Shen, Shokouhi & Yekhanin 2020, section 5; sensitivity 1).
    """

    mechanism: ClassVar[str] = "thresholded Gaussian"

    most: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.most, int) and self.most >= 1):
            raise ValueError(f"The 'most' of {type(self).__name__} must be a whole number of at least 1. Got {self.most!r}.")
        if self.sensitivity != 1.0:
            raise ValueError(f"Thresholded counts have sensitivity 1. Got {self.sensitivity!r}.")

    @property
    def threshold(self) -> float:
        """T = max over t of 1 / sqrt(t) + sigma Phi^-1((1 - failure_probability)^(1 / t))."""
        t = np.arange(1, self.most + 1)
        tail = -np.expm1(np.log1p(-self.failure_probability) / t)  # 1 - (1 - p)^(1 / t)
        return float((1 / np.sqrt(t) - self.noise_multiplier * ndtri(tail)).max())


@dataclass(frozen=True)
class PaddedCount(FailingGaussian):
    """A number of units with Gaussian noise, raised so that it falls below the truth with probability at most `failure_probability`; sensitivity 1.

    Then it can stand for the truth: rows that nobody filled are added until there are so many. Where it falls below, the run stops: with n rows in the smaller
    of two neighbouring worlds, the outcomes of at most n are the failure, and all others are the same function of the noisy count in both.
    """

    mechanism: ClassVar[str] = "padded Gaussian count"

    @property
    def padding(self) -> float:
        """By how much the count is raised."""
        return -float(ndtri(self.failure_probability)) * self.noise_multiplier * self.sensitivity


class PosteriorSample(Mechanism):
    """One draw from a density that adding or removing a unit changes by a factor of at most e^(1 / noise_multiplier): pure DP, no noise is added.

    sensitivity: of the log density, over which the loss is measured. Any such draw is dominated by randomised response (Kairouz, Oh & Viswanath 2015).
    """

    mechanism: ClassVar[str] = "posterior sample"

    @staticmethod
    def pure_epsilon(z: float) -> float:
        return 1 / z

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        """Of randomised response at epsilon = 1 / z."""
        keep, flip = -math.log1p(math.exp(-1 / z)), -1 / z - math.log1p(math.exp(-1 / z))
        return float(np.logaddexp(alpha * keep + (1 - alpha) * flip, alpha * flip + (1 - alpha) * keep)) / (alpha - 1)

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        from dp_accounting.pld import common, privacy_loss_distribution

        if 1 / z > ONE_WAY:
            return privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability({math.ceil(1 / z / interval): 1.0}, 0.0, interval)
        return privacy_loss_distribution.from_privacy_parameters(common.DifferentialPrivacyParameters(1 / z, 0), value_discretization_interval=interval)


MECHANISMS: dict[str, type[Mechanism]] = {
    kind.mechanism: kind for kind in (Gaussian, DiscreteGaussian, Laplace, PosteriorSample, ThresholdedCounts, PaddedCount)
}


@dataclass(frozen=True)
class Repeat:
    """The same event, `count` times, each possibly chosen in the light of the ones before."""

    event: "Event"
    count: int

    def __post_init__(self) -> None:
        if not (isinstance(self.count, int) and self.count >= 0):
            raise ValueError(f"The 'count' of Repeat must be a whole number of at least 0. Got {self.count!r}.")


@dataclass(frozen=True)
class Sequence:
    """Events one after the other. `Sequence()` releases nothing."""

    events: tuple["Event", ...] = ()


Event = Mechanism | Repeat | Sequence
Ledger = tuple[tuple[Mechanism, int], ...]

NOTHING = Sequence()


def sequence(*events: Event) -> Sequence:
    """`Sequence` without the parentheses of a tuple."""
    return Sequence(events)


def _leaves(event: Event, times: int) -> Iterable[tuple[Mechanism, int]]:
    if isinstance(event, Mechanism):
        yield event, times
    elif isinstance(event, Repeat):
        yield from _leaves(event.event, times * event.count)
    elif isinstance(event, Sequence):
        for part in event.events:
            yield from _leaves(part, times)
    else:
        raise TypeError(f"Not an event: {event!r}.")


def on_grids(event: Event) -> Event:
    """The same event with discrete noise in place of Gaussian noise. Raises UnsupportedEvent on any other mechanism."""
    return Sequence(tuple(Repeat(_on_grid(leaf), count) for leaf, count in normal_form(event)))


def _on_grid(leaf: Mechanism) -> DiscreteGaussian:
    if type(leaf) is not Gaussian:  # what may fail besides is another mechanism
        raise UnsupportedEvent(f"Discrete noise takes the place of Gaussian noise only; found {leaf.mechanism} noise on {leaf.statistic!r}.")
    return DiscreteGaussian(leaf.noise_multiplier, leaf.statistic, leaf.sensitivity, leaf.replace_one_factor, ROUNDING * leaf.sensitivity)


def normal_form(event: Event) -> Ledger:
    """The distinct leaves with how often each occurs, in order of first appearance. Composition does not depend on order."""
    counts: dict[Mechanism, int] = {}
    for leaf, times in _leaves(event, 1):
        if times:
            counts[leaf] = counts.get(leaf, 0) + times
    return tuple(counts.items())


def ledger_rows(ledger: Ledger) -> list[dict[str, Any]]:
    """A ledger as JSON holds it: a row for each distinct release, with the kind of its mechanism and how often it occurs."""
    return [{"mechanism": leaf.mechanism, **asdict(leaf), "count": count} for leaf, count in ledger]


def event_of_rows(rows: Iterable[Mapping[str, Any]]) -> Event:
    """The event that rows of a ledger describe. Raises ValueError where a mechanism is unknown or a field is missing or out of range."""
    return Sequence(tuple(_event_of_row(row) for row in rows))


def _event_of_row(row: Mapping[str, Any]) -> Event:
    kind = MECHANISMS.get(row.get("mechanism", ""))
    if kind is None:
        raise ValueError(f"The mechanism of a ledger's row must be one of {', '.join(MECHANISMS)}. Got {row.get('mechanism')!r}.")
    values = {field.name: row[field.name] for field in fields(kind) if field.name in row}
    if missing := [field.name for field in fields(kind) if field.name not in row]:
        raise ValueError(f"A ledger's row of {kind.mechanism} lacks {', '.join(missing)}.")
    return Repeat(kind(**values), row["count"])
