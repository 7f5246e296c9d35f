"""Disjoint groups of units; one release on every group costs a unit as much as one release.

A public hash of a unit's id decides its group. The hash depends neither on rows nor on a seed. So a
unit is in one group only, and membership reveals nothing. The number of rows in a group is as
private as the number of all rows: `n_units` stays that of the whole population, and only noisy sums
leave. docs/PRIVACY.md, "Disjoint groups of units".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator.people import Step
from dpmf_core.curator.statistic import Block, Range, Statistic, Totals
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy.events import Event
from dpmf_core.privacy.mechanisms import EVERYBODY, DisjointGroup, Mechanism
from dpmf_core.privacy.noise import PlanViolation

KEY = 0x6A09E667F3BCC908  # the hash's key, from the root of 2; independent of all seeds of runs


def groups_of(units: Array, of: int) -> Array:
    """The group of each unit (n_units,), from 0 to of - 1, by the keys of the units' draws."""
    return np.minimum((keyed_uniform(KEY, units) * of).astype(np.int64), of - 1)


def members(block: Block, group: DisjointGroup) -> Block:
    """The block with the rows of all other units removed; the units stay."""
    if group.of == 1:
        return block
    inside = groups_of(block.draw_keys, group.of) == group.number
    tables = {
        name: rows.only(inside[rows.users]) for name, rows in block.tables.items()
    }
    return replace(block, tables=tables)


@dataclass(frozen=True)
class GroupStatistic(Statistic):
    """A statistic over the units of one group.

    It is a sum over all units. Units of other groups add nothing to it, so every bound of the
    statistic holds for it. docs/PRIVACY.md, "Disjoint groups of units".
    """

    statistic: Statistic
    group: DisjointGroup

    def __post_init__(self) -> None:
        for name in ("name", "replace_one_factor", "symmetric", "norm"):
            object.__setattr__(self, name, getattr(self.statistic, name))

    @property
    def sensitivity(self) -> float:
        return self.statistic.sensitivity

    def empty(self, shape: Any, *shared: Any) -> Totals:
        return self.statistic.empty(shape, *shared)

    def add(self, block: Block, totals: Totals, *shared: Any) -> None:
        self.statistic.add(members(block, self.group), totals, *shared)

    def assemble(self, totals: Totals, *shared: Any) -> Array:
        return self.statistic.assemble(totals, *shared)

    def event(self, noise_multiplier: float) -> Event:
        """The planned release on every group."""
        return on_groups(self.statistic.event(noise_multiplier), self.group.of)


@dataclass(frozen=True)
class GroupStep:
    """A step that sees only the rows of one group."""

    step: Step
    group: DisjointGroup

    def __call__(self, block: Block, *shared: Any) -> Any:
        return self.step(members(block, self.group), *shared)


def on_groups(release: Event, of: int) -> Event:
    """One planned release on each of `of` disjoint groups.

    Raises
    ------
    ValueError
        If the mechanism does not allow releases on groups.
    """
    assert isinstance(release, Mechanism)
    return replace(release, groups=of)


class GroupCurator:
    """A `Curator` of one group; it asks the curator of all units, which checks every request.

    Its shape is that of all units.
    """

    def __init__(self, whole: Any, group: DisjointGroup) -> None:
        self._whole = whole
        self._group = group
        self.shape = whole.shape

    def scale(self, statistic: Statistic) -> Any:
        return self._whole.scale(GroupStatistic(statistic, self._group))

    def release(self, statistic: Statistic, *shared: Any) -> Any:
        return self._whole.release(GroupStatistic(statistic, self._group), *shared)

    def release_parts(
        self, statistic: Statistic, ranges: Sequence[Range], *shared: Any
    ) -> Any:
        return self._whole.release_parts(
            GroupStatistic(statistic, self._group), ranges, *shared
        )

    def cells(self) -> Any:
        raise PlanViolation("Which items a group's users rated is private.")

    def hold(self, step: Step, *shared: Any) -> Any:
        return self._whole.hold(GroupStep(step, self._group), *shared)


def on_disjoint_groups(curator: Any, of: int) -> list[GroupCurator]:
    """A curator for each of `of` disjoint groups of a curator's units, in order.

    Raises
    ------
    PlanViolation
        If the units are not users with ratings.
    """
    if not isinstance(curator.shape, Shape):
        raise PlanViolation("Only users with ratings can be split into groups.")
    return [GroupCurator(curator, DisjointGroup(number, of)) for number in range(of)]


def group_of(question: Statistic | Step) -> DisjointGroup:
    """The group of a statistic or a step: all units unless declared otherwise."""
    if isinstance(question, GroupStatistic | GroupStep):
        return question.group
    return EVERYBODY
