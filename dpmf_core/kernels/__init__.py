"""Inner loops of least squares: BLAS and LAPACK called from compiled loops that hold no lock. No privacy here.

A row's system is built from up to 256 gathered factors at a time (`gemm` or `syrk`) and solved by Cholesky (`posv`). A row with fewer
entries than factors is solved in its own, smaller space: (F'F + cI)^-1 F'v = F'(FF' + cI)^-1 v. Rows are shared out to threads in
chunks of equal cost; every row is computed the same way whatever the chunk, so results do not depend on the number of threads.
BLAS addresses are passed at run time, for a compiled loop that holds one cannot be kept on disk.
"""

import functools
import importlib
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import get_cython_function_address, intrinsic
from threadpoolctl import OpenBLASController, ThreadpoolController

from dpmf_core.home import data_folder, usable

Array = npt.NDArray[Any]

GATHER = 256  # factors copied side by side before one product
PRODUCT = 2**19  # multiplications in one gemm: OpenBLAS has faster code for those below a million
WHOLE = 64  # ranks up to which gemm of the whole square beats syrk of one triangle
CHUNKS = 32  # per call, so that threads end together
SMALL = 3  # ranks up to which plain loops beat the call of BLAS


@functools.cache
def _routine(name: str) -> int:
    library = "scipy.linalg.cython_lapack" if name.endswith("posv") else "scipy.linalg.cython_blas"
    return int(get_cython_function_address(library, name))


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="kernel")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


class _SingleThreadedBlas:
    """Holds BLAS at one thread from the first run or kernel that enters to the last that leaves, whichever threads they are in.

    Its sums are then added up in one order, whatever the number of threads: the same seed gives the same bits.

    The limit belongs to the process: were each kernel to set and restore it, one would lift it under another still running.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    @functools.cached_property
    def _libraries(self) -> ThreadpoolController:
        importlib.import_module("scipy.linalg.cython_lapack")  # a library loaded later would go unseen
        return ThreadpoolController().select(user_api="blas")

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                OpenBLASController.clear_controlling_thread(force=True)  # else a thread that is not the first to set limits is ignored in silence
                self._limit = self._libraries.limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                OpenBLASController.clear_controlling_thread(force=True)
                self._limit.restore_original_limits()
                OpenBLASController.clear_controlling_thread()


single_threaded_blas = _SingleThreadedBlas()


def usable_threads() -> int:
    """Threads a run may use: DPMF_THREADS, or every core of this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(os.environ.get("DPMF_THREADS") or cores))


def share_out(work: Callable[[int, int], None], cost: Array, threads: int | None) -> None:
    """work(start, stop) over all rows, in chunks of about equal cost, BLAS held at one thread each."""
    total = np.cumsum(cost, dtype=np.float64)
    marks = np.searchsorted(total, total[-1] * np.arange(1, CHUNKS) / CHUNKS) if len(total) else []
    edges = np.unique(np.concatenate([[0], marks, [len(cost)]]).astype(int))
    threads = threads or usable_threads()
    with single_threaded_blas:
        if threads == 1 or len(edges) <= 2:
            for start, stop in itertools.pairwise(edges):
                work(int(start), int(stop))
        else:
            list(_pool(threads).map(work, edges[:-1].tolist(), edges[1:].tolist()))


# ---- calls into BLAS from compiled code -----------------------------------------------------------------------------


def _caller(count: int) -> Callable[..., Any]:
    """A compiled call of the routine at an address with `count` pointers, all given as integers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        routine = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [pointer] * count).as_pointer())
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


# compiled code is kept in the data folder, unless numba's own variable says otherwise: the package's folder may not be writable
os.environ["NUMBA_CACHE_DIR"] = os.environ.get("NUMBA_CACHE_DIR") or str(usable(data_folder() / "compiled"))
numba.core.config.reload_config()  # type: ignore[no-untyped-call]

compiled: Callable[..., Any] = functools.partial(numba.njit, nogil=True, cache=True, error_model="numpy")


@compiled(inline="never")
def _add_product(blas, chars, ints, one, rows, count, gram):  # type: ignore[no-untyped-def]
    """gram += rows[:count]' rows[:count], at least its triangle that is lower in Fortran order; rows (GATHER, r), C order."""
    ints[0], ints[1] = gram.shape[0], count
    char, whole, real, data, sums = chars.ctypes.data, ints.ctypes.data, one.ctypes.data, rows.ctypes.data, gram.ctypes.data
    if gram.shape[0] <= WHOLE:
        _call13(blas[0], char + 1, char + 2, whole, whole, whole + 4, real, data, whole, data, whole, real, sums, whole)
    else:
        _call10(blas[1], char, char + 1, whole, whole + 4, real, data, whole, real, sums, whole)


@compiled(inline="never")
def _posv(posv, chars, ints, gram, rhs):  # type: ignore[no-untyped-def]
    """Solves gram x = rhs in place by Cholesky; 0 where it succeeded."""
    ints[0], ints[1], ints[2] = len(rhs), 1, 0
    whole = ints.ctypes.data
    _call8(posv, chars.ctypes.data, whole, whole + 4, gram.ctypes.data, whole, rhs.ctypes.data, whole, whole + 8)
    return ints[2]


@compiled(fastmath=True)
def _add_entries(blas, chars, ints, one, indices, values, weights, factors, first, last, buffer, gram, rhs):  # type: ignore[no-untyped-def]
    """gram (one triangle) += sum w f f', rhs += sum w v f, over the entries first..last."""
    r, weighted = factors.shape[1], len(weights) > 0
    if r <= SMALL:
        for entry in range(first, last):
            f = factors[indices[entry]]
            w = weights[entry] if weighted else one[0]
            for p in range(r):
                wf = w * f[p]
                rhs[p] += values[entry] * wf
                for q in range(p, r):
                    gram[p, q] += wf * f[q]
        return
    gather = min(GATHER, PRODUCT // (r * r)) if r <= WHOLE else GATHER
    for start in range(first, last, gather):
        count = min(gather, last - start)
        for row in range(count):
            f = factors[indices[start + row]]
            w = weights[start + row] if weighted else one[0]
            root, wv = np.sqrt(w), w * values[start + row]
            for p in range(r):
                buffer[row, p] = root * f[p]
                rhs[p] += wv * f[p]
        _add_product(blas, chars, ints, one, buffer, count, gram)


@compiled(fastmath=True)
def _solve_small(posv, chars, ints, indices, values, factors, first, last, ridge, gram, solution, out):  # type: ignore[no-untyped-def]
    """A row with fewer entries than factors, in the space of its entries."""
    k, r = last - first, factors.shape[1]
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
    info = _posv(posv, chars, ints, gram[: k * k], solution[:k])
    out[:] = 0
    for p in range(k):
        f = factors[indices[first + p]]
        for c in range(r):
            out[c] += solution[p] * f[c]
    return info


@compiled
def _solve_rows(blas, posv, indptr, indices, values, weights, factors, ridge, base, start, stop, out, failed):  # type: ignore[no-untyped-def]
    r = factors.shape[1]
    chars, ints, one = np.array([76, 78, 84], np.uint8), np.zeros(4, np.int32), np.ones(1, factors.dtype)  # "L", "N", "T"
    buffer, gram, flat = np.empty((GATHER, r), factors.dtype), np.empty((r, r), factors.dtype), np.empty(r * r, factors.dtype)
    own_space = len(weights) == 0 and len(base) == 0
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        if first == last:
            out[i] = 0
            continue
        if own_space and 2 * (last - first) < r:
            failed[i] = _solve_small(posv, chars, ints, indices, values, factors, first, last, ridge[i], flat, gram[0], out[i]) != 0
            continue
        out[i] = 0
        if len(base):
            gram[:] = base
        else:
            gram[:] = 0
        _add_entries(blas, chars, ints, one, indices, values, weights, factors, first, last, buffer, gram, out[i])
        for p in range(r):
            gram[p, p] += ridge[i]
        failed[i] = _posv(posv, chars, ints, gram, out[i]) != 0


@compiled
def _normal_equations(blas, indptr, indices, values, weights, factors, offset, start, stop, grams, rhs):  # type: ignore[no-untyped-def]
    r = factors.shape[1]
    chars, ints, one = np.array([76, 78, 84], np.uint8), np.zeros(4, np.int32), np.ones(1, factors.dtype)
    buffer = np.empty((GATHER, r), factors.dtype)
    for i in range(start, stop):
        gram = grams[i]
        gram[:] = 0
        rhs[i] = 0
        _add_entries(blas, chars, ints, one, indices, values, weights, factors, indptr[offset + i], indptr[offset + i + 1], buffer, gram, rhs[i])
        for p in range(r):
            for q in range(p):
                gram[p, q] = gram[q, p]


@compiled
def _solve_definite(posv, grams, ridge, base, start, stop, out, indefinite):  # type: ignore[no-untyped-def]
    """out: right-hand sides in, solutions out, for the systems whose Gram matrix is positive definite; marks the others."""
    r = grams.shape[1]
    chars, ints, gram, spare = np.array([76, 78, 84], np.uint8), np.zeros(4, np.int32), np.empty((r, r), grams.dtype), np.zeros(r, grams.dtype)
    for b in range(start, stop):
        gram[:] = grams[b]
        spare[:] = 0
        if _posv(posv, chars, ints, gram, spare) != 0:
            indefinite[b] = True
            continue
        gram[:] = grams[b]
        if len(base):
            gram += base
        for p in range(r):
            gram[p, p] += ridge[b]
        indefinite[b] = _posv(posv, chars, ints, gram, out[b]) != 0


@compiled(fastmath=True)
def _predict(user_factors, item_factors, users, items, start, stop, out):  # type: ignore[no-untyped-def]
    for e in range(start, stop):
        u, v = user_factors[users[e]], item_factors[items[e]]
        total = u[0] * v[0]
        for p in range(1, len(u)):
            total += u[p] * v[p]
        out[e] = total


@compiled
def _rank_segments(starts, key, first, last, out):  # type: ignore[no-untyped-def]
    for segment in range(first, last):
        start = starts[segment]
        order = np.argsort(key[start : starts[segment + 1]], kind="mergesort")
        for place in range(len(order)):
            out[start + order[place]] = place


@compiled
def _unfold(triangles, off_diagonal, start, stop, out):  # type: ignore[no-untyped-def]
    r = out.shape[1]
    for b in range(start, stop):
        at = 0
        for p in range(r):
            for q in range(p):
                out[b, p, q] = out[b, q, p] = off_diagonal * triangles[b, at]
                at += 1
            out[b, p, p] = triangles[b, at]
            at += 1


# ---- what the algorithms call ---------------------------------------------------------------------------------------


def _entries(indptr: Array, indices: Array, values: Array, weights: Array | None, factors: Array) -> tuple[Array, Array, Array, Array, Array]:
    dtype = np.float64 if factors.dtype == np.float64 else np.float32
    w = np.empty(0, dtype) if weights is None else np.ascontiguousarray(weights, dtype)
    factors = np.ascontiguousarray(factors, dtype)
    return np.asarray(indptr, np.int64), np.asarray(indices, np.int32), np.ascontiguousarray(values, dtype), w, factors


def _base(base: Array | None, dtype: Any) -> Array:
    return np.empty((0, 0), dtype) if base is None else np.ascontiguousarray(base, dtype)


def _letter(dtype: Any) -> str:
    return "d" if dtype == np.float64 else "s"


def _products(dtype: Any) -> tuple[int, int]:
    return _routine(_letter(dtype) + "gemm"), _routine(_letter(dtype) + "syrk")


def solve_rows(
    indptr: Array, indices: Array, values: Array, factors: Array, ridge: float | Array, *,
    base: Array | None = None, weights: Array | None = None, threads: int | None = None,
) -> Array:  # fmt: skip
    """Row by row, x_i = (sum_j w_ij f_j f_j' + base + ridge_i I)^-1 sum_j w_ij v_ij f_j, shape (n, r) in the factors' dtype.

    indptr (n + 1,), indices and values (n_entries,): sparse rows. factors (n_columns, r), float32 or float64. ridge: a number or (n,), above 0.
    base: (r, r) symmetric or None. weights: (n_entries,), at least 0, or None for 1. Empty rows give exactly 0.
    """
    indptr, indices, values, w, factors = _entries(indptr, indices, values, weights, factors)
    n, r = len(indptr) - 1, factors.shape[1]
    out, failed = np.empty((n, r), factors.dtype), np.zeros(n, np.bool_)
    ridges = np.ascontiguousarray(np.broadcast_to(np.asarray(ridge, factors.dtype), (n,)))
    common = _base(base, factors.dtype)
    blas, posv = _products(factors.dtype), _routine(_letter(factors.dtype) + "posv")

    def work(start: int, stop: int) -> None:
        _solve_rows(blas, posv, indptr, indices, values, w, factors, ridges, common, start, stop, out, failed)

    share_out(work, np.diff(indptr) * float(r * r) + float(r) ** 3 / 3 + 50, threads)
    for i in np.flatnonzero(failed):  # not positive definite in this precision: a tiny ridge on collinear factors
        span = slice(indptr[i], indptr[i + 1])
        F = factors[indices[span]].astype(np.float64)
        wF = F if weights is None else F * w[span, None]
        system = wF.T @ F + (0 if base is None else common) + float(ridges[i]) * np.eye(r)
        out[i] = np.linalg.lstsq(system, wF.T @ values[span], rcond=None)[0]
    return out


def normal_equations(
    indptr: Array, indices: Array, values: Array, factors: Array, start: int, stop: int, *, weights: Array | None = None, threads: int | None = None
) -> tuple[Array, Array]:
    """Gram matrices sum_j w_ij f_j f_j' (stop - start, r, r) and right-hand sides sum_j w_ij v_ij f_j (stop - start, r) of rows start..stop."""
    indptr, indices, values, w, factors = _entries(indptr, indices, values, weights, factors)
    r = factors.shape[1]
    grams, rhs = np.empty((stop - start, r, r), factors.dtype), np.empty((stop - start, r), factors.dtype)
    blas = _products(factors.dtype)

    def work(first: int, last: int) -> None:
        _normal_equations(blas, indptr, indices, values, w, factors, start, first, last, grams, rhs)

    share_out(work, np.diff(indptr[start : stop + 1]) * float(r * r) + 50, threads)
    return grams, rhs


def solve_psd(grams: Array, rhs: Array, ridge: float | Array, *, base: Array | None = None, threads: int | None = None, project: bool = True) -> Array:
    """x_b = (P(grams_b) + base + ridge_b I)^-1 rhs_b, (n, r), where P projects a symmetric matrix onto the positive semi-definite cone.

    Where a Cholesky factorisation succeeds, P is the identity; the others go through their eigenvectors.
    ridge: a number or (n,), above 0 unless base is positive definite. base: (r, r) positive semi-definite or None.
    project=False leaves P out: the systems may be indefinite, and singular ones get their least-squares solution.
    """
    grams = np.ascontiguousarray(grams)
    n, r = rhs.shape
    ridges, common = np.ascontiguousarray(np.broadcast_to(np.asarray(ridge, grams.dtype), (n,))), _base(base, grams.dtype)
    out, indefinite = np.array(rhs, grams.dtype), np.zeros(n, np.bool_)
    if not project:
        system = grams + (0 if base is None else common) + ridges[:, None, None] * np.eye(r, dtype=grams.dtype)
        share_out(lambda start, stop: _solve_as_is(system, start, stop, out), np.ones(n), threads)
        return out
    posv = _routine(_letter(grams.dtype) + "posv")
    share_out(lambda start, stop: _solve_definite(posv, grams, ridges, common, start, stop, out, indefinite), np.ones(n), threads)
    rest = np.flatnonzero(indefinite)

    def work(start: int, stop: int) -> None:
        rows = rest[start:stop]
        out[rows] = _solve_projected(grams[rows], rhs[rows], ridges[rows], common)

    if len(rest):
        share_out(work, np.ones(len(rest)), threads)
    return out


def _solve_projected(grams: Array, rhs: Array, ridges: Array, base: Array) -> Array:
    values, Q = np.linalg.eigh(grams)
    kept = np.maximum(values, 0)
    if len(base):
        system = (Q * kept[:, None, :]) @ Q.swapaxes(1, 2) + base + ridges[:, None, None] * np.eye(Q.shape[-1], dtype=Q.dtype)
        return np.asarray(np.linalg.solve(system, rhs[..., None])[..., 0])
    along = (rhs[:, None, :] @ Q)[:, 0] / (kept + ridges[:, None])
    return np.asarray((Q @ along[..., None])[..., 0])


def _solve_as_is(systems: Array, start: int, stop: int, out: Array) -> None:
    """out: right-hand sides in, solutions out."""
    try:
        out[start:stop] = np.linalg.solve(systems[start:stop], out[start:stop, :, None])[..., 0]
    except np.linalg.LinAlgError:  # numpy does not say which of them is singular
        if stop - start == 1:
            out[start] = np.linalg.lstsq(systems[start], out[start], rcond=None)[0]
            return
        for b in range(start, stop):
            _solve_as_is(systems, b, b + 1, out)


def predict_pairs(user_factors: Array, item_factors: Array, users: Array, items: Array, *, threads: int | None = None, dtype: Any = np.float32) -> Array:
    """u . v of every pair, (n_pairs,), in `dtype`."""
    out = np.empty(len(users), dtype)
    U, V = np.ascontiguousarray(user_factors, dtype), np.ascontiguousarray(item_factors, dtype)
    u, i = np.asarray(users, np.int32), np.asarray(items, np.int32)
    share_out(lambda start, stop: _predict(U, V, u, i, start, stop, out), np.ones(len(u)), threads)
    return out


def rank_segments(starts: Array, key: Array, *, threads: int | None = None) -> Array:
    """The position of every entry among its segment's by ascending key, ties in order, int64 (n,). starts: (n_segments + 1,)."""
    out = np.empty(len(key), np.int64)
    key = np.ascontiguousarray(key, np.float64)
    share_out(lambda first, last: _rank_segments(starts, key, first, last, out), np.diff(starts) + 1.0, threads)
    return out


def unfold(triangles: Array, rank: int, off_diagonal: float, *, threads: int | None = None) -> Array:
    """Symmetric matrices (n, rank, rank), float64, from lower triangles (n, rank (rank + 1) / 2), row by row; entries off the diagonal times `off_diagonal`."""
    out = np.empty((len(triangles), rank, rank))
    share_out(lambda start, stop: _unfold(triangles, off_diagonal, start, stop, out), np.ones(len(out)), threads)
    return out


def ready() -> None:
    """Compile every kernel that a private run needs, or load it from the disk."""
    from dpmf_core.kernels.discrete import discrete_gaussian

    discrete_gaussian(lambda count: np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15), 3, np.empty(1, np.int64))
    indptr, indices, values = np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32)
    for factors, weights in ((np.ones((2, 5), np.float32), None), (np.eye(2, dtype=np.float32), values)):
        solve_rows(indptr, indices, values, factors, 1.0, weights=weights, base=None)
        grams, rhs = normal_equations(indptr, indices, values, factors.astype(np.float64), 0, 1, weights=weights)  # what is released is summed so
        solve_psd(grams.astype(np.float32), rhs.astype(np.float32), 1.0)
        predict_pairs(factors, factors, indices, indices)
    rank_segments(indptr, values)
    unfold(np.ones((1, 3)), 2, 1.0)
