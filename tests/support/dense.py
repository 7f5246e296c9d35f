"""Small low-rank ratings, ratings as dense matrices, and least squares as a text-book does it."""

from typing import Any

import numpy as np

from dpmf_core.data.ratings import Ratings

Array = np.ndarray[Any, Any]
BOUNDS = (-4.0, 10.0)
VANISHING = 1e-9  # level at which noise is far below rounding


def rectangle(
    n: int, m: int, density: float, sizes: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> Ratings:
    """Ratings (n, m) of rank three about their mid-range 3, observed as densely; user 0 empty."""
    random = np.random.default_rng(7)
    truth = (
        3 + random.normal(size=(n, 3)) @ np.diag(sizes) @ random.normal(size=(3, m)) / 2
    )
    where = random.random((n, m)) < density
    where[0] = False
    return rated(where, truth, BOUNDS)


def rated(
    where: Array, values: Any = 1.0, bounds: tuple[float, float] = (0.0, 1.0)
) -> Ratings:
    """Public ratings where a matrix (n_users, n_items) is true; values: one, or a matrix."""
    shape = dict(zip(("n_users", "n_items"), where.shape, strict=True))
    values = np.broadcast_to(values, where.shape)[where]
    return Ratings.of(*np.nonzero(where), values, bounds=bounds, public=True, **shape)


def dense(data: Ratings, values: Any) -> Array:
    """Values of its ratings as a matrix (n_users, n_items), 0 where nothing was rated."""
    table = np.zeros((data.n_users, data.n_items))
    table[data.users, data.items] = values
    return table


def counts(ids: Array, size: int) -> Array:
    """How often each id comes, 1 at least."""
    return np.maximum(np.bincount(ids, minlength=size), 1)


def user_means(data: Ratings, values: Any) -> Array:
    """Every user's mean of values of her ratings (n_users,), 0 where there are none."""
    return np.bincount(data.users, values, data.n_users) / counts(
        data.users, data.n_users
    )


def centred(data: Ratings) -> Array:
    """Ratings less their user's mean."""
    return np.asarray(
        data.values - user_means(data, data.values)[data.users], np.float64
    )


def ridge_rows(
    rows: Array,
    columns: Array,
    values: Array,
    factors: Array,
    ridge: Array,
    base: Any = 0,
) -> Array:
    """Dense float64 least squares, one row for each entry of `ridge`."""
    out = np.zeros((len(ridge), factors.shape[1]))
    for i, penalty in enumerate(ridge):
        F = factors[columns[rows == i]]
        v = values[rows == i]
        out[i] = np.linalg.solve(F.T @ F + base + penalty * np.eye(F.shape[1]), F.T @ v)
    return out
