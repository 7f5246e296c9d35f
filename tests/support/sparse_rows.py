"""Rows with gaps, and the systems of their least squares as dense float64 algebra has them."""

from typing import Any

import numpy as np

N = 57
M = 41


def sparse_rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Starts, columns, values and weights of 57 rows: row 3 is empty, 5 has one entry, 7 all."""
    random = np.random.default_rng(seed)
    mask = random.random((N, M)) < 0.3
    mask[3] = False
    mask[7] = True
    mask[5] = np.arange(M) == 11
    starts = np.concatenate([[0], np.cumsum(mask.sum(1))])
    columns = np.nonzero(mask)[1].astype(np.int32)
    return (
        starts,
        columns,
        random.normal(size=len(columns)),
        random.random(len(columns)) + 0.1,
    )


def systems(
    rows: tuple[Any, ...], factors: np.ndarray, ridge: Any = 0.0, base: Any = 0.0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each row's matrix and right-hand side; without weights where these are None."""
    starts, columns, values, weights = rows
    every = []
    for i, penalty in enumerate(np.broadcast_to(ridge, len(starts) - 1)):
        span = slice(starts[i], starts[i + 1])
        f = factors[columns[span]].astype(float)
        if weights is None:
            wf = f
        else:
            wf = weights[span, None] * f
        penalties = float(penalty) * np.eye(f.shape[1])
        every.append(
            (wf.T @ f + (0 if base is None else base) + penalties, wf.T @ values[span])
        )
    return every
