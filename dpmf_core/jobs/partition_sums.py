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
from collections.abc import Callable, Hashable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

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
    dask_client,
)
from dpmf_core.jobs.partition_reading import (
    HERE,
    PartitionQuestion,
    PartitionRequest,
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
ATTEMPTS = 4  # at a sum after losing its workers


@dataclass(eq=False)
class _PickledQuestion:
    """A pickled question."""

    number: int  # its name in the run
    key: Hashable  # of a stored answer; None for a sum
    content: bytes
    # by number: the questions of stored answers it needs, and those that these need
    before: "dict[int, _PickledQuestion]"


@dataclass(eq=False)
class _Memory:
    """The state of all copies of a `PartitionSums`, with references of the pool in `shared`."""

    refusals: dict[str, str] = field(default_factory=dict)
    answers: dict[Hashable, _PickledQuestion] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    shared: MutableMapping[_PickledQuestion, Any] = field(
        default_factory=WeakKeyDictionary
    )


@dataclass(frozen=True, eq=False)
class PartitionSums:
    """A `Folding`: sums over partitions by the workers of a pool, which read them."""

    pool: Pool
    requirement: Requirement  # what a worker must have
    watch: Watch | None = None  # gets the number of finished partitions; it may raise
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _memory: _Memory = field(default_factory=_Memory)

    @property
    def refusals(self) -> dict[str, str]:
        """Why some workers get no partition, by their name."""
        return self._memory.refusals

    def with_watch(self, before: Watch) -> Self:
        return replace(self, watch=before)

    def fold(
        self, ratings: PartitionedRatings, fold: Fold, keys: Iterable[Hashable]
    ) -> Any:
        """See `Folding.fold`.

        Raises
        ------
        BadInput
            If no worker has the same code and data, or workers are lost repeatedly.
        """
        question = self._ask(ratings, fold, None, keys)
        n_parts = len(ratings.parts)
        is_large = _bytes_of(fold.empty()) >= LARGE

        def attempt() -> Any:
            total = fold.empty()
            places = list[int]()
            for part in self._map(add_up, question, n_parts, 1 if is_large else CHUNKS):
                fold.merge(total, part.total)
                places += part.places
            if sorted(places) != list(range(n_parts)):
                raise RuntimeError(
                    "A partition was counted twice, or not at all. Nothing was released."
                )
            return total

        return self._retry(attempt)

    def hold(
        self,
        ratings: PartitionedRatings,
        key: Hashable,
        make: Beside,
        keys: Iterable[Hashable],
    ) -> None:
        """See `Folding.hold`.

        Raises
        ------
        BadInput
            As `fold`.
        """
        question = self._memory.answers[key] = self._ask(ratings, make, key, keys)
        self._retry(lambda: list(self._map(hold, question, len(ratings.parts), CHUNKS)))

    def drop(self, key: Hashable) -> None:
        self._memory.answers.pop(key, None)

    def close(self) -> None:
        """Remove what workers store."""
        self.pool.close(self.run)

    def _ask(
        self,
        ratings: PartitionedRatings,
        what: Any,
        key: Hashable,
        keys: Iterable[Hashable],
    ) -> _PickledQuestion:
        question = PartitionQuestion(what, _pickle(ratings.changes), tuple(keys))
        before: dict[int, _PickledQuestion] = {}
        for earlier in (self._memory.answers[key] for key in question.keys):
            before |= {**earlier.before, earlier.number: earlier}
        return _PickledQuestion(
            next(self._memory.numbers), key, _pickle(question), before
        )

    def _map(
        self,
        function: Callable[..., Result],
        question: _PickledQuestion,
        n_parts: int,
        each: int,
    ) -> Iterator[Result]:
        """Yield a question's result for each chunk, and inform the watch.

        Each thread gets `each` chunks.
        """
        workers = self._fit_workers()
        n_chunks = min(n_parts, sum(workers.values()) * each)
        chunks = [
            tuple(chunk.tolist())
            for chunk in np.array_split(np.arange(n_parts), n_chunks)
        ]
        answers = [question.before[number] for number in sorted(question.before)]
        # a sum comes first, a stored answer after those that it needs
        if question.key is None:
            chain = [question, *answers]
        else:
            chain = [*answers, question]
        request = PartitionRequest(
            self.requirement,
            self.run,
            {link.key: link.number for link in chain if link.key is not None},
            frozenset(answer.number for answer in self._memory.answers.values()),
            self.pool.folder,
        )
        n_done = 0
        contents = [self._shared(link) for link in chain]
        results = self.pool.map(function, request, chunks, contents, list(workers))
        for places, result in zip(chunks, results, strict=True):
            n_done += len(places)
            if self.watch is not None:
                self.watch(min(n_done, n_parts - 1), n_parts)
            yield result

    def _shared(self, question: _PickledQuestion) -> Any:
        shared = self._memory.shared
        if question not in shared:
            shared[question] = self.pool.share(question.content, question.number)
        return shared[question]

    def _retry(self, attempt: Callable[[], Result]) -> Result:
        """The result of an attempt; if a worker refuses or is lost, try again.

        Raises BadInput.
        """
        n_losses = 0
        while n_losses < ATTEMPTS:
            try:
                return attempt()
            except WorkerRefuses as refusal:
                log.warning(
                    "Worker %s gets no partition: %s.", refusal.worker, refusal.reason
                )
                self._memory.refusals[refusal.worker] = refusal.reason
            except WorkersLost:
                self._memory.shared.clear()  # it may be gone with them
                n_losses += 1
        raise BadInput(
            "Workers were lost repeatedly while adding up partitions, probably because memory ran"
            " out. Start workers with more memory, or make more partitions."
        )

    def _fit_workers(self) -> dict[str, int]:
        """The workers that did not refuse, in order. Raises BadInput without any."""
        refusals = self._memory.refusals
        there = self.pool.workers()
        fit = {
            name: threads
            for name, threads in sorted(there.items())
            if name not in refusals
        }
        if not fit or HERE in refusals:
            each = " ".join(f"{name}: {reason}." for name, reason in refusals.items())
            raise BadInput(
                f"No worker can compute this. {each} Give the workers the same dpmf, libraries and"
                " data as this machine, and restart them."
            )
        return fit


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
            pool = DaskPool(
                stack.enter_context(dask_client(where, data_id, data.public))
            )
        sums = PartitionSums(pool, requirement)
        stack.callback(sums.close)
        with data_access.folded_by(sums):
            yield sums
