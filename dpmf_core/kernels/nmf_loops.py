"""Inner loops of non-negative factorisation: coefficients of rows on one basis, and the basis."""

import math

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out

PASSES = 200  # the most of accelerated projected gradient
CLOSE = 1e-6  # largest change of a pass, relative to the row, at which a row is done


@compile_kernel
def _coefficients(B, G, step, H, first, last, passes, close):  # type: ignore[no-untyped-def]
    K = G.shape[0]
    h = np.zeros(K)
    y = np.zeros(K)
    new = np.zeros(K)
    for i in range(first, last):
        size = 0.0
        for k in range(K):
            h[k] = y[k] = H[i, k]
            size = max(size, abs(B[i, k]))
        t = 1.0
        for _ in range(passes):
            change = 0.0
            turn = 0.0
            for k in range(K):
                slope = -B[i, k]
                for l in range(K):  # noqa: E741
                    slope += G[k, l] * y[l]
                new[k] = max(0.0, y[k] - step * slope)
                turn += (y[k] - new[k]) * (new[k] - h[k])
            # momentum points uphill: restart it (O'Donoghue & Candes 2015)
            if turn > 0:
                t = 1.0
            ahead = (1 + np.sqrt(1 + 4 * t * t)) / 2
            for k in range(K):
                change = max(change, abs(new[k] - h[k]))
                y[k] = new[k] + (t - 1) / ahead * (new[k] - h[k])
                h[k] = new[k]
            t = ahead
            if change <= close * step * size:
                break
        for k in range(K):
            H[i, k] = h[k]


def coefficients(
    B: Array,
    G: Array,
    start: Array | None = None,
    *,
    passes: int = PASSES,
    close: float = CLOSE,
) -> Array:
    """Non-negative least squares of each row: argmin over H >= 0 of 1/2 tr(H G H^T) - tr(H B^T).

    A row's result depends on that row alone, and not on the number of threads. The method is
    accelerated projected gradient with restarts (Beck & Teboulle 2009).

    Parameters
    ----------
    B : (n, K)
        Rows times basis.
    G : (K, K)
        The basis's Gram matrix.
    start : (n, K), optional
        H of an earlier basis.
    passes : int
    close : float

    Returns
    -------
    float64 (n, K)
        H.
    """
    B = np.ascontiguousarray(B, np.float64)
    G = np.ascontiguousarray(G, np.float64)
    H = np.zeros_like(B) if start is None else np.array(start, np.float64)
    top = float(np.linalg.eigvalsh(G)[-1]) if len(G) else 0.0
    if top <= 0 or not len(B):
        return np.zeros_like(B)
    rows = B, G, 1 / top, H
    share_out(lambda *at: _coefficients(*rows, *at, passes, close), np.ones(len(B)))
    return H


def basis(A: Array, B: Array, W: Array, passes: int) -> Array:
    """Descend on 1/2 tr(W^T A W) - tr(W^T B) from W, row by row.

    Entries stay at least 0 and rows in the unit ball. In one row the objective is a multiple of a
    squared distance, so a row's optimum is the projection of its unconstrained one (Cichocki & Phan
    2009). The fixed points are those of projected gradient (Saha & Imtiaz 2022, Alg. 1, W step).

    Parameters
    ----------
    A : (K, K)
        Positive semi-definite.
    B : (K, D)
    W : (K, D)
    passes : int
    """
    W = W.copy()
    flat = 1e-9 * float(np.trace(A))
    for _ in range(passes):
        for k in range(len(W)):
            if A[k, k] > flat:
                W[k] = in_unit_ball(
                    np.maximum(W[k] + (B[k] - A[k] @ W) / A[k, k], 0)[None]
                )[0]
    return W


def in_unit_ball(rows: Array) -> Array:
    """Rows longer than 1 scaled back to 1."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1))


@compile_kernel(fastmath={"contract"})
def _trim(E, X, threshold, limit, first, last):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        for j in range(E.shape[1]):
            e = X[i, j] - E[i, j]
            size = abs(e) - threshold
            if size > 0:
                r = size if size < limit else limit
                e -= r if e > 0 else -r
            E[i, j] = e


@compile_kernel(fastmath={"contract"})
def _outliers(E, X, threshold, limit, first, last):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        for j in range(E.shape[1]):
            e = X[i, j] - E[i, j]
            size = abs(e) - threshold
            r = 0.0 if size < 0 else size if size < limit else limit
            E[i, j] = r if e > 0 else -r


@compile_kernel(fastmath=True)
def _combine(h, W, out):  # type: ignore[no-untyped-def]
    """out = h W for one row."""
    for j in range(len(out)):
        out[j] = h[0] * W[0, j]
    for k in range(1, len(h)):
        for j in range(len(out)):
            out[j] += h[k] * W[k, j]


@compile_kernel(fastmath=True)
def _robust_rows(X, W, step, threshold, limit, pulls, first, last, H, R):  # type: ignore[no-untyped-def]
    K, D = W.shape
    y = np.empty(K, X.dtype)
    new = np.empty(K, X.dtype)
    residual = np.empty((1, D), X.dtype)
    for i in range(first, last):
        h = H[i]
        y[:] = h
        for pull in pulls:
            _combine(y, W, residual[0])
            _trim(residual, X[i : i + 1], threshold, limit, 0, 1)
            turn = 0.0
            for k in range(K):
                slope = residual[0, 0] * W[k, 0]
                for j in range(1, D):
                    slope += residual[0, j] * W[k, j]
                new[k] = max(0.0, y[k] + step * slope)
                turn += (y[k] - new[k]) * (new[k] - h[k])
            for k in range(K):
                ahead = 0.0 if turn > 0 else pull
                y[k] = new[k] + ahead * (new[k] - h[k])
                h[k] = new[k]
        _combine(h, W, R[i])
        _outliers(R[i : i + 1], X[i : i + 1], threshold, limit, 0, 1)


def robust_coefficients(
    X: Array,
    W: Array,
    threshold: float,
    limit: float,
    start: Array | None = None,
    *,
    passes: int,
) -> tuple[Array, Array]:
    """H and R that together minimise 1/2 ||X - H W - R||^2 + threshold ||R||_1.

    H >= 0 and |R| <= limit (the source's M). For every H the best R is known in closed form: a soft
    threshold and a clip. So this is accelerated projected gradient on H alone with a Huber-like
    loss. A row's digits depend on that row alone.

    Parameters
    ----------
    X : (n, D)
    W : (K, D)
    threshold, limit : float
    start : (n, K), optional
        H of an earlier basis.
    passes : int

    Returns
    -------
    H : (n, K)
    R : (n, D)
    """
    kind = X.dtype.type
    R = np.empty_like(X)
    H = (
        np.zeros((len(X), len(W)), X.dtype)
        if start is None
        else np.array(start, X.dtype)
    )
    top = float(np.linalg.eigvalsh((W @ W.T).astype(np.float64))[-1])
    pulls = np.zeros(passes if top > 0 else 0)
    t = 1.0
    for at in range(len(pulls)):
        ahead = (1 + math.sqrt(1 + 4 * t * t)) / 2
        pulls[at] = (t - 1) / ahead
        t = ahead
    rows = np.ascontiguousarray(X)
    basis = np.ascontiguousarray(W)
    numbers = kind(1 / top if top > 0 else 0), kind(threshold), kind(limit)
    share_out(
        lambda first, last: _robust_rows(
            rows, basis, *numbers, pulls, first, last, H, R
        ),
        np.ones(len(X)),
    )
    return H, R
