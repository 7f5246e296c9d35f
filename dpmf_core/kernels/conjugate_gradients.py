"""Least squares of many rows at once by a few steps of conjugate gradients. No privacy here.

The method is Hestenes & Stiefel 1952. Takács, Pilászy & Tikk 2011, "Applications of the conjugate
gradient method for implicit feedback collaborative filtering", use it in alternating least squares.
Each row starts from its last solution there, so few steps suffice. A step costs (entries) r, an
exact solution (entries) r^2 + r^3.

A row's factors are gathered once, side by side, and stay in the processor's second cache over its
steps. Those of a very long row are gathered piece by piece at every step. Every row is computed the
same way whatever the chunk, so results do not depend on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out
from dpmf_core.kernels.normal_equations import common_matrix, sparse_rows

_intrinsic: Any = intrinsic
LINE = 64  # bytes of a cache line
# arguments of LLVM's intrinsic
READ = 0
EVERY_CACHE = 3
DATA = 1


@_intrinsic
def prefetch(typing, address):  # type: ignore[no-untyped-def]
    """Prefetch the cache line at an address, given as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        whole = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, whole, whole, whole])
        declare: Callable[..., Any] = cgutils.get_or_insert_function
        call = declare(builder.module, kind, "llvm.prefetch.p0")
        how = [whole(READ), whole(EVERY_CACHE), whole(DATA)]
        builder.call(call, [builder.inttoptr(args[0], pointer), *how])
        return context.get_dummy_value()

    return types.void(types.intp), codegen


CG_STEPS = 3
# entries to prefetch: they lie anywhere, and a fetch takes as long as a few rows
AHEAD = 8
BLOCK = 2**22  # bytes above which gathering again costs less than memory of that size


@compile_kernel(fastmath=True)
def _add_products(factors, weights, count, p, out):  # type: ignore[no-untyped-def]
    """out += sum_e w_e (f_e . p) f_e over the first `count` factors."""
    r = factors.shape[1]
    e = 0
    zero = p.dtype.type(0)
    while e + 4 <= count:
        a = factors[e]
        b = factors[e + 1]
        c = factors[e + 2]
        d = factors[e + 3]
        ta = zero
        tb = zero
        tc = zero
        td = zero
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
        a = factors[e]
        ta = zero
        for q in range(r):
            ta += a[q] * p[q]
        ta *= weights[e]
        for q in range(r):
            out[q] += ta * a[q]
        e += 1


@compile_kernel(fastmath=True)
def _set_product(base, ridge, p, out):  # type: ignore[no-untyped-def]
    """out = (base + ridge I) p, where base is symmetric (r, r) or empty."""
    r = len(p)
    for q in range(r):
        out[q] = ridge * p[q]
    if len(base):
        s = 0
        while s + 4 <= r:
            a = base[s]
            b = base[s + 1]
            c = base[s + 2]
            d = base[s + 3]
            pa = p[s]
            pb = p[s + 1]
            pc = p[s + 2]
            pd = p[s + 3]
            for q in range(r):
                out[q] += pa * a[q] + pb * b[q] + pc * c[q] + pd * d[q]
            s += 4
        while s < r:
            a = base[s]
            pa = p[s]
            for q in range(r):
                out[q] += pa * a[q]
            s += 1


@compile_kernel(fastmath=True)
def _gather(indices, values, weights, factors, first, count, block, w, rhs):  # type: ignore[no-untyped-def]
    """Gather factors and weights of `count` entries; rhs += sum_e w_e v_e f_e."""
    has_weights = len(weights) > 0
    data = factors.ctypes.data
    width = factors.shape[1] * factors.itemsize
    for e in range(count):
        soon = data + width * indices[min(first + e + AHEAD, len(indices) - 1)]
        for line in range(soon, soon + width, LINE):
            prefetch(line)
        f = factors[indices[first + e]]
        g = block[e]
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


# a call with this many arrays takes as long as a short row
@compile_kernel(inline="always")
def _apply(  # type: ignore[no-untyped-def]
    indices,
    values,
    weights,
    factors,
    ridge,
    base,
    first,
    last,
    cached,
    block,
    w,
    p,
    out,
    rhs,
):
    """out = (sum_e w_e f_e f_e' + base + ridge I) p.

    Unless they are `cached`, the row's factors are gathered in the block, and rhs += sum_e w_e v_e
    f_e.
    """
    _set_product(base, ridge, p, out)
    for begin in range(first, last, len(block)):
        count = min(len(block), last - begin)
        if not cached:
            _gather(indices, values, weights, factors, begin, count, block, w, rhs)
        _add_products(block, w, count, p, out)


@compile_kernel
def _refine_rows(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    values,
    weights,
    factors,
    ridge,
    base,
    steps,
    size,
    start,
    stop,
    out,
):
    r = factors.shape[1]
    dtype = factors.dtype
    block = np.empty((size, r), dtype)
    w = np.ones(size, dtype)
    residual = np.empty(r, dtype)
    p = np.empty(r, dtype)
    Ap = np.empty(r, dtype)
    rhs = np.empty(r, dtype)
    for i in range(start, stop):
        first = indptr[i]
        last = indptr[i + 1]
        c = ridge[i]
        x = out[i]
        if first == last:
            x[:] = 0
            continue
        rhs[:] = 0
        _apply(
            indices,
            values,
            weights,
            factors,
            c,
            base,
            first,
            last,
            False,
            block,
            w,
            x,
            Ap,
            rhs,
        )
        for q in range(r):
            residual[q] = p[q] = rhs[q] - Ap[q]
        square = _dot(residual, residual)
        negligible = _dot(rhs, rhs) * np.finfo(dtype).eps ** 2
        fits = last - first <= size
        for _ in range(steps):
            if square <= negligible:
                break
            _apply(
                indices,
                values,
                weights,
                factors,
                c,
                base,
                first,
                last,
                fits,
                block,
                w,
                p,
                Ap,
                rhs,
            )
            curvature = _dot(p, Ap)
            if not curvature > 0:  # only rounding is left
                break
            before = square
            length = square / curvature
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
    """Approach the solution of `solve_rows` from `start` by conjugate gradients.

    Each step comes closer in the norm of the row's own system. In exact arithmetic r steps solve
    it. A row takes no further step once its residual is down to rounding.

    Parameters
    ----------
    indptr, indices, values, factors, ridge, weights
        As in `solve_rows`.
    start : (n, r)
    base : (r, r) or None
        Positive semi-definite.
    steps : int
        The most steps of a row.

    Returns
    -------
    (n, r)
        In the factors' dtype. Empty rows give exactly 0, whatever they start from.
    """
    indptr, indices, values, w, factors = sparse_rows(
        indptr, indices, values, weights, factors
    )
    n = len(indptr) - 1
    r = factors.shape[1]
    out = np.array(start, factors.dtype, order="C")
    ridges = np.ascontiguousarray(
        np.broadcast_to(np.asarray(ridge, factors.dtype), (n,))
    )
    common = common_matrix(base, factors.dtype)
    lengths = np.diff(indptr)
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
