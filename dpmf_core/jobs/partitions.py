"""Sums over ratings in partitions, made where the partitions are read: by processes of this machine
or by the workers of a Dask scheduler.

Both are one mechanism: a function is mapped over chunks of partitions. A chunk that was lost with
its process is read again, and the places of its partitions come back with the sum, so that each
counts once. Noise is drawn by the curator, in the process that asks, which also keeps the account.
"""

import contextlib
import itertools
import logging
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import urlsplit

import numpy as np

from dpmf_core.data.partitioned import Beside, Fold, PartitionedRatings, Watch
from dpmf_core.errors import BadInput, words_of
from dpmf_core.jobs import worker
from dpmf_core.jobs.partition_reading import (
    HERE,
    Places,
    Question,
    Request,
    Requirement,
    WorkerRefuses,
    add_up,
    forget,
    hold,
)
from dpmf_core.jobs.worker import Worker, usual_count
from dpmf_core.paths import workplace
from dpmf_core.runs import data_access

log = logging.getLogger(__name__)
LOCAL = "local"  # instead of an address: processes of this machine
ADDRESS = re.compile(r"(?:(?:tls|tcp|ucx|inproc)://)?\S+:\d+|inproc://\S+")  # Dask's own
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
CHUNKS = 4  # of partitions, for each thread: what is read again when a process is lost
LARGE = 64e6  # bytes of a sum of which each thread makes one, not one for each chunk
PAUSE = 0.5  # seconds between two looks at what Dask's workers have done
PATIENCE = 60.0  # seconds in which a first worker may come
ATTEMPTS = 4  # of a sum whose workers were lost
Result = TypeVar("Result")


class WorkersLost(RuntimeError):
    """A process ended while it had a chunk."""


class Pool(Protocol):
    """Processes over which a function is mapped."""

    @property
    def folder(self) -> Path | None:
        """As of `Request`."""

    def workers(self) -> dict[str, int]:
        """Return the names of those that are there, and how many threads each has."""

    def share(self, content: bytes, workers: Sequence[str]) -> Any:
        """Bring a pickled question to the workers; what stands for it in `map`."""

    def map(
        self,
        function: Callable[..., Result],
        request: Request,
        chunks: Sequence[Places],
        contents: Sequence[Any],
        workers: Sequence[str],
    ) -> Iterator[Result]:
        """Yield function(request, chunk, *contents) of each chunk, in their order.

        Raises what it raises, and WorkersLost.
        """

    def close(self, run: str) -> None: ...


class LocalPool:
    """Processes of this machine, which share a folder."""

    def __init__(self, count: int, folder: Path) -> None:
        self._count, self.folder = count, folder
        self._workers: list[Worker] = []
        self._numbers = itertools.count()

    def workers(self) -> dict[str, int]:
        return {HERE: self._count}

    def share(self, content: bytes, workers: Sequence[str]) -> Path:
        path = self.folder / f"{next(self._numbers)}.question"
        path.write_bytes(content)
        return path

    def map(
        self,
        function: Callable[..., Result],
        request: Request,
        chunks: Sequence[Places],
        contents: Sequence[Any],
        workers: Sequence[str],
    ) -> Iterator[Result]:
        results: dict[int, Any] = {}
        news = self._as_they_end(function, [(request, places, *contents) for places in chunks])
        with contextlib.closing(news):
            for at in range(len(chunks)):
                while at not in results:
                    number, result = next(news)
                    if isinstance(result, Exception):
                        raise result
                    results[number] = result
                yield results.pop(at)

    def _as_they_end(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> Generator[tuple[int, Any]]:
        """Yield the number of each call and what it returned or raised. Raises WorkersLost."""
        if not self._workers:
            self._workers = [worker.start(self._count) for _ in range(self._count)]
        waiting, idle = list(enumerate(calls))[::-1], list(self._workers)
        busy: dict[Any, Worker] = {}
        try:
            while waiting or busy:
                while waiting and idle:
                    free_worker, (number, arguments) = idle.pop(), waiting.pop()
                    busy[free_worker.connection] = free_worker
                    free_worker.send("call", number, function, arguments)
                for connection in wait(list(busy)):
                    assert isinstance(connection, Connection)
                    news: tuple[int, Any] = connection.recv()
                    idle.append(busy.pop(connection))
                    yield news
        except (EOFError, OSError) as error:
            raise WorkersLost from error
        finally:
            if busy:  # one is lost, or nobody wants what they do
                self.close("")

    def close(self, run: str) -> None:
        for each in self._workers:
            each.kill()
        self._workers = []


class DaskPool:
    """The workers of a Dask scheduler, each on a machine of its own. client: of Dask."""

    folder: None = None

    def __init__(self, client: Any) -> None:
        self._client = client

    def workers(self) -> dict[str, int]:
        """Return those that are there, after some time for the first. Raises BadInput."""
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise BadInput(
                "The scheduler has no worker. Start one with the dpmf and the data of this machine."
            ) from None
        return dict(self._client.nthreads())

    def share(self, content: bytes, workers: Sequence[str]) -> Any:
        with self._losses():
            return self._client.scatter(content, workers=list(workers), broadcast=True, hash=False)

    def map(
        self,
        function: Callable[..., Result],
        request: Request,
        chunks: Sequence[Places],
        contents: Sequence[Any],
        workers: Sequence[str],
    ) -> Iterator[Result]:
        # a chunk has its worker, in every question as long as the workers are the same
        homes = [workers[at * len(workers) // len(chunks)] for at in range(len(chunks))]
        futures = [
            self._client.submit(
                function, request, places, *contents, workers=[home], pure=False, retries=0
            )
            for places, home in zip(chunks, homes, strict=True)
        ]
        while futures:
            with self._losses():
                self._await(futures[0], homes)
            result: Result = futures.pop(0).result()
            homes.pop(0)
            yield result

    def _await(self, future: Any, homes: Sequence[str]) -> None:
        """Wait until a future is done. Raises WorkersLost, and what Dask raises of lost workers."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed import wait as wait_for

        while not future.done():
            with contextlib.suppress(TimeoutError), self._client.as_current():
                wait_for([future], timeout=PAUSE)  # type: ignore[no-untyped-call]
            if not set(homes) <= set(self._client.nthreads()):
                raise WorkersLost
        error = future.exception()
        if isinstance(error, KilledWorker | CancelledError):
            raise WorkersLost from error

    @contextlib.contextmanager
    def _losses(self) -> Iterator[None]:
        """Turn what Dask raises of a worker that is gone into WorkersLost.

        Raises BadInput where it is the scheduler.
        """
        from concurrent.futures import CancelledError

        try:
            yield
        except (CancelledError, KeyError, OSError) as error:
            time.sleep(PAUSE)  # until the scheduler has noticed
            if self._client.status != "running":
                raise BadInput(
                    "The scheduler went away while partitions were added up. Start both again."
                ) from error
            raise WorkersLost from error

    def close(self, run: str) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # those that do not answer, when they end
            self._client.run(forget, run, on_error="ignore")


@dataclass(eq=False)
class _Asked:
    """A pickled question, and those whose answers it needs.

    Parameters
    ----------
    number
        Names it in its run.
    key
        Of what is held; None of a sum.
    shared
        What stands for it in the pool, for workers of this generation.
    """

    number: int
    key: Hashable
    content: bytes
    earlier: tuple["_Asked", ...]
    shared: Any = None
    generation: int = -1

    def chain(self) -> "list[_Asked]":
        """Return all that is needed to answer it anew, in the order of asking, itself last."""
        needed, todo = {self.number: self}, [self]
        while todo:
            todo = [it for one in todo for it in one.earlier if it.number not in needed]
            needed |= {it.number: it for it in todo}
        return [needed[number] for number in sorted(needed)]


@dataclass(eq=False)
class _Memory:
    """What all copies of a `PartitionSums` share."""

    refusals: dict[str, str] = field(default_factory=dict)
    held: dict[Hashable, _Asked] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    workers: list[str] = field(default_factory=list)
    generation: int = 0


@dataclass(frozen=True, eq=False)
class PartitionSums:
    """A `Folding`: sums over partitions, made by the workers of a pool.

    Parameters
    ----------
    pool
        Its processes read the partitions.
    requirement
        What a worker must have.
    watch
        Hears how many partitions are done; it may raise.
    """

    pool: Pool
    requirement: Requirement
    watch: Watch | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _memory: _Memory = field(default_factory=_Memory)

    @property
    def refusals(self) -> dict[str, str]:
        """Why some workers are given no partition, by their name."""
        return self._memory.refusals

    def with_watch(self, before: Watch) -> Self:
        return replace(self, watch=before)

    def fold(self, ratings: PartitionedRatings, fold: Fold, keys: Iterable[Hashable]) -> Any:
        """As `Folding.fold`. Raises BadInput where no worker has the same code and data, or workers
        are lost again and again.
        """
        asked = self._ask(ratings, fold, None, keys)
        n_parts, is_large = len(ratings.parts), _bytes_of(fold.empty()) >= LARGE

        def attempt(workers: dict[str, int]) -> Any:
            chunks = _chunks(n_parts, sum(workers.values()) * (1 if is_large else CHUNKS))
            total, places = fold.empty(), list[int]()
            for part in self._map(add_up, asked, chunks, list(workers)):
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
        """As `Folding.hold`. Raises as `fold`."""
        asked = self._memory.held[key] = self._ask(ratings, make, key, keys)
        n_parts = len(ratings.parts)

        def attempt(workers: dict[str, int]) -> None:
            chunks = _chunks(n_parts, sum(workers.values()) * CHUNKS)
            for _ in self._map(hold, asked, chunks, list(workers)):
                pass

        self._retry(attempt)

    def drop(self, key: Hashable) -> None:
        self._memory.held.pop(key, None)

    def close(self) -> None:
        """Have workers remove what they keep."""
        self.pool.close(self.run)

    def _ask(
        self, ratings: PartitionedRatings, what: Any, key: Hashable, keys: Iterable[Hashable]
    ) -> _Asked:
        question = Question(what, _pickle(ratings.changes), tuple(keys))
        earlier = tuple(self._memory.held[it] for it in question.keys)
        return _Asked(next(self._memory.numbers), key, _pickle(question), earlier)

    def _map(
        self,
        function: Callable[..., Result],
        asked: _Asked,
        chunks: list[Places],
        workers: list[str],
    ) -> Iterator[Result]:
        """Yield what a question finds in each chunk, and tell the watch of it."""
        chain = asked.chain()
        held = [it for it in chain if it.key is not None]
        sums = [it for it in chain if it.key is None]
        contents = [self._shared(it, workers) for it in (*sums, *held)]
        request = Request(
            self.requirement,
            self.run,
            {it.key: it.number for it in held},
            frozenset(it.number for it in self._memory.held.values()),
            self.pool.folder,
        )
        n_done, n_parts = 0, sum(map(len, chunks))
        results = self.pool.map(function, request, chunks, contents, workers)
        for places, result in zip(chunks, results, strict=True):
            n_done += len(places)
            if self.watch is not None:
                self.watch(min(n_done, n_parts - 1), n_parts)
            yield result

    def _shared(self, asked: _Asked, workers: list[str]) -> Any:
        if asked.generation != self._memory.generation:
            asked.shared = self.pool.share(asked.content, workers)
            asked.generation = self._memory.generation
        return asked.shared

    def _retry(self, attempt: Callable[[dict[str, int]], Result]) -> Result:
        """Return what an attempt finds; a worker that refuses or is lost begins another.

        Raises BadInput.
        """
        for _ in range(ATTEMPTS):
            while True:
                try:
                    return attempt(self._fit_workers())
                except WorkerRefuses as refusal:
                    log.warning(
                        "Worker %s is given no partition: %s.", refusal.worker, refusal.reason
                    )
                    self._memory.refusals[refusal.worker] = refusal.reason
                except WorkersLost:
                    self._memory.workers = []  # their shared contents are gone
                    break
        raise BadInput(
            "The workers were lost again and again while adding up partitions; most often because"
            " memory ran out. Start workers with more of it, or make more partitions."
        )

    def _fit_workers(self) -> dict[str, int]:
        """Return the workers that did not refuse, in order. Raises BadInput without any."""
        refusals, there = self._memory.refusals, self.pool.workers()
        fit = {name: threads for name, threads in sorted(there.items()) if name not in refusals}
        if not fit or HERE in refusals:
            each = " ".join(f"{name}: {reason}." for name, reason in refusals.items())
            raise BadInput(
                f"No worker can compute this as it was asked for. {each} Give the workers the dpmf,"
                " the libraries and the data of the machine that asks, and start them again."
            )
        if list(fit) != self._memory.workers:
            self._memory.workers = list(fit)
            self._memory.generation += 1
        return fit


def _chunks(n_parts: int, count: int) -> list[Places]:
    """Split the partitions into about so many chunks of consecutive ones."""
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
    """Within this, runs on a set of ratings in partitions have their sums made by workers.

    Parameters
    ----------
    data_id, algorithm
        What the workers must have too.
    where
        The address of a Dask scheduler, or `LOCAL`.
    workers
        How many local processes; None for as many as this machine has cores.

    Raises
    ------
    BadInput
        Where the ratings are in one memory, or are private and would travel unprotected, or the
        scheduler does not answer.
    """
    data = data_access.open_raw(data_id)
    if not isinstance(data, PartitionedRatings):
        raise BadInput(
            f"Only ratings in partitions are spread over workers, and {data_id} is in one memory."
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
            _check_address(where)
            if not data.public:
                _require_protection(where, data_id)
            pool = DaskPool(stack.enter_context(_client(where)))
        sums = PartitionSums(pool, requirement)
        stack.callback(sums.close)
        with data_access.folded_by(sums):
            yield sums


def _check_address(where: str) -> None:
    if not ADDRESS.fullmatch(where):
        raise BadInput(
            f"--spread takes '{LOCAL}' or the address of a Dask scheduler, such as tls://host:8786."
            f" Got {where!r}."
        )


def _require_protection(where: str, data_id: str) -> None:
    """Raise BadInput where exact sums would travel to another machine for anybody to read."""
    parts = urlsplit(where if "://" in where else f"tcp://{where}")
    if parts.scheme not in ("tls", "inproc") and parts.hostname not in LOOPBACK:
        raise BadInput(
            f"{data_id} is private, and its exact sums would travel to {where} for anybody to read."
            " Take a scheduler with TLS: tls://host:port."
        )


def _client(where: str) -> Any:
    """Return a Dask client; certificates are named in Dask's own settings. Raises BadInput."""
    try:
        from distributed import Client
        from distributed.security import Security
    except ImportError:
        raise BadInput(
            "A Dask scheduler needs the extra `cluster`: pip install 'dpmf[cluster]'."
        ) from None
    credentials = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
    if where.startswith("tls://") and credentials["ssl_context"] is None:
        raise BadInput(
            f"{where} needs certificates: name their files in Dask's settings, such as"
            " DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__TLS__CLIENT__CERT and ..__TLS__CLIENT__KEY."
        )
    try:
        return Client(where, set_as_default=False, name="dpmf")  # type: ignore[no-untyped-call]
    except OSError as error:
        raise BadInput(
            f"No partition was read: the scheduler at {where} does not answer or does not take its"
            f" certificate ({words_of(error)}). Start it, or leave out the address."
        ) from error
