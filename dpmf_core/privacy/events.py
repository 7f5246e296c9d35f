"""What is released: inert, frozen descriptions. An event knows no data and draws nothing.

`Gaussian`, `Laplace` and `PosteriorSample` are leaves; `Repeat` and `Sequence` are their structure. `normal_form` flattens any event to
leaves with counts, so that two ledgers can be compared and no formula for a leaf ever sees a count.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Relation(StrEnum):
    """Which data sets are neighbours."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


def _positive(owner: str, **values: float) -> None:
    for name, value in values.items():
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"The '{name}' of {owner} must be a finite number above 0. Got {value!r}.")


@dataclass(frozen=True)
class Gaussian:
    """One release of a statistic with Gaussian noise of standard deviation `noise_multiplier * sensitivity`.

    sensitivity: L2, add-or-remove one unit, in the statistic's own scale.
    replace_one_factor: by how much replacing a unit moves the statistic more than removing it, at most (1 to 2).
    """

    noise_multiplier: float
    statistic: str = "statistic"
    sensitivity: float = 1.0
    replace_one_factor: float = 2.0

    def __post_init__(self) -> None:
        _positive("Gaussian", noise_multiplier=self.noise_multiplier, sensitivity=self.sensitivity, replace_one_factor=self.replace_one_factor)

    @property
    def mechanism(self) -> str:
        return "Gaussian"


@dataclass(frozen=True)
class Laplace:
    """One release with Laplace noise of scale `noise_multiplier * sensitivity`; the sensitivity is L1."""

    noise_multiplier: float
    statistic: str = "statistic"
    sensitivity: float = 1.0
    replace_one_factor: float = 2.0

    def __post_init__(self) -> None:
        _positive("Laplace", noise_multiplier=self.noise_multiplier, sensitivity=self.sensitivity, replace_one_factor=self.replace_one_factor)

    @property
    def mechanism(self) -> str:
        return "Laplace"


@dataclass(frozen=True)
class PosteriorSample:
    """One draw from a density that adding or removing a unit changes by a factor of at most e^(1 / noise_multiplier): pure DP, no noise is added.

    sensitivity: of the log density, over which the loss is measured. Any such draw is dominated by randomised response (Kairouz, Oh & Viswanath 2015).
    """

    noise_multiplier: float
    statistic: str = "statistic"
    sensitivity: float = 1.0
    replace_one_factor: float = 2.0

    def __post_init__(self) -> None:
        _positive("PosteriorSample", noise_multiplier=self.noise_multiplier, sensitivity=self.sensitivity, replace_one_factor=self.replace_one_factor)

    @property
    def mechanism(self) -> str:
        return "posterior sample"


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


Leaf = Gaussian | Laplace | PosteriorSample
Event = Leaf | Repeat | Sequence
Ledger = tuple[tuple[Leaf, int], ...]

NOTHING = Sequence()


def sequence(*events: Event) -> Sequence:
    """`Sequence` without the parentheses of a tuple."""
    return Sequence(events)


def _leaves(event: Event, times: int) -> Iterable[tuple[Leaf, int]]:
    if isinstance(event, Gaussian | Laplace | PosteriorSample):
        yield event, times
    elif isinstance(event, Repeat):
        yield from _leaves(event.event, times * event.count)
    elif isinstance(event, Sequence):
        for part in event.events:
            yield from _leaves(part, times)
    else:
        raise TypeError(f"Not an event: {event!r}.")


def normal_form(event: Event) -> Ledger:
    """The distinct leaves with how often each occurs, in order of first appearance. Composition does not depend on order."""
    counts: dict[Leaf, int] = {}
    for leaf, times in _leaves(event, 1):
        if times:
            counts[leaf] = counts.get(leaf, 0) + times
    return tuple(counts.items())
