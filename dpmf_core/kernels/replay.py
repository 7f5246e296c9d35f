"""A user's own path through the steps of Frank-Wolfe, row by row."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels import compiled, share_out

Array = npt.NDArray[Any]


@compiled
def _frank_wolfe(indptr, items, values, V, scale, rates, kappa, L, start, stop, out):  # type: ignore[no-untyped-def]
    T = V.shape[1]
    for i in range(start, stop):
        first, n = indptr[i], indptr[i + 1] - indptr[i]
        y = np.zeros(n)
        for t in range(T):
            norm2, along = 0.0, 0.0
            for p in range(n):
                a = y[p] - values[first + p]
                norm2 += a * a
                along += a * V[items[first + p], t]
            if norm2 > L * L:
                along *= L / np.sqrt(norm2)
            step = -rates[t] * kappa * along * scale[t]
            norm2 = 0.0
            for p in range(n):
                y[p] = (1 - rates[t]) * y[p] + step * V[items[first + p], t]
                norm2 += y[p] * y[p]
            shrink = L / np.sqrt(norm2) if norm2 > L * L else 1.0
            for p in range(n):
                y[p] *= shrink
            for s in range(t):
                out[i, s] *= (1 - rates[t]) * shrink
            out[i, t] = step * shrink


def frank_wolfe(indptr: Array, items: Array, values: Array, V: Array, scale: Array, rates: Array, kappa: float, L: float) -> Array:
    """Coefficients (n_rows, T) of the rank-one terms v_t, Jain et al. 2018, Alg. 1, lines 3 to 8, for every row by itself.

    V: (n_items, T). scale: (T,), 1 / l_t. rates: (T,), eta_t. L: bound on a row's norm, residual as well as iterate; may be inf.
    """
    out = np.zeros((len(indptr) - 1, V.shape[1]))
    items, values, V = np.asarray(items, np.int32), np.asarray(values, np.float64), np.ascontiguousarray(V, np.float64)

    def work(start: int, stop: int) -> None:
        _frank_wolfe(indptr, items, values, V, np.asarray(scale, np.float64), np.asarray(rates, np.float64), float(kappa), float(L), start, stop, out)

    share_out(work, np.diff(indptr) + 1.0, None)
    return out
