"""Frozen containers of private ratings, and their preparation before an algorithm sees them.

A privacy unit is one user with all of their ratings. Changes to a user's ratings depend only on
that user's row, declared public facts and keyed hashes, so neighbouring data sets stay neighbours.
The exceptions (item sets chosen by exact counts) are recorded in `Ratings.assumptions`.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt

from dpmf_core.base.arrays import Array, Doubles, Flags, Floats, Hashes, Ints, Numbers
from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import (
    digest_of,
    digest_of_rows,
    keyed_uniform,
    keys_of_texts,
)
from dpmf_core.data.domain import Domain, OutsideDomain
from dpmf_core.data.item_features import EncodedTable, ItemFeatures
from dpmf_core.data.ordering import order_of, order_of_pairs, repeats
from dpmf_core.data.rating_bounds import Bounds, checked_bounds
from dpmf_core.data.report import Problem, Report

if TYPE_CHECKING:  # only tables in memory need it
    import pandas as pd

Result = TypeVar("Result")
ITEM_SET_IS_PUBLIC = "the item set is public"  # if exact counts chose it
# assumed if the items were read from a private file
ITEMS_ARE_PUBLIC = "the items in the file are public"
# assumed if the number was counted in a private file
USERS_ARE_PUBLIC = "the number of users is public"
# if the first rows of a private file told it: separator, header, columns, encoding, date order
LAYOUT_IS_PUBLIC = "the file's layout is public"
FACTS = (  # about ratings in memory or in partitions
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


@dataclass(frozen=True)
class Shape:
    """The public shape of a ratings set: what a plan may know.

    It is declared, never inferred from private rows.

    Attributes
    ----------
    n_users, n_items : int
    bounds : tuple of float
        The lowest and the highest rating.
    item_features : ItemFeatures or None
        A public table of the items, if given. Plans do not depend on it.
    """

    n_users: int
    n_items: int
    bounds: Bounds
    item_features: ItemFeatures | None = field(
        default=None,
        repr=False,
        compare=False,
    )

    @property
    def n_units(self) -> int:
        return self.n_users

    @property
    def mid_range(self) -> float:
        return (self.bounds[0] + self.bounds[1]) / 2

    @property
    def half_range(self) -> float:
        return (self.bounds[1] - self.bounds[0]) / 2

    @property
    def quarter_range(self) -> float:
        """The unit of what algorithms assume about ratings: a star of five."""
        return self.half_range / 2


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of `n_items` items by `n_users` users, sorted by (user, item), without repeats.

    Attributes
    ----------
    users, items : int32 (n_ratings,)
        Ids from 0.
    values : float32 (n_ratings,)
        Within `bounds`.
    bounds : tuple of float
        The declared lowest and highest rating, public.
    order : int64 (n_ratings,) or None
        Time or position.
    public : bool
        Whether the data are published or simulated. Only then may a seed reproduce privacy noise.
    assumptions : tuple of str
        Facts about the private rows that earlier choices treat as public.
    origin : str
        Fingerprint of the file that private ratings were read from; derived ratings keep it.
    labels, titles
        The items' ids in that file, which every rating of an item shows; a title is what one row of
        it says.
    item_features : ItemFeatures or None
        A public table of the items, made without the ratings.
    user_keys : uint64 (n_users,) or None
        Keys of each user's random draws: hashes of their ids in that file. None: their numbers. A
        user's number changes when another user leaves the file; their key does not.
    report : Report or None
        What reading the file or the table left out, changed and assumed.
    own_ids : tuple of pandas.Index, or None
        The ids of users and items as a table in memory has them, in the order of their numbers.
    rows_origin : str
        `row_digest` of the private ratings that these were made from.
    """

    users: Numbers
    items: Numbers
    values: Floats
    n_users: int
    n_items: int
    bounds: Bounds
    order: Ints | None = None
    titles: tuple[str, ...] | None = None
    name: str = "ratings"
    public: bool = False
    assumptions: tuple[str, ...] = ()
    origin: str = ""
    labels: tuple[str, ...] | None = None
    item_features: ItemFeatures | None = None
    user_keys: Hashes | None = None
    report: Report | None = field(default=None, repr=False)
    own_ids: "tuple[pd.Index[Any], pd.Index[Any]] | None" = field(
        default=None, repr=False
    )
    rows_origin: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.user_keys is not None and len(self.user_keys) != self.n_users:
            raise ValueError(
                f"There must be one key for each of the {self.n_users} users. Got"
                f" {len(self.user_keys)}."
            )

    @classmethod
    def of(
        cls,
        users: npt.ArrayLike,
        items: npt.ArrayLike,
        values: npt.ArrayLike,
        *,
        n_users: int,
        n_items: int,
        bounds: Bounds,
        order: npt.ArrayLike | None = None,
        **facts: Any,
    ) -> Self:
        """Sort, merge and clamp triples.

        Ratings that are not finite are dropped, others are clamped to the bounds, and duplicates
        become their mean (with the latest order).

        Raises
        ------
        BadInput
            If ids are outside the declared shape or the bounds are not an interval.
        """
        u = _ids(users)
        i = _ids(items)
        v = np.asarray(values)
        if v.dtype != np.float32:
            v = v.astype(np.float64)
        low, high = checked_bounds(bounds, "the ratings", "Declare them.")
        if u.size and not (
            min(u.min(), i.min()) >= 0 and u.max() < n_users and i.max() < n_items
        ):
            raise BadInput(
                f"User and item ids must lie in [0, {n_users}) and [0, {n_items}). Number them from"
                " 0, or declare a larger shape."
            )
        if order is None:
            columns = [u, i, v]
        else:
            columns = [u, i, v, np.asarray(order, np.int64)]
        keep = np.isfinite(v)
        if not keep.all():
            columns = [column[keep] for column in columns]
        by_pair = order_of_pairs(columns[0], columns[1], n_users, n_items)
        if by_pair is not None:
            columns = [column[by_pair] for column in columns]
        again = repeats(columns[0], columns[1])
        if again.any():
            columns = _merged(columns, np.flatnonzero(~again), (low, high))
        u, i, v, *latest = columns
        v = v.clip(low, high).astype(np.float32, copy=False)
        times = latest[0].astype(np.int64) if latest else None
        rows = u.astype(np.int32), i.astype(np.int32), v
        return cls(*rows, n_users, n_items, bounds, times, **facts)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> Shape:
        return Shape(self.n_users, self.n_items, self.bounds, self.item_features)

    @property
    def domain(self) -> Domain:
        """The domain in which the proofs about these ratings hold."""
        return Domain(self.n_users, self.n_items, *self.bounds)

    def check_domain(self) -> None:
        """Raise OutsideDomain unless every user's row lies in the domain."""
        if self.users.size and not (
            self.users[0] >= 0
            and self.users[-1] < self.n_users
            and (self.users[1:] >= self.users[:-1]).all()
        ):
            raise OutsideDomain(
                f"Users must ascend from 0 to {self.n_users - 1} at most."
            )
        self.domain.check(self.values, self.items, self.by_user)

    @cached_property
    def by_user(self) -> Ints:
        """Row pointers (n_users + 1,): user u's ratings are `by_user[u]:by_user[u + 1]`."""
        return np.searchsorted(self.users, np.arange(self.n_users + 1)).astype(np.int64)

    @property
    def user_counts(self) -> Ints:
        """The number of ratings of each user (n_users,)."""
        return np.diff(self.by_user)

    def matrix(self, values: Array) -> Any:
        """The rated cells as a sparse matrix (n_users, n_items) of values (n_ratings,)."""
        from scipy.sparse import csr_array  # slow to load

        shape = (self.n_users, self.n_items)
        return csr_array((values, self.items, self.by_user), shape=shape)

    def cached_for(self, of: object, find: Callable[[], Result]) -> Result:
        """The result of `find`, cached for the last of the objects `of`.

        It lives as long as both objects, and is neither copied nor saved with either.
        """
        cached = _found_last.get(self)
        if cached and cached[0]() is of:
            return cast(Result, cached[1])
        result = find()
        last = list[Any]()
        last += [ref(of, lambda _: last.clear()), result]
        _found_last[self] = last
        return result

    @cached_property
    def by_item(self) -> tuple[Ints, Ints]:
        """Pointers (n_items + 1,) and the order (n_ratings,) that sorts by (item, user)."""
        order = order_of(self.items, self.n_items)
        starts = np.concatenate([[0], np.cumsum(self.item_counts)])
        return starts.astype(np.int64), order.astype(np.int64, copy=False)

    @cached_property
    def item_counts(self) -> Ints:
        """The number of ratings of each item (n_items,)."""
        return np.bincount(self.items, minlength=self.n_items)

    def item_sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sum over each item (n_items,) of values of the ratings (n_ratings,)."""
        return np.bincount(self.items, values, self.n_items)

    @cached_property
    def fingerprint(self) -> str:
        """sha256 over every array and declared fact that an algorithm can see."""
        digest = hashlib.sha256(
            repr((self.shape, self.public, self.assumptions)).encode()
        )
        for array in (self.users, self.items, self.values, self.order):
            digest.update(
                b"-" if array is None else np.ascontiguousarray(array).tobytes()
            )
        if self.user_keys is not None:
            digest.update(self.user_keys.tobytes())
        if self.item_features is not None:
            digest.update(self.item_features.fingerprint.encode())
        return digest.hexdigest()

    @property
    def account(self) -> str:
        """The identity of private ratings in accounts.

        It is their origin, whatever was left out since; without an origin it is the ratings,
        whatever is declared.
        """
        return self.origin or digest_of(self.users, self.items, self.values)

    @property
    def item_ids(self) -> tuple[str, ...]:
        """The items' ids as text: their labels, else their numbers."""
        return self.labels or tuple(map(str, range(self.n_items)))

    @cached_property
    def row_digest(self) -> str:
        """What the ratings say, whether they came as a file, a frame or a matrix, in any order.

        Of derived ratings it is that of the first ones, as with `account`. It depends on the ids of
        users and items and on the values, within the declared bounds.
        """
        if self.rows_origin:
            return self.rows_origin
        user_keys = self.user_keys
        if user_keys is None:
            user_keys = keys_of_texts(
                np.arange(self.n_users).astype(str).astype(object)
            )
        item_keys = keys_of_texts(np.array(self.item_ids, object))
        # -0 as 0
        values = np.ascontiguousarray(self.values + np.float32(0)).view(np.uint32)
        return digest_of_rows(user_keys[self.users], item_keys[self.items], values)

    def draw_keys(self, ids: Array | None = None) -> Array:
        """The keys of each user's draws (n_users,).

        Parameters
        ----------
        ids : (n_users,), optional
            The users' numbers in the whole set, if these are a part of it.
        """
        if self.user_keys is not None:
            return self.user_keys
        if ids is None:
            return np.arange(self.n_users, dtype=np.int32)
        return ids

    def report_on(self, read: int, problems: Iterable[Problem]) -> Report:
        """The report on these ratings, which are left of the rows that were read."""
        return Report(
            name=self.name,
            read=read,
            kept=len(self),
            n_users=self.n_users,
            n_items=self.n_items,
            problems=tuple(problems),
        )

    @property
    def _origin(self) -> str:
        if self.public:
            return ""
        return self.account

    @property
    def _rows_origin(self) -> str:
        if self.public:
            return ""
        return self.row_digest

    def only(self, keep: Flags) -> Self:
        """The ratings under a mask (n_ratings,); users, items and declared facts stay."""
        # a mask is searched again for every column
        few = 2 * np.count_nonzero(keep) < len(keep)
        rows = np.flatnonzero(keep) if few else keep
        return replace(
            self,
            users=self.users[rows],
            items=self.items[rows],
            values=self.values[rows],
            order=None if self.order is None else self.order[rows],
            origin=self._origin,
            rows_origin=self._rows_origin,
        )

    def top_items(self, count: int) -> Self:
        """The `count` most rated items (ties by id), renumbered by descending popularity.

        Adds an assumption.
        """
        if not count >= 1:
            raise BadInput(f"The number of top items must be at least 1. Got {count}.")
        if count >= self.n_items:
            return self
        kept_items = self.keeping(most_rated(self.item_counts, count))
        return kept_items.assuming(ITEM_SET_IS_PUBLIC)

    def most_per_user(self, count: int, ids: Array | None = None) -> Self:
        """At most `count` ratings of every user, drawn by a hash of user and item.

        The choice is a function of the user's row. The ids are those of `draw_keys`.
        """
        key = keyed_uniform(0, self.draw_keys(ids)[self.users], self.items)
        return self.only(rank_within_user(self, key) < count)

    def keeping(self, item_ids: Ints) -> Self:
        """The items under an index, renumbered in its order."""
        new = np.full(self.n_items, -1, np.int64)
        new[item_ids] = np.arange(len(item_ids))
        inside = new[self.items] >= 0
        titles, labels = (
            None if names is None else tuple(names[j] for j in item_ids)
            for names in (self.titles, self.labels)
        )
        features = self.item_features
        return type(self).of(
            self.users[inside],
            new[self.items[inside]],
            self.values[inside],
            order=None if self.order is None else self.order[inside],
            user_keys=self.user_keys,
            n_users=self.n_users,
            n_items=len(item_ids),
            bounds=self.bounds,
            titles=titles,
            labels=labels,
            name=self.name,
            public=self.public,
            assumptions=self.assumptions,
            item_features=None if features is None else features.keeping(item_ids),
            origin=self._origin,
            rows_origin=self._rows_origin,
        )

    def with_items(self, table: EncodedTable) -> Self:
        """Add a public table of the items, which also names items without a name."""
        titles = self.titles
        if table.titles:
            titles = table.titles_over(titles or self.item_ids, self.item_ids)
        ratings = replace(self, item_features=table.features, titles=titles)
        if self.public:
            return ratings
        return ratings.assuming(ITEMS_ARE_PUBLIC)

    def assuming(self, assumption: str) -> Self:
        assumptions = tuple(dict.fromkeys((*self.assumptions, assumption)))
        return replace(self, assumptions=assumptions)

    def min_user_count(self, count: int) -> Self:
        """Remove the ratings of users with fewer than `count`; n_users stays public."""
        return self.only(self.user_counts[self.users] >= count)

    def positives(self, above: float) -> Self:
        """Implicit feedback: a rating over `above` becomes 1, every other is dropped.

        Bounds become (0, 1).
        """
        liked_ratings = self.only(self.values > above)
        return replace(
            liked_ratings,
            values=np.ones(len(liked_ratings), np.float32),
            bounds=(0.0, 1.0),
        )


def most_rated(counts: Array, most: int) -> Ints:
    """The items with the largest counts (n_items,), at most `most`, in descending order."""
    return np.argsort(-counts, kind="stable")[:most]


def often_rated(counts: Array, least: int) -> Ints:
    """The items with a count of at least `least`.

    Raises
    ------
    BadInput
        If no item has that count.
    """
    item_ids = np.flatnonzero(counts >= least)
    if not item_ids.size:
        raise BadInput(
            f"No item has {least} ratings or more. Choose a smaller minimum."
        )
    return item_ids


def assuming_the_item_set(assumptions: tuple[str, ...]) -> tuple[str, ...]:
    """The assumptions, plus that the item set is public."""
    return tuple(dict.fromkeys((*assumptions, ITEM_SET_IS_PUBLIC)))


def _ids(ids: npt.ArrayLike) -> Array:
    """Ids in 32 bits if they have them, else in 64."""
    array = np.asarray(ids)
    if array.dtype == np.int32:
        return array
    return array.astype(np.int64)


def _merged(
    columns: list[Array],
    first: Ints,
    bounds: Bounds,
) -> list[Array]:
    """Users, items, values and optional times (n_ratings,), with each pair once.

    A pair gets the mean of its clamped values and its latest time. Pairs begin at `first`.
    """
    users, items, values, *times = columns
    clamped_values = values.astype(np.float64).clip(*bounds)
    sizes = np.diff(first, append=len(values))
    merged_columns = [
        users[first],
        items[first],
        np.add.reduceat(clamped_values, first) / sizes,
    ]
    return merged_columns + [np.maximum.reduceat(each, first) for each in times]


def rank_within_user(ratings: Ratings, key: Doubles) -> Ints:
    """The place (n_ratings,) of each rating among its user's, by ascending key."""
    return rank_within_rows(ratings.by_user, key)


def rank_within_rows(starts: Any, key: Doubles) -> Ints:
    """The place (n,) of each entry in its row, by ascending key.

    Parameters
    ----------
    starts : (n_rows + 1,)
    key : (n,)
    """
    # compiled code is loaded when first needed
    from dpmf_core.data.ranks import (
        rank_segments,
    )

    return rank_segments(starts, key)


# a key, its answer
_found_last: WeakKeyDictionary[Ratings, list[Any]] = WeakKeyDictionary()
