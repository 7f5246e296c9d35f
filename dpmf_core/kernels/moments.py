"""Second moments of sparse rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels import compiled, share_out

Array = npt.NDArray[Any]


@compiled
def _second_moment(indptr, items, values, by_item, raters, of_item, first, last, out):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        row = out[i]
        for place in range(of_item[i], of_item[i + 1]):
            p = by_item[place]
            value = values[p]
            for q in range(p, indptr[raters[p] + 1]):  # a row is sorted by item: what follows p lies at i or to its right
                row[items[q]] += value * values[q]


def second_moment(indptr: Array, items: Array, values: Array, n_items: int, *, threads: int | None = None) -> Array:
    """sum_u a_u a_u^T, float64 (n_items, n_items), exactly symmetric; sums run in row order, so any number of threads gives the same bits.

    indptr: (n_rows + 1,). items: sorted within each row. Cost: half the sum of squared row lengths.
    """
    out = np.zeros((n_items, n_items))
    items, values = np.asarray(items, np.int32), np.asarray(values, np.float64)
    by_item = np.argsort(items, kind="stable")
    of_item = np.concatenate([[0], np.cumsum(np.bincount(items, minlength=n_items))]).astype(np.int64)
    raters = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
    cost = np.bincount(items, indptr[raters + 1] - np.arange(len(items)), n_items) + 1.0
    share_out(lambda first, last: _second_moment(indptr, items, values, by_item, raters, of_item, first, last, out), cost, threads)
    return np.asarray(out + np.triu(out, 1).T)
