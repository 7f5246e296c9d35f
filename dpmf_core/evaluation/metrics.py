"""How good predictions are.

Pure functions of predictions and held-out ratings; computed on raw data, never released.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms.base import Personal, Recommender
from dpmf_core.data.hashing import keyed_uniform
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.error_sums import ErrorsByUser, ErrorSums, sums_by_user
from dpmf_core.evaluation.top_items import top_items

Array = npt.NDArray[Any]
MAX_RANKED_USERS = 10_000  # whose lists are ranked, drawn from those with a relevant item


def rmse(predictions: Array, actual: Array) -> float:
    """Root mean squared error; NaN without ratings."""
    error = np.subtract(predictions, actual, dtype=np.float64)
    return float(np.sqrt(np.mean(error * error))) if error.size else float("nan")


def divergence(train: ErrorSums, test: ErrorSums) -> float:
    """KL(N(m, s^2) of the train errors || of the test errors), in nats [Balu & Furon 2016, eq.
    19]; NaN where either has no spread.
    """
    if min(train.count, test.count) < 2:
        return float("nan")
    (m, s), (other_mean, t) = train.normal, test.normal
    if not (s > 0 and t > 0):
        return float("nan")
    return float(np.log(t / s) + (s**2 + (m - other_mean) ** 2) / (2 * t**2) - 0.5)


def divergences(activity: Array, errors: tuple[ErrorsByUser, ErrorsByUser]) -> dict[str, float]:
    """How far errors on what was trained on are from errors on what was not: over all ratings,
    and over those of the most active tenth of users.

    activity: how many ratings were trained on of each user (n_users,). errors: of train and test.
    """
    busy = activity >= np.quantile(activity, 0.9)
    figures = {
        "kl": divergence(*(each.among() for each in errors)),
        "kl_top_users": divergence(*(each.among(busy) for each in errors)),
    }
    return {name: value for name, value in figures.items() if np.isfinite(value)}


def relevant(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Which ratings count as liked: the upper quarter of the declared range (4 and 5 of 1 to 5)."""
    low, high = ratings.bounds
    return ratings.values >= low + 0.75 * (high - low)


def ranked_users(liked_ratings: Ratings, seed: int, most: int) -> Array:
    """Ascending ids of the users whose lists are ranked: everybody with a relevant item, or `most`
    of them by a hash of (seed, user).

    Ids often follow the date of joining, so that the first of them are not like the others.
    """
    users = np.flatnonzero(np.diff(liked_ratings.by_user))
    return (
        users
        if len(users) <= most
        else np.sort(users[np.argsort(keyed_uniform(seed, users), kind="stable")[:most]])
    )


def ranking(
    model: Recommender,
    personal: Personal,
    history: Ratings,
    test: Ratings,
    k: int = 20,
    seed: int = 0,
) -> dict[str, float]:
    """Recall@k = |top-k and test| / min(k, |test|), NDCG@k, and the share of items that appear in
    any list (Liang et al. 2018). Recall@k also of rare items alone, which are the half with the
    fewest ratings in `history`, over the users who like one of them.

    seed: draws the users where there are more than are ranked.
    """
    liked_ratings = test.only(relevant(test))
    users = ranked_users(liked_ratings, seed, MAX_RANKED_USERS)
    rare = rare_items(history.item_counts)
    return figures_of_lists([ranked_lists(model, personal, history, liked_ratings, users, rare, k)])


@dataclass(frozen=True)
class RankedLists:
    """How good the lists of `k` of some users are: recall, ndcg (n,); rare_recall of those who like
    a rare item; is_listed: which items are in any of them (n_items,).
    """

    k: int
    recall: Array
    ndcg: Array
    rare_recall: Array
    is_listed: npt.NDArray[np.bool_]


def ranked_lists(
    model: Recommender,
    personal: Personal,
    history: Ratings,
    liked_ratings: Ratings,
    users: Array,
    rare: npt.NDArray[np.bool_],
    k: int = 20,
) -> RankedLists:
    """The lists of some users, each of whom likes an item of `liked_ratings`. rare: which items are
    rare (n_items,).
    """
    n_items, k = liked_ratings.n_items, min(k, liked_ratings.n_items)
    is_listed = np.zeros(n_items, np.bool_)
    if not len(users):
        return RankedLists(k, *(np.empty(0),) * 3, is_listed)
    lists = top_items(model, personal, history, users, k)
    hits = _are_among(liked_ratings, users, lists)
    reachable = np.minimum(np.diff(liked_ratings.by_user)[users], k)
    rare_liked = np.bincount(
        liked_ratings.users[rare[liked_ratings.items]], minlength=liked_ratings.n_users
    )
    rarely = np.minimum(rare_liked[users], k)
    discounts = np.log2(np.arange(2, k + 2))
    ideal = np.concatenate([[0.0], np.cumsum(1 / discounts)])
    is_listed[lists[lists >= 0]] = True
    return RankedLists(
        k,
        hits.sum(1) / reachable,
        (hits / discounts).sum(1) / ideal[reachable],
        (hits & rare[lists]).sum(1)[rarely > 0] / rarely[rarely > 0],
        is_listed,
    )


def figures_of_lists(parts: Sequence[RankedLists]) -> dict[str, float]:
    """The means over all users of these parts; empty where there is nobody."""
    recall, ndcg, rare = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("recall", "ndcg", "rare_recall")
    )
    if not recall.size:
        return {}
    k, is_listed = parts[0].k, np.logical_or.reduce([part.is_listed for part in parts])
    figures = {
        f"recall_at_{k}": float(recall.mean()),
        f"ndcg_at_{k}": float(ndcg.mean()),
        "coverage": int(is_listed.sum()) / len(is_listed),
    }
    return figures | ({f"rare_recall_at_{k}": float(rare.mean())} if rare.size else {})


def _are_among(liked_ratings: Ratings, users: Array, lists: Array) -> npt.NDArray[np.bool_]:
    """Which items of the users' lists (len(users), k) they like."""
    n_items = liked_ratings.n_items
    liked_keys = liked_ratings.users.astype(np.int64) * n_items + liked_ratings.items  # ascending
    list_keys = users[:, None].astype(np.int64) * n_items + lists
    place = np.minimum(np.searchsorted(liked_keys, list_keys), len(liked_keys) - 1)
    return np.asarray((liked_keys[place] == list_keys) & (lists >= 0))


def rare_items(counts: Array) -> npt.NDArray[np.bool_]:
    """Which items are in the half with the fewest ratings, by number where equal. counts:
    (n_items,).
    """
    rare = np.zeros(len(counts), bool)
    rare[np.argsort(counts, kind="stable")[: len(counts) // 2]] = True
    return rare


def quantiles_of(values: Array, counts: Array, shares: Array) -> Array:
    """The quantiles (n_shares,) that `np.quantile` would find. values: (n,) ascending; counts: (n,)
    how often each is there. Empty where none is.
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


def buckets(
    predictions: Array, test: Ratings, history: Ratings, count: int = 4
) -> dict[str, list[dict[str, float]]]:
    """RMSE of `count` equal groups of test ratings, by the user's activity and by the item's
    popularity in `history`: who pays?
    """
    squares = np.square(np.subtract(predictions, test.values, dtype=np.float64))
    of_users = np.diff(history.by_user), np.diff(test.by_user), sums_by_user(test, squares)
    of_items = np.bincount(test.items, squares, test.n_items)
    return {
        "activity": _buckets_by(*of_users, count),
        "popularity": _buckets_by(history.item_counts, test.item_counts, of_items, count),
    }


def _buckets_by(sizes: Array, ratings: Array, squares: Array, count: int) -> list[dict[str, float]]:
    """sizes, ratings, squares: of each user or each item, her activity or its popularity, the
    number of test ratings, and the sum of their squared errors.
    """
    times = np.bincount(sizes, ratings).astype(np.int64)
    edges = np.unique(quantiles_of(np.arange(len(times)), times, np.linspace(0, 1, count + 1)))
    lows, highs = (edges[:-1], edges[1:]) if len(edges) > 1 else (edges, edges)  # all alike
    group = np.searchsorted(lows[1:], sizes, side="right")
    counts, totals = (np.bincount(group, it, len(lows)) for it in (ratings, squares))
    each = zip(
        lows.tolist(), highs.tolist(), counts.astype(int).tolist(), totals.tolist(), strict=True
    )
    return [
        {"from": low, "to": high, "rmse": math.sqrt(total / n) if n else math.nan, "ratings": n}
        for low, high, n, total in each
    ]
