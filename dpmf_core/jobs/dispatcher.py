"""Handing waiting tasks to free workers, and hearing of them until they end."""

import contextlib
import functools
import logging
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from dpmf_core.jobs import workers as worker_code
from dpmf_core.jobs.cluster import Cluster, Event, NoWorker, outcome_of
from dpmf_core.jobs.job import Task
from dpmf_core.jobs.queue import Lanes
from dpmf_core.jobs.scheduler_security import Scheduler
from dpmf_core.jobs.verification import Refusal, expected
from dpmf_core.jobs.workers import Outcome
from dpmf_core.runs.execution import Progress
from dpmf_core.runs.record import Run

log = logging.getLogger(__name__)
LOOK = 1.0  # seconds between looks at how long runs take


class Owner(Protocol):
    """What a dispatcher asks of the engine."""

    def is_ours(self, task: Task) -> bool:
        """Whether this engine is to compute it; where not, the engine sees to it."""

    def keep(self, task: Task, outcome: Outcome) -> Outcome:
        """Store what a worker returned; what the task's outcome is."""

    def settle(self, task: Task, outcome: Outcome) -> None:
        """The end of a task, once."""

    def attempt(self, task: Task, action: Callable[[], None]) -> None:
        """An action on a task; whatever goes wrong is the task's outcome."""


class Dispatcher:
    """Workers get what is next by `lanes`, which both use under `lock`.

    scheduler: of workers elsewhere; None starts as many as there are lanes here. processes: False
    starts threads.
    """

    def __init__(
        self,
        owner: Owner,
        lanes: Lanes,
        lock: threading.RLock,
        scheduler: Scheduler | None,
        processes: bool,
    ) -> None:
        self._owner, self._lanes, self._lock = owner, lanes, lock
        self.cluster = Cluster(lanes.count, scheduler, processes, self._on_event)
        self._submit_pool = ThreadPoolExecutor(1, "dpmf-submit")  # starts workers, hands runs out
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._watch, name="dpmf-clock", daemon=True)

    def start(self) -> None:
        """Start the workers in the background. A failure shows with the first run."""
        self._submit_pool.submit(self._connect)

    def line_up(self, task: Task) -> None:
        """Let a task wait for a worker."""
        with self._lock:
            if not task.settled.is_set():
                self._lanes.line_up(task)
        self._call()

    def call_off(self, task: Task, future: Any, whole: bool = False) -> None:
        """A worker need not begin a task that has been settled, nor end it. whole: though it has
        others with it, which then go to workers by themselves.
        """
        if not self._over.is_set():
            with self._lock:
                called_off = None if self._lanes.beside(task) and not whole else future
            self.cluster.call_off(task.ticket, called_off, functools.partial(self._land, task))

    def close(self) -> None:
        """Hand out nothing more, and end the workers."""
        with self._lock:
            self._over.set()
        self._submit_pool.shutdown(cancel_futures=True)
        self.cluster.close()

    # -- handing out -------------------------------------------------------------------------------

    def _call(self) -> None:
        """Whenever a worker may have become free, or work for it may have come."""
        with self._lock:
            if not self._over.is_set():
                # the interpreter is ending: nothing is begun any more
                with contextlib.suppress(RuntimeError):
                    self._submit_pool.submit(self._hand_out)

    def _hand_out(self) -> None:
        """Give free workers what is next."""
        while True:
            with self._lock:
                task = self._lanes.next()
                if task is None:
                    return
                behind = [] if self.cluster.is_elsewhere else self._lanes.together_with(task)
            ours: list[Task] = []
            for it in (task, *behind):
                self._owner.attempt(it, functools.partial(self._claim, it, ours))
                if it.settled.is_set():
                    self._land(it)
            if len(ours) < 2 or not self._handed_together(ours):
                for it in ours:
                    self._hand_alone(it)

    def _claim(self, task: Task, ours: list[Task]) -> None:
        """Add a task to ours where this engine is to compute it."""
        if not self._owner.is_ours(task):
            self._land(task)
        elif not task.settled.is_set():
            ours.append(task)

    def _hand_alone(self, task: Task) -> None:
        with self._lock:
            task.lane = task.ticket
        self._owner.attempt(task, functools.partial(self._hand_to_worker, task))
        if task.settled.is_set():
            self._land(task)

    def _handed_together(self, tasks: list[Task]) -> bool:
        """Give a worker several small runs as one task; False where that cannot be done, and each
        finds out why by itself.
        """
        try:
            self._connect(tasks[0].request_time)
            requirements = [expected(it.spec, it.key) for it in tasks]
            future = self.cluster.submit_together(tasks, requirements, *self._bounds(tasks[0]))
        except Exception:
            return False
        with self._lock:
            for it in tasks:
                it.future = future
            cancelled_tasks = [it for it in tasks if it.settled.is_set()]
        for it in cancelled_tasks:
            self.call_off(it, future)
        future.add_done_callback(functools.partial(self._on_finish_together, tasks))
        return True

    def _bounds(self, task: Task) -> tuple[float, ...]:
        """Seconds and memory that a run may take; none of what no session asked for."""
        limits = self._lanes.limits
        memory = limits.run_memory if self.cluster.processes else float("inf")
        return (limits.run_seconds, memory) if task.turn_of else ()

    def _hand_to_worker(self, task: Task) -> None:
        self._connect(task.request_time)
        bounds = self._bounds(task)
        requirement = expected(task.spec, task.key, self.cluster.is_elsewhere)
        try:
            future = self.cluster.submit(task.spec, requirement, task, *bounds)
        except NoWorker as error:
            self._owner.settle(task, error)
            self._land(task)
            return
        with self._lock:
            task.future = future
            cancelled = task.settled.is_set()
        if cancelled:
            self.call_off(task, future)
        else:
            future.add_done_callback(functools.partial(self._on_finish, task))

    def _connect(self, request_time: float = math.inf) -> None:
        """Workers are started if need be, and counted. Called from the hand alone. request_time:
        see `Cluster.connect`.
        """
        self.cluster.connect(request_time)
        with self._lock:
            self._lanes.count = self.cluster.width
            if not self._clock.is_alive() and not self._over.is_set():
                self._clock.start()

    def _land(self, task: Task) -> None:
        """A worker has it no more."""
        with self._lock:
            there = self._lanes.land(task)
        if there:
            self._call()

    # -- hearing -----------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        """A worker began a run (again) or finished a step of it."""
        message = event[1]
        with self._lock:
            task = self._lanes.task_of(message["ticket"])
            if task is None or task.settled.is_set():
                return
            task.state = "running"
            if "step" in message:
                before = task.progress.curves if task.progress else ()
                part = message["part"] and tuple(message["part"])  # a message knows lists alone
                task.progress = Progress(
                    message["step"],
                    message["steps"],
                    message["seconds"],
                    (*before, *message["new"]),
                    part,
                )
            else:
                task.progress, task.worker, task.began = None, message["worker"], time.monotonic()

    def _on_finish(self, task: Task, future: Any) -> None:
        """Called by the client, one future at a time."""
        try:
            outcome = outcome_of(future, task.settled.is_set)
        except Exception as error:
            outcome = RuntimeError(worker_code.sentence(error))
        self._on_outcome(task, outcome)

    def _on_finish_together(self, tasks: list[Task], future: Any) -> None:
        """As `_on_finish`. Where the task broke, each of its runs goes to a worker by itself, so
        that one breaks no other.
        """
        try:
            outcomes = outcome_of(future, lambda: all(it.settled.is_set() for it in tasks))
        except Exception:
            outcomes = [None] * len(tasks)
        for task, outcome in zip(tasks, outcomes or [None] * len(tasks), strict=True):
            if outcome is None and not task.settled.is_set():
                self._again(task)
            else:
                self._on_outcome(task, outcome)

    def _on_outcome(self, task: Task, outcome: Outcome) -> None:
        """A worker returned it."""
        try:
            if isinstance(outcome, Refusal):
                self._on_refusal(task, outcome)
                return
            if isinstance(outcome, Run):
                with self._lock:
                    self._lanes.took(task, sum(it or 0.0 for it in outcome.record.seconds.values()))
            outcome = self._owner.keep(task, outcome)
        except Exception as error:
            outcome = RuntimeError(worker_code.sentence(error))
        self._owner.settle(task, outcome)
        self._land(task)

    def _on_refusal(self, task: Task, refusal: Refusal) -> None:
        """A worker would do it differently: another one gets it."""
        self.cluster.note_refusal(refusal)
        task.refusals[refusal.worker] = refusal
        self._again(task)

    def _again(self, task: Task) -> None:
        task.attempts += 1

        with contextlib.suppress(RuntimeError):  # closed
            self._submit_pool.submit(self._hand_alone, task)

    def _watch(self) -> None:
        """A run that took too long and does not stop by itself, in one step that takes for ever,
        is ended together with its worker. Workers that come and go elsewhere are counted.
        """
        while not self._over.wait(LOOK):
            try:
                self._look()
            except Exception:  # without this thread no run would be ended any more
                log.exception("A look at the workers failed; the next one is in a second.")

    def _look(self) -> None:
        with self._lock:
            late = self._lanes.late(time.monotonic())
        for task in late:
            task.given_up, future = True, task.future
            self._owner.settle(task, worker_code.too_long(self._lanes.limits.run_seconds))
            self.cluster.end(task.worker)
            self.call_off(task, future, whole=True)
        if self.cluster.count():
            with self._lock:
                self._lanes.count = self.cluster.width
            self._call()
