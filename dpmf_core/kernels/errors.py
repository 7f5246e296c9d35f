"""Errors of predicted ratings, summed for each user in one compiled loop. No privacy here."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels.compilation import compile_kernel
from dpmf_core.kernels.narrow import LANES, set_dots, widened
from dpmf_core.kernels.threads import share_out

Array = npt.NDArray[Any]


@compile_kernel(fastmath={"nsz", "arcp", "contract", "afn", "reassoc"})
def _error_sums(  # type: ignore[no-untyped-def]
    own, U, table, starts, items, values, low, high, first, last, total, absolute, squares
):
    most, r = 0, U.shape[1]
    for row in range(first, last):
        most = max(most, starts[row + 1] - starts[row])
    scores, x = np.empty(most + LANES, np.float32), np.zeros(table.shape[1], np.float32)
    x[r] = 1  # of the items' offsets
    for row in range(first, last):
        start, count = starts[row], starts[row + 1] - starts[row]
        for p in range(r):
            x[p] = U[row, p]
        # two passes, each of one kind of work: all of it in one takes twice as long
        set_dots(table, items, start, count, x, scores)
        sums = (0.0, 0.0, 0.0)
        for place in range(count):
            score = scores[place] + own[row]
            score = low if score < low else high if score > high else score  # NaN stays NaN
            error = np.float64(score) - np.float64(values[start + place])
            sums = (sums[0] + error, sums[1] + abs(error), sums[2] + error * error)
        total[row], absolute[row], squares[row] = sums


def error_sums(
    sides: tuple[float, Array, Array, Array, Array],
    ratings: tuple[Array, Array, Array],
    bounds: tuple[float, float],
    *,
    threads: int | None = None,
) -> tuple[Array, Array, Array]:
    """Of each user's ratings, the sums of errors (prediction less rating), of their sizes and of
    their squares, float64 (n_users,). Predictions are those of `predict_ratings`.

    sides: centre, user offsets, item offsets, user factors, item factors. ratings: starts
    (n_users + 1,), items and values (n_ratings,).
    """
    starts, i, x = ratings[0], np.asarray(ratings[1], np.int32), np.asarray(ratings[2], np.float32)
    low, high, centre = (np.float32(it) for it in (*bounds, sides[0]))
    a, b, U, V = (np.ascontiguousarray(it, np.float32) for it in sides[1:])
    own, table = centre + a, widened(np.column_stack([V, b]))
    sums = tuple(np.empty(len(starts) - 1) for _ in range(3))
    share_out(
        lambda first, last: _error_sums(own, U, table, starts, i, x, low, high, first, last, *sums),
        np.diff(starts) + 1.0,
        threads,
    )
    return sums[0], sums[1], sums[2]
