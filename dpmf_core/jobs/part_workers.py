"""Ratings in parts on Dask workers: each sum over parts is made where the parts are read, each part
counted once, whatever happens to a worker.

A chunk of parts is one task, keyed by run, question and chunk. Its value is pure, so a task that
was lost with its worker is done again and counts once; the places of its parts come back with the
sum. Sums are added up on the workers. Noise is drawn by the curator, in the process that asks.
"""

import contextlib
import itertools
import logging
import time
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np

from dpmf_core.data.partitioned import Beside, Fold, PartitionedRatings, Watch
from dpmf_core.errors import BadInput, words_of
from dpmf_core.jobs import workers as worker_code
from dpmf_core.jobs.part_work import (
    PartialSum,
    PartRequest,
    Places,
    WorkerRefuses,
    fold_parts,
    forget_parts,
    hold_parts,
    merge_sums,
    unchanged,
)
from dpmf_core.jobs.scheduler_security import Scheduler
from dpmf_core.jobs.verification import (
    ExpectedParts,
    Refusal,
    expected_parts,
    nobody,
    refusal_of_parts,
)
from dpmf_core.runs import data_access

log = logging.getLogger(__name__)
CHUNKS = 4  # of parts, for each thread of the workers: what is done again when one is lost
AT_ONCE = 8  # sums that are added up by one task
LARGE = 64e6  # bytes of a sum of which each thread holds one, not one for each chunk
PAUSE = 0.5  # seconds between two looks at what is done
PATIENCE = 60.0  # seconds in which a worker that was lost may come back
ATTEMPTS = 4  # of a sum whose workers were all lost
Result = TypeVar("Result")


class WorkersLost(RuntimeError):
    """All workers that had a task are gone."""


@dataclass
class _State:
    """How what is held was made, and where it is. generation: of the workers that hold it."""

    work: bytes
    keys: tuple[Hashable, ...]
    number: int
    futures: list[Any] = field(default_factory=list)
    generation: int = -1


@dataclass(eq=False)
class _Memory:
    """What all copies of a `PartWorkers` share. fit: addresses of workers that were checked."""

    fit: set[str] = field(default_factory=set)
    refusals: dict[str, Refusal] = field(default_factory=dict)
    states: dict[Hashable, _State] = field(default_factory=dict)
    chunks: list[Places] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    generation: int = 0


@dataclass(frozen=True, eq=False)
class PartWorkers:
    """A `Folding`: the workers of a scheduler, each of which reads parts of one data set on its own
    machine.

    client: of Dask. requirement: what a worker must have. watch: hears how many parts are done.
    """

    client: Any
    requirement: ExpectedParts
    watch: Watch | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _memory: _Memory = field(default_factory=_Memory)

    @property
    def refusals(self) -> dict[str, Refusal]:
        """Workers that are given no part, by their address."""
        return self._memory.refusals

    def with_watch(self, before: Watch) -> Self:
        return replace(self, watch=before)

    def fold(self, ratings: PartitionedRatings, fold: Fold, keys: Iterable[Hashable]) -> Any:
        """As `Folding.fold`. Raises BadInput where no worker has the same code and data, or workers
        are lost again and again; Cancelled.
        """
        number, work, keys = next(self._memory.numbers), _pickle(fold, ratings), tuple(keys)
        n_parts, size = len(ratings.parts), _bytes_of(fold.empty())

        def attempt(fit: list[str]) -> PartialSum:
            name, copies = self._send_work(number, work, fit)
            held_futures = [self._held_futures(key, n_parts, fit) for key in keys]
            sums = [
                self.client.submit(
                    fold_parts,
                    PartRequest(self.requirement, self.run, places),
                    _nearest(copies, places, n_parts),
                    *[futures[at] for futures in held_futures for at in chunks],
                    key=(f"parts-{name}", chunks[0]),
                    workers=fit,
                )
                for chunks, places in self._groups(n_parts, fit, size)
            ]
            result: PartialSum = self._wait_for(
                self._add_up(sums, copies, name, fit), sums, n_parts, fit
            )
            return result

        result = self._retry(attempt)
        if sorted(result.places) != list(range(n_parts)):
            raise RuntimeError("A part was counted twice, or not at all. Nothing was released.")
        return result.total

    def hold(
        self, ratings: PartitionedRatings, key: Hashable, make: Beside, keys: Iterable[Hashable]
    ) -> None:
        """As `Folding.hold`. Raises as `fold`."""
        state = _State(_pickle(make, ratings), tuple(keys), next(self._memory.numbers))
        self._memory.states[key] = state
        n_parts = len(ratings.parts)

        def attempt(fit: list[str]) -> None:
            futures = self._held_futures(key, n_parts, fit)
            self._wait_for(None, futures, n_parts, fit)

        self._retry(attempt)

    def drop(self, key: Hashable) -> None:
        self._memory.states.pop(key, None)

    def close(self) -> None:
        """Workers remove what they keep of the parts; those that do not answer, when they end."""
        with contextlib.suppress(OSError, RuntimeError):
            self.client.run(forget_parts, self.run, on_error="ignore")

    # -- tasks -------------------------------------------------------------------------------------

    def _send_work(self, number: int, work: bytes, fit: list[str]) -> tuple[str, list[Any]]:
        """The end of all keys of a question, and what is to be done, once on each worker: Dask
        gives a task to a worker that has what it depends on.
        """
        name = f"{self.run}-{number}-{self._memory.generation}"
        copies = [
            self.client.submit(
                unchanged, work, key=(f"work-{name}", at), workers=[it], allow_other_workers=True
            )
            for at, it in enumerate(fit)
        ]
        return name, copies

    def _held_futures(self, key: Hashable, n_parts: int, fit: list[str]) -> list[Any]:
        """What is held under a key, a future for each chunk; made anew for new workers, from what
        it was made of.
        """
        state = self._memory.states[key]
        if state.generation != self._memory.generation:
            before = [self._held_futures(earlier, n_parts, fit) for earlier in state.keys]
            name, copies = self._send_work(state.number, state.work, fit)
            state.futures = [
                self.client.submit(
                    hold_parts,
                    PartRequest(self.requirement, self.run, places),
                    key,
                    _nearest(copies, places, n_parts),
                    *[futures[at] for futures in before],
                    key=(f"held-{name}", at),
                    workers=fit,
                )
                for at, places in enumerate(self._chunks(n_parts, fit))
            ]
            state.generation = self._memory.generation
        return state.futures

    def _add_up(self, sums: list[Any], copies: list[Any], name: str, fit: list[str]) -> Any:
        """The sum of all, added up on the workers in the order of the parts."""
        level = 0
        while len(sums) > 1:
            sums = [
                self.client.submit(
                    merge_sums,
                    self.requirement,
                    copies[0],
                    *sums[at : at + AT_ONCE],
                    key=(f"sum-{level}-{name}", at),
                    workers=fit,
                )
                for at in range(0, len(sums), AT_ONCE)
            ]
            level += 1
        return sums[0]

    def _chunks(self, n_parts: int, fit: list[str]) -> list[Places]:
        """Consecutive parts, the same for a whole run, so that what is held is found again."""
        if not self._memory.chunks:
            count = min(n_parts, CHUNKS * self._threads(fit))
            some = np.array_split(np.arange(n_parts), count)
            self._memory.chunks = [tuple(places.tolist()) for places in some]
        return self._memory.chunks

    def _groups(
        self, n_parts: int, fit: list[str], size: float
    ) -> list[tuple[Sequence[int], Places]]:
        """The numbers of the chunks of each task, and their parts. size: of a sum, in bytes."""
        chunks = self._chunks(n_parts, fit)
        count = len(chunks) if size < LARGE else min(len(chunks), self._threads(fit))
        groups = [some.tolist() for some in np.array_split(np.arange(len(chunks)), count)]
        return [
            (some, tuple(itertools.chain.from_iterable(chunks[at] for at in some)))
            for some in groups
        ]

    # -- workers -----------------------------------------------------------------------------------

    def _threads(self, fit: list[str]) -> int:
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.get(worker, 0) for worker in fit))

    def _fit(self) -> list[str]:
        """Workers that would add up what is asked for, checked when they are first met. Raises
        BadInput where there are none, and none comes.
        """
        memory, end = self._memory, time.monotonic() + PATIENCE
        while True:
            there = list(self.client.nthreads())
            new = [it for it in there if it not in memory.fit and it not in memory.refusals]
            answers = self.client.run(
                _refusal_here, self.requirement, workers=new, on_error="return"
            )
            for worker, answer in (answers if new else {}).items():
                if answer is None:
                    memory.fit.add(worker)
                else:
                    self._note_refusal(worker, answer)
            if fit := [worker for worker in there if worker in memory.fit]:
                return sorted(fit)
            if there or time.monotonic() > end:
                none = "The scheduler has no worker. Start one with the dpmf and the data of this"
                refusals = [memory.refusals[it] for it in there if it in memory.refusals]
                raise BadInput(nobody(refusals) if refusals else f"{none} machine.")
            time.sleep(PAUSE)

    def _note_refusal(self, worker: str, answer: Refusal | Exception) -> None:
        refusal = answer
        if not isinstance(refusal, Refusal):
            words = f"it cannot say what it has: {words_of(refusal)}"
            refusal = Refusal(worker, words.rstrip("."), everything=True)
        log.warning("Worker %s is given no part: %s.", worker, refusal.reason)
        self._memory.refusals[worker] = refusal
        self._memory.fit.discard(worker)

    def _retry(self, attempt: Callable[[list[str]], Result]) -> Result:
        """What an attempt finds; a worker that refuses, or the loss of all, begins another. Raises
        BadInput.
        """
        from distributed.comm.core import CommClosedError

        losses = 0
        while True:
            try:
                return attempt(self._fit())
            except WorkerRefuses as refusal:
                self._note_refusal(
                    refusal.worker, Refusal(refusal.worker, refusal.reason, everything=False)
                )
            except CommClosedError as error:
                raise BadInput(
                    "The scheduler went away while parts were added up. Start both again."
                ) from error
            except WorkersLost:
                losses += 1
                if losses == ATTEMPTS:
                    raise BadInput(
                        "The workers were lost again and again while adding up parts; most often"
                        " because memory ran out. Start workers with more of it, or more parts."
                    ) from None
            self._memory.generation += 1

    def _wait_for(self, last: Any, tasks: list[Any], n_parts: int, fit: list[str]) -> Any:
        """What the last of some tasks found, once it is done; of None, that all are. Raises what a
        task raised, WorkersLost where no worker is left that may do it.
        """
        from concurrent.futures import CancelledError

        from distributed import KilledWorker, wait

        waiting = tasks if last is None else [last]
        try:
            while True:
                with contextlib.suppress(TimeoutError), self.client.as_current():
                    wait(waiting, timeout=PAUSE)  # type: ignore[no-untyped-call]
                    break
                if not set(fit) & set(self.client.nthreads()):
                    raise WorkersLost
                self._tell(tasks, n_parts)
            results = [future.result() for future in waiting]
        except (KilledWorker, CancelledError) as error:
            raise BadInput(worker_code.sentence(error)) from error
        except (WorkerRefuses, WorkersLost):
            raise
        except BaseException:
            self.client.run(worker_code.stop, self.run, on_error="ignore")
            raise
        return None if last is None else results[0]

    def _tell(self, tasks: list[Any], n_parts: int) -> None:
        if self.watch is not None:
            n_done = sum(task.done() for task in tasks) * n_parts // len(tasks)
            self.watch(min(n_done, n_parts - 1), n_parts)


def _nearest(copies: list[Any], places: Places, n_parts: int) -> Any:
    """The copy on the worker that has these parts in every question: neighbours share one."""
    return copies[places[0] * len(copies) // n_parts]


def _refusal_here(requirement: ExpectedParts, dask_worker: Any) -> Refusal | None:
    """Whether the worker that is asked would refuse; Dask names it."""
    return refusal_of_parts(requirement, dask_worker.address)


def _pickle(work: Any, ratings: PartitionedRatings) -> bytes:
    import cloudpickle  # type: ignore[import-untyped]  # also of what a notebook defines

    changes = cloudpickle.dumps(ratings.changes, protocol=5)
    return bytes(cloudpickle.dumps((work, changes), protocol=5))


def _bytes_of(total: Any) -> float:
    arrays = total if isinstance(total, tuple) else (total,)
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


@contextlib.contextmanager
def spread(
    data_id: str, algorithm: str, scheduler: Scheduler | None = None, workers: int | None = None
) -> Iterator[PartWorkers]:
    """Within this, runs on a set of ratings in parts have their sums made by workers.

    scheduler: its workers have the same dpmf and data; None starts worker processes here, so many
    as `workers` says or this machine has cores. Raises BadInput where the ratings are
    in one memory, or private and would travel unprotected, or the scheduler does not answer.
    """
    data = data_access.open_raw(data_id)
    if not isinstance(data, PartitionedRatings):
        raise BadInput(
            f"Only ratings in parts are spread over workers, and {data_id} is in one memory. Leave"
            " out --spread, or take its file in parts with `import NAME PATH --partitioned`."
        )
    if scheduler is not None and not data.public:
        scheduler.must_protect(data_id, "its exact sums")
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            scheduler = stack.enter_context(
                worker_code.processes(workers or worker_code.usual_count())
            )
        client = stack.enter_context(_client(scheduler))
        folding = PartWorkers(client, expected_parts(algorithm, data_id, data))
        stack.callback(folding.close)
        with data_access.folded_by(folding):
            yield folding


def _client(scheduler: Scheduler) -> Any:
    """A Dask client. Raises BadInput where nobody answers."""
    try:
        return scheduler.client()
    except ConnectionError as error:
        raise BadInput(f"No part was read: {error}. Start it, or leave out --scheduler.") from error
