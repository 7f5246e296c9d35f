"""Second moments of sparse rows."""

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out

DENSER = 40  # how many times faster dense products are than scattered additions
FEW = 64  # dense rows below which a block does not pay
CELLS = 2**22  # of a dense block: 32 MB
PANEL = 128  # items; a panel's square is computed whole, and one triangle of it kept


@compile_kernel
def _second_moment(indptr, items, values, by_item, raters, of_item, first, last, out):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        row = out[i]
        for place in range(of_item[i], of_item[i + 1]):
            p = by_item[place]
            value = values[p]
            # a row is sorted by item, so entries after p lie at i or to its right
            for q in range(p, indptr[raters[p] + 1]):
                row[items[q]] += value * values[q]


def add_second_moment(indptr: Array, items: Array, values: Array, out: Array) -> None:
    """Add the upper triangle of sum_u a_u a_u^T to `out`.

    Any number of threads gives the same bits. The cost is half the sum of squared row lengths. A
    long row costs half of n_items^2, at a fraction of the price.

    Parameters
    ----------
    indptr : (n_rows + 1,)
    items, values : (n_entries,)
        Items are sorted within each row.
    out : float64 (n_items, n_items)
    """
    items = np.asarray(items, np.int32)
    values = np.asarray(values, np.float64)
    lengths = np.diff(indptr)
    long = DENSER * lengths.astype(np.float64) ** 2 > len(out) ** 2
    if np.count_nonzero(long) < FEW:
        _add_scattered(indptr, items, values, out)
        return
    of_long = np.repeat(long, lengths)
    for mask, ratings, add in (
        (long, of_long, _add_dense),
        (~long, ~of_long, _add_scattered),
    ):
        ends = np.concatenate([[0], np.cumsum(lengths[mask])]).astype(np.int64)
        add(ends, items[ratings], values[ratings], out)


def _add_scattered(indptr: Array, items: Array, values: Array, out: Array) -> None:
    """Pair by pair, in row order."""
    n_items = len(out)
    by_item = np.argsort(items, kind="stable")
    of_item = np.concatenate(
        [[0], np.cumsum(np.bincount(items, minlength=n_items))]
    ).astype(np.int64)
    raters = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
    cost = np.bincount(items, indptr[raters + 1] - np.arange(len(items)), n_items) + 1.0
    rows = indptr, items, values, by_item, raters, of_item
    share_out(lambda first, last: _second_moment(*rows, first, last, out), cost)


def _add_dense(indptr: Array, items: Array, values: Array, out: Array) -> None:
    """Dense blocks of rows and their products, one panel of `out` at a time."""
    n_items = len(out)
    n_rows = len(indptr) - 1
    height = min(n_rows, max(CELLS // n_items, 64))
    block = np.zeros((height, n_items))
    cells = block.reshape(-1)
    panels = np.arange(0, n_items, PANEL)

    def add_panels(first: int, last: int) -> None:
        for start in panels[first:last]:
            product = rows[:, start : start + PANEL].T @ rows[:, start:]
            out[start : start + PANEL, start:] += np.triu(product)

    for first in range(0, n_rows, height):
        rows = block[: min(height, n_rows - first)]
        part = slice(indptr[first], indptr[first + len(rows)])
        lengths = np.diff(indptr[first : first + len(rows) + 1])
        at = np.repeat(np.arange(len(rows)) * n_items, lengths) + items[part]
        cells[at] = values[part]
        share_out(add_panels, len(rows) * PANEL * (n_items - panels))
        cells[at] = 0.0


def second_moment(indptr: Array, items: Array, values: Array, n_items: int) -> Array:
    """sum_u a_u a_u^T, float64 (n_items, n_items), exactly symmetric."""
    out = np.zeros((n_items, n_items))
    add_second_moment(indptr, items, values, out)
    return mirrored(out)


def mirrored(upper: Array) -> Array:
    """The symmetric matrix (n, n) of an upper triangle; what lies below it is 0."""
    return np.asarray(upper + np.triu(upper, 1).T)
