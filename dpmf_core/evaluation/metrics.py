"""Metrics of predictions: sums over ratings and users that add up over blocks, and their figures.

Computed on raw data, never released.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.base import Personal, Recommender, user_means
from dpmf_core.base.arrays import Array, Flags, Ints
from dpmf_core.base.threads import share_out
from dpmf_core.data.ratings import Ratings

# users whose lists are ranked, drawn from those with a relevant item
MAX_RANKED_USERS = 10_000
LIST_LENGTH = 20  # items of a user's list
# scores held together, so that they stay in the processor's cache until ranked
SCORES = 125_000
STEPS_OF_MEANS = 2**20  # of half-range
NO_SPREAD = 1e-12  # a variance below this many mean squares is rounding error


def rmse(predictions: Array, actual: Array) -> float:
    """Root mean squared error; NaN without ratings."""
    return ErrorSums.of(np.subtract(predictions, actual, dtype=np.float64)).rmse


@dataclass(frozen=True)
class BlockSums:
    """Sums over blocks, added field by field: + of two booleans is "or", of two texts the first."""

    def __add__(self, other: Self) -> Self:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        sums = (one or two if isinstance(one, str) else one + two for one, two in pairs)
        return type(self)(*sums)


@dataclass(frozen=True)
class ErrorSums(BlockSums):
    """Sums over ratings of their errors, prediction minus rating."""

    count: int
    total: float
    absolute: float
    squares: float

    @classmethod
    def of(cls, errors: Array) -> Self:
        sums = (
            float(each.sum()) for each in (errors, np.abs(errors), np.square(errors))
        )
        return cls(len(errors), *sums)

    @property
    def rmse(self) -> float:
        if self.count:
            return math.sqrt(self.squares / self.count)
        return math.nan

    @property
    def mae(self) -> float:
        if self.count:
            return self.absolute / self.count
        return math.nan

    @property
    def normal(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        if not self.count:
            return math.nan, math.nan
        mean = self.total / self.count
        square = self.squares / self.count
        variance = square - mean**2
        return mean, math.sqrt(variance) if variance > NO_SPREAD * square else 0.0


@dataclass(frozen=True)
class ErrorsByUser:
    """`ErrorSums` of every user's ratings, each (n_users,)."""

    counts: Array
    total: Array
    absolute: Array
    squares: Array

    @classmethod
    def of(cls, ratings: Ratings, errors: Array) -> "ErrorsByUser":
        """Sums over users of the errors (n_ratings,), which are prediction minus rating."""
        x = np.asarray(errors, np.float64)
        sums = (sums_by_user(ratings, each) for each in (x, np.abs(x), np.square(x)))
        return cls(ratings.user_counts, *sums)

    def among(self, users: Array | slice = slice(None)) -> ErrorSums:
        """The errors of the users under a mask (n_users,) together; by default of all."""
        return ErrorSums(
            int(self.counts[users].sum()),
            *(
                float(figure[users].sum())
                for figure in (self.total, self.absolute, self.squares)
            ),
        )

    def over_people(self, most: float) -> Array:
        """The sum of people's mean squared errors, each at most `most`, and the people (2,).

        What is not finite counts as `most`. People without ratings do not count.
        """
        present = self.counts > 0
        means = self.squares[present] / self.counts[present]
        return np.array([np.fmin(means, most).sum(), present.sum()])


def summed_means(history: Ratings) -> Ints:
    """The sum of people's means in steps of half-range, from mid-range, and the people (2,).

    People without ratings do not count. Whole numbers add up over blocks without rounding.
    """
    shape = history.shape
    means = (
        user_means(history, history.values - np.float32(shape.mid_range))
        / shape.half_range
    )
    present = history.user_counts > 0
    steps = np.rint(means[present] * STEPS_OF_MEANS).astype(np.int64)
    return np.array([steps.sum(), present.sum()])


def sums_by_user(ratings: Ratings, values: Array) -> Array:
    """The sum of each user's values (n_ratings,), float64 (n_users,)."""
    sums = np.zeros(ratings.n_users)
    active = np.flatnonzero(ratings.user_counts)
    if len(active):  # otherwise all sums are 0
        sums[active] = np.add.reduceat(values, ratings.by_user[active])
    return sums


def unit_row_sums(train: Ratings, errors: ErrorsByUser) -> Array:
    """Squared errors of rows of norm 1, and the number of their ratings."""
    energies = sums_by_user(train, np.square(train.values, dtype=np.float64))
    mask = energies > 0
    return np.array(
        [(errors.squares[mask] / energies[mask]).sum(), errors.counts[mask].sum()]
    )


def divergence(train: ErrorSums, test: ErrorSums) -> float:
    """KL(N(m, s^2) of the train errors || of the test errors), in nats; NaN without spread.

    Balu & Furon 2016, eq. 19.
    """
    if min(train.count, test.count) < 2:
        return math.nan
    m, s = train.normal
    other_mean, t = test.normal
    if not (s > 0 and t > 0):
        return math.nan
    return math.log(t / s) + (s**2 + (m - other_mean) ** 2) / (2 * t**2) - 0.5


# ---- lists ---------------------------------------------------------------------------------------


def top_items(
    model: Recommender, personal: Personal, history: Ratings, users: Array, k: int
) -> Array:
    """Each user's k best unrated items, best first, padded with -1: (len(users), k).

    Ties go to the lower number. The users must be distinct.
    """
    k = min(k, history.n_items)
    starts = history.by_user
    items = history.items
    if model.is_bilinear:
        sides = model.item_offsets, personal.factors, model.item_sides
        return kernels.best_unseen_products(sides, users, starts, items, k)
    lists = np.empty((len(users), k), np.int64)
    step = max(1, SCORES // history.n_items)

    def rank(first: int, last: int) -> None:
        for start in range(first, last, step):
            some = users[start : min(start + step, last)]
            scores = model.scores(personal, some)
            lists[start : start + len(some)] = kernels.best_unseen(
                scores, some, starts, items, k
            )

    share_out(rank, np.full(len(users), float(history.n_items)))
    return lists


def relevant(ratings: Ratings) -> Flags:
    """Which ratings count as liked: the upper quarter of the declared range (4 and 5 of 1 to 5)."""
    low, high = ratings.bounds
    return ratings.values >= low + 0.75 * (high - low)


def rare_items(counts: Array) -> Flags:
    """Which items (n_items,) are in the half with the fewest ratings, ties by number."""
    rare = np.zeros(len(counts), bool)
    rare[np.argsort(counts, kind="stable")[: len(counts) // 2]] = True
    return rare


@dataclass(frozen=True)
class ListSums(BlockSums):
    """Metrics of some users' lists, as sums over the users.

    Recall@k is |top-k and test| / min(k, |test|), and NDCG@k follows Liang et al. 2018. The recall
    of rare items is over those who like one.

    Attributes
    ----------
    is_listed : (n_items,)
        Which items are in any list.
    """

    n_users: int
    recall: float
    ndcg: float
    n_rare: int
    rare_recall: float
    is_listed: Flags

    def mean(self, name: str) -> float | None:
        """The mean over the users that it counts; None without such users."""
        if name == "rare_recall":
            count = self.n_rare
        else:
            count = self.n_users
        if count:
            return float(getattr(self, name)) / count
        return None

    @property
    def coverage(self) -> float | None:
        if self.n_users:
            return int(self.is_listed.sum()) / len(self.is_listed)
        return None


def list_sums(
    model: Recommender,
    personal: Personal,
    history: Ratings,
    liked_ratings: Ratings,
    users: Array,
    rare: Flags,
    k: int = LIST_LENGTH,
) -> ListSums:
    """The lists of some users, each of whom likes an item of `liked_ratings`.

    Parameters
    ----------
    model : Recommender
    personal : Personal
    history, liked_ratings : Ratings
    users : (n,)
    rare : (n_items,)
        Which items are rare.
    k : int
        The length of a list.
    """
    n_items = liked_ratings.n_items
    k = min(k, liked_ratings.n_items)
    is_listed = np.zeros(n_items, np.bool_)
    if not len(users):
        return ListSums(0, 0.0, 0.0, 0, 0.0, is_listed)
    lists = top_items(model, personal, history, users, k)
    hits = _are_among(liked_ratings, users, lists)
    reachable = np.minimum(liked_ratings.user_counts[users], k)
    rare_liked = np.bincount(
        liked_ratings.users[rare[liked_ratings.items]], minlength=liked_ratings.n_users
    )
    rarely = np.minimum(rare_liked[users], k)
    discounts = np.log2(np.arange(2, k + 2))
    ideal = np.concatenate([[0.0], np.cumsum(1 / discounts)])
    is_listed[lists[lists >= 0]] = True
    return ListSums(
        len(users),
        float((hits.sum(1) / reachable).sum()),
        float(((hits / discounts).sum(1) / ideal[reachable]).sum()),
        int((rarely > 0).sum()),
        float(((hits & rare[lists]).sum(1)[rarely > 0] / rarely[rarely > 0]).sum()),
        is_listed,
    )


def _are_among(liked_ratings: Ratings, users: Array, lists: Array) -> Flags:
    """Which items of the users' lists (len(users), k) they like."""
    n_items = liked_ratings.n_items
    # ascending
    liked_keys = liked_ratings.users.astype(np.int64) * n_items + liked_ratings.items
    list_keys = users[:, None].astype(np.int64) * n_items + lists
    place = np.minimum(np.searchsorted(liked_keys, list_keys), len(liked_keys) - 1)
    return np.asarray((liked_keys[place] == list_keys) & (lists >= 0))


# ---- groups of ratings ---------------------------------------------------------------------------


def quantiles_of(values: Array, counts: Array, shares: Array) -> Array:
    """The quantiles that `np.quantile` would find; empty without values.

    Parameters
    ----------
    values : (n,)
        Ascending.
    counts : (n,)
        How often each value occurs.
    shares : (n_shares,)
        From 0 to 1.

    Returns
    -------
    (n_shares,)
    """
    ends = np.cumsum(counts)
    if not len(ends) or not ends[-1]:
        return np.array([])
    at = shares * (ends[-1] - 1)
    low, high = (
        values[np.searchsorted(ends, place, side="right")].astype(float)
        for place in (np.floor(at), np.ceil(at))
    )
    return np.asarray(low + (high - low) * (at - np.floor(at)))


def _ends(edges: Array) -> tuple[Array, Array]:
    """Where groups between ascending distinct edges begin and end; one group if all are equal."""
    if len(edges) > 1:
        return (edges[:-1], edges[1:])
    return (edges, edges)


def group_sums(sizes: Array, ratings: Array, squares: Array, edges: Array) -> Array:
    """The number of ratings of each group by size, and their squared errors (2, n_groups).

    Parameters
    ----------
    sizes : (n,)
        The activity of each user, or the popularity of each item.
    ratings : (n,)
        The number of test ratings of each.
    squares : (n,)
        The sum of their squared errors.
    edges : (n_groups + 1,)
        The edges of the groups, ascending and distinct. A single edge makes one group.
    """
    lows, _ = _ends(edges)
    group = np.searchsorted(lows[1:], sizes, side="right")
    return np.stack(
        [np.bincount(group, weights, len(lows)) for weights in (ratings, squares)]
    )


def group_figures(edges: Array, sums: Array) -> list[dict[str, float]]:
    """The groups of `group_sums` with their RMSE: who pays?"""
    each = zip(*(column.tolist() for column in (*_ends(edges), *sums)), strict=True)
    return [
        {
            "from": low,
            "to": high,
            "rmse": math.sqrt(x / n) if n else math.nan,
            "ratings": int(n),
        }
        for low, high, n, x in each
    ]
