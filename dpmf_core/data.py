"""Frozen containers for private data, and what may be done to them before an algorithm sees them.

A privacy unit is one user: all of a user's ratings. Whatever happens here to a user's ratings depends on
that user's row, on declared public facts and on keyed hashes only, so that neighbouring data sets stay neighbours;
the exceptions (item sets chosen by exact counts) are written down in `Ratings.assumptions`.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_serializer

from dpmf_core.errors import BadInput

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

ITEM_SET_IS_PUBLIC = "the item set is public"  # where exact counts chose it
ITEMS_ARE_PUBLIC = "the items in the file are public"  # where they were read off a private file
USERS_ARE_PUBLIC = "the number of users is public"  # where it is counted in a private file
WINDOWS_ARE_PUBLIC = "where each stretch of time begins is public"
LARGEST_RATING, NARROWEST = 1e9, 1e-6  # ratings are squared, in float32 too


@dataclass(frozen=True)
class Shape:
    """The public shape of a ratings set: what a plan may know. Declared, never inferred from private rows."""

    n_users: int
    n_items: int
    bounds: tuple[float, float]

    @property
    def n_units(self) -> int:
        return self.n_users

    @property
    def mid_range(self) -> float:
        return (self.bounds[0] + self.bounds[1]) / 2

    @property
    def half_range(self) -> float:
        return (self.bounds[1] - self.bounds[0]) / 2


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of `n_items` items by `n_users` users, sorted by (user, item), each pair at most once.

    users, items: int32 (n_ratings,), ids from 0. values: float32 (n_ratings,), within `bounds`.
    bounds: declared lowest and highest rating, public. order: int64 (n_ratings,) time or position, or None.
    public: True for published or simulated data; a privacy noise that a seed can reproduce is allowed for these only.
    assumptions: facts about the private rows that earlier choices treat as public.
    origin: fingerprint of the file that private ratings were read from; what is made of them keeps it.
    labels: the items' ids in that file, for which every rating of an item stands; a title is what one row of it says.
    """

    users: Ints
    items: Ints
    values: Floats
    n_users: int
    n_items: int
    bounds: tuple[float, float]
    order: npt.NDArray[np.int64] | None = None
    titles: tuple[str, ...] | None = None
    name: str = "ratings"
    public: bool = False
    assumptions: tuple[str, ...] = ()
    origin: str = ""
    labels: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        users: npt.ArrayLike,
        items: npt.ArrayLike,
        values: npt.ArrayLike,
        *,
        n_users: int,
        n_items: int,
        bounds: tuple[float, float],
        order: npt.ArrayLike | None = None,
        **facts: Any,
    ) -> Self:
        """Sorted, merged, clamped ratings from triples: non-finite values go, duplicates become their mean (latest order), values are clamped.

        Raises BadInput when ids are outside the declared shape or the bounds are not an interval.
        """
        u, i, v = np.asarray(users, np.int64), np.asarray(items, np.int64), np.asarray(values, np.float64)
        low, high = bounds
        if not low < high:
            raise BadInput(f"The declared rating bounds must be two numbers, lowest first. Got {low} and {high}.")
        largest = max(abs(low), abs(high))
        if largest > LARGEST_RATING or high - low < NARROWEST * max(largest, 1e-3):
            raise BadInput(f"Ratings lie within {LARGEST_RATING:g} of 0, and their bounds apart by a millionth of that or more. Got {low:g} and {high:g}.")
        if u.size and not (min(u.min(), i.min()) >= 0 and u.max() < n_users and i.max() < n_items):
            raise BadInput(f"User and item ids must lie in [0, {n_users}) and [0, {n_items}).")
        keep = np.isfinite(v)
        u, i, v = u[keep], i[keep], np.clip(v[keep], low, high)
        pair = u * n_items + i
        by_pair = np.argsort(pair, kind="stable")
        starts = np.flatnonzero(np.diff(pair[by_pair], prepend=-1))
        sizes = np.diff(starts, append=len(pair))
        mean = np.add.reduceat(v[by_pair], starts) / sizes if len(starts) else v
        latest = None
        if order is not None:
            ordered = np.asarray(order, np.int64)[keep][by_pair]
            latest = np.maximum.reduceat(ordered, starts) if len(starts) else ordered
        first = by_pair[starts]
        return cls(u[first].astype(np.int32), i[first].astype(np.int32), mean.astype(np.float32), n_users, n_items, bounds, latest, **facts)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> Shape:
        return Shape(self.n_users, self.n_items, self.bounds)

    @cached_property
    def by_user(self) -> npt.NDArray[np.int64]:
        """Row pointers (n_users + 1,): user u's ratings are `by_user[u]:by_user[u + 1]`."""
        return np.searchsorted(self.users, np.arange(self.n_users + 1)).astype(np.int64)

    @cached_property
    def by_item(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Pointers (n_items + 1,) and the order (n_ratings,) that sorts the ratings by (item, user)."""
        order = np.argsort(self.items, kind="stable")
        counts = np.bincount(self.items, minlength=self.n_items)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order

    @cached_property
    def fingerprint(self) -> str:
        """sha256 over every array and declared fact that an algorithm can see."""
        digest = hashlib.sha256(repr((self.shape, self.public, self.assumptions)).encode())
        for array in (self.users, self.items, self.values, self.order):
            digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    @property
    def account(self) -> str:
        """What the account of private ratings goes by: where they came from, whatever was left out since. Without that: the ratings, whatever is declared."""
        return self.origin or digest_of(self.users, self.items, self.values)

    @property
    def _origin(self) -> str:
        return "" if self.public else self.account

    def only(self, keep: npt.NDArray[np.bool_]) -> Self:
        """The ratings under a mask (n_ratings,); users, items and declared facts stay."""
        order = None if self.order is None else self.order[keep]
        return replace(self, users=self.users[keep], items=self.items[keep], values=self.values[keep], order=order, origin=self._origin)

    def top_items(self, count: int) -> Self:
        """The `count` most rated items (ties by id), renumbered by descending popularity. The choice is an assumption."""
        if not count >= 1:
            raise BadInput(f"The number of top items must be at least 1. Got {count}.")
        if count >= self.n_items:
            return self
        popularity = np.bincount(self.items, minlength=self.n_items)
        return self._items(np.argsort(-popularity, kind="stable")[:count])

    def most_per_user(self, count: int) -> Self:
        """At most `count` ratings of every user, drawn by a hash of user and item: a function of her row alone."""
        return self.only(rank_within_user(self, keyed_uniform(0, self.users, self.items)) < count)

    def min_item_count(self, count: int) -> Self:
        """Items with at least `count` ratings. The choice is an assumption."""
        kept = np.flatnonzero(np.bincount(self.items, minlength=self.n_items) >= count)
        if not kept.size:
            raise BadInput(f"No item has {count} ratings or more. Choose a smaller minimum.")
        return self._items(kept)

    def _items(self, kept: npt.NDArray[np.int64]) -> Self:
        """As `keeping`, by a choice made on exact counts."""
        assumptions = tuple(dict.fromkeys((*self.assumptions, ITEM_SET_IS_PUBLIC)))
        return replace(self.keeping(kept), assumptions=assumptions)

    def keeping(self, kept: npt.NDArray[np.int64]) -> Self:
        """The items under an index, renumbered in its order."""
        new = np.full(self.n_items, -1, np.int64)
        new[kept] = np.arange(len(kept))
        inside = new[self.items] >= 0
        titles, labels = (None if names is None else tuple(names[j] for j in kept) for names in (self.titles, self.labels))
        order = None if self.order is None else self.order[inside]
        return type(self).of(
            self.users[inside], new[self.items[inside]], self.values[inside], order=order, n_users=self.n_users,
            n_items=len(kept), bounds=self.bounds, titles=titles, name=self.name, public=self.public, assumptions=self.assumptions,
            origin=self._origin, labels=labels,
        )  # fmt: skip

    def min_user_count(self, count: int) -> Self:
        """Rows of users with fewer than `count` ratings are emptied; n_users stays, so nothing is assumed."""
        return self.only(np.diff(self.by_user)[self.users] >= count)

    def positives(self, above: float) -> Self:
        """Implicit feedback: a rating over `above` becomes 1, every other is dropped. Bounds become (0, 1)."""
        liked = self.only(self.values > above)
        return replace(liked, values=np.ones(len(liked), np.float32), bounds=(0.0, 1.0))


def digest_of(*arrays: npt.NDArray[Any]) -> str:
    """sha256 over arrays, with their types and shapes."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def keyed_uniform(seed: int, users: npt.ArrayLike, items: npt.ArrayLike = 0) -> npt.NDArray[np.float64]:
    """A number in [0, 1) that depends on (seed, user, item) alone: splitmix64, so that no rating's fate depends on another user."""

    def mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    step = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        x = mix(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64) + step)
        x = mix(x + step * (np.asarray(users).astype(np.uint64) + np.uint64(1)))
        x = mix(x + step * (np.asarray(items).astype(np.uint64) + np.uint64(1)))
    return np.asarray((x >> np.uint64(11)) * 2.0**-53, np.float64)


def rank_within_user(ratings: Ratings, key: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Position (n_ratings,) of each rating among its user's, by ascending key."""
    from dpmf_core import kernels  # compiled code is loaded when first needed

    return np.asarray(kernels.rank_segments(ratings.by_user, key), np.int64)


STAMPS = 100_000  # orders that reach beyond this are times (seconds since 1970, days since year 1), below it places in a user's own row


def moments(ratings: Ratings, seed: int) -> npt.NDArray[np.float64]:
    """When each rating was given, in [0, 1), all equally spread: by the clock; where only places in a user's row are known, by the share of her row.

    Raises BadInput where neither is known. seed: breaks ties.
    """
    if ratings.order is None:
        raise BadInput(f"{ratings.name} has no times, so its ratings have no order. Use a random one.")
    key = keyed_uniform(seed, ratings.users, ratings.items)
    if len(ratings) and ratings.order.max() >= STAMPS:
        place = np.empty(len(ratings))
        place[np.lexsort((key, ratings.order))] = np.arange(len(ratings))
        return place / len(ratings)
    count = np.diff(ratings.by_user)[ratings.users]
    return np.asarray((rank_within_user(ratings, ratings.order.astype(np.float64)) + key) / np.maximum(count, 1))


@dataclass(frozen=True, eq=False)
class Split:
    """train: what an algorithm learns from. history: what each user knows when predictions are asked for.
    validation, test: what the predictions are judged on. A held-out user has no row in train, but one in history."""

    train: Ratings
    history: Ratings
    validation: Ratings
    test: Ratings
    words: str


class SplitSpec(BaseModel):
    """How held-out ratings are chosen. Each choice is a function of (seed, user, the user's row)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["random", "per-user", "time", "users", "window"] = Field(
        "random",
        description="random: each rating by itself; per-user: the same share of every user's; time: every user's latest; "
        "users: whole users, part of whose ratings is folded in; window: a stretch of time, after training on all before it",
    )
    test_fraction: float = Field(0.1, gt=0, lt=0.9, allow_inf_nan=False, title="test fraction")
    validation_fraction: float = Field(0.0, ge=0, lt=0.9, allow_inf_nan=False, title="validation fraction")
    fold_in: float = Field(
        0.8, gt=0, lt=1, allow_inf_nan=False, title="fold-in share", description="users: the share of a held-out user's ratings that she brings"
    )
    windows: int = Field(12, ge=2, le=1000, title="windows", description="window: into so many stretches with equally many ratings time is cut")
    window: int = Field(6, ge=1, le=999, title="window", description="window: the one that is held out, counted from 0; at least one comes before it")
    judged: Literal["test", "validation"] = Field("test", description="on what figures are computed; validation: the test ratings are left out of everything")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Facts about private rows that the choice treats as public: stretches with equally many ratings begin where all users' ratings put them."""
        return (WINDOWS_ARE_PUBLIC,) if self.kind == "window" else ()

    @model_serializer(mode="wrap")
    def _said(self, whole: Any) -> dict[str, Any]:
        """Windows are said where there are some, and on what is judged where it is not the test ratings."""
        said: dict[str, Any] = whole(self)
        unsaid = {"windows", "window"} if self.kind != "window" else set()
        return {name: value for name, value in said.items() if name not in unsaid and (name, value) != ("judged", "test")}


def split(ratings: Ratings, spec: SplitSpec, seed: int) -> Split:
    """Train, history, validation and test ratings. Raises BadInput where a kind needs what the data lack."""
    if spec.judged == "validation":
        return _by_validation(split(ratings, spec.model_copy(update={"judged": "test"}), seed))
    if spec.test_fraction + spec.validation_fraction >= 1:
        raise BadInput("The test and validation fractions must leave ratings to train on: their sum must be below 1.")
    if spec.kind == "users":
        return _by_users(ratings, spec, seed)
    if spec.kind == "window":
        return _by_window(ratings, spec, seed)
    place = _place(ratings, spec.kind, seed)
    test = place < spec.test_fraction
    validation = ~test & (place < spec.test_fraction + spec.validation_fraction)
    train = ratings.only(~test & ~validation)
    words = {
        "random": "each rating held out with probability",
        "per-user": "of each user's ratings, held out",
        "time": "of each user's latest ratings, held out",
    }
    return Split(train, train, ratings.only(validation), ratings.only(test), f"{words[spec.kind]} {spec.test_fraction:.0%}")


def _by_validation(parts: Split) -> Split:
    """The validation ratings in the place of the test ratings, which nothing sees."""
    if not len(parts.validation):
        raise BadInput("There are no validation ratings to judge by: give a validation fraction above 0 (and no windows).")
    none = parts.validation.only(np.zeros(len(parts.validation), bool))
    return Split(parts.train, parts.history, none, parts.validation, f"judged by validation ratings; {parts.words}, untouched")


def _place(ratings: Ratings, kind: str, seed: int) -> npt.NDArray[np.float64]:
    """A number in [0, 1) for every rating; the lowest are held out."""
    key = keyed_uniform(seed, ratings.users, ratings.items)
    if kind == "random":
        return key
    if kind == "time":
        if ratings.order is None:
            raise BadInput(f"{ratings.name} has no times, so it cannot be split by time. Use --split random or per-user.")
        key = -ratings.order.astype(np.float64)
    count = np.diff(ratings.by_user)[ratings.users]
    return np.asarray((rank_within_user(ratings, key) + 0.5) / count, np.float64)


def _by_window(ratings: Ratings, spec: SplitSpec, seed: int) -> Split:
    if not spec.window < spec.windows:
        raise BadInput(f"The window must be one of the {spec.windows}, counted from 0: at most {spec.windows - 1}. Got {spec.window}.")
    window = np.floor(moments(ratings, seed) * spec.windows)
    before = ratings.only(window < spec.window)
    none = ratings.only(np.zeros(len(ratings), bool))
    return Split(before, before, none, ratings.only(window == spec.window), f"held out: stretch {spec.window + 1} of {spec.windows} in time")


def _by_users(ratings: Ratings, spec: SplitSpec, seed: int) -> Split:
    draw = keyed_uniform(seed, np.arange(ratings.n_users))[ratings.users]
    test_user = draw < spec.test_fraction
    validation_user = ~test_user & (draw < spec.test_fraction + spec.validation_fraction)
    count = np.diff(ratings.by_user)[ratings.users]
    place = rank_within_user(ratings, keyed_uniform(seed + 1, ratings.users, ratings.items))
    asked = place >= spec.fold_in * count
    held = test_user | validation_user
    return Split(
        ratings.only(~held), ratings.only(~held | ~asked), ratings.only(validation_user & asked), ratings.only(test_user & asked),
        f"{spec.test_fraction:.0%} of the users held out, {spec.fold_in:.0%} of their ratings folded in",
    )  # fmt: skip
