"""Frank-Wolfe from a user's row: the residual, the step, and the whole path. No privacy here.

Jain, Thakkar & Thakurta 2018, Alg. 1, lines 3 to 8. Training and replay run the same compiled step
row by row, so users compute from the released directions, bit for bit, the row they had in
training.
"""

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out

INSIDE = 1 - 1e-6  # keeps a residual row inside its bound after rounding


@compile_kernel
def _shrink(norm2, bound):  # type: ignore[no-untyped-def]
    return bound / np.sqrt(norm2) if norm2 > bound * bound else 1.0


@compile_kernel
def _residual_scale(target, y, bound):  # type: ignore[no-untyped-def]
    norm2 = 0.0
    for p in range(len(y)):
        a = y[p] - target[p]
        norm2 += a * a
    return _shrink(norm2, bound * INSIDE)


@compile_kernel
def _step(items, target, y, v, inverse, rate, kappa, bound, residual_bound):  # type: ignore[no-untyped-def]
    """y <- Pi_L((1 - eta) y - eta kappa u v^T) on a row's observed cells, u = <A, v> / l.

    Returns the coefficient of v, and the factor by which the row was shrunk.
    """
    scale = _residual_scale(target, y, residual_bound)
    along = 0.0
    for p in range(len(y)):
        along += (y[p] - target[p]) * v[items[p]]
    coefficient = -rate * kappa * (scale * along * inverse)
    norm2 = 0.0
    for p in range(len(y)):
        y[p] = (1 - rate) * y[p] + coefficient * v[items[p]]
        norm2 += y[p] * y[p]
    shrink = _shrink(norm2, bound)
    if shrink < 1:
        for p in range(len(y)):
            y[p] *= shrink
    return coefficient * shrink, shrink


@compile_kernel
def _residuals(indptr, target, y, bound, start, stop, out):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        first = indptr[i]
        last = indptr[i + 1]
        scale = _residual_scale(target[first:last], y[first:last], bound)
        for p in range(first, last):
            out[p] = scale * (y[p] - target[p])


@compile_kernel
def _advance(  # type: ignore[no-untyped-def]
    indptr,
    items,
    target,
    y,
    bound,
    residual_bound,
    v,
    inverse,
    rate,
    kappa,
    start,
    stop,
):
    for i in range(start, stop):
        own = slice(indptr[i], indptr[i + 1])
        _step(
            items[own],
            target[own],
            y[own],
            v,
            inverse,
            rate,
            kappa,
            bound,
            residual_bound,
        )


@compile_kernel
def _replay(  # type: ignore[no-untyped-def]
    indptr,
    items,
    target,
    bound,
    residual_bound,
    V,
    inverses,
    rates,
    kappa,
    start,
    stop,
    out,
):
    for i in range(start, stop):
        first = indptr[i]
        last = indptr[i + 1]
        row = items[first:last]
        goal = target[first:last]
        y = np.zeros(last - first)
        for t in range(len(V)):
            v = V[t]
            inverse = inverses[t]
            rate = rates[t]
            coefficient, shrink = _step(
                row, goal, y, v, inverse, rate, kappa, bound, residual_bound
            )
            for s in range(t):
                out[i, s] *= (1 - rates[t]) * shrink
            out[i, t] = coefficient


class Rows:
    """All users' rows in training, on the observed cells: target and iterate.

    Parameters
    ----------
    indptr : (n_users + 1,)
    items, target : (n_ratings,)
    bound : float
        The bound of an iterate's row; may be inf.
    residual_bound : float
        The bound of a residual row; may be inf.
    """

    def __init__(
        self,
        indptr: Array,
        items: Array,
        target: Array,
        bound: float,
        residual_bound: float,
    ) -> None:
        self.indptr = indptr
        self.items = np.asarray(items, np.int32)
        self.bound = float(bound)
        self.residual_bound = float(residual_bound)
        self.target = np.asarray(target, np.float32)  # (n_ratings,)
        self.iterate = np.zeros(len(self.target))  # (n_ratings,)
        self._cost = np.diff(indptr) + 1.0

    def of_items(self, new: Array) -> "Rows":
        """These rows, with items numbered anew: `new` (n_items,) by the old number."""
        return Rows(
            self.indptr, new[self.items], self.target, self.bound, self.residual_bound
        )

    def residuals(self) -> Array:
        """The residuals A (n_ratings,), iterate minus target, with every row within its bound."""
        out = np.empty(len(self.target))
        rows = self.indptr, self.target, self.iterate, self.residual_bound
        share_out(lambda start, stop: _residuals(*rows, start, stop, out), self._cost)
        return out

    def advance(self, v: Array, inverse: float, rate: float, kappa: float) -> None:
        """One step along v (n_items,) float32, with inverse = 1 / l, rate = eta."""
        rows = (
            self.indptr,
            self.items,
            self.target,
            self.iterate,
            self.bound,
            self.residual_bound,
        )
        step = v, float(inverse), float(rate), float(kappa)
        share_out(lambda start, stop: _advance(*rows, *step, start, stop), self._cost)


def replay(rows: Rows, V: Array, inverses: Array, rates: Array, kappa: float) -> Array:
    """Coefficients (n_rows, T), float64, of directions V (n_items, T) float32 after all steps."""
    out = np.zeros((len(rows.indptr) - 1, V.shape[1]))
    data = rows.indptr, rows.items, rows.target, rows.bound, rows.residual_bound
    directions = np.ascontiguousarray(V.T, np.float32)
    steps = directions, np.array(inverses, np.float64), np.array(rates, np.float64)
    share_out(
        lambda start, stop: _replay(*data, *steps, float(kappa), start, stop, out),
        np.diff(rows.indptr) * (1.0 + V.shape[1]) + V.shape[1] ** 2,
    )
    return out
