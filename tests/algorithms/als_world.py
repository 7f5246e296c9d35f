"""A small low-rank world, and least squares as a text-book does it."""

from typing import Any

import numpy as np

from dpmf_core.data.ratings import Ratings

N, M, R = 60, 23, 3
VANISHING = 1e-9  # level at which noise is far below rounding


def ratings() -> Ratings:
    """A low-rank matrix of ratings on a rectangle, a third observed, user 0 empty."""
    random = np.random.default_rng(7)
    truth = 3 + random.normal(size=(N, R)) @ random.normal(size=(R, M)) / 2
    users, items = np.nonzero(random.random((N, M)) < 0.4)
    users, items = users[users > 0], items[users > 0]
    return Ratings.of(
        users, items, truth[users, items], n_users=N, n_items=M, bounds=(-4.0, 10.0), public=True
    )


def ridge_rows(
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    factors: np.ndarray,
    n: int,
    ridge: np.ndarray,
    base: Any = 0,
) -> np.ndarray:
    """Dense float64 least squares, one row at a time."""
    out = np.zeros((n, factors.shape[1]))
    for i in range(n):
        F, v = factors[columns[rows == i]], values[rows == i]
        out[i] = np.linalg.solve(F.T @ F + base + ridge[i] * np.eye(F.shape[1]), F.T @ v)
    return out
