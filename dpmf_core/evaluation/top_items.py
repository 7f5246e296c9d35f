"""Users' lists: the best items that they have not rated."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core import kernels
from dpmf_core.algorithms.base import Personal, Recommender
from dpmf_core.base.threads import share_out
from dpmf_core.data.ratings import Ratings

Array = npt.NDArray[Any]
SCORES = 125_000  # held together, so that they stay in the processor's cache until ranked


def top_items(
    model: Recommender, personal: Personal, history: Ratings, users: Array, k: int
) -> Array:
    """Each user's k best unrated items, best first, padded with -1: (len(users), k).

    Ties go to the lower number. users: distinct ones.
    """
    k = min(k, history.n_items)
    if model.is_bilinear and not model.has_factors:
        b = np.asarray(model.item_offsets, np.float32)
        order = np.argsort(np.where(np.isnan(b), np.inf, -b), kind="stable")
        return _first_unseen(order, history, users, k, 4 * k)
    starts, items = history.by_user, history.items
    if model.is_bilinear:
        sides = model.item_offsets, personal.factors, model.item_sides
        return kernels.best_unseen_products(sides, users, starts, items, k)
    lists, step = np.empty((len(users), k), np.int64), max(1, SCORES // history.n_items)

    def rank(first: int, last: int) -> None:
        for start in range(first, last, step):
            some = users[start : min(start + step, last)]
            scores = model.scores(personal, some)
            lists[start : start + len(some)] = kernels.best_unseen(scores, some, starts, items, k)

    share_out(rank, np.full(len(users), float(history.n_items)))
    return lists


def _first_unseen(order: Array, history: Ratings, users: Array, k: int, depth: int) -> Array:
    """The first k items in the common `order` (n_items,) that each user has not rated.

    Returns (len(users), k); searches the first `depth` items if these are enough.
    """
    lists = np.full((len(users), k), -1, np.int64)
    if not (len(users) and k):
        return lists
    depth = min(depth, len(order))
    place, row = np.empty(len(order), np.int64), np.full(history.n_users, -1, np.int64)
    place[order], row[users] = np.arange(len(order)), np.arange(len(users))
    span = slice(*history.by_user[[users.min(), users.max() + 1]])
    places = place[history.items[span]]
    near = np.flatnonzero(places < depth)
    unseen = np.ones((len(users) + 1, depth), np.bool_)  # the last row: other users
    unseen[row[history.users[span][near]], places[near]] = False
    count = np.cumsum(unseen[:-1], axis=1)
    rows, columns = np.nonzero(unseen[:-1] & (count <= k))
    lists[rows, count[rows, columns] - 1] = order[columns]
    few = np.flatnonzero(count[:, -1] < k)
    if len(few) and depth < len(order):
        lists[few] = _first_unseen(order, history, users[few], k, 4 * depth)
    return lists
