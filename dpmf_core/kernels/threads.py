"""Threads for compiled loops, and BLAS held at one thread meanwhile."""

import ctypes
import functools
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import OpenBLASController, ThreadpoolController

Array = npt.NDArray[Any]


SMALL = 20_000  # of cost: less than sharing it out would take
CHUNKS = 32  # per call at most, so that threads end together
ALONE = 8  # of one thread: between two of them a run can be stopped


_here = threading.local()


def _is_shared() -> None:
    _here.is_shared = True


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "kernel", _is_shared)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def _load_blas() -> None:
    """Load scipy's BLAS beside numpy's, for a library that is loaded later would go unseen.

    Its caller is opened as what it is, a shared library: to import it takes all of scipy.linalg,
    for which a run that solves nothing would wait.
    """
    import scipy  # says where it lies

    caller = PathFinder.find_spec("cython_lapack", [str(Path(scipy.__file__).parent / "linalg")])
    if caller is None or caller.origin is None:
        raise ImportError("scipy.linalg.cython_lapack is not where scipy is.")
    ctypes.CDLL(caller.origin)


class _SingleThreadedBlas:
    """Holds BLAS at one thread from the first run or kernel that enters to the last that leaves,
    whichever threads they are in.

    Its sums are then added up in one order, whatever the number of threads: the same seed gives the
    same bits.

    The limit belongs to the process: were each kernel to set and restore it, one would lift it
    under another still running.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    @functools.cached_property
    def _libraries(self) -> ThreadpoolController:
        _load_blas()
        return ThreadpoolController().select(user_api="blas")

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                # else a thread that is not the first to set limits is ignored in silence
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
    """Threads a run may use: DPMF_THREADS, or every core of this process."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return max(1, int(os.environ.get("DPMF_THREADS") or cores))


def _equal_chunks(rows: int, most: int) -> Array:
    """Edges of chunks of about as many rows."""
    return np.unique(np.linspace(0, rows, most + 1 if rows >= SMALL else 2).astype(int))


def _chunks_of_equal_cost(cost: Array, most: int) -> Array:
    """Edges of at most so many chunks whose rows together cost about as much."""
    total = np.cumsum(cost, dtype=np.float64)
    if not len(total) or total[-1] < 2 * SMALL:
        return np.unique([0, len(cost)])
    chunks = min(most, int(total[-1] / SMALL))
    marks = np.searchsorted(total, total[-1] * np.arange(1, chunks) / chunks)
    return np.unique(np.concatenate([[0], marks, [len(cost)]]).astype(int))


def share_out(work: Callable[[int, int], None], cost: Array | int, threads: int | None) -> None:
    """work(start, stop) over all rows, in chunks of about equal cost, BLAS held at one thread
    each.

    cost: of every row, or the number of rows where each costs 1.
    """
    threads = threads or usable_threads()
    most = ALONE if threads == 1 else CHUNKS
    edges = (
        _equal_chunks(cost, most) if isinstance(cost, int) else _chunks_of_equal_cost(cost, most)
    )
    with single_threaded_blas:
        # what is shared out already would wait for itself
        if threads == 1 or len(edges) <= 2 or getattr(_here, "is_shared", False):
            for start, stop in itertools.pairwise(edges):
                work(int(start), int(stop))
        else:
            list(_pool(threads).map(work, edges[:-1].tolist(), edges[1:].tolist()))
