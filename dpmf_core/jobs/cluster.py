"""The Dask client of an engine, and the workers behind it: processes or threads of this machine,
or those of a scheduler elsewhere. `distributed` is imported when the first run is computed.
"""

import contextlib
import logging
import math
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dpmf_core.errors import BadInput
from dpmf_core.jobs import workers as worker_code
from dpmf_core.jobs.job import Task
from dpmf_core.jobs.scheduler_security import Scheduler
from dpmf_core.jobs.verification import Expected, Refusal, nobody
from dpmf_core.runs import data_access

Event = tuple[float, dict[str, Any]]
log = logging.getLogger(__name__)


class NoWorker(RuntimeError):
    """Every worker refused; its text is the sentence to show."""


class Cluster:
    """Workers, which start when the first run is handed to them.

    workers: how many are started here; those of a scheduler elsewhere are counted. scheduler: None
    starts workers here. processes: False starts threads of this process. on_event: called with
    every message of a worker, see `workers.verified_work`.
    """

    def __init__(
        self,
        workers: int,
        scheduler: Scheduler | None,
        processes: bool,
        on_event: Callable[[Event], None],
    ) -> None:
        self.width, self.processes, self._scheduler = workers, processes, scheduler
        self._on_event, self._topic = on_event, f"dpmf-{uuid.uuid4().hex}"
        self._client: Any = None
        self._away, self._away_at = "", -math.inf  # why a scheduler did not answer, and when
        self.unfit: dict[str, Refusal] = {}  # workers that refuse everything, by address
        self._local = contextlib.ExitStack()
        self._connecting = threading.Lock()
        self._cancel_pool = ThreadPoolExecutor(1, "dpmf-cancel")  # tells workers to stop
        self._end_pool = ThreadPoolExecutor(1, "dpmf-end")  # a worker that hangs holds the bell

    @property
    def is_elsewhere(self) -> bool:
        """Whether its workers are somebody else's, with a data folder of their own."""
        return self._scheduler is not None

    def connect(self, request_time: float = math.inf) -> Any:
        """The client, its workers started if need be, which takes seconds.

        request_time: when, on the monotonic clock, what it is for was asked for. Raises
        ConnectionError where a scheduler does not answer; at once for all that was asked for before
        it last did not, so that everything that waits together waits once.
        """
        with self._connecting:
            if not self._is_running():
                if request_time < self._away_at:
                    raise ConnectionError(self._away)
                self._disconnect()
                here = worker_code.processes if self.processes else worker_code.threads
                scheduler = self._scheduler or self._local.enter_context(here(self.width))
                try:
                    self._client = scheduler.client()
                except ConnectionError as error:
                    self._away, self._away_at = str(error), time.monotonic()
                    raise
                self._client.subscribe_topic(self._topic, self._on_event)
                self.count()
            return self._client

    def count(self) -> bool:
        """Count the workers of a scheduler elsewhere, which come and go; whether there are more
        or fewer than before.
        """
        client, before = self._client, self.width
        if self._scheduler is None or client is None or client.status != "running":
            return False
        try:
            threads = client.nthreads()
            self.width = max(1, sum(it for name, it in threads.items() if name not in self.unfit))
        except (OSError, RuntimeError):  # the scheduler has gone; the next run says so
            return False
        return self.width != before

    def worker_memory(self) -> list[int]:
        """Resident bytes of each worker process of this server, as the scheduler last heard; empty
        where there are none, or none has started.
        """
        client = self._client
        if not self.processes or self.is_elsewhere or client is None or client.status != "running":
            return []
        try:
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
        except (OSError, RuntimeError):  # the scheduler has gone; the next run says so
            return []
        return [int(it["metrics"].get("memory", 0)) for it in workers]

    def _is_running(self) -> bool:
        return self._client is not None and self._client.status == "running"

    def submit(self, work: Any, requirement: Expected, task: Task, *bounds: float) -> Any:
        """The future of a run or measurement that a worker begins, though none that has refused
        it or refuses everything. bounds: see `workers.verified_work`. Raises NoWorker.
        """
        client = self.connect()
        if self._scheduler is not None:
            must_be_public(work)
        refusals = self.unfit | task.refusals
        willing = [it for it in client.nthreads() if it not in refusals] if refusals else []
        if refusals and not willing:
            raise NoWorker(nobody(refusals.values()))
        return client.submit(
            worker_code.verified_work,
            work,
            requirement,
            task.ticket,
            self._topic,
            *bounds,
            key=f"run-{task.ticket}-{task.attempts}",
            workers=willing or None,
            pure=False,
        )

    def submit_together(
        self, tasks: Sequence[Task], requirements: Sequence[Expected], *bounds: float
    ) -> Any:
        """The future of the outcomes of several small runs on public data, which one of our own
        workers computes in turn. bounds: of each.
        """
        works = [
            (task.spec, each, task.ticket) for task, each in zip(tasks, requirements, strict=True)
        ]
        return self.connect().submit(
            worker_code.verified_works,
            works,
            self._topic,
            *bounds,
            key=f"runs-{tasks[0].ticket}",
            pure=False,
        )

    def note_refusal(self, refusal: Refusal) -> None:
        """A worker refused work: one that refuses everything is given nothing more."""
        if refusal.everything:
            log.warning("Worker %s is given no work: %s.", refusal.worker, refusal.reason)
            self.unfit[refusal.worker] = refusal

    def call_off(self, ticket: str, future: Any, then: Callable[[], None]) -> None:
        """Withdraw a waiting run; one that is being computed sees it before its next step.

        future: None where its task holds other runs that are wanted. Returns at once; calls `then`
        when nobody can begin it any more.
        """

        def called_off() -> None:
            self._client.run(worker_code.stop, ticket, on_error="ignore")
            if future is not None:
                future.cancel(force=True)
            then()

        with contextlib.suppress(RuntimeError):  # closed: the workers end too
            self._cancel_pool.submit(called_off)

    def end(self, worker: str) -> None:
        """End a worker process that does not stop by itself; another one takes its place."""
        if self.processes:
            with contextlib.suppress(RuntimeError):  # closed: the workers end too
                self._end_pool.submit(
                    lambda: self._client.restart_workers([worker], raise_for_error=False)
                )

    def run(self, action: Callable[[], object]) -> None:
        """Do something in every worker that there is now."""
        if self._is_running():
            self._client.run(action, on_error="ignore")

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=2)
        self._local.close()

    def close(self) -> None:
        """End the workers that were started here."""
        for pool in (self._cancel_pool, self._end_pool):
            pool.shutdown(cancel_futures=True)
        self._disconnect()


def must_be_public(work: Any) -> None:
    """Raises BadInput on work on private data, whose account lies on this machine."""
    data = getattr(work, "data", None)
    if data is not None and not data_access.open_raw(data.id).public:
        raise BadInput(
            f"{data.id} is private and its account lies on this machine, so what is computed on it"
            " is computed here. Take DPMF_SCHEDULER out of the environment."
        )


def outcome_of(future: Any, given_up: Callable[[], bool]) -> Any:
    """What a worker returned; None once it is given up: its client may be gone, and would never
    answer. Raises what the worker raised.
    """
    while not given_up():
        try:
            return future.result(timeout=10)
        except TimeoutError:
            if future.status == "error":
                raise
    return None
