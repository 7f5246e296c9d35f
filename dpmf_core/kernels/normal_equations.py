"""Gram matrices and right-hand sides of many rows at once, in compiled loops. No privacy here."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels.blas import GATHER, PRODUCT, WHOLE, add_product, products
from dpmf_core.kernels.compilation import compile_kernel
from dpmf_core.kernels.threads import share_out
from dpmf_core.kernels.tiles import WIDTH
from dpmf_core.kernels.triangles import CACHE_BYTES, add_triangle, fits_tiles

Array = npt.NDArray[Any]

SMALL = 3  # ranks up to which plain loops beat the call of BLAS


@compile_kernel
def _gathered_at_once(r, itemsize):  # type: ignore[no-untyped-def]
    """How many rows of r numbers are copied side by side before their products are added."""
    if fits_tiles(r, itemsize):
        return min(GATHER, max(WIDTH, CACHE_BYTES // (r * itemsize)))
    return min(GATHER, PRODUCT // (r * r)) if r <= WHOLE else GATHER


@compile_kernel
def _add_outer_products(blas, chars, ints, one, rows, count, gram):  # type: ignore[no-untyped-def]
    """gram += rows[:count]' rows[:count], at least where the row is at most the column."""
    if fits_tiles(len(gram), gram.itemsize):
        add_triangle(rows, count, gram)
    else:
        add_product(blas, chars, ints, one, rows, count, gram)


@compile_kernel(fastmath=True)
def _add_right_side(indices, values, factors, first, last, rhs):  # type: ignore[no-untyped-def]
    for entry in range(first, last):
        f = factors[indices[entry]]
        for p in range(len(f)):
            rhs[p] += values[entry] * f[p]


@compile_kernel
def _right_sides(indptr, indices, values, factors, offset, start, stop, rhs):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        rhs[i] = 0
        _add_right_side(
            indices, values, factors, indptr[offset + i], indptr[offset + i + 1], rhs[i]
        )


@compile_kernel
def _rounded_grams(  # type: ignore[no-untyped-def]
    blas, indptr, indices, weights, factors, step, offset, start, stop, grams
):
    r = factors.shape[1]
    chars, ints = np.array([76, 78, 84], np.uint8), np.zeros(4, np.int32)
    one, buffer = np.ones(1, factors.dtype), np.empty((GATHER, r), factors.dtype)
    gather = _gathered_at_once(r, factors.itemsize)
    steps_in_one = 1 / step  # a product with a power of two is exact
    for i in range(start, stop):
        gram, last = grams[i], indptr[offset + i + 1]
        gram[:] = 0
        for begin in range(indptr[offset + i], last, gather):
            count = min(gather, last - begin)
            for row in range(count):
                f, root = factors[indices[begin + row]], np.sqrt(weights[begin + row])
                for p in range(r):
                    buffer[row, p] = np.trunc(root * f[p] * steps_in_one) * step
            _add_outer_products(blas, chars, ints, one, buffer, count, gram)
        for p in range(r):
            for q in range(p):
                gram[p, q] = gram[q, p]


@compile_kernel(fastmath=True)
def add_entries(  # type: ignore[no-untyped-def]
    blas, chars, ints, one, indices, values, weights, factors, first, last, buffer, gram, rhs
):
    """gram (one triangle) += sum w f f', rhs += sum w v f, over the entries first..last."""
    r, has_weights = factors.shape[1], len(weights) > 0
    if r <= SMALL:
        for entry in range(first, last):
            f = factors[indices[entry]]
            w = weights[entry] if has_weights else one[0]
            for p in range(r):
                wf = w * f[p]
                rhs[p] += values[entry] * wf
                for q in range(p, r):
                    gram[p, q] += wf * f[q]
        return
    gather = _gathered_at_once(r, factors.itemsize)
    for start in range(first, last, gather):
        count = min(gather, last - start)
        for row in range(count):
            f = factors[indices[start + row]]
            w = weights[start + row] if has_weights else one[0]
            root, wv = np.sqrt(w), w * values[start + row]
            for p in range(r):
                buffer[row, p] = root * f[p]
                rhs[p] += wv * f[p]
        _add_outer_products(blas, chars, ints, one, buffer, count, gram)


@compile_kernel
def _normal_equations(  # type: ignore[no-untyped-def]
    blas, indptr, indices, values, weights, factors, offset, start, stop, grams, rhs
):
    r = factors.shape[1]
    chars, ints, one = (
        np.array([76, 78, 84], np.uint8),
        np.zeros(4, np.int32),
        np.ones(1, factors.dtype),
    )
    buffer = np.empty((GATHER, r), factors.dtype)
    for i in range(start, stop):
        gram = grams[i]
        gram[:] = 0
        rhs[i] = 0
        add_entries(
            blas,
            chars,
            ints,
            one,
            indices,
            values,
            weights,
            factors,
            indptr[offset + i],
            indptr[offset + i + 1],
            buffer,
            gram,
            rhs[i],
        )
        for p in range(r):
            for q in range(p):
                gram[p, q] = gram[q, p]


def sparse_rows(
    indptr: Array, indices: Array, values: Array, weights: Array | None, factors: Array
) -> tuple[Array, Array, Array, Array, Array]:
    dtype = np.float64 if factors.dtype == np.float64 else np.float32
    w = np.empty(0, dtype) if weights is None else np.ascontiguousarray(weights, dtype)
    factors = np.ascontiguousarray(factors, dtype)
    return (
        np.asarray(indptr, np.int64),
        np.asarray(indices, np.int32),
        np.ascontiguousarray(values, dtype),
        w,
        factors,
    )


def common_matrix(base: Array | None, dtype: Any) -> Array:
    """The matrix that is added to every row's system; empty for none."""
    return np.empty((0, 0), dtype) if base is None else np.ascontiguousarray(base, dtype)


def weighted_grams(
    indptr: Array,
    indices: Array,
    factors: Array,
    start: int,
    stop: int,
    *,
    weights: Array | None = None,
    step: float = 0.0,
    threads: int | None = None,
) -> Array:
    """Gram matrices sum_j w_ij f_j f_j' (stop - start, r, r) of rows start..stop.

    step: sqrt(w_ij) f_j is rounded towards zero to multiples of it, a power of two; 0: not at all.
    Without weights the factors are used as they are.
    """
    none = np.zeros(len(indices), factors.dtype)
    indptr, indices, none, w, factors = sparse_rows(indptr, indices, none, weights, factors)
    r = factors.shape[1]
    grams = np.empty((stop - start, r, r), factors.dtype)
    rhs = np.empty((stop - start, r), factors.dtype)
    blas = products(factors.dtype)

    def work(first: int, last: int) -> None:
        if step and len(w):
            _rounded_grams(blas, indptr, indices, w, factors, step, start, first, last, grams)
        else:
            _normal_equations(
                blas, indptr, indices, none, w, factors, start, first, last, grams, rhs
            )

    share_out(work, np.diff(indptr[start : stop + 1]) * float(r * r) + 50, threads)
    return grams


def right_sides(
    indptr: Array,
    indices: Array,
    values: Array,
    factors: Array,
    start: int,
    stop: int,
    *,
    threads: int | None = None,
) -> Array:
    """Right-hand sides sum_j v_ij f_j (stop - start, r) of rows start..stop."""
    indptr, indices, values, _, factors = sparse_rows(indptr, indices, values, None, factors)
    rhs = np.empty((stop - start, factors.shape[1]), factors.dtype)

    def work(first: int, last: int) -> None:
        _right_sides(indptr, indices, values, factors, start, first, last, rhs)

    share_out(work, np.diff(indptr[start : stop + 1]) * float(factors.shape[1]) + 50, threads)
    return rhs
