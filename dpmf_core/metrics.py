"""How good predictions are. Pure functions of predictions and held-out ratings; computed on raw data, never released."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms.base import Personal, Recommender
from dpmf_core.data import Ratings, keyed_uniform

Array = npt.NDArray[Any]
MAX_RANKED_USERS = 10_000  # whose lists are ranked, drawn from those with a relevant item


def rmse(predicted: Array, actual: Array) -> float:
    """Root mean squared error; NaN without ratings."""
    error = np.subtract(predicted, actual, dtype=np.float64)
    return float(np.sqrt(np.mean(error * error))) if error.size else float("nan")


def mae(predicted: Array, actual: Array) -> float:
    """Mean absolute error; NaN without ratings."""
    return float(np.mean(np.abs(np.subtract(predicted, actual, dtype=np.float64)))) if len(actual) else float("nan")


def divergence(train: Array, test: Array) -> float:
    """KL(N(m, s^2) of the train errors || of the test errors), in nats [Balu & Furon 2016, eq. 19]; NaN where either has no spread."""
    if len(train) < 2 or len(test) < 2 or not (train.std() > 0 and test.std() > 0):
        return float("nan")
    s, t = train.std(dtype=float), test.std(dtype=float)
    return float(np.log(t / s) + (s**2 + (train.mean(dtype=float) - test.mean(dtype=float)) ** 2) / (2 * t**2) - 0.5)


def divergences(model: Recommender, personal: Personal, train: Ratings, test: Ratings) -> dict[str, float]:
    """How far errors on what was trained on are from errors on what was not: over all ratings, and over those of the most active tenth of users."""
    errors = [part.values - model.predict(personal, part.users, part.items) for part in (train, test)]
    activity = np.diff(train.by_user)
    busy = activity >= np.quantile(activity, 0.9)
    found = {"kl": divergence(*errors), "kl_top_users": divergence(*(left[busy[part.users]] for left, part in zip(errors, (train, test), strict=True)))}
    return {name: value for name, value in found.items() if np.isfinite(value)}


def relevant(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Which ratings count as liked: the upper quarter of the declared range (4 and 5 of 1 to 5)."""
    low, high = ratings.bounds
    return ratings.values >= low + 0.75 * (high - low)


def top_items(model: Recommender, personal: Personal, history: Ratings, users: Array, k: int) -> Array:
    """Each user's k best items she has not rated, best first, (len(users), k)."""
    scores = np.array(model.scores(personal, users), np.float32)
    starts = history.by_user
    for row, user in enumerate(users):
        scores[row, history.items[starts[user] : starts[user + 1]]] = -np.inf
    k = min(k, scores.shape[1])
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
    return np.take_along_axis(best, order, 1)


def ranked_users(liked: Ratings, seed: int, most: int) -> Array:
    """Ascending ids of the users whose lists are ranked: everybody with a relevant item, or `most` of them by a hash of (seed, user).

    Ids often follow the date of joining, so that the first of them are not like the others.
    """
    users = np.unique(liked.users)
    return users if len(users) <= most else np.sort(users[np.argsort(keyed_uniform(seed, users), kind="stable")[:most]])


def ranking(model: Recommender, personal: Personal, history: Ratings, test: Ratings, k: int = 20, seed: int = 0) -> dict[str, float]:
    """Recall@k = |top-k and test| / min(k, |test|), NDCG@k, and the share of items that appear in any list (Liang et al. 2018).

    seed: draws the users where there are more than are ranked.
    """
    liked = test.only(relevant(test))
    users = ranked_users(liked, seed, MAX_RANKED_USERS)
    if not len(users):
        return {}
    k = min(k, test.n_items)
    recalls, gains, shown = [], [], np.zeros(test.n_items, bool)
    ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
    for chunk in np.array_split(users, max(1, len(users) * test.n_items // 4_000_000)):
        lists = top_items(model, personal, history, chunk, k)
        shown[lists] = True
        wanted = np.zeros((len(chunk), test.n_items), bool)
        for row, user in enumerate(chunk):
            wanted[row, liked.items[liked.by_user[user] : liked.by_user[user + 1]]] = True
        hits = np.take_along_axis(wanted, lists, 1)
        reachable = np.minimum(wanted.sum(1), k)
        recalls.append(hits.sum(1) / reachable)
        gains.append((hits / np.log2(np.arange(2, k + 2))).sum(1) / ideal[reachable])
    return {f"recall_at_{k}": float(np.concatenate(recalls).mean()), f"ndcg_at_{k}": float(np.concatenate(gains).mean()), "coverage": float(shown.mean())}


def buckets(predicted: Array, test: Ratings, history: Ratings, count: int = 4) -> dict[str, list[dict[str, float]]]:
    """RMSE of `count` equal groups of test ratings, by the user's activity and by the item's popularity in `history`: who pays?"""
    activity = np.diff(history.by_user)[test.users]
    popularity = np.bincount(history.items, minlength=history.n_items)[test.items]
    out: dict[str, list[dict[str, float]]] = {}
    for name, size in (("activity", activity), ("popularity", popularity)):
        edges = np.unique(np.quantile(size, np.linspace(0, 1, count + 1))) if len(size) else np.array([])
        if len(edges) == 1:  # everybody alike
            edges = np.repeat(edges, 2)
        rows = []
        for low, high in itertools.pairwise(edges):
            inside = (size >= low) & ((size < high) | (high == edges[-1]))
            rows.append({"from": float(low), "to": float(high), "rmse": rmse(predicted[inside], test.values[inside]), "ratings": int(inside.sum())})
        out[name] = rows
    return out


def evaluate(model: Recommender, history: Ratings, test: Ratings, seed: int = 0) -> tuple[dict[str, float], dict[str, list[dict[str, float]]]]:
    """Every held-out figure of a finished model, and the RMSE of its buckets. seed: as of `ranking`."""
    personal = model.personal(history)
    predicted = model.predict(personal, test.users, test.items)
    figures = {"rmse": rmse(predicted, test.values), "mae": mae(predicted, test.values), "test_ratings": len(test)}
    return figures | ranking(model, personal, history, test, seed=seed), buckets(predicted, test, history)
