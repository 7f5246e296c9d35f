"""Compute runs and measurements: one queue and a few worker processes.

Asking returns at once. A run in the store is done. A run that is being computed for another
requester is shared. Any other run waits its turn. Only this process writes to the store: a worker
hands its run back. So a worker that is killed while writing leaves nothing, and a run is stored
once for everyone who asked for it.
"""

import atexit
import contextlib
import functools
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from dpmf_core.base import limits as allowed
from dpmf_core.base.errors import BadInput, Cancelled, words_of
from dpmf_core.jobs import machine
from dpmf_core.jobs import worker as worker_processes
from dpmf_core.jobs.job import (
    Computation,
    Job,
    Outcome,
    Task,
    identity,
    is_own_data,
    stamp_of,
)
from dpmf_core.jobs.machine import Limits
from dpmf_core.jobs.queue import Queue
from dpmf_core.jobs.ready_results import KnownRuns, Opener
from dpmf_core.jobs.worker import Worker, WorkerThread
from dpmf_core.runs import data_access, specification
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.stored_charges import enter_outcome

__all__ = ["Engine", "Job", "engine"]

BACKGROUND = -10  # priority of a sweep's runs: single runs go first


class Engine:
    """Computes runs in worker processes and stores them in `store`.

    Parameters
    ----------
    store
        It stays open when the engine is closed.
    workers
        How many; None for one per core, at most 8, and one if there is little memory.
    limits
        The limits of sessions' requests; None for those of the settings.
    start_worker
        Starts a worker; tests replace it.
    """

    def __init__(
        self,
        store: Store,
        workers: int | None = None,
        limits: Limits | None = None,
        start_worker: Callable[[int], Worker] | None = None,
    ) -> None:
        self.store = store
        self.limits = limits or Limits.from_settings()
        self.width = workers or (
            1 if machine.is_small() else worker_processes.usual_count()
        )
        self._lock = threading.RLock()
        # a worker may have something to do
        self._news = threading.Condition(self._lock)
        self._tasks: dict[str, Task] = {}  # unfinished, by identity
        self._n_submitted = 0
        self._opener = Opener()
        self.known_runs = KnownRuns(store, self._opener)
        self._queue = Queue(self.width, self.limits)
        self._start_worker = start_worker or worker_processes.Worker
        self._threads: list[WorkerThread] = []
        self._is_closed = False

    def start(self) -> None:
        """Start the workers ahead of the first run, because it takes seconds."""
        for thread in self._worker_threads():
            thread.ready()

    # -- asking ------------------------------------------------------------------------------------

    def submit(
        self, work: Computation, priority: int = 0, asker: str = "", cost: float = 0.0
    ) -> Job:
        """A handle at once.

        It is done if the store has the run or a cached result is left, and shared if the work is
        being computed.

        Parameters
        ----------
        work
            A run, or other work.
        priority
            Among the work of one asker; higher goes first.
        asker
            The person who asks: a login or a browser. Askers take turns; '' has no limits.
        cost
            Estimated seconds.
        """
        try:
            allowed.check(work, is_own_data(work))
            if not isinstance(work, RunSpec):
                work.check()
            stamp = stamp_of(work)
            new_task = Task(identity(work, stamp), work, cost=cost)
        except BadInput as error:
            return self._refused_job(work, error)
        with self._lock:  # what is settled meanwhile is not begun again
            if (earlier_task := self.known_runs.recall(new_task.identity)) is not None:
                return self._recalled_job(earlier_task)
            task = self._tasks.get(new_task.identity, new_task)
            if task is new_task:
                if refusal := self._queue.refusal(asker, cost):
                    return self._refused_job(work, refusal)
                task.number = self._n_submitted
                self._n_submitted += 1
                self._tasks[task.identity] = task
            self._queue.enter(task, asker, priority)
            job = Job(self, task, asker)
            task.handles.add(job)
        if task is new_task:  # not under the lock, because it reads the store
            if isinstance(work, RunSpec):
                self._opener.ask(
                    (work.data, stamp), functools.partial(self._look_up, task)
                )
            else:
                self._wait(task)
        return job

    def sweep(
        self, specs: Iterable[RunSpec]
    ) -> Iterator[tuple[RunSpec, Run | Exception]]:
        """Yield every run or its error, in order. Stopping the iteration cancels the rest."""
        jobs = [self.submit(spec, BACKGROUND) for spec in specs]
        try:
            for job in jobs:
                try:
                    outcome = job.result()
                except (BadInput, Cancelled, RuntimeError) as error:
                    outcome = error
                yield job.spec, outcome
        finally:
            for job in jobs:
                job.cancel()

    def had(self, work: Computation) -> bool:
        """Whether submitting it starts no computation: it is stored, cached or being computed.

        Opens its data. Raises BadInput.
        """
        name = identity(work, stamp_of(work))
        if name in self._tasks or self.known_runs.recall(name) is not None:
            return True
        if not isinstance(work, RunSpec) or is_own_data(work):
            return False
        return self.store.has(
            specification.run_key(work, data_access.identified_data(work.data))
        )

    def forget(self, data_id: str) -> None:
        """Forget the results on a deleted data set, and the data sets in memory."""
        self.known_runs.forget(data_id)
        data_access.forget(data_id)
        for thread in self._threads:
            thread.forget_data()

    def _recalled_job(self, task: Task) -> Job:
        """A handle on finished work in memory, which the account of its data must hold."""
        try:
            enter_outcome(task.outcome)
        except BadInput as error:
            return self._refused_job(task.spec, error)
        return Job(self, task)

    def _refused_job(self, spec: Computation, error: BadInput) -> Job:
        task = Task("", spec)
        self._settle(task, error)
        return Job(self, task)

    def _look_up(self, task: Task, data: Any) -> None:
        """Settle a task with the stored run, or let it wait for a worker.

        The data are given by their identity, or by the exception from opening them.
        """
        with self._settling(task, "The run could not be started"):
            if isinstance(data, Exception):
                raise data
            task.key = specification.run_key(task.spec, data)
            task.is_public = data.public
            task.key_ready.set()
            if not self._is_stored(task):
                self._wait(task)

    @contextlib.contextmanager
    def _settling(self, task: Task, problem: str) -> Iterator[None]:
        """Settle a task with an error of the block."""
        try:
            yield
        except BadInput as error:
            self._settle(task, error)
        except Exception as error:
            self._settle(task, RuntimeError(f"{problem}: {words_of(error)}."))

    def _is_stored(self, task: Task) -> bool:
        """Whether the store has a task's run; if so, the task is settled.

        Raises BadInput if a budget of the data does not allow the run.
        """
        if not task.key or is_own_data(task.spec):
            return False
        stored_run = self.known_runs.stored(task.key)
        if stored_run is None:
            return False
        enter_outcome(stored_run)
        self._settle(task, stored_run)
        return True

    # -- computing ---------------------------------------------------------------------------------

    def _worker_threads(self) -> list[WorkerThread]:
        with self._lock:
            if not self._threads and not self._is_closed:
                start = functools.partial(self._start_worker, self.width)
                self._threads = [
                    WorkerThread(self.take, self.finish, start, self.limits)
                    for _ in range(self.width)
                ]
                for thread in self._threads:
                    thread.start()
            return self._threads

    def _wait(self, task: Task) -> None:
        """Let a task wait for a worker."""
        self._worker_threads()
        with self._news:
            if not task.settled.is_set():
                self._queue.wait(task)
                self._news.notify_all()

    def take(self) -> Task | None:
        """Wait for the task that a free worker gets; None once the engine is closed.

        Tasks that another process has stored meanwhile are not computed again, and tasks whose data
        have changed are refused.
        """
        while (task := self._next()) is not None:
            with self._settling(task, "The store cannot be read"):
                # the new data may be private, and the request was for the old ones
                if identity(task.spec, stamp_of(task.spec)) != task.identity:
                    raise BadInput("The data changed while the run waited. Ask again.")
                if not self._is_stored(task):
                    return task
            self._end(task)
        return None

    def _next(self) -> Task | None:
        with self._news:
            while not self._is_closed:
                if (task := self._queue.next()) is not None:
                    task.state = "running"
                    return task
                self._news.wait()
            return None

    def finish(self, task: Task, outcome: Outcome) -> None:
        """Store what a worker returned and end the task."""
        with self._settling(task, "The run could not be kept"):
            if isinstance(outcome, Run):
                self._keep(task, outcome)
            self._settle(task, outcome)
        self._end(task)

    def _keep(self, task: Task, run: Run) -> None:
        """Store a run. Raises BadInput, and errors of the disk."""
        if task.key and run.key != task.key:
            raise BadInput("The data changed while the run was computed. Ask again.")
        if task.state != "cancelled" and not is_own_data(task.spec):
            self.known_runs.keep(run, task.owner)

    def _end(self, task: Task) -> None:
        with self._news:
            self._queue.end(task)
            self._news.notify_all()

    def _settle(self, task: Task, outcome: Outcome) -> None:
        """End a task once; everything that waits for it continues."""
        with self._lock:
            if task.settled.is_set():
                return
            if self._tasks.get(task.identity) is task:
                del self._tasks[task.identity]
                self._queue.close(task)
            # before it is handed out, so that forgetting its data also forgets it
            succeeded = not isinstance(outcome, BaseException)
            if succeeded and (
                not isinstance(task.spec, RunSpec) or is_own_data(task.spec)
            ):
                self.known_runs.remember(task, outcome)
            task.settle(outcome)

    # -- looking -----------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        """Handles on all unfinished runs, in the order in which they start.

        These handles do not keep a run from being cancelled.
        """
        with self._lock:
            tasks = dict.fromkeys([*self._queue.tasks(), *self._tasks.values()])
            return [
                Job(self, task, next(iter(task.askers), ""))
                for task in tasks
                if not task.settled.is_set()
            ]

    def ahead(self, task: Task) -> int:
        """Count the waiting runs that start before this one."""
        with self._lock:
            return self._queue.ahead(task)

    def seconds_until(self, jobs: Collection[Job]) -> float:
        """Estimate the seconds until the last of these ends, including earlier runs of others."""
        with self._lock:
            return self._queue.seconds_until([job._task for job in jobs])

    def waiting(self) -> int:
        """Count the runs that wait for a worker, without idle work."""
        with self._lock:
            return self._queue.n_waiting

    def worker_memory(self) -> list[int]:
        """The resident bytes of each worker process."""
        living = [
            thread.worker
            for thread in self._threads
            if thread.worker is not None and thread.worker.is_alive
        ]
        return [int(worker.memory * 1e6) for worker in living]

    # -- stopping ----------------------------------------------------------------------------------

    def leave(self, task: Task, job: Job) -> None:
        """Release one handle; the task stops when no handle is left."""
        with self._news:
            task.handles.discard(job)
            if task.settled.is_set():
                return
            if task.handles:
                if not any(other.asker == job.asker for other in task.handles):
                    self._queue.leave(task, job.asker)
                return
            self._settle(task, Cancelled())
            self._news.notify_all()
        task.call_off()

    def close(self) -> None:
        """Cancel unfinished runs and end the workers. The store stays open."""
        with self._news:
            self._is_closed = True
            self._news.notify_all()
        for task in list(self._tasks.values()):
            self._settle(task, Cancelled())
        self._opener.close()
        for thread in self._threads:
            thread.close()


_only: list[Engine] = []
_making = threading.Lock()


def engine() -> Engine:
    """The engine of this process, with the default store."""
    with _making:
        if not _only:
            _only.append(Engine(Store()))
            atexit.register(checkpoint)  # after the engine is closed
            atexit.register(_only[0].close)
        return _only[0]


def checkpoint() -> None:
    """Write all stored runs to the one file of the default store, if it is open."""
    for one in _only:
        one.store.checkpoint()
