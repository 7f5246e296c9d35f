"""Ratings that are kept in parts, each with some users and all of their ratings: one part is in
memory at a time.

Which users a part has, and how many ratings, is as private as the ratings are.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from dpmf_core.data.hashing import keyed_uniform
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Ratings, Shape

USERS_OF_A_PART = 32_768  # on average, where nobody says otherwise
KEY = 0x9A27  # of the hash that puts users in parts
FACTS = (  # that `Ratings` has too
    "n_users",
    "n_items",
    "bounds",
    "titles",
    "name",
    "public",
    "assumptions",
    "origin",
    "labels",
    "item_features",
)


@dataclass(frozen=True, eq=False)
class Part:
    """Some users and all of their ratings. ids: int64 (n,) the users' numbers among all, ascending.
    rows: their ratings; user ids[k] is user k there.
    """

    ids: npt.NDArray[np.int64]
    rows: Ratings


Change = Callable[[Part], Part]


@dataclass(frozen=True, eq=False)
class PartitionedRatings:
    """Ratings of `n_users` users in parts, which are read when asked for and not kept. Every user
    is in one part.

    The facts are those of `Ratings`. fingerprint: of all parts and facts. origin: fingerprint of
    the file that private ratings were read from.
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

    @property
    def shape(self) -> Shape:
        return Shape(self.n_users, self.n_items, self.bounds, self.item_features)

    @property
    def account(self) -> str:
        """What the account of private ratings goes by: where they came from."""
        return self.origin or self.fingerprint

    def changed(self, change: Change, **facts: Any) -> Self:
        """The same with a change to each part as it is read: a function of the part alone."""
        return replace(self, parts=_ChangedParts(self.parts, change), **facts)

    def watched(self, before: Callable[[int, int], None]) -> Self:
        """The same; before each part is read, before(its place, how many there are) is called,
        which may raise.
        """
        return replace(self, parts=_WatchedParts(self.parts, before))

    def item_counts(self) -> npt.NDArray[np.int64]:
        """How many ratings each item has (n_items,). Exact."""
        counts = np.zeros(self.n_items, np.int64)
        for part in self.parts:
            counts += np.bincount(part.rows.items, minlength=self.n_items)
        return counts

    def together(self) -> Ratings:
        """All ratings in one memory."""
        parts = list(self.parts)
        orders = [part.rows.order for part in parts]
        known = [order for order in orders if order is not None]
        return Ratings.of(
            np.concatenate([part.ids[part.rows.users] for part in parts]),
            np.concatenate([part.rows.items for part in parts]),
            np.concatenate([part.rows.values for part in parts]),
            order=np.concatenate(known) if len(known) == len(orders) else None,
            **{name: getattr(self, name) for name in FACTS},
        )


class Members:
    """Which users are in which part: by a keyed hash of their number, so that parts are alike
    whatever the order of numbers says.

    part_of: int32 (n_users,) each user's part. place_of: int32 (n_users,) her number in it.
    """

    def __init__(self, n_users: int, n_parts: int) -> None:
        everybody = np.arange(n_users, dtype=np.int32)
        self.part_of = (keyed_uniform(KEY, everybody) * n_parts).astype(np.int32)
        self._order = np.argsort(self.part_of, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(self.part_of[self._order], np.arange(n_parts + 1))
        self.place_of = np.empty(n_users, np.int32)
        self.place_of[self._order] = everybody - self._starts[self.part_of[self._order]]

    def of_part(self, place: int) -> npt.NDArray[np.int64]:
        """The users of a part (n,), ascending."""
        first, last = self._starts[place : place + 2]
        return self._order[first:last].astype(np.int64)


def usual_parts(n_users: int) -> int:
    """How many parts there are unless somebody says: by the public number of users alone."""
    return max(1, -(-n_users // USERS_OF_A_PART))


class LazyParts(Sequence[Part]):
    """Parts that are read or made when asked for, and not kept."""

    @abstractmethod
    def part(self, place: int) -> Part:
        """The part at a place from 0."""

    @overload
    def __getitem__(self, place: int) -> Part: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Part]: ...
    def __getitem__(self, place: int | slice) -> Part | Sequence[Part]:
        if isinstance(place, slice):
            return [self.part(at) for at in range(len(self))[place]]
        return self.part(range(len(self))[place])


@dataclass(frozen=True)
class _ChangedParts(LazyParts):
    parts: Sequence[Part]
    change: Change

    def __len__(self) -> int:
        return len(self.parts)

    def part(self, place: int) -> Part:
        return self.change(self.parts[place])


@dataclass(frozen=True)
class _WatchedParts(LazyParts):
    parts: Sequence[Part]
    before: Callable[[int, int], None]

    def __len__(self) -> int:
        return len(self.parts)

    def part(self, place: int) -> Part:
        self.before(place, len(self))
        return self.parts[place]
