"""Gram matrices and right-hand sides of many rows, in compiled loops that call BLAS.

They hold no lock. No privacy here. Addresses of routines are passed at run time, because a compiled
loop that holds one cannot be cached on disk.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import get_cython_function_address, intrinsic

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out
from dpmf_core.kernels.tiles import CACHE_BYTES, WIDTH, add_triangle, fits_tiles

_intrinsic: Any = intrinsic
GATHER = 256  # factors copied side by side before one product
PRODUCT = 2**19  # multiplications in one gemm: OpenBLAS is faster below a million
# the highest rank at which gemm of the whole square beats syrk of one triangle
WHOLE = 64


@functools.cache
def routine(name: str) -> int:
    library = (
        "scipy.linalg.cython_lapack"
        if name.endswith("posv")
        else "scipy.linalg.cython_blas"
    )
    return int(get_cython_function_address(library, name))


def _caller(count: int) -> Callable[..., Any]:
    """A compiled call of the routine at an address with `count` pointers, all given as integers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        routine = builder.inttoptr(
            args[0], ir.FunctionType(ir.VoidType(), [pointer] * count).as_pointer()
        )
        builder.call(routine, [builder.inttoptr(value, pointer) for value in args[1:]])
        return context.get_dummy_value()

    return codegen


@_intrinsic
def _call8(typing, address, a, b, c, d, e, f, g, h):  # type: ignore[no-untyped-def]
    return types.void(*[types.intp] * 9), _caller(8)


@_intrinsic
def _call10(typing, address, a, b, c, d, e, f, g, h, i, j):  # type: ignore[no-untyped-def]
    return types.void(*[types.intp] * 11), _caller(10)


@_intrinsic
def _call13(typing, address, a, b, c, d, e, f, g, h, i, j, k, l, m):  # type: ignore[no-untyped-def]  # noqa: E741
    return types.void(*[types.intp] * 14), _caller(13)


@compile_kernel(inline="never")
def add_product(blas, chars, ints, one, rows, count, gram):  # type: ignore[no-untyped-def]
    """gram += rows[:count]' rows[:count], at least the lower triangle in Fortran order.

    The rows (GATHER, r) are in C order.
    """
    ints[0] = gram.shape[0]
    ints[1] = count
    lower = chars.ctypes.data
    n = ints.ctypes.data
    k = ints.ctypes.data + 4
    as_is = lower + 1
    turned = lower + 2
    alpha = one.ctypes.data
    a = rows.ctypes.data
    c = gram.ctypes.data
    if gram.shape[0] <= WHOLE:
        _call13(blas[0], as_is, turned, n, n, k, alpha, a, n, a, n, alpha, c, n)
    else:
        _call10(blas[1], lower, as_is, n, k, alpha, a, n, alpha, c, n)


@compile_kernel(inline="never")
def solve_definite_in_place(posv, chars, ints, gram, rhs):  # type: ignore[no-untyped-def]
    """Solve gram x = rhs in place by Cholesky; returns 0 on success."""
    ints[0] = len(rhs)
    ints[1] = 1
    ints[2] = 0
    n = ints.ctypes.data
    a = gram.ctypes.data
    b = rhs.ctypes.data
    _call8(posv, chars.ctypes.data, n, n + 4, a, n, b, n, n + 8)
    return ints[2]


def letter(dtype: Any) -> str:
    return "d" if dtype == np.float64 else "s"


def products(dtype: Any) -> tuple[int, int]:
    return routine(letter(dtype) + "gemm"), routine(letter(dtype) + "syrk")


SMALL = 3  # the highest rank at which plain loops beat the call of BLAS


@compile_kernel
def _gathered_at_once(r, itemsize):  # type: ignore[no-untyped-def]
    """How many rows of r numbers are gathered before their products are added."""
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
    chars = np.array([76, 78, 84], np.uint8)
    ints = np.zeros(4, np.int32)
    one = np.ones(1, factors.dtype)
    buffer = np.empty((GATHER, r), factors.dtype)
    gather = _gathered_at_once(r, factors.itemsize)
    steps_in_one = 1 / step  # multiplying by a power of two is exact
    for i in range(start, stop):
        gram = grams[i]
        last = indptr[offset + i + 1]
        gram[:] = 0
        for begin in range(indptr[offset + i], last, gather):
            count = min(gather, last - begin)
            for row in range(count):
                f = factors[indices[begin + row]]
                root = np.sqrt(weights[begin + row])
                for p in range(r):
                    buffer[row, p] = np.trunc(root * f[p] * steps_in_one) * step
            _add_outer_products(blas, chars, ints, one, buffer, count, gram)
        for p in range(r):
            for q in range(p):
                gram[p, q] = gram[q, p]


@compile_kernel(fastmath=True)
def add_entries(  # type: ignore[no-untyped-def]
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
    rhs,
):
    """gram (one triangle) += sum w f f', rhs += sum w v f, over the entries first..last."""
    r = factors.shape[1]
    has_weights = len(weights) > 0
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
            root = np.sqrt(w)
            wv = w * values[start + row]
            for p in range(r):
                buffer[row, p] = root * f[p]
                rhs[p] += wv * f[p]
        _add_outer_products(blas, chars, ints, one, buffer, count, gram)


@compile_kernel
def _normal_equations(  # type: ignore[no-untyped-def]
    blas, indptr, indices, values, weights, factors, offset, start, stop, grams, rhs
):
    r = factors.shape[1]
    chars = np.array([76, 78, 84], np.uint8)
    ints = np.zeros(4, np.int32)
    one = np.ones(1, factors.dtype)
    buffer = np.empty((GATHER, r), factors.dtype)
    for i in range(start, stop):
        first = indptr[offset + i]
        last = indptr[offset + i + 1]
        gram = grams[i]
        b = rhs[i]
        gram[:] = 0
        b[:] = 0
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
            b,
        )
        for p in range(r):
            for q in range(p):
                gram[p, q] = gram[q, p]


def sparse_rows(
    indptr: Array, indices: Array, values: Array, weights: Array | None, factors: Array
) -> tuple[Array, Array, Array, Array, Array]:
    dtype = np.float64 if factors.dtype == np.float64 else np.float32
    w = np.empty(0, dtype) if weights is None else np.ascontiguousarray(weights, dtype)
    values = np.ascontiguousarray(values, dtype)
    factors = np.ascontiguousarray(factors, dtype)
    return (
        np.asarray(indptr, np.int64),
        np.asarray(indices, np.int32),
        values,
        w,
        factors,
    )


def common_matrix(base: Array | None, dtype: Any) -> Array:
    """The matrix that is added to every row's system; empty for none."""
    return (
        np.empty((0, 0), dtype) if base is None else np.ascontiguousarray(base, dtype)
    )


def weighted_grams(
    indptr: Array, indices: Array, factors: Array, start: int, stop: int, *,
    weights: Array | None = None, step: float = 0.0,
) -> Array:  # fmt: skip
    """Gram matrices sum_j w_ij f_j f_j' of rows start..stop.

    Parameters
    ----------
    indptr, indices : (n + 1,), (n_entries,)
        Sparse rows.
    factors : (n_columns, r)
    start, stop : int
    weights : (n_entries,), optional
    step : float
        A power of two. sqrt(w_ij) f_j is rounded towards zero to its multiples; 0 for no rounding.
        Without weights the factors are not rounded.

    Returns
    -------
    (stop - start, r, r)
    """
    none = np.zeros(len(indices), factors.dtype)
    indptr, indices, none, w, factors = sparse_rows(
        indptr, indices, none, weights, factors
    )
    r = factors.shape[1]
    grams = np.empty((stop - start, r, r), factors.dtype)
    rhs = np.empty((stop - start, r), factors.dtype)
    blas = products(factors.dtype)

    def work(first: int, last: int) -> None:
        if step and len(w):
            _rounded_grams(
                blas, indptr, indices, w, factors, step, start, first, last, grams
            )
        else:
            _normal_equations(
                blas, indptr, indices, none, w, factors, start, first, last, grams, rhs
            )

    share_out(work, np.diff(indptr[start : stop + 1]) * float(r * r) + 50)
    return grams


def right_sides(
    indptr: Array, indices: Array, values: Array, factors: Array, start: int, stop: int
) -> Array:
    """Right-hand sides sum_j v_ij f_j (stop - start, r) of rows start..stop."""
    indptr, indices, values, _, factors = sparse_rows(
        indptr, indices, values, None, factors
    )
    rhs = np.empty((stop - start, factors.shape[1]), factors.dtype)

    def work(first: int, last: int) -> None:
        _right_sides(indptr, indices, values, factors, start, first, last, rhs)

    share_out(work, np.diff(indptr[start : stop + 1]) * float(factors.shape[1]) + 50)
    return rhs
