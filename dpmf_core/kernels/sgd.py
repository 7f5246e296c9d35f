"""One pass of stochastic gradient descent over ratings, in compiled code."""

from typing import Any

import numpy.typing as npt

from dpmf_core.kernels.compilation import compile_kernel

Array = npt.NDArray[Any]


@compile_kernel(fastmath={"reassoc", "contract"})  # sums over factors may be vectorised
def _epoch(  # type: ignore[no-untyped-def]
    users, items, values, mean, P, Q, a, b, rate, shrink, biased
):
    r = P.shape[1]
    for t in range(len(values)):
        u, i = users[t], items[t]
        p, q = P[u], Q[i]
        dot, size = 0.0, 2.0 if biased else 0.0
        for f in range(r):
            dot += p[f] * q[f]
            size += p[f] * p[f] + q[f] * q[f]
        error = values[t] - mean - a[u] - b[i] - dot
        error *= rate if rate * size <= 1 else 1 / size  # a longer step would overshoot
        if biased:
            a[u] += error - shrink * a[u]
            b[i] += error - shrink * b[i]
        for f in range(r):
            before = p[f]
            p[f] = before + error * q[f] - shrink * before
            q[f] = q[f] + error * before - shrink * q[f]


def epoch(
    users: Array,
    items: Array,
    values: Array,
    mean: float,
    P: Array,
    Q: Array,
    a: Array,
    b: Array,
    rate: float,
    penalty: float,
    biased: bool = True,
) -> None:
    """Changes factors P (n, r), Q (m, r) and offsets a (n,), b (m,) in place, one rating after
    the other (Koren, Bell & Volinsky 2009, eq. 5). biased: whether offsets move.
    """
    shrink = min(1.0, float(rate * penalty))
    _epoch(users, items, values, float(mean), P, Q, a, b, float(rate), shrink, biased)
