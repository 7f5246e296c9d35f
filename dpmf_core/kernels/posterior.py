"""Draws of many rows from their Gaussian posterior at once, in compiled loops. No privacy here."""

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out
from dpmf_core.kernels.normal_equations import (
    GATHER,
    add_entries,
    products,
    sparse_rows,
)
from dpmf_core.kernels.tiles import (
    WIDTH,
    factorise,
    fits_tiles,
    solve_lower,
    solve_upper,
)


@compile_kernel
def _draw_rows(  # type: ignore[no-untyped-def]
    blas,
    indptr,
    indices,
    values,
    factors,
    noise,
    precision,
    linear,
    start,
    stop,
    normals,
    failed,
):
    """Replace the standard normals in `normals` by the draws."""
    r = factors.shape[1]
    none = values[:0]
    chars = np.array([76, 78, 84], np.uint8)
    ints = np.zeros(4, np.int32)
    one = np.ones(1, factors.dtype)
    buffer = np.empty((GATHER, r), factors.dtype)
    gram = np.empty((r, r), factors.dtype)
    side = np.empty(r, factors.dtype)
    for i in range(start, stop):
        gram[:] = 0
        side[:] = 0
        first = indptr[i]
        last = indptr[i + 1]
        x = normals[i]
        add_entries(
            blas,
            chars,
            ints,
            one,
            indices,
            values,
            none,
            factors,
            first,
            last,
            buffer,
            gram,
            side,
        )
        for p in range(r):
            side[p] = noise * side[p] + linear[i, p]
            for q in range(p, r):
                gram[p, q] = noise * gram[p, q] + precision[p, q]
        if not factorise(gram):
            failed[i] = True
            continue
        solve_lower(gram, side)
        for p in range(r):
            x[p] += side[p]
        solve_upper(gram, x)


def draw_rows(
    indptr: Array, indices: Array, values: Array, factors: Array, noise_precision: float,
    precision: Array, linear: Array, normals: Array,
) -> Array:  # fmt: skip
    """Draw every row x_i from its posterior, given v_ij = f_j . x_i + noise.

    With A_i = a sum_j f_j f_j' + P, x_i has mean A_i^-1 (a sum_j v_ij f_j + l_i) and covariance
    A_i^-1.

    Parameters
    ----------
    indptr, indices, values : (n + 1,), (n_entries,), (n_entries,)
        Sparse rows.
    factors : (n_columns, r)
        f_j.
    noise_precision : float
        a, above 0: one over the variance of a value around its prediction.
    precision : (r, r)
        P of the prior, positive definite.
    linear : (n, r)
        l_i, which is P times each row's prior mean.
    normals : (n, r)
        Standard normal numbers.

    Returns
    -------
    float32 (n, r)

    Raises
    ------
    ValueError
        If r is above 256.
    FloatingPointError
        If a system is not positive definite in float32.
    """
    n = len(indptr) - 1
    r = factors.shape[1]
    width = -(-r // WIDTH) * WIDTH  # further coordinates are independent of everything
    if not fits_tiles(width, 4):
        raise ValueError(f"The number of factors must be at most 256. Got {r}.")
    wide = np.eye(width, dtype=np.float32)
    wide[:r, :r] = precision
    indptr, indices, values, _, factors = sparse_rows(
        indptr, indices, values, None, _widened(factors, width)
    )
    out = _widened(normals, width)
    failed = np.zeros(n, np.bool_)
    offsets = _widened(linear, width)
    blas = products(factors.dtype)
    noise = np.float32(noise_precision)
    rows = blas, indptr, indices, values, factors, noise, wide, offsets
    cost = np.diff(indptr) * float(width**2) + float(width) ** 3 / 3 + 50
    share_out(lambda start, stop: _draw_rows(*rows, start, stop, out, failed), cost)
    if failed.any():
        raise FloatingPointError(
            "The posterior precision of a row is not positive definite."
        )
    return np.ascontiguousarray(out[:, :r])


def _widened(rows: Array, width: int) -> Array:
    """The rows in float32 with columns of zeros up to `width`."""
    wide = np.zeros((len(rows), width), np.float32)
    wide[:, : rows.shape[1]] = rows
    return wide
