"""Least squares of many rows at once, in compiled loops. No privacy here.

A row's system is built from up to 256 gathered factors at a time and solved by Cholesky: in tiles
if the number of factors suits them, otherwise by `gemm` or `syrk`, and `posv`. A row with fewer
entries than factors is solved in its own, smaller space:
(F'F + cI)^-1 F'v = F'(FF' + cI)^-1 v.
Threads share rows in chunks of equal cost. Every row is computed the same way whatever the chunk,
so results do not depend on the number of threads.
"""

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out
from dpmf_core.kernels.normal_equations import (
    GATHER,
    add_entries,
    common_matrix,
    letter,
    products,
    routine,
    solve_definite_in_place,
    sparse_rows,
)
from dpmf_core.kernels.tiles import factorise, fits_tiles, solve_factorised


@compile_kernel
def _add(matrix, total):  # type: ignore[no-untyped-def]
    """total (r, r) += matrix; numpy's own way takes seconds to compile, for its messages."""
    for p in range(len(total)):
        for q in range(len(total)):
            total[p, q] += matrix[p, q]


@compile_kernel
def _solve_system(posv, chars, ints, gram, rhs):  # type: ignore[no-untyped-def]
    """Solve gram x = rhs in place; False if gram is not positive definite in this precision."""
    if not fits_tiles(len(gram), gram.itemsize):
        return solve_definite_in_place(posv, chars, ints, gram, rhs) == 0
    if not factorise(gram):
        return False
    solve_factorised(gram, rhs)
    return True


@compile_kernel(fastmath=True)
def _solve_small(  # type: ignore[no-untyped-def]
    posv, chars, ints, indices, values, factors, first, last, ridge, gram, solution, out
):
    """A row with fewer entries than factors, in the space of its entries."""
    k = last - first
    r = factors.shape[1]
    for p in range(k):
        f = factors[indices[first + p]]
        solution[p] = values[first + p]
        for q in range(p, k):
            g = factors[indices[first + q]]
            total = f[0] * g[0]
            for c in range(1, r):
                total += f[c] * g[c]
            gram[p * k + q] = total
        gram[p * k + p] += ridge
    info = solve_definite_in_place(posv, chars, ints, gram[: k * k], solution[:k])
    out[:] = 0
    for p in range(k):
        f = factors[indices[first + p]]
        for c in range(r):
            out[c] += solution[p] * f[c]
    return info


@compile_kernel
def _solve_rows(  # type: ignore[no-untyped-def]
    blas,
    posv,
    indptr,
    indices,
    values,
    weights,
    factors,
    ridge,
    base,
    start,
    stop,
    out,
    failed,
):
    r = factors.shape[1]
    dtype = factors.dtype
    chars = np.array([76, 78, 84], np.uint8)  # "L", "N", "T"
    ints = np.zeros(4, np.int32)
    one = np.ones(1, dtype)
    buffer = np.empty((GATHER, r), dtype)
    gram = np.empty((r, r), dtype)
    flat = np.empty(r * r, dtype)
    own_space = len(weights) == 0 and len(base) == 0
    for i in range(start, stop):
        first = indptr[i]
        last = indptr[i + 1]
        x = out[i]
        if first == last:
            x[:] = 0
            continue
        if own_space and 2 * (last - first) < r:
            info = _solve_small(
                posv,
                chars,
                ints,
                indices,
                values,
                factors,
                first,
                last,
                ridge[i],
                flat,
                gram[0],
                x,
            )
            failed[i] = info != 0
            continue
        x[:] = 0
        gram[:] = 0
        if len(base):
            _add(base, gram)
        add_entries(
            blas,
            chars,
            ints,
            one,
            indices,
            values,
            weights,
            factors,
            first,
            last,
            buffer,
            gram,
            x,
        )
        for p in range(r):
            gram[p, p] += ridge[i]
        failed[i] = not _solve_system(posv, chars, ints, gram, x)


@compile_kernel
def _solve_definite(posv, grams, ridge, base, start, stop, out, indefinite):  # type: ignore[no-untyped-def]
    """Solve the systems with positive definite Gram matrices in place of `out`; mark the others."""
    r = grams.shape[1]
    chars = np.array([76, 78, 84], np.uint8)
    ints = np.zeros(4, np.int32)
    gram = np.empty((r, r), grams.dtype)
    spare = np.zeros(r, grams.dtype)
    for b in range(start, stop):
        gram[:] = 0
        spare[:] = 0
        _add(grams[b], gram)
        if not _solve_system(posv, chars, ints, gram, spare):
            indefinite[b] = True
            continue
        gram[:] = 0
        _add(grams[b], gram)
        if len(base):
            _add(base, gram)
        for p in range(r):
            gram[p, p] += ridge[b]
        indefinite[b] = not _solve_system(posv, chars, ints, gram, out[b])


def solve_rows(
    indptr: Array, indices: Array, values: Array, factors: Array, ridge: float | Array, *,
    base: Array | None = None, weights: Array | None = None,
) -> Array:  # fmt: skip
    """x_i = (sum_j w_ij f_j f_j' + base + ridge_i I)^-1 sum_j w_ij v_ij f_j, row by row.

    Parameters
    ----------
    indptr, indices, values : (n + 1,), (n_entries,), (n_entries,)
        Sparse rows.
    factors : (n_columns, r)
        float32 or float64.
    ridge : float or (n,)
        Above 0.
    base : (r, r) or None
        Symmetric.
    weights : (n_entries,) or None
        At least 0; None for 1.

    Returns
    -------
    (n, r)
        In the factors' dtype. Empty rows give exactly 0.
    """
    indptr, indices, values, w, factors = sparse_rows(
        indptr, indices, values, weights, factors
    )
    n = len(indptr) - 1
    r = factors.shape[1]
    out = np.empty((n, r), factors.dtype)
    failed = np.zeros(n, np.bool_)
    ridges = np.ascontiguousarray(
        np.broadcast_to(np.asarray(ridge, factors.dtype), (n,))
    )
    common = common_matrix(base, factors.dtype)
    routines = products(factors.dtype), routine(letter(factors.dtype) + "posv")
    rows = *routines, indptr, indices, values, w, factors, ridges, common
    share_out(
        lambda start, stop: _solve_rows(*rows, start, stop, out, failed),
        np.diff(indptr) * float(r * r) + float(r) ** 3 / 3 + 50,
    )
    # not positive definite in this precision: a tiny ridge on collinear factors
    for i in np.flatnonzero(failed):
        span = slice(indptr[i], indptr[i + 1])
        F = factors[indices[span]].astype(np.float64)
        wF = F if weights is None else F * w[span, None]
        system = (
            wF.T @ F + (0 if base is None else common) + float(ridges[i]) * np.eye(r)
        )
        out[i] = _shortest(system, wF.T @ values[span])
    return out


def _shortest(system: Array, rhs: Array) -> Array:
    """The shortest least-squares solution (r,).

    NaN if the system has values that are not numbers, for example from a model that diverged.
    """
    if not np.isfinite(system).all():
        return np.full(len(rhs), np.nan)
    return np.asarray(np.linalg.lstsq(system, rhs, rcond=None)[0])


def solve_psd(
    grams: Array, rhs: Array, ridge: float | Array, *, base: Array | None = None,
    project: bool = True,
) -> Array:  # fmt: skip
    """x_b = (P(grams_b) + base + ridge_b I)^-1 rhs_b, (n, r).

    P projects a symmetric matrix onto the positive semi-definite cone. If a Cholesky factorisation
    succeeds, P is the identity. The other systems go through their eigenvectors.

    Parameters
    ----------
    grams : (n, r, r)
    rhs : (n, r)
    ridge : float or (n,)
        Above 0, unless base is positive definite.
    base : (r, r) or None
        Positive semi-definite.
    project : bool
        False leaves P out. Systems may then be indefinite, and singular ones get their
        least-squares solution.
    """
    grams = np.ascontiguousarray(grams)
    n, r = rhs.shape
    ridges = np.ascontiguousarray(np.broadcast_to(np.asarray(ridge, grams.dtype), (n,)))
    common = common_matrix(base, grams.dtype)
    out = np.array(rhs, grams.dtype)
    indefinite = np.zeros(n, np.bool_)
    if not project:
        system = grams + (0 if base is None else common)
        system = system + ridges[:, None, None] * np.eye(r, dtype=grams.dtype)
        share_out(lambda start, stop: _solve_as_is(system, start, stop, out), n)
        return out
    systems = routine(letter(grams.dtype) + "posv"), grams, ridges, common
    share_out(
        lambda start, stop: _solve_definite(*systems, start, stop, out, indefinite), n
    )
    rest = np.flatnonzero(indefinite)

    def work(start: int, stop: int) -> None:
        rows = rest[start:stop]
        out[rows] = _solve_projected(grams[rows], rhs[rows], ridges[rows], common)

    if len(rest):
        share_out(work, len(rest))
    return out


def _solve_projected(grams: Array, rhs: Array, ridges: Array, base: Array) -> Array:
    values, Q = np.linalg.eigh(grams)
    positive_part = np.maximum(values, 0)
    if len(base):
        system = (Q * positive_part[:, None, :]) @ Q.swapaxes(1, 2) + base
        system = system + ridges[:, None, None] * np.eye(Q.shape[-1], dtype=Q.dtype)
        return np.asarray(np.linalg.solve(system, rhs[..., None])[..., 0])
    along = (rhs[:, None, :] @ Q)[:, 0] / (positive_part + ridges[:, None])
    return np.asarray((Q @ along[..., None])[..., 0])


def _solve_as_is(systems: Array, start: int, stop: int, out: Array) -> None:
    """Replace the right-hand sides in `out` by the solutions."""
    try:
        out[start:stop] = np.linalg.solve(
            systems[start:stop], out[start:stop, :, None]
        )[..., 0]
    except np.linalg.LinAlgError:  # numpy does not tell which system is singular
        if stop - start == 1:
            out[start] = np.linalg.lstsq(systems[start], out[start], rcond=None)[0]
            return
        for b in range(start, stop):
            _solve_as_is(systems, b, b + 1, out)
