"""Calls of BLAS and LAPACK from compiled loops that hold no lock.

Addresses of routines are passed at run time, for a compiled loop that holds one cannot be kept on
disk.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import get_cython_function_address, intrinsic

from dpmf_core.kernels.compilation import compile_kernel

GATHER = 256  # factors copied side by side before one product
PRODUCT = 2**19  # multiplications in one gemm: OpenBLAS has faster code for those below a million
WHOLE = 64  # ranks up to which gemm of the whole square beats syrk of one triangle


@functools.cache
def routine(name: str) -> int:
    library = "scipy.linalg.cython_lapack" if name.endswith("posv") else "scipy.linalg.cython_blas"
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


_intrinsic: Callable[..., Any] = intrinsic


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
    """gram += rows[:count]' rows[:count], at least its triangle that is lower in Fortran order;
    rows (GATHER, r), C order.
    """
    ints[0], ints[1] = gram.shape[0], count
    char, whole, real, data, sums = (
        chars.ctypes.data,
        ints.ctypes.data,
        one.ctypes.data,
        rows.ctypes.data,
        gram.ctypes.data,
    )
    if gram.shape[0] <= WHOLE:
        _call13(
            blas[0],
            char + 1,
            char + 2,
            whole,
            whole,
            whole + 4,
            real,
            data,
            whole,
            data,
            whole,
            real,
            sums,
            whole,
        )
    else:
        _call10(blas[1], char, char + 1, whole, whole + 4, real, data, whole, real, sums, whole)


@compile_kernel(inline="never")
def solve_definite_in_place(posv, chars, ints, gram, rhs):  # type: ignore[no-untyped-def]
    """Solves gram x = rhs in place by Cholesky; 0 where it succeeded."""
    ints[0], ints[1], ints[2] = len(rhs), 1, 0
    whole = ints.ctypes.data
    _call8(
        posv,
        chars.ctypes.data,
        whole,
        whole + 4,
        gram.ctypes.data,
        whole,
        rhs.ctypes.data,
        whole,
        whole + 8,
    )
    return ints[2]


def letter(dtype: Any) -> str:
    return "d" if dtype == np.float64 else "s"


def products(dtype: Any) -> tuple[int, int]:
    return routine(letter(dtype) + "gemm"), routine(letter(dtype) + "syrk")
