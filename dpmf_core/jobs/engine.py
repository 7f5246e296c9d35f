"""Where runs run: one Dask client, whose workers are processes of this machine, or those of a
scheduler elsewhere.

Asking returns at once: a pool of threads opens data and look runs up in the store. What has to be
computed waits here, not in the scheduler: a free worker gets what is next by `run_queue`, where
sessions take turns. `distributed` is imported when the first run is computed, not before.
"""

import atexit
import functools
import os
import threading
from collections.abc import Callable, Iterable, Iterator

from dpmf_core.data.catalogue import is_own
from dpmf_core.errors import BadInput, Cancelled, words_of
from dpmf_core.jobs import machine
from dpmf_core.jobs import workers as worker_code
from dpmf_core.jobs.data_loading import DataFacts, DataSource, Fingerprints
from dpmf_core.jobs.dispatcher import Dispatcher
from dpmf_core.jobs.identity import identity, is_own_data, stamp_of
from dpmf_core.jobs.job import Job, Task, outcomes
from dpmf_core.jobs.known_runs import KnownRuns
from dpmf_core.jobs.machine import Limits
from dpmf_core.jobs.queue import Lanes
from dpmf_core.jobs.results import Results
from dpmf_core.jobs.scheduler_security import Scheduler
from dpmf_core.jobs.workers import Measurement, Outcome, Work
from dpmf_core.runs import data_access, specification
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.serving import limits as allowed

__all__ = ["Engine", "Job", "engine"]

BACKGROUND = -10  # priority of a sweep's runs: single runs go first


class Engine:
    """Computes runs in worker processes and keeps them in `store`, which it alone writes.

    scheduler: a running Dask scheduler whose workers have dpmf installed and see the same data;
    None starts workers here.
    processes: False computes in threads of this process. workers: how many; one for each core, at
    most 8. limits: of what sessions ask for.
    """

    def __init__(
        self,
        store: Store,
        scheduler: Scheduler | None = None,
        processes: bool = True,
        workers: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.store, self.limits = store, limits or Limits.from_settings()
        self._lock = threading.RLock()
        self._tasks: dict[str, Task] = {}  # unfinished, by identity
        self._n_submitted = 0
        self._results = Results(store)
        self._data = Fingerprints()
        self.known_runs = KnownRuns(store, self._results, self._data)
        count = workers or worker_code.usual_count()
        self._lanes = Lanes(count, self.limits)
        self._dispatcher = Dispatcher(self, self._lanes, self._lock, scheduler, processes)

    @classmethod
    def from_environment(cls, store: Store) -> "Engine":
        """DPMF_SCHEDULER: see `Scheduler.from_environment`. DPMF_ENGINE: processes or threads;
        unless it says, one thread where there is little memory.

        Raises BadInput on another DPMF_ENGINE.
        """
        kind = os.environ.get("DPMF_ENGINE") or ("threads" if machine.is_small() else "processes")
        if kind not in ("processes", "threads"):
            raise BadInput(
                f"DPMF_ENGINE must be 'processes' or 'threads'. Got '{kind[:40]}'. Take it out of"
                " the environment to have it chosen."
            )
        return cls(
            store,
            Scheduler.from_environment(),
            processes=kind == "processes",
            workers=1 if machine.is_small() else None,
        )

    def start(self) -> None:
        """Start the workers in the background, so that the first run need not wait for them.

        A failure shows with that run.
        """
        self._dispatcher.start()

    # -- asking ------------------------------------------------------------------------------------

    def submit(
        self,
        spec: RunSpec,
        priority: int = 0,
        asker: str = "",
        cost: float = 0.0,
        light: bool = False,
    ) -> Job:
        """A handle at once: done if the store has the run, shared if it is being computed,
        otherwise waiting.

        asker: the session that asks; sessions take turns. cost: estimated seconds. light: a stored
        run may come without its arrays.
        """
        try:
            allowed.check(spec, is_own_data(spec))
            stamp = stamp_of(spec)
            task = Task(identity(spec, stamp), spec, cost=cost, light=light)
        except BadInput as error:
            return self._refused_job(spec, error)
        return self._shared(
            task, asker, priority, lambda: self._begin(task, asker, (spec.data, stamp))
        )

    def had(self, work: Work) -> bool:
        """Whether asking for it computes nothing anew: it is stored, remembered, or being computed.

        Opens its data. Raises BadInput.
        """
        name = identity(work, stamp_of(work))
        if name in self._tasks or self._results.recall(name) is not None:
            return True
        if not isinstance(work, RunSpec) or is_own_data(work):
            return False
        return self.store.has(specification.run_key(work, data_access.identified_data(work.data)))

    def measure(
        self, work: Measurement, priority: int = 0, asker: str = "", cost: float = 0.0
    ) -> Job:
        """As `submit`, for what is no run; of the latest answers some are remembered."""
        try:
            data = getattr(work, "data", None)
            allowed.check(work, data is not None and is_own(data.id))
            work.check()
            task = Task(identity(work, stamp_of(work)), work, cost=cost)
        except BadInput as error:
            return self._refused_job(work, error)
        return self._shared(task, asker, priority, lambda: self._dispatcher.line_up(task))

    def worker_memory(self) -> list[int]:
        """Resident bytes of each worker process of this server."""
        return self._dispatcher.cluster.worker_memory()

    def forget(self, data_id: str) -> None:
        """What was computed on a data set that is gone, and what is held of any in memory, here
        and in the workers.
        """
        self._results.forget(data_id)
        self._data.forget(data_id)
        data_access.forget()
        self._dispatcher.cluster.run(data_access.forget)

    def _shared(
        self, new_task: Task, asker: str, priority: int, begin: Callable[[], object]
    ) -> Job:
        """A handle on the task of this identity that is remembered or unfinished; where there is
        none, this one is begun.
        """
        with self._lock:  # what is settled meanwhile is not begun again
            if (earlier_task := self._results.recall(new_task.identity)) is not None:
                return Job(self, earlier_task)
            task = self._tasks.get(new_task.identity, new_task)
            if task is new_task:
                if refusal := self._lanes.refusal(asker, new_task.cost):
                    return self._refused_job(new_task.spec, refusal)
                task.number, self._n_submitted = self._n_submitted, self._n_submitted + 1
                self._tasks[new_task.identity] = new_task
            self._lanes.enter(task, asker, priority)
            task.light = task.light and new_task.light
            job = Job(self, task, asker)
            task.handles.add(job)
        if task is new_task:
            begin()  # not under the lock: it reads the store
        return job

    def _refused_job(self, spec: Work, error: BadInput) -> Job:
        task = Task("", spec)
        job = Job(self, task)
        self.settle(task, error)
        return job

    def _begin(self, task: Task, asker: str, source: DataSource) -> None:
        """Look the run up at once where its data are known; otherwise they are opened first."""
        if facts := self._data.find(source):
            self._look_up(task, facts)
            return

        def look_up(facts: DataFacts | Exception) -> None:
            self.attempt(task, functools.partial(self._look_up, task, facts))

        self._data.ask(source, asker, look_up)

    def _look_up(self, task: Task, facts: DataFacts | Exception) -> None:
        if isinstance(facts, Exception):
            raise facts
        task.key, task.public = specification.run_key(task.spec, facts), facts.public
        task.key_ready.set()
        self._find(task)

    def _find(self, task: Task) -> None:
        """Done where the store has it; otherwise it is to be computed."""
        while True:
            light = task.light
            stored_run = self._results.find_run(task.key, light)
            with self._lock:
                if task.light != light:
                    continue  # meanwhile somebody asked who needs the arrays
                if stored_run is None:
                    self._dispatcher.line_up(task)
                else:
                    self.settle(task, stored_run)
                return

    def attempt(self, task: Task, action: Callable[[], None]) -> None:
        """An action on a task; whatever goes wrong is the task's outcome."""
        try:
            action()
        except BadInput as error:
            self.settle(task, error)
        except Exception as error:
            self.settle(task, RuntimeError(f"The run could not be started: {words_of(error)}."))

    def sweep(self, specs: Iterable[RunSpec]) -> Iterator[tuple[RunSpec, Run | Exception]]:
        """Every run as it finishes, or what went wrong with it.

        Stopping the iteration cancels what is left.
        """
        yield from outcomes([self.submit(spec, BACKGROUND) for spec in specs])

    def jobs(self) -> list[Job]:
        """Handles on all unfinished runs, in the order in which they start; they watch, and
        keep nothing from being cancelled.
        """
        with self._lock:
            tasks = dict.fromkeys([*self._lanes.tasks(), *self._tasks.values()])
            return [
                Job(self, task, next(iter(task.askers), ""))
                for task in tasks
                if not task.settled.is_set()
            ]

    @property
    def width(self) -> int:
        """How many runs are computed at once."""
        return self._lanes.count

    def n_unfinished(self) -> int:
        """How many runs have not ended."""
        return len(self._tasks)

    def ahead(self, task: Task) -> int:
        with self._lock:
            return self._lanes.ahead(task)

    def waiting(self) -> int:
        with self._lock:
            return self._lanes.waiting

    # -- computing ---------------------------------------------------------------------------------

    def is_ours(self, task: Task) -> bool:
        """Whether it is still to be computed: another process may have stored it meanwhile."""
        if not task.key or is_own_data(task.spec):
            return True
        stored_run = self._results.find_run(task.key, task.light)
        if stored_run is not None:
            self.settle(task, stored_run)
        return stored_run is None

    def keep(self, task: Task, outcome: Outcome) -> Outcome:
        """The only place where results are written, one at a time."""
        if isinstance(outcome, Run) and task.key and outcome.key != task.key:
            return RuntimeError("A worker computed another run than was asked for. Ask again.")
        if isinstance(outcome, Run) and task.state != "cancelled" and not is_own_data(task.spec):
            try:
                self._results.keep(outcome, task.owner)
            except BadInput as error:
                return error
        return outcome

    def settle(self, task: Task, outcome: Outcome) -> None:
        """The end of a task, once: whoever waits for it goes on."""
        with self._lock:
            if task.settled.is_set():
                return
            if self._tasks.get(task.identity) is task:
                del self._tasks[task.identity]
                self._lanes.close(task)
            # before it is handed out: who then forgets its data forgets it too
            succeeded = not isinstance(outcome, BaseException)
            if succeeded and (not isinstance(task.spec, RunSpec) or is_own_data(task.spec)):
                self._results.remember(task)
            task.settle(outcome)
        task.tell()

    # -- stopping ----------------------------------------------------------------------------------

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
            self.settle(task, Cancelled())
        if future is not None:
            self._dispatcher.call_off(task, future)

    def close(self) -> None:
        """Cancel what is unfinished and end the workers. The store stays open."""
        for task in list(self._tasks.values()):
            self.settle(task, Cancelled())
        self._data.close()
        self._dispatcher.close()


_only: list[Engine] = []
_making = threading.Lock()


def engine() -> Engine:
    """The engine of this process, with the default store."""
    with _making:
        if not _only:
            _only.append(Engine.from_environment(Store()))
            atexit.register(_only[0].close)
        return _only[0]
