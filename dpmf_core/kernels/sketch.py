"""Factors held in a count sketch, and stochastic gradients on it, in compiled code (Charikar, Chen & Farach-Colton 2002; Balu & Furon 2016)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels import compiled

Array = npt.NDArray[Any]


@compiled
def _places(keys, row, ident, d, w, places, signs):  # type: ignore[no-untyped-def]
    """Cell and sign of every component of one vector in one row of the sketch: multiply-shift, pairwise independent (Dietzfelbinger 1996)."""
    h = keys[row, 0] * np.uint64(ident * d) + keys[row, 1]
    for f in range(d):
        places[f] = ((h >> np.uint64(32)) * np.uint64(w)) >> np.uint64(32)
        signs[f] = 1.0 if (h >> np.uint64(31)) & np.uint64(1) else -1.0
        h += keys[row, 0]


@compiled
def _query(C, keys, ident, d, out, places, signs):  # type: ignore[no-untyped-def]
    """The mean over rows of the signed cells of one vector; places and signs (k, d) are kept for the update."""
    k, w = C.shape
    for f in range(d):
        out[f] = 0.0
    for j in range(k):
        _places(keys, j, ident, d, w, places[j], signs[j])
        for f in range(d):
            out[f] += signs[j, f] * C[j, places[j, f]]
    for f in range(d):
        out[f] /= k


@compiled
def _vectors(C, keys, count, d):  # type: ignore[no-untyped-def]
    out = np.empty((count, d), np.float32)
    places, signs = np.empty((C.shape[0], d), np.int64), np.empty((C.shape[0], d), np.float32)
    vector = np.empty(d, np.float32)
    for ident in range(count):
        _query(C, keys, ident, d, vector, places, signs)
        out[ident] = vector
    return out


@compiled(fastmath={"reassoc", "contract"})
def _sketched(C, user_keys, item_keys, users, items, values, order, d, rate, penalty, threshold):  # type: ignore[no-untyped-def]
    k = C.shape[0]
    p, q = np.empty(d, np.float32), np.empty(d, np.float32)
    pu, su = np.empty((k, d), np.int64), np.empty((k, d), np.float32)
    pi, si = np.empty((k, d), np.int64), np.empty((k, d), np.float32)
    skipped = 0
    for t in order:
        _query(C, user_keys, users[t], d, p, pu, su)
        _query(C, item_keys, items[t], d, q, pi, si)
        error = values[t]
        size = np.float32(0.0)
        for f in range(d):
            error -= p[f] * q[f]
            size += p[f] * p[f] + q[f] * q[f]
        if error * error > threshold:
            skipped += 1
            continue
        step = rate * error if rate * size <= 1 else error / size  # a longer step would overshoot
        for f in range(d):
            a, b = step * q[f] - rate * penalty * p[f], step * p[f] - rate * penalty * q[f]
            for j in range(k):
                C[j, pu[j, f]] += su[j, f] * a
                C[j, pi[j, f]] += si[j, f] * b
    return skipped


def vectors(C: Array, keys: Array, count: int, d: int) -> Array:
    """What the sketch holds of `count` vectors of d components (count, d), float32. C: (k, w). keys: (k, 2) uint64, odd multipliers first."""
    return np.asarray(_vectors(C, keys, count, d))


def epoch(
    C: Array, keys: tuple[Array, Array], users: Array, items: Array, values: Array, order: Array, d: int, rate: float, penalty: float, threshold: float
) -> int:
    """One pass over the ratings in `order`; changes C in place. Ratings whose squared error is above `threshold` are passed over: how many is returned."""
    one = np.float32
    return int(_sketched(C, keys[0], keys[1], users, items, values, order, d, one(rate), one(penalty), one(threshold)))
