"""Lists of the best items that a user has not rated, against sorting everything."""

import numpy as np
import pytest

from dpmf_core import kernels


def by_sorting(scores, rated_items, k):
    """Best first, of equal scores the first by number; what is no number comes last."""
    worth = np.where(np.isnan(scores), -np.inf, scores)
    unseen = [item for item in range(len(scores)) if item not in rated_items]
    unseen.sort(key=lambda item: (-worth[item], item))
    best = unseen[:k]
    padding = [-1] * (k - len(best))
    return best + padding


def draw_rated_items(random, n, m):
    """Rated items by user: of the first none, of the last all; and where each user starts."""
    rated_items = []
    for share in np.linspace(0, 1, n):
        is_rated = random.random(m) < share
        rated_items.append(np.flatnonzero(is_rated))
    lengths = [len(row) for row in rated_items]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return rated_items, starts


def lists_by_sorting(scores, rated_items, users, k):
    lists = []
    for user in users:
        own_items = set(rated_items[user].tolist())
        lists.append(by_sorting(scores[user], own_items, k))
    return lists


@pytest.mark.parametrize("levels", [3, 1_000_000])  # many equal scores, hardly any
@pytest.mark.parametrize(
    ("m", "k"),
    [
        (40, 1),
        (40, 7),
        (40, 40),
        (500, 1),
        (500, 20),
        (500, 200),
    ],
)
def test_lists_are_the_first_of_what_sorting_gives(levels, m, k):
    random = np.random.default_rng(levels + k)
    n = 60
    scores = (random.integers(0, levels, (n, m)) / levels).astype(np.float32)
    scores[3, 5:20] = -np.inf
    scores[7, 2::3] = np.nan
    rated_items, starts = draw_rated_items(random, n, m)
    items = np.concatenate(rated_items).astype(np.int32)
    users = random.permutation(n)[:50]
    lists = kernels.best_unseen(scores[users], users, starts, items, k)
    expected = lists_by_sorting(scores, rated_items, users, k)
    assert lists.tolist() == expected


@pytest.mark.parametrize("levels", [3, 1_000_000])
@pytest.mark.parametrize("rank", [0, 1, 6, 17])
@pytest.mark.parametrize(
    ("m", "k"),
    [
        (1, 1),
        (63, 20),
        (500, 20),
        (5_000, 20),
        (500, 70),
    ],
)
def test_lists_of_products_are_the_first_of_what_sorting_gives(
    levels, rank, m, k, monkeypatch
):
    """Products of small whole numbers, which no order of summing rounds."""
    random = np.random.default_rng(levels + k + rank)
    n = 30
    b = random.integers(-levels, levels + 1, m).astype(np.float32)
    U = random.integers(-levels, levels + 1, (n, rank)).astype(np.float32)
    V = random.integers(-levels, levels + 1, (m, rank)).astype(np.float32)
    U[:, 1:] = random.integers(-3, 4, U[:, 1:].shape)
    V[:, 1:] = random.integers(-3, 4, V[:, 1:].shape)
    U[:, :1] = 1
    b[m // 2] = np.nan
    b[m // 3] = -np.inf
    rated_items, starts = draw_rated_items(random, n, m)
    items = np.concatenate(rated_items).astype(np.int32)
    users = random.permutation(n)[:21]
    scores = U @ V.T + b
    expected = lists_by_sorting(scores, rated_items, users, k)
    for threads in ("1", "2"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        lists = kernels.best_unseen_products((b, U, V), users, starts, items, k)
        assert lists.tolist() == expected


def test_nan_scores_are_listed_last():
    scores = np.array([[1.0, np.nan, 3.0, np.nan, 2.0]], np.float32)
    user = np.zeros(1, int)
    starts = np.zeros(2, int)
    no_items = np.zeros(0, int)
    lists = kernels.best_unseen(scores, user, starts, no_items, 3)
    assert lists.tolist() == [[2, 4, 0]]
