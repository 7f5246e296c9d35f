"""Where runs run: one Dask client, whose workers are processes of this machine, or those of a scheduler elsewhere.

Asking returns at once: a desk thread opens data, looks runs up in the store and hands out what has to be computed. `distributed` is imported
when the first run is computed, not before.
"""

import atexit
import contextlib
import functools
import os
import sqlite3
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from dpmf_core import experiment
from dpmf_core import workers as crew
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.experiment import Progress, Run, RunSpec
from dpmf_core.jobs import Job, Task
from dpmf_core.leases import Leases
from dpmf_core.store import Damaged, Store
from dpmf_core.workers import Measurement, Outcome, Work

__all__ = ["Engine", "Job", "engine"]

REMEMBERED = 200  # answers of measurements
BACKGROUND = -10  # priority of a sweep's runs: single runs go first


class NotKept(RuntimeError):
    """A finished run that the store would not take; its text is the sentence to show."""


class Engine:
    """Computes runs in worker processes and keeps them in `store`, which it alone writes.

    address: of a running Dask scheduler whose workers have dpmf installed and see the same data; None starts workers here.
    processes: False computes in threads of this process. workers: how many; one for each core, at most 8.
    """

    def __init__(self, store: Store, address: str | None = None, processes: bool = True, workers: int | None = None) -> None:
        self.store = store
        self._address, self._processes = address, processes
        self._workers = workers or max(1, min(experiment.usable_threads(), crew.MOST))
        self._lock = threading.RLock()
        self._tasks: dict[str, Task] = {}  # unfinished, by identity
        self._submitted = 0
        self._answers: OrderedDict[str, Task] = OrderedDict()  # of measurements
        self._fingerprints: dict[tuple[experiment.DataSpec, float], _Known] = {}
        self._desk = ThreadPoolExecutor(1, "dpmf-desk")  # opens data, starts workers, hands runs out
        self._bell = ThreadPoolExecutor(1, "dpmf-bell")  # tells workers to stop
        self._topic = f"dpmf-{uuid.uuid4().hex}"
        self._client: Any = None
        self._local = contextlib.ExitStack()
        self._leases = Leases(store.folder)

    @classmethod
    def from_environment(cls, store: Store) -> "Engine":
        """DPMF_SCHEDULER: a scheduler's address; DPMF_ENGINE=threads: no worker processes."""
        return cls(store, os.environ.get("DPMF_SCHEDULER") or None, processes=os.environ.get("DPMF_ENGINE") != "threads")

    def start(self) -> None:
        """Start the workers in the background, so that the first run need not wait for them. A failure shows with that run."""
        self._desk.submit(self._connected)

    # -- asking ------------------------------------------------------------------------------------------------------

    def submit(self, spec: RunSpec, priority: int = 0) -> Job:
        """A handle at once: done if the store has the run, shared if it is being computed, otherwise waiting."""
        try:
            stamp = experiment.catalogue().stamp(spec.data.id)
            identity = f"{stamp} {spec.canonical().model_dump_json()}"
        except BadInput as error:
            return self._refused(spec, error)
        return self._remembered(identity) or self._shared(identity, spec, priority, lambda task: self._begin(task, stamp))

    def had(self, asked: Work) -> bool:
        """Whether asking for it computes nothing anew: it is stored, remembered, or being computed. Opens its data. Raises BadInput."""
        data = getattr(asked, "data", None)
        stamp = experiment.catalogue().stamp(data.id) if data is not None else ""
        is_run = isinstance(asked, RunSpec)
        identity = f"{stamp} {asked.canonical().model_dump_json()}" if is_run else f"{type(asked).__name__} {stamp} {asked.model_dump_json()}"  # type: ignore[union-attr]
        with self._lock:
            if identity in self._tasks or identity in self._answers:
                return True
        return is_run and not _own(asked) and self.store.has(experiment.run_key(asked, experiment.open_data(asked.data)))  # type: ignore[arg-type,union-attr]

    def _remembered(self, identity: str) -> Job | None:
        """A handle on an answer that is not in the store: of a measurement, or of a run on a file that somebody brought."""
        with self._lock:
            answered = self._answers.get(identity)
            if answered is None:
                return None
            self._answers.move_to_end(identity)
            return Job(self, answered)

    def measure(self, asked: Measurement, priority: int = 0) -> Job:
        """As `submit`, for what is no run; of the latest answers some are remembered."""
        try:
            asked.check()
            data = getattr(asked, "data", None)
            stamp = experiment.catalogue().stamp(data.id) if data is not None else ""
        except BadInput as error:
            return self._refused(asked, error)
        identity = f"{type(asked).__name__} {stamp} {asked.model_dump_json()}"
        return self._remembered(identity) or self._shared(
            identity, asked, priority, lambda task: self._desk.submit(self._guarded, task, functools.partial(self._hand_out, task))
        )

    def forget(self, data_id: str) -> None:
        """What was computed on a data set that is gone, and what is held of any in memory, here and in the workers."""
        with self._lock:
            for identity in [name for name, task in self._answers.items() if getattr(getattr(task.spec, "data", None), "id", None) == data_id]:
                del self._answers[identity]
            for known in [known for known in self._fingerprints if known[0].id == data_id]:
                del self._fingerprints[known]
            client = self._client
        experiment.forget()
        if client is not None and client.status == "running":
            client.run(experiment.forget, on_error="ignore")

    def _shared(self, identity: str, spec: Work, priority: int, begin: Callable[[Task], object]) -> Job:
        """A handle on the unfinished task of this identity, begun now if there is none."""
        with self._lock:
            task = self._tasks.get(identity)
            if task is None:
                task = self._tasks[identity] = Task(identity, spec, priority, self._submitted)
                self._submitted += 1
                begin(task)
            job = Job(self, task)
            task.handles.add(job)
            return job

    def _refused(self, spec: Work, error: BadInput) -> Job:
        task = Task("", spec, 0)
        job = Job(self, task)
        self._settle(task, error)
        return job

    def _begin(self, task: Task, stamp: float) -> None:
        """Look the run up at once where its data are known; otherwise the desk opens them first."""
        if known := self._fingerprints.get((task.spec.data, stamp)):
            self._look_up(task, known)
        else:
            self._desk.submit(self._guarded, task, functools.partial(self._open, task, stamp))

    def _open(self, task: Task, stamp: float) -> None:
        known = self._fingerprints.get((task.spec.data, stamp))
        if known is None:
            known = self._fingerprints[task.spec.data, stamp] = _Known(experiment.open_data(task.spec.data).fingerprint)
        self._look_up(task, known)

    def _look_up(self, task: Task, known: "_Known") -> None:
        task.key = experiment.run_key(task.spec, known)
        task.named.set()
        self._find(task)

    def _find(self, task: Task) -> None:
        """Done where the store has it; otherwise it is to be computed."""
        stored = self._stored(task)
        if stored is not None:
            self._settle(task, stored)
        else:
            self._desk.submit(self._guarded, task, functools.partial(self._hand_out, task))

    def _stored(self, task: Task) -> Run | None:
        try:
            return self.store.get(task.key)
        except Damaged:
            return None  # computed again, and written over

    def _guarded(self, task: Task, action: Callable[[], None]) -> None:
        """An action on a task; whatever goes wrong is the task's outcome."""
        try:
            action()
        except BadInput as error:
            self._settle(task, error)
        except Exception as error:
            self._settle(task, RuntimeError(f"The run could not be started: {error}."))

    def sweep(self, specs: Iterable[RunSpec]) -> Iterator[tuple[RunSpec, Run | Exception]]:
        """Every run as it finishes, or what went wrong with it. Stopping the iteration cancels what is left."""
        finished: SimpleQueue[Job] = SimpleQueue()
        waiting = {id(job): job for job in (self.submit(spec, BACKGROUND) for spec in specs)}
        try:
            for job in list(waiting.values()):
                self._when_settled(job, finished.put)
            while waiting:
                job = finished.get()
                del waiting[id(job)]
                try:
                    yield job.spec, job.result()
                except (BadInput, Cancelled, RuntimeError) as error:
                    yield job.spec, error
        finally:
            for job in waiting.values():
                job.cancel()

    def _when_settled(self, job: Job, tell: Callable[[Job], None]) -> None:
        with self._lock:
            if not job._task.settled.is_set():
                job._task.listeners.append(functools.partial(tell, job))
                return
        tell(job)

    def jobs(self) -> list[Job]:
        """Handles on all unfinished runs, in the order in which they start; they watch, and keep nothing from being cancelled."""
        with self._lock:
            return [Job(self, task) for task in sorted(self._tasks.values(), key=lambda task: task.place)]

    def ahead(self, task: Task) -> int:
        with self._lock:
            return sum(other.state == "waiting" and other.place < task.place for other in self._tasks.values())

    # -- computing ---------------------------------------------------------------------------------------------------

    def _hand_out(self, task: Task) -> None:
        if task.settled.is_set() or not self._ours(task):
            return
        future = self._connected().submit(crew.work, task.spec, task.ticket, self._topic, key=f"run-{task.ticket}", pure=False, priority=task.priority)
        with self._lock:
            task.future = future
            cancelled = task.settled.is_set()
        if cancelled:
            self._bell.submit(self._call_off, task.ticket, future)
        else:
            future.add_done_callback(functools.partial(self._finished, task))

    def _ours(self, task: Task) -> bool:
        """Whether this engine is to compute it. A run that another server computes is waited for, and one that it has finished is found."""
        if not task.key or _own(task.spec):
            return True
        if not self._leases.claim(task.key):
            self._leases.wait(task.key, functools.partial(self._guarded, task, functools.partial(self._find, task)), task.settled.is_set)
            return False
        stored = self._stored(task)
        if stored is not None:
            self._settle(task, stored)
        return stored is None

    def _connected(self) -> Any:
        """The client, its workers started if need be. Called from the desk alone."""
        if self._client is None or self._client.status != "running":
            self._disconnect()
            from distributed import Client

            address = self._address or self._local.enter_context(crew.processes(self._workers) if self._processes else crew.threads(self._workers))
            self._client = Client(address, set_as_default=False, name="dpmf")  # type: ignore[no-untyped-call]
            self._client.subscribe_topic(self._topic, self._heard)
        return self._client

    def _heard(self, event: tuple[float, dict[str, Any]]) -> None:
        """A worker began a run (again), or finished a step of it."""
        said = event[1]
        with self._lock:
            for task in self._tasks.values():
                if task.ticket == said["ticket"]:
                    task.state = "running"
                    before = task.progress.curves if task.progress else ()
                    task.progress = Progress(said["step"], said["steps"], said["seconds"], (*before, *said["new"])) if "step" in said else None

    def _finished(self, task: Task, future: Any) -> None:
        """Called by the client, one future at a time: the only place where results are written."""
        try:
            outcome = _collected(task, future)
            if isinstance(outcome, Run) and task.state != "cancelled" and not _own(task.spec):
                self._keep(outcome)
        except NotKept as error:
            outcome = error
        except Exception as error:
            outcome = RuntimeError(crew.sentence(error))
        self._settle(task, outcome)

    def _keep(self, run: Run) -> None:
        try:
            self.store.put(run)
        except (OSError, sqlite3.Error) as error:
            raise NotKept(
                f"The run is finished, but {self.store.folder} does not take it ({error}). Make room there, or set DPMF_DATA to another folder; run it again."
            ) from error

    def _settle(self, task: Task, outcome: Outcome) -> None:
        """The end of a task, once: whoever waits for it goes on."""
        with self._lock:
            if task.settled.is_set():
                return
            self._tasks.pop(task.identity, None)
            task.outcome, task.future = outcome, None
            task.state = "cancelled" if isinstance(outcome, Cancelled) else "failed" if isinstance(outcome, Exception) else "done"
            if task.state == "done" and (not isinstance(task.spec, RunSpec) or _own(task.spec)):
                self._answers[task.identity] = task
                while len(self._answers) > REMEMBERED:
                    self._answers.popitem(last=False)
            task.named.set()
            task.settled.set()
        for tell in task.listeners:
            tell()
        self._leases.release(task.key)  # after the run is in the store

    # -- stopping ----------------------------------------------------------------------------------------------------

    def leave(self, task: Task, job: Job) -> None:
        with self._lock:
            task.handles.discard(job)
            if task.settled.is_set() or task.handles:
                return
            future = task.future
            self._settle(task, Cancelled())
        if future is not None:
            self._bell.submit(self._call_off, task.ticket, future)

    def _call_off(self, ticket: str, future: Any) -> None:
        """A waiting run is withdrawn; one that is being computed sees its ticket before its next step."""
        self._client.run(crew.stop, ticket, on_error="ignore")
        future.cancel(force=True)

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=2)
        self._local.close()

    def close(self) -> None:
        """Cancel what is unfinished and end the workers. The store stays open."""
        for task in list(self._tasks.values()):
            self._settle(task, Cancelled())
        self._desk.shutdown(cancel_futures=True)
        self._bell.shutdown(cancel_futures=True)
        self._leases.close()
        self._disconnect()


def _own(spec: Work) -> bool:
    """Whether a run is on a file that somebody brought to the page: the shared store never holds it."""
    return isinstance(spec, RunSpec) and experiment.is_own(spec.data.id)


def _collected(task: Task, future: Any) -> Outcome:
    """What a worker returned. Gives up on a task that has been settled meanwhile: its client may be gone, and would never answer."""
    while not task.settled.is_set():
        try:
            outcome: Outcome = future.result(timeout=10)
            return outcome
        except TimeoutError:
            if future.status == "error":
                raise
    return Cancelled()


@dataclass(frozen=True)
class _Known:
    """What a run's key needs of its data."""

    fingerprint: str


_only: list[Engine] = []
_making = threading.Lock()


def engine() -> Engine:
    """The engine of this process, with the default store."""
    with _making:
        if not _only:
            _only.append(Engine.from_environment(Store()))
            atexit.register(_only[0].close)
        return _only[0]
