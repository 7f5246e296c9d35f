"""Sums over ratings in partitions, computed where the partitions are read.

Processes of this machine or workers of a Dask scheduler compute them by one mechanism: a function
is mapped over chunks of partitions. A chunk that was lost with its process is read again, and the
places of its partitions come back with the sum, so each counts once. The curator draws the noise in
the asking process, which also keeps the account.
"""

import contextlib
import itertools
import logging
import tempfile
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import workplace
from dpmf_core.data.partitioned import Beside, Fold, PartitionedRatings, Watch
from dpmf_core.jobs.partition_pools import (
    LOCAL,
    DaskPool,
    LocalPool,
    Pool,
    Result,
    WorkersLost,
    check_address,
    dask_client,
    require_protection,
)
from dpmf_core.jobs.partition_reading import (
    HERE,
    Places,
    Question,
    Request,
    Requirement,
    WorkerRefuses,
    add_up,
    hold,
)
from dpmf_core.jobs.worker import usual_count
from dpmf_core.runs import data_access

log = logging.getLogger(__name__)
CHUNKS = 4  # of partitions, for each thread: what is read again when a process is lost
LARGE = 64e6  # bytes above which each thread, not each chunk, makes one sum
ATTEMPTS = 4  # at a sum whose workers were lost


@dataclass(eq=False)
class _PickledQuestion:
    """A pickled question, and those whose answers it needs.

    Parameters
    ----------
    number
        Its name in the run.
    key
        Of a stored answer; None for a sum.
    shared
        Its reference in the pool, for workers of this generation.
    """

    number: int
    key: Hashable
    content: bytes
    earlier: tuple["_PickledQuestion", ...]
    shared: Any = None
    generation: int = -1

    def chain(self) -> "list[_PickledQuestion]":
        """Return all questions needed to answer it anew, in order, itself last."""
        needed, todo = {self.number: self}, [self]
        while todo:
            todo = [it for one in todo for it in one.earlier if it.number not in needed]
            needed |= {it.number: it for it in todo}
        return [needed[number] for number in sorted(needed)]


@dataclass(eq=False)
class _Memory:
    """The state shared by all copies of a `PartitionSums`."""

    refusals: dict[str, str] = field(default_factory=dict)
    answers: dict[Hashable, _PickledQuestion] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    workers: list[str] = field(default_factory=list)
    generation: int = 0


@dataclass(frozen=True, eq=False)
class PartitionSums:
    """A `Folding`: sums over partitions by the workers of a pool.

    Parameters
    ----------
    pool
        Its processes read the partitions.
    requirement
        What a worker must have.
    watch
        Gets the number of finished partitions; it may raise.
    """

    pool: Pool
    requirement: Requirement
    watch: Watch | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _memory: _Memory = field(default_factory=_Memory)

    @property
    def refusals(self) -> dict[str, str]:
        """Why some workers get no partition, by their name."""
        return self._memory.refusals

    def with_watch(self, before: Watch) -> Self:
        return replace(self, watch=before)

    def fold(self, ratings: PartitionedRatings, fold: Fold, keys: Iterable[Hashable]) -> Any:
        """See `Folding.fold`.

        Raises BadInput if no worker has the same code and data, or workers are lost repeatedly.
        """
        pickled = self._ask(ratings, fold, None, keys)
        n_parts, is_large = len(ratings.parts), _bytes_of(fold.empty()) >= LARGE

        def attempt(workers: dict[str, int]) -> Any:
            chunks = _chunks(n_parts, sum(workers.values()) * (1 if is_large else CHUNKS))
            total, places = fold.empty(), list[int]()
            for part in self._map(add_up, pickled, chunks, list(workers)):
                fold.merge(total, part.total)
                places += part.places
            if sorted(places) != list(range(n_parts)):
                raise RuntimeError(
                    "A partition was counted twice, or not at all. Nothing was released."
                )
            return total

        return self._retry(attempt)

    def hold(
        self, ratings: PartitionedRatings, key: Hashable, make: Beside, keys: Iterable[Hashable]
    ) -> None:
        """See `Folding.hold`. Raises as `fold`."""
        pickled = self._memory.answers[key] = self._ask(ratings, make, key, keys)
        n_parts = len(ratings.parts)

        def attempt(workers: dict[str, int]) -> None:
            chunks = _chunks(n_parts, sum(workers.values()) * CHUNKS)
            for _ in self._map(hold, pickled, chunks, list(workers)):
                pass

        self._retry(attempt)

    def drop(self, key: Hashable) -> None:
        self._memory.answers.pop(key, None)

    def close(self) -> None:
        """Remove what workers store."""
        self.pool.close(self.run)

    def _ask(
        self, ratings: PartitionedRatings, what: Any, key: Hashable, keys: Iterable[Hashable]
    ) -> _PickledQuestion:
        question = Question(what, _pickle(ratings.changes), tuple(keys))
        earlier = tuple(self._memory.answers[it] for it in question.keys)
        return _PickledQuestion(next(self._memory.numbers), key, _pickle(question), earlier)

    def _map(
        self,
        function: Callable[..., Result],
        pickled: _PickledQuestion,
        chunks: list[Places],
        workers: list[str],
    ) -> Iterator[Result]:
        """Yield a question's result for each chunk, and inform the watch."""
        chain = pickled.chain()
        kept_ones = [it for it in chain if it.key is not None]
        sums = [it for it in chain if it.key is None]
        contents = [self._shared(it, workers) for it in (*sums, *kept_ones)]
        request = Request(
            self.requirement,
            self.run,
            {it.key: it.number for it in kept_ones},
            frozenset(it.number for it in self._memory.answers.values()),
            self.pool.folder,
        )
        n_done, n_parts = 0, sum(map(len, chunks))
        results = self.pool.map(function, request, chunks, contents, workers)
        for places, result in zip(chunks, results, strict=True):
            n_done += len(places)
            if self.watch is not None:
                self.watch(min(n_done, n_parts - 1), n_parts)
            yield result

    def _shared(self, pickled: _PickledQuestion, workers: list[str]) -> Any:
        if pickled.generation != self._memory.generation:
            pickled.shared = self.pool.share(pickled.content, workers)
            pickled.generation = self._memory.generation
        return pickled.shared

    def _retry(self, attempt: Callable[[dict[str, int]], Result]) -> Result:
        """Return the result of an attempt; if a worker refuses or is lost, try again.

        Raises BadInput.
        """
        for _ in range(ATTEMPTS):
            while True:
                try:
                    return attempt(self._fit_workers())
                except WorkerRefuses as refusal:
                    log.warning("Worker %s gets no partition: %s.", refusal.worker, refusal.reason)
                    self._memory.refusals[refusal.worker] = refusal.reason
                except WorkersLost:
                    self._memory.workers = []  # their shared contents are gone
                    break
        raise BadInput(
            "Workers were lost repeatedly while adding up partitions, probably because memory ran"
            " out. Start workers with more memory, or make more partitions."
        )

    def _fit_workers(self) -> dict[str, int]:
        """Return the workers that did not refuse, in order. Raises BadInput without any."""
        refusals, there = self._memory.refusals, self.pool.workers()
        fit = {name: threads for name, threads in sorted(there.items()) if name not in refusals}
        if not fit or HERE in refusals:
            each = " ".join(f"{name}: {reason}." for name, reason in refusals.items())
            raise BadInput(
                f"No worker can compute this. {each} Give the workers the same dpmf, libraries and"
                " data as this machine, and restart them."
            )
        if list(fit) != self._memory.workers:
            self._memory.workers = list(fit)
            self._memory.generation += 1
        return fit


def _chunks(n_parts: int, count: int) -> list[Places]:
    """Split the partitions into about `count` chunks of consecutive ones."""
    some = np.array_split(np.arange(n_parts), min(n_parts, count))
    return [tuple(places.tolist()) for places in some]


def _pickle(value: Any) -> bytes:
    import cloudpickle  # type: ignore[import-untyped]  # also of what a notebook defines

    return bytes(cloudpickle.dumps(value, protocol=5))


def _bytes_of(total: Any) -> float:
    arrays = total if isinstance(total, tuple) else (total,)
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


@contextlib.contextmanager
def spread(
    data_id: str, algorithm: str, where: str = LOCAL, workers: int | None = None
) -> Iterator[PartitionSums]:
    """Let workers compute sums for runs on a partitioned set of ratings, inside the block.

    Parameters
    ----------
    data_id, algorithm
        What the workers must have too.
    where
        The address of a Dask scheduler, or `LOCAL`.
    workers
        The number of local processes; None for one per core.

    Raises
    ------
    BadInput
        If the ratings are not partitioned, are private and would travel unencrypted, or the
        scheduler does not answer.
    """
    data = data_access.open_raw(data_id)
    if not isinstance(data, PartitionedRatings):
        raise BadInput(
            f"Only ratings in partitions can be spread over workers; {data_id} is not partitioned."
            " Leave out --spread, or import its file with `datasets import NAME PATH"
            " --partitioned`."
        )
    requirement = Requirement.of(algorithm, data_id, data.fingerprint)
    with contextlib.ExitStack() as stack:
        pool: Pool
        if where == LOCAL:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=workplace()))
            pool = LocalPool(workers or usual_count(), Path(folder))
        else:
            check_address(where)
            if not data.public:
                require_protection(where, data_id)
            pool = DaskPool(stack.enter_context(dask_client(where)))
        sums = PartitionSums(pool, requirement)
        stack.callback(sums.close)
        with data_access.folded_by(sums):
            yield sums
