"""Ratings in partitions: each has some users with all of their ratings, and one is in memory.

Which users a partition has, and how many ratings, is as private as the ratings.
"""

import pickle
import shutil
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from dpmf_core.base.arrays import Ints
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.base.paths import write_whole
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import FACTS, Ratings, Shape
from dpmf_core.data.samples import SampleShape

USERS_OF_A_PART = 32_768  # on average, by default
KEY = 0x9A27  # of the hash that assigns users to partitions
# bytes that stay free on a disk with partitions that can be made again
SPARE = 5 * 1024**3


@dataclass(frozen=True, eq=False)
class Part:
    """Some users and all of their ratings.

    Attributes
    ----------
    ids : int64 (n,)
        The users' numbers in the whole set, ascending.
    rows : Ratings
        Their ratings. User ids[k] is user k there.
    """

    ids: Ints
    rows: Ratings


Change = Callable[[Part], Part]
Watch = Callable[[int, int], None]  # of a partition's place and their number; may raise
States = Mapping[Any, Any]  # what is stored with a partition, by key


class Fold(Protocol):
    """A sum over partitions: a pure value that can be pickled.

    So a partition adds the same wherever and however often it is read.
    """

    def empty(self) -> Any:
        """The sum over no partition."""

    def add(self, total: Any, part: Part, states: States) -> None:
        """Add a partition's contribution in place.

        The states are those that `Folding.hold` stored with the partition.
        """

    def merge(self, total: Any, other: Any) -> None:
        """Add the sum over later partitions in place; `other` stays unchanged."""


# makes what is stored with a partition; picklable
Beside = Callable[[Part, States], Any]


class Folding(Protocol):
    """Computes sums over partitions outside the calling process."""

    def fold(
        self, ratings: "PartitionedRatings", fold: Fold, keys: Iterable[Hashable]
    ) -> Any:
        """The sum over all partitions, each counted once, with the stored values of these keys."""

    def hold(
        self,
        ratings: "PartitionedRatings",
        key: Hashable,
        make: Beside,
        keys: Iterable[Hashable],
    ) -> None:
        """Compute something from every partition and store it there under a key."""

    def drop(self, key: Hashable) -> None:
        """Delete what is stored under a key."""

    def with_watch(self, before: Watch) -> Self:
        """A copy that sometimes calls before(partitions done, their number), which may raise."""


@dataclass(frozen=True)
class ItemCounts:
    """A `Fold`: the number of ratings of each item (n_items,)."""

    n_items: int

    def empty(self) -> Ints:
        return np.zeros(self.n_items, np.int64)

    def add(self, total: Any, part: Part, states: States) -> None:
        total += np.bincount(part.rows.items, minlength=self.n_items)

    def merge(self, total: Any, other: Any) -> None:
        total += other


@dataclass(frozen=True, eq=False)
class PartitionedRatings:
    """Ratings of `n_users` users in partitions, read when used and not kept.

    Every user is in one partition. The facts are those of `Ratings`.

    Attributes
    ----------
    fingerprint : str
        The fingerprint of all partitions and facts.
    origin : str
        Fingerprint of the file that private ratings were read from.
    folding : Folding or None
        Where sums over partitions are made. By default they are made here, one partition after the
        other.
    """

    parts: Sequence[Part]
    n_users: int
    n_items: int
    bounds: tuple[float, float]
    fingerprint: str
    titles: tuple[str, ...] | None = None
    name: str = "ratings"
    public: bool = False
    assumptions: tuple[str, ...] = ()
    origin: str = ""
    labels: tuple[str, ...] | None = None
    item_features: ItemFeatures | None = None
    folding: Folding | None = field(default=None, repr=False)

    @property
    def shape(self) -> Shape:
        return Shape(self.n_users, self.n_items, self.bounds, self.item_features)

    @property
    def account(self) -> str:
        """The identity of private ratings in accounts: their origin."""
        return self.origin or self.fingerprint

    @property
    def row_digest(self) -> str:
        """The digest is unknown, because computing it would read all partitions."""
        return ""

    def with_change(self, change: Change) -> Self:
        """A copy with a change to each partition as it is read.

        The change must be a function of the partition alone that can be pickled.
        """
        read = self._read
        return replace(self, parts=replace(read, changes=(*read.changes, change)))

    @property
    def _read(self) -> "_ReadParts":
        """The partitions, to which further steps of reading can be added."""
        parts = self.parts
        if isinstance(parts, _ReadParts) and parts.folder is None:
            return parts
        return _ReadParts(parts)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes to each partition as it is read, in this order."""
        return self._read.changes

    def with_watch(self, before: Watch) -> Self:
        """A copy that calls before(place, number of partitions) before it reads one.

        `before` may raise. If partitions are read elsewhere, it gets how many are done.
        """
        folding = self.folding
        if folding is not None:
            folding = folding.with_watch(before)
        read = self._read
        parts = replace(read, watches=(before, *read.watches))
        return replace(self, parts=parts, folding=folding)

    def kept_in(self, folder: Path) -> Self:
        """A copy that stores each partition, after all changes, in a file when it is first read.

        Later reads use the file. Partitions that are read elsewhere are not stored.
        """
        if self.folding is not None:
            return self
        return replace(self, parts=replace(self._read, folder=folder))

    def fold(self, fold: Fold, keys: Iterable[Hashable] = ()) -> Any:
        """A sum over all partitions, with the values that are stored elsewhere under these keys."""
        if self.folding is not None:
            return self.folding.fold(self, fold, keys)
        total = fold.empty()
        for place in range(len(self.parts)):
            fold.add(total, self.parts[place], {})
        return total

    def item_counts(self) -> Ints:
        """The exact number of ratings of each item (n_items,)."""
        return np.asarray(self.fold(ItemCounts(self.n_items)))

    def part_with(self, user: int) -> Part:
        """The partition of a user, by the user's number before any change of the partitions."""
        parts = self.parts
        while isinstance(parts, _ReadParts):
            parts = parts.parts
        if isinstance(parts, LazyParts):
            return self.parts[parts.place_of(user)]
        return next(
            self.parts[place] for place, part in enumerate(parts) if user in part.ids
        )

    def together(self) -> Ratings:
        """All ratings in one memory."""
        parts = list(self.parts)
        orders = [part.rows.order for part in parts if part.rows.order is not None]
        keys = None
        if any(part.rows.user_keys is not None for part in parts):
            keys = np.zeros(self.n_users, np.uint64)
            for part in parts:
                keys[part.ids] = part.rows.draw_keys(part.ids)
        return Ratings.of(
            np.concatenate([part.ids[part.rows.users] for part in parts]),
            np.concatenate([part.rows.items for part in parts]),
            np.concatenate([part.rows.values for part in parts]),
            order=np.concatenate(orders) if len(orders) == len(parts) else None,
            user_keys=keys,
            **{name: getattr(self, name) for name in FACTS},
        )


@dataclass(frozen=True, eq=False)
class PartitionedTable:
    """Ratings in partitions taken as samples: a row per user, with 0 for a missing rating.

    `samples.of_ratings` makes the rows.
    """

    ratings: PartitionedRatings

    @property
    def shape(self) -> SampleShape:
        return SampleShape(self.ratings.n_users, self.ratings.n_items)

    def kept_in(self, folder: Path) -> Self:
        """A copy whose ratings are stored when first read."""
        return replace(self, ratings=self.ratings.kept_in(folder))


class Members:
    """The partition of each user, by a keyed hash of the user's number.

    So the order of numbers has no effect.

    Attributes
    ----------
    part_of : int32 (n_users,)
        Each user's partition.
    place_of : int32 (n_users,)
        Each user's number in their partition.
    """

    def __init__(self, n_users: int, n_parts: int) -> None:
        self.n_parts = n_parts
        everybody = np.arange(n_users, dtype=np.int32)
        self.part_of = (keyed_uniform(KEY, everybody) * n_parts).astype(np.int32)
        self._order = np.argsort(self.part_of, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(
            self.part_of[self._order], np.arange(n_parts + 1)
        )
        self.place_of = np.empty(n_users, np.int32)
        self.place_of[self._order] = everybody - self._starts[self.part_of[self._order]]

    def of_part(self, place: int) -> Ints:
        """The users of a partition (n,), ascending."""
        first, last = self._starts[place : place + 2]
        return self._order[first:last].astype(np.int64)


def usual_parts(n_users: int) -> int:
    """The default number of partitions, from only the public number of users."""
    return max(1, -(-n_users // USERS_OF_A_PART))


class LazyParts(Sequence[Part]):
    """Partitions that are read or made when used, and not kept."""

    @abstractmethod
    def part(self, place: int) -> Part:
        """The partition at a place from 0."""

    def place_of(self, user: int) -> int:
        """The place of a user's partition; overridden where it is known without reading."""
        return next(place for place, part in enumerate(self) if user in part.ids)

    def __getitem__(self, place: Any) -> Any:
        return self.part(range(len(self))[place])


@dataclass(frozen=True)
class _ReadParts(LazyParts):
    """Partitions, watched, changed, and then stored in the folder as long as the disk has room."""

    parts: Sequence[Part]
    changes: tuple[Change, ...] = ()
    watches: tuple[Watch, ...] = ()
    folder: Path | None = None

    def __len__(self) -> int:
        return len(self.parts)

    def part(self, place: int) -> Part:
        for before in self.watches:
            before(place, len(self))
        if self.folder is None:
            return self._changed(place)
        path = self.folder / f"{place}.part"
        if path.exists():
            stored_part: Part = pickle.loads(path.read_bytes())
            return stored_part
        part = self._changed(place)
        content = pickle.dumps(part, protocol=5)
        if shutil.disk_usage(self.folder).free > SPARE + len(content):
            write_whole(path, content)  # so that no reader sees half of it
        return part

    def _changed(self, place: int) -> Part:
        part = self.parts[place]
        for change in self.changes:
            part = change(part)
        return part
