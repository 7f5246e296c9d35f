"""Private rows in blocks, and the operations on them: exact sums, and states kept with the rows.

Rows in memory, on disk and on other machines follow one contract. A key (run, number) names one sum
or state. Steps and statistics are pure and picklable, so a block's value under a key is the same
whenever and wherever it is computed.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpmf_core.base.arrays import Ints, Numbers
from dpmf_core.curator.statistic import Block, Statistic, Totals
from dpmf_core.data.partitioned import (
    Part,
    PartitionedRatings,
    PartitionedTable,
    States,
)
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.data.samples import Samples, SampleShape, of_ratings
from dpmf_core.privacy.noise import PlanViolation

Step = Callable[..., Any]  # step(block, *shared) -> state


class Key(NamedTuple):
    """The name of a sum or a state: a curator, and a number of its own."""

    run: str
    number: int


class Held:
    """What is stored with the rows under a key; an algorithm sees only this name."""

    __slots__ = ("__weakref__", "key")

    def __init__(self, key: Key) -> None:
        self.key = key

    def __reduce__(self) -> tuple[Any, ...]:
        return Held, (self.key,)


@dataclass(frozen=True)
class Cells:
    """Which items each user rated, sorted by user and item: users, items (n_ratings,)."""

    users: Numbers
    items: Numbers


class Blocks:
    """Blocks visited one after the other.

    Parameters
    ----------
    shape
        The public shape of the data.
    blocks : sequence of Block
        Loaded when used.
    states : FileStates, optional
        States by key and block; by default they are kept in memory.
    """

    def __init__(
        self, shape: Any, blocks: Sequence[Block], states: "FileStates | None" = None
    ) -> None:
        self.shape = shape
        self.blocks = blocks
        self.states: Any = {} if states is None else states

    def total(self, statistic: Statistic, shared: Sequence[Any]) -> Totals:
        """The exact sums over all units."""
        totals = statistic.empty(self.shape, *shared)
        for place, block in enumerate(self.blocks):
            statistic.add(block, totals, *_beside(shared, self._state_of(place)))
        return totals

    def hold(self, key: Key, step: Step, shared: Sequence[Any]) -> None:
        """Compute a state from every block and store it under the key."""
        for place, block in enumerate(self.blocks):
            self.states[key, place] = step(
                block, *_beside(shared, self._state_of(place))
            )

    def drop(self, key: Key) -> None:
        """Delete what is stored under a key."""
        for place in range(len(self.blocks)):
            # a step that failed stored some blocks only
            self.states.pop((key, place), None)

    def cells(self) -> Cells:
        """Which items each user rated, over all blocks."""
        parts = [
            (block.ids[block.rows.users], block.rows.items) for block in self.blocks
        ]
        users, items = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((items, users))
        return Cells(users[order].astype(np.int32), items[order])

    def _state_of(self, place: int) -> Callable[[Key], Any]:
        return lambda key: self.states[key, place]


def _beside(shared: Sequence[Any], state_of: Callable[[Key], Any]) -> list[Any]:
    """The shared values, with a block's states in place of their keys."""
    return [state_of(part.key) if isinstance(part, Held) else part for part in shared]


# ---- rows in blocks ------------------------------------------------------------------------------


def in_memory(data: Any, blocks: int = 1) -> Blocks:
    """Split the units of `data` into blocks of consecutive units.

    Parameters
    ----------
    data : Ratings, Samples or mapping
        A mapping holds tables by name, with the same units.
    blocks : int

    Raises
    ------
    OutsideDomain
        On rows that no proof covers.
    """
    if isinstance(data, Mapping):
        tables = data
    else:
        tables = {"train": data}
    shape = next(iter(tables.values())).shape
    everybody = np.arange(shape.n_units)
    whole = Block(everybody, tables, shape.n_units).checked()
    if blocks == 1:
        return Blocks(shape, [whole])
    return Blocks(
        shape,
        split_units(tables, np.array_split(everybody, min(blocks, len(everybody)))),
    )


def split_units(tables: Mapping[str, Any], parts: Sequence[Ints]) -> list[Block]:
    """One block for each part: ids of units, in the order of their numbers in the block."""
    n_units = next(iter(tables.values())).shape.n_units
    return [
        Block(ids, {name: rows_of(data, ids) for name, data in tables.items()}, n_units)
        for ids in parts
    ]


def rows_of(data: Any, units: Ints) -> Any:
    """The rows of some units, numbered from 0 in the given order."""
    if isinstance(data, Ratings):
        return _ratings_of(data, units)
    return _samples_of(data, units)


def _ratings_of(ratings: Ratings, units: Ints) -> Ratings:
    counts = ratings.user_counts[units]
    starts = np.concatenate([[0], np.cumsum(counts)])
    users = np.repeat(np.arange(len(units), dtype=np.int32), counts)
    rows = np.arange(starts[-1]) + (ratings.by_user[units] - starts[:-1])[users]
    if ratings.order is None:
        order = None
    else:
        order = ratings.order[rows]
    if ratings.user_keys is None:
        keys = None
    else:
        keys = ratings.user_keys[units]
    return replace(
        ratings,
        n_users=len(units),
        users=users,
        items=ratings.items[rows],
        values=ratings.values[rows],
        order=order,
        user_keys=keys,
    )


def _samples_of(samples: Samples, units: Ints) -> Samples:
    """A unit is a row, or a person with all their rows, in their order."""
    # they are only for judging
    samples = replace(
        samples,
        titles=None,
        clean=None,
        texts=None,
    )
    if samples.people is None:
        return replace(samples, X=samples.X[units])
    place = np.full(samples.shape.n_units, -1)
    place[units] = np.arange(len(units))
    rows = np.flatnonzero(place[samples.people] >= 0)
    people = place[samples.people[rows]].astype(np.int32)
    return replace(
        samples,
        X=samples.X[rows],
        people=people,
        n_people=len(units),
    )


# ---- states on disk ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FileStates:
    """States in files of one folder."""

    folder: Path

    def _path(self, key: Key, place: int) -> Path:
        return self.folder / f"{key.run}-{key.number}-{place}.state"

    def __getitem__(self, key: tuple[Key, int]) -> Any:
        return pickle.loads(self._path(*key).read_bytes())

    def __setitem__(self, key: tuple[Key, int], state: Any) -> None:
        self._path(*key).write_bytes(pickle.dumps(state, protocol=5))

    def pop(self, key: tuple[Key, int], default: None) -> None:
        self._path(*key).unlink(missing_ok=True)


# ---- in parts ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PartBlocks(Sequence[Block]):
    """One block for each part of some ratings, read when used and not kept.

    Attributes
    ----------
    ratings : PartitionedRatings
    shape : Shape or SampleShape
        The ratings' shape, or that of the samples that they are read as.
    """

    ratings: PartitionedRatings
    shape: Shape | SampleShape

    def __len__(self) -> int:
        return len(self.ratings.parts)

    def __getitem__(self, place: Any) -> Any:
        return _block_of(self.ratings.parts[place], self.shape)


def in_parts(
    data: PartitionedRatings | PartitionedTable, folder: Path
) -> "Blocks | PeopleElsewhere":
    """Ratings stored in parts, one of which is in memory at a time.

    Parameters
    ----------
    data : PartitionedRatings or PartitionedTable
    folder : Path
        A new folder for states. It is not used if parts are read elsewhere.
    """
    if isinstance(data, PartitionedTable):
        ratings = data.ratings
    else:
        ratings = data
    if ratings.folding is not None:
        return PeopleElsewhere(ratings, data.shape)
    return Blocks(data.shape, PartBlocks(ratings, data.shape), FileStates(folder))


def _block_of(part: Part, shape: Shape | SampleShape) -> Block:
    rows: Ratings | Samples = part.rows
    if isinstance(shape, SampleShape):
        rows = of_ratings(part.rows)
    return Block(part.ids, {"train": rows}, shape.n_units).checked()


# ---- in parts that are read elsewhere ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StatisticFold:
    """A `Fold` of a statistic over the users of each part.

    It travels to where parts are read, with only public or released values.
    """

    statistic: Statistic
    shape: Any
    shared: tuple[Any, ...]

    def empty(self) -> Totals:
        return self.statistic.empty(self.shape, *self.shared)

    def add(self, total: Totals, part: Part, states: States) -> None:
        block = _block_of(part, self.shape)
        self.statistic.add(block, total, *_beside(self.shared, states.__getitem__))

    def merge(self, total: Totals, other: Totals) -> None:
        for mine, theirs in zip(total, other, strict=True):
            np.add(mine, theirs, out=mine)


def _step_beside(
    part: Part, states: States, step: Step, shape: Any, shared: Sequence[Any]
) -> Any:
    """Apply a step to the users of a part."""
    return step(_block_of(part, shape), *_beside(shared, states.__getitem__))


class PeopleElsewhere:
    """Users of ratings in parts, if the parts are read elsewhere and stay there.

    The shape is as in `PartBlocks`.
    """

    def __init__(self, ratings: PartitionedRatings, shape: Shape | SampleShape) -> None:
        assert ratings.folding is not None
        self.shape = shape
        self._ratings = ratings
        self._folding = ratings.folding

    def total(self, statistic: Statistic, shared: Sequence[Any]) -> Totals:
        fold = StatisticFold(statistic, self.shape, tuple(shared))
        totals: Totals = self._ratings.fold(fold, _keys(shared))
        return totals

    def hold(self, key: Key, step: Step, shared: Sequence[Any]) -> None:
        make = partial(
            _step_beside,
            step=step,
            shape=self.shape,
            shared=tuple(shared),
        )
        self._folding.hold(self._ratings, key, make, _keys(shared))

    def drop(self, key: Key) -> None:
        self._folding.drop(key)

    def cells(self) -> Cells:
        raise PlanViolation(
            "Which items were rated never leaves partitions that are read elsewhere."
        )


def _keys(shared: Sequence[Any]) -> list[Key]:
    return [part.key for part in shared if isinstance(part, Held)]


People = Blocks | PeopleElsewhere  # the side that holds the rows
