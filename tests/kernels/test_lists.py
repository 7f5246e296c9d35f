"""Lists of the best items that a user has not rated, against sorting everything."""

import numpy as np
import pytest

from dpmf_core import kernels


def by_sorting(scores, rated_items, k):
    """Best first, of equal scores the first by number; what is no number comes last."""
    worth = np.where(np.isnan(scores), -np.inf, scores)
    unseen = [item for item in range(len(scores)) if item not in rated_items]
    best = sorted(unseen, key=lambda item: (-worth[item], item))[:k]
    return best + [-1] * (k - len(best))


@pytest.mark.parametrize("levels", [3, 1_000_000])  # many equal scores, hardly any
@pytest.mark.parametrize(
    ("m", "k"), [(40, 1), (40, 7), (40, 40), (500, 1), (500, 20), (500, 200)]
)
def test_lists_are_the_first_of_what_sorting_gives(levels, m, k):
    random = np.random.default_rng(levels + k)
    n = 60
    scores = (random.integers(0, levels, (n, m)) / levels).astype(np.float32)
    scores[3, 5:20] = -np.inf
    scores[7, 2::3] = np.nan
    rated_items = [
        np.flatnonzero(random.random(m) < share) for share in np.linspace(0, 1, n)
    ]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rated_items])])
    items = np.concatenate(rated_items).astype(np.int32)
    users = random.permutation(n)[:50]
    lists = kernels.best_unseen(scores[users], users, starts, items, k)
    expected = [
        by_sorting(scores[user], set(rated_items[user].tolist()), k) for user in users
    ]
    assert lists.tolist() == expected


@pytest.mark.parametrize("levels", [3, 1_000_000])
@pytest.mark.parametrize("rank", [0, 1, 6, 17])
@pytest.mark.parametrize(
    ("m", "k"), [(1, 1), (63, 20), (500, 20), (5_000, 20), (500, 70)]
)
def test_lists_of_products_are_the_first_of_what_sorting_gives(
    levels, rank, m, k, monkeypatch
):
    """Products of small whole numbers, which no order of summing rounds."""
    random = np.random.default_rng(levels + k + rank)
    n = 30
    b, U, V = (
        random.integers(-levels, levels + 1, size).astype(np.float32)
        for size in (m, (n, rank), (m, rank))
    )
    U[:, 1:], V[:, 1:] = (
        random.integers(-3, 4, U[:, 1:].shape),
        random.integers(-3, 4, V[:, 1:].shape),
    )
    U[:, :1] = 1
    b[m // 2], b[m // 3] = np.nan, -np.inf
    rated_items = [
        np.flatnonzero(random.random(m) < share) for share in np.linspace(0, 1, n)
    ]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rated_items])])
    items = np.concatenate(rated_items).astype(np.int32)
    users = random.permutation(n)[:21]
    scores = U @ V.T + b
    expected = [
        by_sorting(scores[user], set(rated_items[user].tolist()), k) for user in users
    ]
    for threads in ("1", "2"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        lists = kernels.best_unseen_products((b, U, V), users, starts, items, k)
        assert lists.tolist() == expected


def test_what_is_no_number_is_listed_only_where_nothing_else_is_left():
    scores = np.array([[1.0, np.nan, 3.0, np.nan, 2.0]], np.float32)
    lists = kernels.best_unseen(
        scores, np.zeros(1, int), np.zeros(2, int), np.zeros(0, int), 3
    )
    assert lists.tolist() == [[2, 4, 0]]
