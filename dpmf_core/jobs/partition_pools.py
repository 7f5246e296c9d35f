"""The processes over which sums over partitions are mapped: local ones, or Dask's.

A pool maps function(request, chunk, *contents) over chunks of partitions, in order. It raises what
the function raises, and `WorkersLost`.
"""

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar
from urllib.parse import urlsplit

from dpmf_core.base.errors import BadInput, words_of
from dpmf_core.base.extras import extra
from dpmf_core.jobs import worker
from dpmf_core.jobs.partition_reading import HERE, PartitionRequest, PartPlaces, forget
from dpmf_core.jobs.worker import Worker

LOCAL = "local"  # in place of an address: processes of this machine
# Dask's own
ADDRESS = re.compile(r"(?:(?:tls|tcp|ucx|inproc)://)?\S+:\d+|inproc://\S+")
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
PAUSE = 0.5  # seconds between two checks of Dask's workers
PATIENCE = 60.0  # seconds to wait for a first worker
Result = TypeVar("Result")


class WorkersLost(RuntimeError):
    """A process ended while it had a chunk."""


class LocalPool:
    """Processes of this machine, which share a folder."""

    def __init__(self, count: int, folder: Path) -> None:
        self._count = count
        self.folder = folder
        self._workers: list[Worker] = []

    def workers(self) -> dict[str, int]:
        """The names of available workers, and how many threads each has."""
        return {HERE: self._count}

    def share(self, content: bytes, number: int) -> Path:
        """Send a pickled question to the workers; returns its reference for `map`."""
        path = self.folder / f"{number}.question"
        path.write_bytes(content)
        return path

    def map(
        self,
        function: Callable[..., Result],
        request: PartitionRequest,
        chunks: Sequence[PartPlaces],
        contents: Sequence[Any],
        workers: Sequence[str],
    ) -> Iterator[Result]:
        if not self._workers:
            self._workers = [worker.Worker(self._count) for _ in range(self._count)]
        idle: SimpleQueue[Worker] = SimpleQueue()
        for each in self._workers:
            idle.put(each)

        def call(places: PartPlaces) -> Any:
            free_worker = idle.get()
            try:
                return free_worker.call(function, request, places, *contents)
            except (EOFError, OSError) as error:
                raise WorkersLost from error
            finally:
                idle.put(free_worker)

        with ThreadPoolExecutor(self._count) as threads:
            try:
                for result in threads.map(call, chunks):
                    if isinstance(result, Exception):
                        raise result
                    yield result
            except BaseException:  # one is lost, or the work is no longer wanted
                self.close("")
                raise

    def close(self, run: str) -> None:
        for each in self._workers:
            each.kill()
        self._workers = []


class DaskPool:
    """The workers of a Dask scheduler, each on a machine of its own, by Dask's client."""

    folder: None = None

    def __init__(self, client: Any) -> None:
        self._client = client

    def workers(self) -> dict[str, int]:
        """The workers, after waiting for the first.

        Raises
        ------
        BadInput
            If the scheduler has no worker.
        """
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise BadInput(
                "The scheduler has no worker. Start one with the same dpmf and data as this"
                " machine."
            ) from None
        return dict(self._client.nthreads())

    def share(self, content: bytes, number: int) -> Any:
        with self._losses():
            return self._client.scatter(content, broadcast=True, hash=False)

    def map(
        self,
        function: Callable[..., Result],
        request: PartitionRequest,
        chunks: Sequence[PartPlaces],
        contents: Sequence[Any],
        workers: Sequence[str],
    ) -> Iterator[Result]:
        # a chunk goes to the same worker in every question, as long as the workers are the same
        homes = [workers[at * len(workers) // len(chunks)] for at in range(len(chunks))]
        futures = [
            self._client.submit(
                function,
                request,
                places,
                *contents,
                workers=[home],
                pure=False,
                retries=0,
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
        """Wait until a future is done. Raises WorkersLost, and Dask's errors about lost workers."""
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
        """Convert Dask's errors about lost workers to WorkersLost.

        Raises BadInput if the scheduler is lost.
        """
        try:
            yield
        except (CancelledError, KeyError, OSError) as error:
            time.sleep(PAUSE)  # until the scheduler has noticed
            if self._client.status != "running":
                raise BadInput(
                    "The connection to the scheduler was lost while adding up partitions. Restart"
                    " the scheduler and the run."
                ) from error
            raise WorkersLost from error

    def close(self, run: str) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # workers that do not answer
            self._client.run(forget, run, on_error="ignore")


Pool = LocalPool | DaskPool


def dask_client(where: str, data_id: str, public: bool) -> Any:
    """A Dask client; certificates are named in Dask's own settings.

    Raises
    ------
    BadInput
        If `where` is not an address, exact sums of private data would travel unencrypted,
        certificates are missing, or the scheduler does not answer.
    """
    if not ADDRESS.fullmatch(where):
        raise BadInput(
            f"--spread must be '{LOCAL}' or the address of a Dask scheduler, such as"
            f" tls://host:8786. Got {where!r}."
        )
    parts = urlsplit(where if "://" in where else f"tcp://{where}")
    is_protected = parts.scheme in ("tls", "inproc") or parts.hostname in LOOPBACK
    if not public and not is_protected:
        raise BadInput(
            f"{data_id} is private, and its exact sums would be sent to {where} unencrypted. Use a"
            " scheduler with TLS: tls://host:port."
        )
    with extra("cluster"):
        from distributed import Client
        from distributed.security import Security
    credentials = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
    if parts.scheme == "tls" and credentials["ssl_context"] is None:
        raise BadInput(
            f"{where} needs certificates: set their files in Dask's settings, such as"
            " DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__TLS__CLIENT__CERT and"
            " ..__TLS__CLIENT__KEY."
        )
    try:
        return Client(where, set_as_default=False, name="dpmf")  # type: ignore[no-untyped-call]
    except OSError as error:
        raise BadInput(
            f"No partition was read: the scheduler at {where} does not answer or rejects the"
            f" certificate ({words_of(error)}). Start it, or leave out the address."
        ) from error
