"""Sums over pairs of items, row by row, in compiled code (Lemire & Maclachlan 2005)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out

Array = npt.NDArray[Any]


@compile_kernel
def _square(indptr, items, values, starts, by_item, users, first, last, out):  # type: ignore[no-untyped-def]
    """Rows first..last of `pairs`: each rater adds differences to all other items they rated."""
    m = len(starts) - 1
    counts, differences = np.empty(m, np.float64), np.empty(m, np.float64)
    for j in range(first, last):
        counts[:] = 0
        differences[:] = 0
        for place in range(starts[j], starts[j + 1]):
            mine = by_item[place]
            user = users[mine]
            for t in range(indptr[user], indptr[user + 1]):
                k = items[t]
                counts[k] += 1
                differences[k] += values[mine] - values[t]
        out[j, :j] = counts[:j]
        out[j, j] = 0
        out[j, j + 1 :] = differences[j + 1 :]


@compile_kernel
def _predict_items(pairs, indptr, items, values, users, targets, first, last, out):  # type: ignore[no-untyped-def]
    for n in range(first, last):
        j, total, weight = targets[n], 0.0, 0.0
        for t in range(indptr[users[n]], indptr[users[n] + 1]):
            k = items[t]
            if k == j:
                continue
            count = pairs[max(j, k), min(j, k)]
            total += count * values[t] + (pairs[j, k] if j < k else -pairs[k, j])
            weight += count
        out[n] = total / weight if weight > 0 else np.nan


@compile_kernel(fastmath={"reassoc", "contract"})
def _everything(counts, differences, indptr, items, values, users, first, last, out):  # type: ignore[no-untyped-def]
    m = len(counts)
    total, weight = np.empty(m, np.float32), np.empty(m, np.float32)
    for n in range(first, last):
        total[:] = 0
        weight[:] = 0
        for t in range(indptr[users[n]], indptr[users[n] + 1]):
            row, difference, value = counts[items[t]], differences[items[t]], values[t]
            for j in range(m):
                total[j] += row[j] * value - difference[j]
                weight[j] += row[j]
        for j in range(m):
            out[n, j] = total[j] / weight[j] if weight[j] > 0 else np.nan


def pairs(
    indptr: Array, items: Array, values: Array, by_item: tuple[Array, Array], users: Array
) -> Array:
    """Sums and counts of pairs of items, (m, m) float32.

    Above the diagonal: the sum of r_uj - r_uk over users who rated both. Below it: their number.
    """
    starts, order = by_item
    out = np.empty((len(starts) - 1, len(starts) - 1), np.float32)
    cost = np.bincount(items, np.diff(indptr)[users], len(starts) - 1) + len(starts)
    rows = indptr, items, values, starts, order, users
    share_out(lambda first, last: _square(*rows, first, last, out), cost)
    return out


def predict_items(
    square: Array, indptr: Array, items: Array, values: Array, users: Array, targets: Array
) -> Array:
    """Weighted Slope One predictions of (user, item) pairs from the users' own ratings.

    NaN if none of the user's items was ever rated together with the item.
    """
    out = np.empty(len(targets), np.float32)
    pairs_of = square, indptr, items, values, users, targets
    cost = np.diff(indptr)[users] + 1.0
    share_out(lambda first, last: _predict_items(*pairs_of, first, last, out), cost)
    return out


def everything(square: Array, indptr: Array, items: Array, values: Array, users: Array) -> Array:
    """`predict_items` for every item and each of `users`: (len(users), m)."""
    counts, differences = np.tril(square), np.triu(square)
    counts, differences = counts + counts.T, differences - differences.T
    out = np.empty((len(users), len(square)), np.float32)
    cost = np.diff(indptr)[users] + 1.0
    rows = counts, differences, indptr, items, values, users
    share_out(lambda first, last: _everything(*rows, first, last, out), cost)
    return out
