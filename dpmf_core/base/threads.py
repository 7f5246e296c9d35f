"""Threads for compiled loops, with BLAS limited to one thread."""

import ctypes
import functools
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import PathFinder
from pathlib import Path

import numpy as np
from threadpoolctl import OpenBLASController, ThreadpoolController

from dpmf_core.base.arrays import Array

SMALL = 20_000  # cost below which sharing the work takes longer than doing it
CHUNKS = 32  # the most per call, so that threads end together
ALONE = 8  # chunks with one thread: a run can be stopped between two of them


_here = threading.local()


def _is_shared() -> None:
    _here.is_shared = True


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "kernel", _is_shared)


if hasattr(os, "register_at_fork"):
    # threads do not survive a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _load_blas() -> None:
    """Load scipy's BLAS next to numpy's, because a library that is loaded later is not limited.

    It is opened as a shared library: importing it would load all of scipy.linalg, which a run that
    solves nothing does not need.
    """
    import scipy  # for its folder

    caller = PathFinder.find_spec(
        "cython_lapack", [str(Path(scipy.__file__).parent / "linalg")]
    )
    if caller is None or caller.origin is None:
        raise ImportError(
            "scipy.linalg.cython_lapack was not found in scipy's folder. Reinstall scipy."
        )
    ctypes.CDLL(caller.origin)


class _SingleThreadedBlas:
    """Limits BLAS to one thread while any run or kernel is inside, in whichever thread.

    Sums are then added up in one order whatever the number of threads, so the same seed gives the
    same bits. The limit belongs to the process: if each kernel set and restored it, one would lift
    it under another that is still running.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    @functools.cached_property
    def _libraries(self) -> ThreadpoolController:
        _load_blas()
        return ThreadpoolController().select(user_api="blas")

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                # otherwise a thread that is not the first to set limits is silently ignored
                OpenBLASController.clear_controlling_thread(force=True)
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
    """The threads that a run may use: DPMF_THREADS, or every core of this process."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, int(os.environ.get("DPMF_THREADS") or cores))


def _chunks_of_equal_cost(cost: Array, most: int) -> Array:
    """The edges of at most `most` chunks with about equal cost."""
    total = np.cumsum(cost, dtype=np.float64)
    if not len(total) or total[-1] < 2 * SMALL:
        return np.unique([0, len(cost)])
    chunks = min(most, int(total[-1] / SMALL))
    marks = np.searchsorted(total, total[-1] * np.arange(1, chunks) / chunks)
    return np.unique(np.concatenate([[0], marks, [len(cost)]]).astype(int))


def share_out(work: Callable[[int, int], None], cost: Array | int) -> None:
    """Call work(start, stop) over all rows, in chunks of about equal cost, BLAS at one thread.

    Parameters
    ----------
    work : callable
    cost : (n_rows,) or int
        The cost of every row, or the number of rows if each costs 1.
    """
    threads = usable_threads()
    most = ALONE if threads == 1 else CHUNKS
    if isinstance(cost, int):
        chunks = most if cost >= SMALL else 1
        edges = np.unique(np.linspace(0, cost, chunks + 1).astype(int))
    else:
        edges = _chunks_of_equal_cost(cost, most)
    with single_threaded_blas:
        # a nested call would wait for itself
        if threads == 1 or len(edges) <= 2 or getattr(_here, "is_shared", False):
            for start, stop in itertools.pairwise(edges):
                work(int(start), int(stop))
        else:
            list(_pool(threads).map(work, edges[:-1].tolist(), edges[1:].tolist()))
