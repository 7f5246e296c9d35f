"""Low-rank ratings of Chien et al. 2021, section 6.1, and rank-one ratings of Jain et al. 2018.

U* (n, r) and V* (m, r) are random orthonormal, the entries of U* V*^T are scaled to standard
deviation 1, and every entry is seen with probability p = 20 ln n / m, so predicting zero has an
RMSE of 1. The source leaves the values unbounded. Privacy needs a public bound: BOUNDS are
declared, and the entries beyond them, about one in 6,000, are clamped (measured in
tests/datasets/test_synthetic.py). Rank one: Jain, Thakkar & Thakurta 2018, section 5.
"""

import math
from collections.abc import Iterator

import numpy as np

from dpmf_core.base.arrays import Doubles, Numbers
from dpmf_core.data.ratings import Ratings

BOUNDS = (-5.0, 5.0)
BLOCK = 4_000_000  # entries of U* V*^T that are held together


def lowrank(
    n_users: int,
    n_items: int,
    *,
    rank: int = 5,
    p: float | None = None,
    seed: int = 0,
) -> Ratings:
    """Entries of a random rank-`rank` matrix, each observed with probability `p`.

    Parameters
    ----------
    n_users, n_items : int
        The shape of the matrix, n and m.
    rank : int
        The rank of the matrix.
    p : float or None
        The probability; None for 20 ln n / m.
    seed : int
        The seed of all draws.

    Returns
    -------
    Ratings
        The observed entries.
    """
    if p is None:
        p = min(1.0, 20 * math.log(n_users) / n_items)
    rows, columns, entries = _streams(seed, 2021)
    # (n, r); the mean square entry of U V^T is then 1
    U = _orthonormal(n_users, rank, rows) * math.sqrt(n_users * n_items / rank)
    V = _orthonormal(n_items, rank, columns)  # (m, r)
    users, items, values = map(
        np.concatenate, zip(*_observed(U, V, p, entries), strict=True)
    )
    values = (values / values.std()).clip(*BOUNDS).astype(np.float32)
    return Ratings(
        users, items, values, n_users, n_items, BOUNDS, name="lowrank", public=True
    )


def rankone(
    n_users: int,
    n_items: int,
    *,
    p: float,
    seed: int = 0,
) -> Ratings:
    """Entries of u v^T with u, v uniform in [-1, 1], scaled to largest entry 1.

    Each is seen with probability `p`.
    """
    rows, columns, entries = _streams(seed, 2018)
    u = _largest_one(rows.uniform(-1, 1, n_users))
    v = _largest_one(columns.uniform(-1, 1, n_items))
    blocks = [
        (users, items, values.astype(np.float32))
        for users, items, values in _observed(u, v, p, entries)
    ]
    users, items, values = map(np.concatenate, zip(*blocks, strict=True))
    return Ratings(
        users, items, values, n_users, n_items, (-1.0, 1.0), name="rankone", public=True
    )


def _largest_one(factor: Doubles) -> Doubles:
    """A column (n, 1) with the largest entry, in absolute value, scaled to 1."""
    return np.asarray(factor[:, None] / np.abs(factor).max())


def _streams(seed: int, year: int) -> list[np.random.Generator]:
    """The random generators of rows, columns and entries."""
    return [
        np.random.default_rng(child)
        for child in np.random.SeedSequence([seed, year]).spawn(3)
    ]


def _orthonormal(rows: int, rank: int, rng: np.random.Generator) -> Doubles:
    return np.linalg.qr(rng.normal(size=(rows, rank))).Q


def _observed(
    U: Doubles, V: Doubles, p: float, rng: np.random.Generator
) -> Iterator[tuple[Numbers, Numbers, Doubles]]:
    """Users, items and values of the observed entries of U V^T, sorted, some rows at a time."""
    step = max(1, BLOCK // len(V))
    for start in range(0, len(U), step):
        product = U[start : start + step] @ V.T
        users, items = np.nonzero(rng.random(product.shape, dtype=np.float32) < p)
        yield (
            (users + start).astype(np.int32),
            items.astype(np.int32),
            product[users, items],
        )
