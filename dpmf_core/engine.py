"""Where runs run: one Dask client, whose workers are processes of this machine, or those of a scheduler elsewhere.

Asking returns at once: desk threads open data and look runs up in the store. What has to be computed waits here, not in the scheduler: a worker that is
free gets what is next by `lanes`, where sessions take turns. `distributed` is imported when the first run is computed, not before.
"""

import atexit
import contextlib
import functools
import os
import sqlite3
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from dpmf_core import experiment, machine
from dpmf_core import limits as allowed
from dpmf_core import workers as crew
from dpmf_core.errors import BadInput, Cancelled, words_of
from dpmf_core.experiment import Progress, Run, RunSpec
from dpmf_core.jobs import Job, Task
from dpmf_core.lanes import Lanes
from dpmf_core.leases import Leases
from dpmf_core.opening import Openers
from dpmf_core.schedulers import Scheduler
from dpmf_core.session_limits import Limits
from dpmf_core.settings import settings
from dpmf_core.store import Damaged, Store
from dpmf_core.workers import Measurement, Outcome, Work

__all__ = ["Engine", "Job", "engine"]

REMEMBERED = 200  # answers of measurements
BACKGROUND = -10  # priority of a sweep's runs: single runs go first
LOOK = 1.0  # seconds between looks at how long runs take


class NotKept(RuntimeError):
    """A finished run that the store would not take; its text is the sentence to show."""


class Engine:
    """Computes runs in worker processes and keeps them in `store`, which it alone writes.

    scheduler: a running Dask scheduler whose workers have dpmf installed and see the same data; None starts workers here.
    processes: False computes in threads of this process. workers: how many; one for each core, at most 8. limits: of what sessions ask for.
    """

    def __init__(
        self, store: Store, scheduler: Scheduler | None = None, processes: bool = True, workers: int | None = None, limits: Limits | None = None
    ) -> None:
        self.store, self.limits = store, limits or Limits.from_settings()
        self._scheduler, self._processes = scheduler, processes
        self._workers = workers or max(1, min(experiment.usable_threads(), crew.MOST))
        self._lock = threading.RLock()
        self._tasks: dict[str, Task] = {}  # unfinished, by identity
        self._lanes = Lanes(self._workers, self.limits)
        self._submitted = 0
        self._answers: OrderedDict[str, Task] = OrderedDict()  # of measurements
        self._fingerprints: dict[_Source, _Known] = {}
        self._openers = Openers(self._opened)
        self._hand = ThreadPoolExecutor(1, "dpmf-hand")  # starts workers, hands runs out
        self._bell = ThreadPoolExecutor(1, "dpmf-bell")  # tells workers to stop
        self._over = threading.Event()
        self._clock: threading.Thread | None = None
        self._topic = f"dpmf-{uuid.uuid4().hex}"
        self._client: Any = None
        self._local = contextlib.ExitStack()
        self._leases = Leases(store.folder)

    @classmethod
    def from_environment(cls, store: Store) -> "Engine":
        """DPMF_SCHEDULER: see `Scheduler.from_environment`. DPMF_ENGINE: processes or threads; unless it says, one thread where there is little memory.

        Raises BadInput on another DPMF_ENGINE.
        """
        kind = os.environ.get("DPMF_ENGINE") or ("threads" if machine.is_small() else "processes")
        if kind not in ("processes", "threads"):
            raise BadInput(f"DPMF_ENGINE must be 'processes' or 'threads'. Got '{kind[:40]}'. Take it out of the environment to have it chosen.")
        return cls(store, Scheduler.from_environment(), processes=kind == "processes", workers=1 if machine.is_small() else None)

    def start(self) -> None:
        """Start the workers in the background, so that the first run need not wait for them. A failure shows with that run."""
        self._hand.submit(self._connected)

    # -- asking ------------------------------------------------------------------------------------------------------

    def submit(self, spec: RunSpec, priority: int = 0, asker: str = "", cost: float = 0.0, light: bool = False) -> Job:
        """A handle at once: done if the store has the run, shared if it is being computed, otherwise waiting.

        asker: the session that asks; sessions take turns. cost: estimated seconds. light: a stored run may come without its arrays.
        """
        try:
            stamp = experiment.catalogue().stamp(spec.data.id)
            allowed.check(spec, _own(spec))
            identity = f"{stamp} {spec.canonical().model_dump_json()}"
        except BadInput as error:
            return self._refused(spec, error)
        task = Task(identity, spec, cost=cost, light=light)
        return self._remembered(identity) or self._shared(task, asker, priority, lambda: self._begin(task, asker, (spec.data, stamp)))

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

    def measure(self, asked: Measurement, priority: int = 0, asker: str = "", cost: float = 0.0) -> Job:
        """As `submit`, for what is no run; of the latest answers some are remembered."""
        try:
            data = getattr(asked, "data", None)
            stamp = experiment.catalogue().stamp(data.id) if data is not None else ""
            allowed.check(asked, data is not None and experiment.is_own(data.id))
            asked.check()
        except BadInput as error:
            return self._refused(asked, error)
        identity = f"{type(asked).__name__} {stamp} {asked.model_dump_json()}"
        task = Task(identity, asked, cost=cost)
        return self._remembered(identity) or self._shared(task, asker, priority, lambda: self._line_up(task))

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

    def _shared(self, asked: Task, asker: str, priority: int, begin: Callable[[], object]) -> Job:
        """A handle on the unfinished task of this identity; where there is none, this one is begun."""
        with self._lock:
            task = self._tasks.get(asked.identity, asked)
            if task is asked:
                if refusal := self._lanes.refusal(asker, asked.cost):
                    return self._refused(asked.spec, refusal)
                task.number, self._submitted = self._submitted, self._submitted + 1
                self._tasks[asked.identity] = asked
            self._lanes.enter(task, asker, priority)
            task.light = task.light and asked.light
            job = Job(self, task, asker)
            task.handles.add(job)
            if task is asked:
                begin()
            return job

    def _refused(self, spec: Work, error: BadInput) -> Job:
        task = Task("", spec)
        job = Job(self, task)
        self._settle(task, error)
        return job

    def _begin(self, task: Task, asker: str, source: "_Source") -> None:
        """Look the run up at once where its data are known; otherwise they are opened first."""
        if known := self._fingerprints.get(source):
            self._look_up(task, known)
        else:
            self._openers.ask(source, asker, lambda found: self._guarded(task, functools.partial(self._look_up, task, found)))

    def _opened(self, source: "_Source") -> "_Known":
        known = self._fingerprints[source] = _Known(experiment.open_data(source[0]).fingerprint)
        return known

    def _look_up(self, task: Task, known: "_Known | Exception") -> None:
        if isinstance(known, Exception):
            raise known
        task.key = experiment.run_key(task.spec, known)
        task.named.set()
        self._find(task)

    def _find(self, task: Task) -> None:
        """Done where the store has it; otherwise it is to be computed."""
        stored = self._stored(task)
        if stored is not None:
            self._settle(task, stored)
        else:
            self._line_up(task)

    def _stored(self, task: Task) -> Run | None:
        try:
            if not task.light:
                return self.store.get(task.key)
            record = self.store.record(task.key)
        except Damaged:
            return None  # computed again, and written over
        return None if record is None else Run(record, {})

    def _guarded(self, task: Task, action: Callable[[], None]) -> None:
        """An action on a task; whatever goes wrong is the task's outcome."""
        try:
            action()
        except BadInput as error:
            self._settle(task, error)
        except Exception as error:
            self._settle(task, RuntimeError(f"The run could not be started: {words_of(error)}."))

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
            tasks = dict.fromkeys([*self._lanes.tasks(), *self._tasks.values()])
            return [Job(self, task, next(iter(task.askers), "")) for task in tasks if not task.settled.is_set()]

    @property
    def width(self) -> int:
        """How many runs are computed at once."""
        return self._lanes.count

    def unfinished(self) -> int:
        """How many runs have not ended."""
        return len(self._tasks)

    def ahead(self, task: Task) -> int:
        with self._lock:
            return self._lanes.ahead(task)

    def waiting(self) -> int:
        with self._lock:
            return self._lanes.waiting

    # -- computing ---------------------------------------------------------------------------------------------------

    def _line_up(self, task: Task) -> None:
        with self._lock:
            if not task.settled.is_set():
                self._lanes.line_up(task)
        self._call()

    def _call(self) -> None:
        """Whenever a worker may have become free, or work for it may have come."""
        with self._lock:
            if not self._over.is_set():
                with contextlib.suppress(RuntimeError):  # the interpreter is ending: nothing is begun any more
                    self._hand.submit(self._hand_out)

    def _hand_out(self) -> None:
        """Give free workers what is next."""
        while True:
            with self._lock:
                task = self._lanes.next()
            if task is None:
                return
            self._guarded(task, functools.partial(self._give, task))
            if task.settled.is_set():
                self._landed(task)

    def _give(self, task: Task) -> None:
        if not self._ours(task):
            self._landed(task)
            return
        client = self._connected()
        bounds = (self.limits.run_seconds, self.limits.run_memory if self._processes else float("inf")) if task.turn_of else ()
        future = client.submit(crew.work, task.spec, task.ticket, self._topic, *bounds, key=f"run-{task.ticket}", pure=False)
        with self._lock:
            task.future = future
            cancelled = task.settled.is_set()
        if cancelled:
            self._bell.submit(self._call_off, task, future)
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

    def _landed(self, task: Task) -> None:
        """A worker has it no more."""
        with self._lock:
            there = self._lanes.land(task)
        if there:
            self._call()

    def _connected(self) -> Any:
        """The client, its workers started if need be. Called from the hand alone."""
        if self._client is None or self._client.status != "running":
            self._disconnect()
            self._client = self._new_client()
            self._client.subscribe_topic(self._topic, self._heard)
            self._count()
            self._watch_the_clock()
        return self._client

    def _new_client(self) -> Any:
        here = crew.processes if self._processes else crew.threads
        return (self._scheduler or self._local.enter_context(here(self._workers))).client()

    def _count(self) -> None:
        """As many lanes as there are threads of workers; elsewhere their number may change."""
        found = sum(self._client.nthreads().values())
        with self._lock:
            self._lanes.count = max(1, found if self._scheduler else self._workers)

    def _heard(self, event: tuple[float, dict[str, Any]]) -> None:
        """A worker began a run (again), or finished a step of it."""
        said = event[1]
        with self._lock:
            task = self._lanes.handed(said["ticket"])
            if task is None or task.settled.is_set():
                return
            task.state = "running"
            if "step" in said:
                before = task.progress.curves if task.progress else ()
                task.progress = Progress(said["step"], said["steps"], said["seconds"], (*before, *said["new"]))
            else:
                task.progress, task.worker, task.began = None, said["worker"], time.monotonic()

    def _finished(self, task: Task, future: Any) -> None:
        """Called by the client, one future at a time: the only place where results are written."""
        try:
            outcome = _collected(task, future)
            if isinstance(outcome, Run) and task.state != "cancelled" and not _own(task.spec):
                self._keep(outcome, task.owner)
        except NotKept as error:
            outcome = error
        except Exception as error:
            outcome = RuntimeError(crew.sentence(error))
        self._settle(task, outcome)
        self._landed(task)

    def _keep(self, run: Run, owner: str) -> None:
        try:
            self.store.put(run, owner)
            if (most := settings().most_runs) is not None:
                self.store.keep_at_most(most, besides=run.key)
        except (OSError, sqlite3.Error) as error:
            raise NotKept(
                f"The run is finished, but {self.store.folder} does not take it ({error}). Make room there, or set DPMF_DATA to another folder; run it again."
            ) from error

    def _settle(self, task: Task, outcome: Outcome) -> None:
        """The end of a task, once: whoever waits for it goes on."""
        with self._lock:
            if task.settled.is_set():
                return
            if self._tasks.get(task.identity) is task:
                del self._tasks[task.identity]
                self._lanes.close(task)
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
            if task.settled.is_set():
                return
            if task.handles:
                if not any(other.asker == job.asker for other in task.handles):
                    self._lanes.quit(task, job.asker)
                return
            self._stop(task)

    def stop(self, job: Job) -> None:
        """End a run for everybody who waits for it."""
        self._stop(job._task)

    def _stop(self, task: Task) -> None:
        with self._lock:
            future = task.future
            self._settle(task, Cancelled())
            if future is not None and not self._over.is_set():
                self._bell.submit(self._call_off, task, future)

    def _watch_the_clock(self) -> None:
        if self._clock is None:
            self._clock = threading.Thread(target=self._look_at_the_clock, name="dpmf-clock", daemon=True)
            self._clock.start()

    def _look_at_the_clock(self) -> None:
        """A run that took too long and does not stop by itself, in one step that takes for ever, is ended together with its worker."""
        while not self._over.wait(LOOK):
            with self._lock:
                found = self._lanes.late(time.monotonic())
            for task in found:
                future = task.future
                self._settle(task, crew.too_long(self.limits.run_seconds))
                self._bell.submit(self._end, task, future)

    def _end(self, task: Task, future: Any) -> None:
        """Called off, so that nobody begins it anew; then the worker."""
        self._call_off(task, future)
        if self._processes:
            self._client.restart_workers([task.worker], raise_for_error=False)

    def _call_off(self, task: Task, future: Any) -> None:
        """A waiting run is withdrawn; one that is being computed sees its ticket before its next step."""
        self._client.run(crew.stop, task.ticket, on_error="ignore")
        future.cancel(force=True)
        self._landed(task)

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=2)
        self._local.close()

    def close(self) -> None:
        """Cancel what is unfinished and end the workers. The store stays open."""
        with self._lock:
            self._over.set()
        for task in list(self._tasks.values()):
            self._settle(task, Cancelled())
        self._openers.close()
        self._hand.shutdown(cancel_futures=True)
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


_Source = tuple[experiment.DataSpec, Any]  # a data set and the stamp of its bytes
_only: list[Engine] = []
_making = threading.Lock()


def engine() -> Engine:
    """The engine of this process, with the default store."""
    with _making:
        if not _only:
            _only.append(Engine.from_environment(Store()))
            atexit.register(_only[0].close)
        return _only[0]
