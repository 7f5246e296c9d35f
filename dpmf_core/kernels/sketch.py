"""Factors in a count sketch, and stochastic gradients on it, in compiled code.

Charikar, Chen & Farach-Colton 2002; Balu & Furon 2016. C is flat: k rows of w cells. Components are
hashed by multiply-shift, pairwise independent (Dietzfelbinger 1996). Two components of different
vectors share a cell with probability 1 / w, and each has a sign of its own.
"""

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel

HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
SIGN = np.uint64(31)
ONE = np.uint64(1)


@compile_kernel
def _strides(keys, d):  # type: ignore[no-untyped-def]
    """The increments of the hash from component 0 to f, row by row (k * d,)."""
    out = np.empty(len(keys) * d, np.uint64)
    for j in range(len(keys)):
        for f in range(d):
            out[j * d + f] = keys[j, 0] * np.uint64(f)
    return out


@compile_kernel
def _set_places(keys, strides, ident, d, w, cells, signs):  # type: ignore[no-untyped-def]
    """Cells in C and signs (k * d,) of one vector's components."""
    wide = np.uint64(w) & LOW
    for j in range(len(keys)):
        first = keys[j, 1] + keys[j, 0] * np.uint64(ident * d)
        begin = np.uint32(j * w)
        for f in range(d):
            h = first + strides[j * d + f]
            signs[j * d + f] = np.float32(np.int32((h >> SIGN) & ONE)) * np.float32(
                2
            ) - np.float32(1)
        for f in range(d):
            cells[j * d + f] = (
                np.uint32((((first + strides[j * d + f]) >> HALF) * wide) >> HALF)
                + begin
            )


@compile_kernel
def _median(C, cells, signs, k, d, out):  # type: ignore[no-untyped-def]
    """The median over rows of the signed cells of one vector."""
    ordered = np.empty(k, np.float32)
    for f in range(d):
        for j in range(k):
            value = signs[j * d + f] * C[np.int64(cells[j * d + f])]
            at = j
            while at > 0 and ordered[at - 1] > value:
                ordered[at] = ordered[at - 1]
                at -= 1
            ordered[at] = value
        out[f] = np.float32(0.5) * (ordered[(k - 1) // 2] + ordered[k // 2])


@compile_kernel
def _query(C, cells, signs, k, d, by_median, out):  # type: ignore[no-untyped-def]
    """The mean, or the median, over rows of the signed cells of one vector."""
    if by_median:
        _median(C, cells, signs, k, d, out)
        return
    out[:] = 0
    for j in range(k):
        for f in range(d):
            out[f] += signs[j * d + f] * C[cells[j * d + f]]
    share = np.float32(1) / np.float32(k)
    for f in range(d):
        out[f] *= share


@compile_kernel
def _move(C, cells, signs, k, d, move):  # type: ignore[no-untyped-def]
    """Add `move` (d,) to a vector in every row."""
    for j in range(k):
        for f in range(d):
            C[cells[j * d + f]] += signs[j * d + f] * move[f]


@compile_kernel
def _vectors(C, keys, count, d, w, by_median):  # type: ignore[no-untyped-def]
    k = len(keys)
    out = np.empty((count, d), np.float32)
    strides = _strides(keys, d)
    cells = np.empty(k * d, np.uint32)
    signs = np.empty(k * d, np.float32)
    for ident in range(count):
        _set_places(keys, strides, ident, d, w, cells, signs)
        _query(C, cells, signs, k, d, by_median, out[ident])
    return out


@compile_kernel(fastmath={"reassoc", "contract"})
def _run_epoch(  # type: ignore[no-untyped-def]
    C,
    user_keys,
    item_keys,
    users,
    items,
    values,
    d,
    w,
    by_median,
    rate,
    penalty,
    threshold,
    clipped,
    shortened,
):
    k = len(user_keys)
    n_skipped = 0
    p = np.empty(d, np.float32)
    q = np.empty(d, np.float32)
    to_p = np.empty(d, np.float32)
    to_q = np.empty(d, np.float32)
    user_strides = _strides(user_keys, d)
    item_strides = _strides(item_keys, d)
    user_cells = np.empty(k * d, np.uint32)
    user_signs = np.empty(k * d, np.float32)
    item_cells = np.empty(k * d, np.uint32)
    item_signs = np.empty(k * d, np.float32)
    for t in range(len(values)):
        _set_places(user_keys, user_strides, users[t], d, w, user_cells, user_signs)
        _set_places(item_keys, item_strides, items[t], d, w, item_cells, item_signs)
        _query(C, user_cells, user_signs, k, d, by_median, p)
        _query(C, item_cells, item_signs, k, d, by_median, q)
        error = values[t]
        size = np.float32(0)
        for f in range(d):
            error -= p[f] * q[f]
            size += p[f] * p[f] + q[f] * q[f]
        if error * error > threshold:
            n_skipped += 1
            if not clipped:
                continue
            error = np.float32(0)
        step = rate * error
        pull = rate * penalty
        if shortened and rate * size > 1:  # a longer step would overshoot
            step = error / size
        for f in range(d):
            to_p[f] = step * q[f] - pull * p[f]
            to_q[f] = step * p[f] - pull * q[f]
        _move(C, user_cells, user_signs, k, d, to_p)
        _move(C, item_cells, item_signs, k, d, to_q)
    return n_skipped


def places(keys: Array, ident: int, d: int, w: int) -> tuple[Array, Array]:
    """The place of every component of one vector in its row, (k, d), and its sign."""
    k = len(keys)
    cells = np.empty(k * d, np.uint32)
    signs = np.empty(k * d, np.float32)
    _set_places(keys, _strides(keys, d), ident, d, w, cells, signs)
    return cells.reshape(k, d).astype(np.int64) - w * np.arange(k)[
        :, None
    ], signs.reshape(k, d)


def vectors(
    C: Array, keys: Array, count: int, d: int, w: int, by_median: bool = False
) -> Array:
    """The vectors of numbers 0 to count - 1 as the sketch holds them (count, d), float32.

    Parameters
    ----------
    C : (k w,)
        The sketch, flat.
    keys : uint64 (k, 2)
        Odd multipliers first.
    count, d, w : int
    by_median : bool
        Whether components are read as medians over rows.
    """
    return np.asarray(_vectors(C, keys, count, d, w, by_median))


def epoch(
    C: Array, keys: tuple[Array, Array], users: Array, items: Array, values: Array, d: int, w: int,
    by_median: bool, rate: float, penalty: float, threshold: float, clipped: bool = False,
    shortened: bool = True,
) -> int:  # fmt: skip
    """One pass over the ratings in their order; changes C in place.

    Parameters
    ----------
    C : (k w,)
        The sketch, flat.
    keys : tuple of array
        Those of users and of items.
    users, items, values : (n_ratings,)
    d, w : int
        The length of a vector, and the cells of a row of the sketch.
    by_median : bool
        Whether components are read as medians over rows.
    rate, penalty : float
    threshold : float
        Of a squared error.
    clipped : bool
        Whether a rating with a squared error above `threshold` still pulls towards 0. Otherwise it
        is skipped.
    shortened : bool
        Whether a step ends where its rating is met.

    Returns
    -------
    int
        The number of ratings with a squared error above `threshold`.
    """
    one = np.float32
    settings = d, w, by_median, one(rate), one(penalty), one(threshold)
    return int(
        _run_epoch(C, *keys, users, items, values, *settings, clipped, shortened)
    )
