"""Compiled loops over ratings and segments: predictions, errors, ranks, rounding, random orders.

No privacy here.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out


@compile_kernel(fastmath=True)
def _predict(user_factors, item_factors, users, items, start, stop, out):  # type: ignore[no-untyped-def]
    for e in range(start, stop):
        u = user_factors[users[e]]
        v = item_factors[items[e]]
        total = u[0] * v[0]
        for p in range(1, len(u)):
            total += u[p] * v[p]
        out[e] = total


@compile_kernel(fastmath={"nsz", "arcp", "contract", "afn", "reassoc"})
def _predict_ratings(centre, a, b, U, V, users, items, low, high, start, stop, out):  # type: ignore[no-untyped-def]
    for e in range(start, stop):
        u = U[users[e]]
        v = V[items[e]]
        total = np.float32(0)
        for p in range(len(u)):
            total += u[p] * v[p]
        total += centre + a[users[e]] + b[items[e]]
        # NaN stays NaN
        out[e] = low if total < low else high if total > high else total


@compile_kernel
def _residuals(starts, items, values, centre, b, damping, first, last, means, out):  # type: ignore[no-untyped-def]
    for u in range(first, last):
        span = slice(starts[u], starts[u + 1])
        x = values[span]
        own = items[span]
        residuals = out[span]
        count = len(x)
        sums = (0.0, 0.0, 0.0, 0.0)
        whole = count - count % 4
        # four sums, because each waits for its last addition
        for e in range(0, whole, 4):
            k = x[e] - centre - b[own[e]]
            m = x[e + 1] - centre - b[own[e + 1]]
            n = x[e + 2] - centre - b[own[e + 2]]
            o = x[e + 3] - centre - b[own[e + 3]]
            residuals[e] = k
            residuals[e + 1] = m
            residuals[e + 2] = n
            residuals[e + 3] = o
            sums = sums[0] + k, sums[1] + m, sums[2] + n, sums[3] + o
        total = sums[0] + sums[1] + (sums[2] + sums[3])
        for e in range(whole, count):
            residuals[e] = x[e] - centre - b[own[e]]
            total += residuals[e]
        if damping >= 0:
            means[u] = np.float32(total / max(count + damping, 1e-9))
            for e in range(count):
                residuals[e] -= means[u]


@compile_kernel
def _segment_sums(starts, values, first, last, out):  # type: ignore[no-untyped-def]
    for segment in range(first, last):
        total = 0.0
        for e in range(starts[segment], starts[segment + 1]):
            total += values[e]
        out[segment] = total


def predict_pairs(
    user_factors: Array,
    item_factors: Array,
    users: Array,
    items: Array,
    dtype: Any = np.float32,
) -> Array:
    """u . v of every pair, (n_pairs,), in `dtype`; 0 without factors."""
    if not np.shape(item_factors)[1]:  # compiled code would read outside its arrays
        return np.zeros(len(users), dtype)
    out = np.empty(len(users), dtype)
    U = np.ascontiguousarray(user_factors, dtype)
    V = np.ascontiguousarray(item_factors, dtype)
    u = np.asarray(users, np.int32)
    i = np.asarray(items, np.int32)
    share_out(lambda start, stop: _predict(U, V, u, i, start, stop, out), len(u))
    return out


def predict_ratings(
    centre: float, user_offsets: Array, item_offsets: Array, user_factors: Array,
    item_factors: Array, users: Array, items: Array, bounds: tuple[float, float],
) -> Array:  # fmt: skip
    """centre + a_u + b_i + u . v of every pair within bounds, float32 (n_pairs,)."""
    out = np.empty(len(users), np.float32)
    low, high, c = (np.float32(number) for number in (*bounds, centre))
    a, b, U, V = (
        np.ascontiguousarray(side, np.float32)
        for side in (user_offsets, item_offsets, user_factors, item_factors)
    )
    u = np.asarray(users, np.int32)
    i = np.asarray(items, np.int32)
    rows = c, a, b, U, V, u, i, low, high
    share_out(lambda start, stop: _predict_ratings(*rows, start, stop, out), len(u))
    return out


def residuals(
    starts: Array, items: Array, values: Array, centre: float, item_offsets: Array,
    damping: float | None,
) -> tuple[Array, Array]:  # fmt: skip
    """Users' damped means after centre and item offsets, and the residuals after these too.

    Parameters
    ----------
    starts : (n_users + 1,)
    items, values : (n_values,)
    centre : float
    item_offsets : (n_items,)
    damping : float or None
        Pseudo-count of the mean; with None the mean is 0.

    Returns
    -------
    means : float32 (n_users,)
        Summed in float64.
    residuals : float32 (n_values,)
    """
    means = np.zeros(len(starts) - 1, np.float32)
    out = np.empty(len(values), np.float32)
    x = np.ascontiguousarray(values, np.float32)
    b = np.ascontiguousarray(item_offsets, np.float32)
    c = np.float32(centre)
    pseudo = -1.0 if damping is None else float(damping)
    share_out(
        lambda first, last: _residuals(
            starts, items, x, c, b, pseudo, first, last, means, out
        ),
        np.diff(starts) + 1.0,
    )
    return means, out


def segment_sums(starts: Array, values: Array) -> Array:
    """The sum of every segment's values in their order.

    Parameters
    ----------
    starts : (n_segments + 1,)
    values : float32 or float64 (n_values,)

    Returns
    -------
    float64 (n_segments,)
    """
    out = np.empty(len(starts) - 1)
    x = np.ascontiguousarray(values)
    share_out(
        lambda first, last: _segment_sums(starts, x, first, last, out),
        np.diff(starts) + 1.0,
    )
    return out


@compile_kernel(fastmath={"nsz", "arcp", "contract", "afn", "reassoc"})
def _error_sums(  # type: ignore[no-untyped-def]
    own,
    U,
    table,
    starts,
    items,
    values,
    low,
    high,
    first,
    last,
    total,
    absolute,
    squares,
):
    most = 0
    r = U.shape[1]
    for row in range(first, last):
        most = max(most, starts[row + 1] - starts[row])
    scores = np.empty(most, np.float32)
    x = np.empty(table.shape[1], np.float32)
    x[r] = 1  # for the items' offsets
    for row in range(first, last):
        start = starts[row]
        count = starts[row + 1] - starts[row]
        for p in range(r):
            x[p] = U[row, p]
        # two passes with one kind of work each: a single pass takes twice as long
        for place in range(count):
            v = table[items[start + place]]
            dot = np.float32(0)
            for p in range(len(x)):
                dot += v[p] * x[p]
            scores[place] = dot
        sums = (0.0, 0.0, 0.0)
        for place in range(count):
            score = scores[place] + own[row]
            # NaN stays NaN
            score = low if score < low else high if score > high else score
            error = np.float64(score) - np.float64(values[start + place])
            sums = (sums[0] + error, sums[1] + abs(error), sums[2] + error * error)
        total[row], absolute[row], squares[row] = sums


def error_sums(
    sides: tuple[float, Array, Array, Array, Array],
    ratings: tuple[Array, Array, Array],
    bounds: tuple[float, float],
) -> tuple[Array, Array, Array]:
    """Sums over each user's ratings of errors, their sizes and their squares.

    An error is the prediction of `predict_ratings` minus the rating.

    Parameters
    ----------
    sides : tuple
        Centre, user offsets, item offsets, user factors, item factors.
    ratings : tuple
        Starts (n_users + 1,), items and values (n_ratings,).
    bounds : tuple of float

    Returns
    -------
    errors, sizes, squares : float64 (n_users,)
    """
    starts = ratings[0]
    i = np.asarray(ratings[1], np.int32)
    x = np.asarray(ratings[2], np.float32)
    low, high, centre = (np.float32(number) for number in (*bounds, sides[0]))
    a, b, U, V = (np.ascontiguousarray(side, np.float32) for side in sides[1:])
    own = centre + a
    table = np.column_stack([V, b])
    sums = tuple(np.empty(len(starts) - 1) for _ in range(3))
    share_out(
        lambda first, last: _error_sums(
            own, U, table, starts, i, x, low, high, first, last, *sums
        ),
        np.diff(starts) + 1.0,
    )
    return sums[0], sums[1], sums[2]


@compile_kernel
def _round_towards_zero(values, bound, steps_in_one, step, out):  # type: ignore[no-untyped-def]
    for place in range(len(values)):
        value = np.float64(values[place])
        within = min(max(value, -bound), bound) if np.isfinite(value) else 0.0
        out[place] = np.trunc(within * steps_in_one) * step


def round_towards_zero(values: Array, bound: float, step: float) -> Array:
    """Round values (any shape) towards zero to multiples of a power of two, `step`; float64.

    Numbers beyond the bound are rounded from the bound; those that are not finite become 0.
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    out = np.empty(len(flat))
    _round_towards_zero(flat, float(bound), 1 / step, step, out)
    return out.reshape(np.shape(values))


@compile_kernel
def _shuffled_range(n, key):  # type: ignore[no-untyped-def]
    """Fisher & Yates's shuffle by splitmix64 (Steele, Lea & Flood 2014).

    The bias of the remainder is below n / 2^64.
    """
    out = np.arange(n)
    state = key
    for last in range(n - 1, 0, -1):
        state += np.uint64(0x9E3779B97F4A7C15)
        x = state
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
        place = np.int64(x % np.uint64(last + 1))
        out[last], out[place] = out[place], out[last]
    return out


def shuffled_range(n: int, key: int) -> npt.NDArray[Any]:
    """The numbers 0 ... n - 1 in an order drawn by `key`, int64 (n,)."""
    return np.asarray(_shuffled_range(n, np.uint64((key * 0xD1342543DE82EF95) % 2**64)))
