"""Least squares of many rows at once by a few steps of conjugate gradients. No privacy here.

The method is Hestenes & Stiefel 1952. Takács, Pilászy & Tikk 2011, "Applications of the conjugate
gradient method for implicit feedback collaborative filtering", use it in alternating least squares:
where each row starts from its last solution, few steps do. A step costs (entries) r, an exact
solution (entries) r^2 + r^3.

A row's factors are gathered once, side by side, and stay in the processor's second cache over its
steps; those of a very long row are gathered piece by piece at every step. Every row is computed the
same way whatever the chunk, so results do not depend on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out
from dpmf_core.kernels.normal_equations import common_matrix, sparse_rows

Array = npt.NDArray[Any]
_intrinsic: Any = intrinsic
LINE = 64  # bytes of a cache line
READ, EVERY_CACHE, DATA = 0, 3, 1  # arguments of LLVM's intrinsic


@_intrinsic
def prefetch(typing, address):  # type: ignore[no-untyped-def]
    """Prefetch the cache line at an address, given as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, whole, whole, whole])
        declare: Callable[..., Any] = cgutils.get_or_insert_function
        call = declare(builder.module, kind, "llvm.prefetch.p0")
        how = [whole(READ), whole(EVERY_CACHE), whole(DATA)]
        builder.call(call, [builder.inttoptr(args[0], pointer), *how])
        return context.get_dummy_value()

    return types.void(types.intp), codegen


CG_STEPS = 3
AHEAD = 8  # entries to prefetch: they lie anywhere, and a fetch takes as long as a few rows
BLOCK = 2**22  # bytes above which gathering again costs less than memory of that size


@compile_kernel(fastmath=True)
def _add_products(factors, weights, count, p, out):  # type: ignore[no-untyped-def]
    """out += sum_e w_e (f_e . p) f_e over the first `count` factors."""
    r, e, zero = factors.shape[1], 0, p.dtype.type(0)
    while e + 4 <= count:
        a, b, c, d = factors[e], factors[e + 1], factors[e + 2], factors[e + 3]
        ta, tb, tc, td = zero, zero, zero, zero
        for q in range(r):
            ta += a[q] * p[q]
            tb += b[q] * p[q]
            tc += c[q] * p[q]
            td += d[q] * p[q]
        ta *= weights[e]
        tb *= weights[e + 1]
        tc *= weights[e + 2]
        td *= weights[e + 3]
        for q in range(r):
            out[q] += ta * a[q] + tb * b[q] + tc * c[q] + td * d[q]
        e += 4
    while e < count:
        a, ta = factors[e], zero
        for q in range(r):
            ta += a[q] * p[q]
        ta *= weights[e]
        for q in range(r):
            out[q] += ta * a[q]
        e += 1


@compile_kernel(fastmath=True)
def _set_product(base, ridge, p, out):  # type: ignore[no-untyped-def]
    """out = (base + ridge I) p. base: (r, r) symmetric, or empty."""
    r = len(p)
    for q in range(r):
        out[q] = ridge * p[q]
    if len(base):
        s = 0
        while s + 4 <= r:
            a, b, c, d = base[s], base[s + 1], base[s + 2], base[s + 3]
            pa, pb, pc, pd = p[s], p[s + 1], p[s + 2], p[s + 3]
            for q in range(r):
                out[q] += pa * a[q] + pb * b[q] + pc * c[q] + pd * d[q]
            s += 4
        while s < r:
            a, pa = base[s], p[s]
            for q in range(r):
                out[q] += pa * a[q]
            s += 1


@compile_kernel(fastmath=True)
def _gather(indices, values, weights, factors, first, count, block, w, rhs):  # type: ignore[no-untyped-def]
    """Gather factors and weights of `count` entries; rhs += sum_e w_e v_e f_e."""
    has_weights = len(weights) > 0
    data, width = factors.ctypes.data, factors.shape[1] * factors.itemsize
    for e in range(count):
        soon = data + width * indices[min(first + e + AHEAD, len(indices) - 1)]
        for line in range(soon, soon + width, LINE):
            prefetch(line)
        f, g = factors[indices[first + e]], block[e]
        if has_weights:
            w[e] = weights[first + e]
        wv = w[e] * values[first + e]
        for q in range(len(f)):
            g[q] = f[q]
            rhs[q] += wv * f[q]


@compile_kernel(fastmath=True)
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = a.dtype.type(0)
    for q in range(len(a)):
        total += a[q] * b[q]
    return total


@compile_kernel(inline="always")  # a call with this many arrays takes as long as a short row
def _apply(  # type: ignore[no-untyped-def]
    indices, values, weights, factors, ridge, base, first, last, cached, block, w, p, out, rhs
):
    """out = (sum_e w_e f_e f_e' + base + ridge I) p.

    cached: the block already holds the row's factors; otherwise they are gathered, and rhs +=
    sum_e w_e v_e f_e.
    """
    _set_product(base, ridge, p, out)
    for begin in range(first, last, len(block)):
        count = min(len(block), last - begin)
        if not cached:
            _gather(indices, values, weights, factors, begin, count, block, w, rhs)
        _add_products(block, w, count, p, out)


@compile_kernel
def _refine_rows(  # type: ignore[no-untyped-def]
    indptr, indices, values, weights, factors, ridge, base, steps, size, start, stop, out
):
    r, dtype = factors.shape[1], factors.dtype
    block, w = np.empty((size, r), dtype), np.ones(size, dtype)
    residual, p, Ap = np.empty(r, dtype), np.empty(r, dtype), np.empty(r, dtype)
    rhs = np.empty(r, dtype)
    for i in range(start, stop):
        first, last, c, x = indptr[i], indptr[i + 1], ridge[i], out[i]
        if first == last:
            x[:] = 0
            continue
        rhs[:] = 0
        _apply(indices, values, weights, factors, c, base, first, last, False, block, w, x, Ap, rhs)
        for q in range(r):
            residual[q] = p[q] = rhs[q] - Ap[q]
        square, negligible = _dot(residual, residual), _dot(rhs, rhs) * np.finfo(dtype).eps ** 2
        fits = last - first <= size
        for _ in range(steps):
            if square <= negligible:
                break
            _apply(
                indices, values, weights, factors, c, base, first, last, fits, block, w, p, Ap, rhs
            )
            curvature = _dot(p, Ap)
            if not curvature > 0:  # only rounding is left
                break
            before, length = square, square / curvature
            for q in range(r):
                x[q] += length * p[q]
                residual[q] -= length * Ap[q]
            square = _dot(residual, residual)
            for q in range(r):
                p[q] = residual[q] + square / before * p[q]


def refine_rows(
    indptr: Array, indices: Array, values: Array, factors: Array, ridge: float | Array,
    start: Array, *, base: Array | None = None, weights: Array | None = None,
    steps: int = CG_STEPS,
) -> Array:  # fmt: skip
    """Approach the solution of `solve_rows` from `start` (n, r) by conjugate gradients.

    Takes at most `steps` steps for each row, and returns (n, r) in the factors' dtype. Each step
    comes closer in the norm of the row's own system; in exact arithmetic r steps solve it. A row
    whose residual is down to rounding takes no further step. base: (r, r) positive semi-definite or
    None. The other arguments are those of `solve_rows`. Empty rows give exactly 0, whatever they
    start from.
    """
    indptr, indices, values, w, factors = sparse_rows(indptr, indices, values, weights, factors)
    n, r = len(indptr) - 1, factors.shape[1]
    out = np.array(start, factors.dtype, order="C")
    ridges = np.ascontiguousarray(np.broadcast_to(np.asarray(ridge, factors.dtype), (n,)))
    common, lengths = common_matrix(base, factors.dtype), np.diff(indptr)
    most = max(4, BLOCK // max(1, r * factors.itemsize))
    size = int(min(lengths.max(initial=1), most))
    rows = indptr, indices, values, w, factors, ridges, common, steps, size
    cost = lengths * float(r) + float(common.size + r) / 4 + 50
    share_out(lambda first, last: _refine_rows(*rows, first, last, out), cost)
    return out


@dataclass
class WarmStart:
    """`solve_rows` for the same rows while their factors change.

    It calls `refine_rows` from the last solution, and from 0 at first.
    """

    steps: int = CG_STEPS
    _last: Array | None = field(default=None, repr=False)

    def __call__(self, indptr: Array, *system: Any, base: Array | None = None) -> Array:
        """The rows' new approximate solutions (n, r). Takes the arguments of `solve_rows`."""
        if self._last is None:
            factors = system[2]
            self._last = np.zeros((len(indptr) - 1, factors.shape[1]), factors.dtype)
        refine: Callable[..., Array] = refine_rows
        self._last = refine(indptr, *system, self._last, base=base, steps=self.steps)
        return self._last
