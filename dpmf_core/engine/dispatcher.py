"""Handing waiting tasks to free workers, and hearing of them until they end."""

import contextlib
import functools
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from dpmf_core.engine import workers as crew
from dpmf_core.engine.cluster import Cluster, Event, NoWorker, outcome_of
from dpmf_core.engine.jobs import Task
from dpmf_core.engine.run_queue import Lanes
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.verification import Refusal, expected
from dpmf_core.engine.workers import Outcome
from dpmf_core.runs.execution import Progress

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
        self.cluster = Cluster(lanes.count, scheduler, processes, self._heard)
        self._hand = ThreadPoolExecutor(1, "dpmf-hand")  # starts workers, hands runs out
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._watch, name="dpmf-clock", daemon=True)

    def start(self) -> None:
        """Start the workers in the background. A failure shows with the first run."""
        self._hand.submit(self._connect)

    def line_up(self, task: Task) -> None:
        """Let a task wait for a worker."""
        with self._lock:
            if not task.settled.is_set():
                self._lanes.line_up(task)
        self._call()

    def call_off(self, task: Task, future: Any) -> None:
        """A worker need not begin a task that has been settled, nor end it."""
        if not self._over.is_set():
            self.cluster.call_off(task.ticket, future, functools.partial(self._landed, task))

    def close(self) -> None:
        """Hand out nothing more, and end the workers."""
        with self._lock:
            self._over.set()
        self._hand.shutdown(cancel_futures=True)
        self.cluster.close()

    # -- handing out -------------------------------------------------------------------------------

    def _call(self) -> None:
        """Whenever a worker may have become free, or work for it may have come."""
        with self._lock:
            if not self._over.is_set():
                # the interpreter is ending: nothing is begun any more
                with contextlib.suppress(RuntimeError):
                    self._hand.submit(self._hand_out)

    def _hand_out(self) -> None:
        """Give free workers what is next."""
        while True:
            with self._lock:
                task = self._lanes.next()
            if task is None:
                return
            self._owner.attempt(task, functools.partial(self._give, task))
            if task.settled.is_set():
                self._landed(task)

    def _give(self, task: Task) -> None:
        if not self._owner.is_ours(task):
            self._landed(task)
            return
        self._hand_to_worker(task)

    def _hand_to_worker(self, task: Task) -> None:
        self._connect(task.asked)
        limits = self._lanes.limits
        memory = limits.run_memory if self.cluster.processes else float("inf")
        bounds = (limits.run_seconds, memory) if task.turn_of else ()
        wanted, patient = expected(task.spec, task.key), self._lanes.is_patient(task)
        try:
            future = self.cluster.submit(task.spec, wanted, task, *bounds, patient=patient)
        except NoWorker as error:
            self._owner.settle(task, error)
            self._landed(task)
            return
        with self._lock:
            task.future = future
            cancelled = task.settled.is_set()
        if cancelled:
            self.call_off(task, future)
        else:
            future.add_done_callback(functools.partial(self._finished, task))

    def _connect(self, asked: float = math.inf) -> None:
        """Workers are started if need be, and counted. Called from the hand alone. asked: see
        `Cluster.connect`.
        """
        self.cluster.connect(asked)
        with self._lock:
            self._lanes.count = self.cluster.width
            if not self._clock.is_alive() and not self._over.is_set():
                self._clock.start()

    def _landed(self, task: Task) -> None:
        """A worker has it no more."""
        with self._lock:
            there = self._lanes.land(task)
        if there:
            self._call()

    # -- hearing -----------------------------------------------------------------------------------

    def _heard(self, event: Event) -> None:
        """A worker began a run (again), or finished a step of it."""
        said = event[1]
        with self._lock:
            task = self._lanes.handed(said["ticket"])
            if task is None or task.settled.is_set():
                return
            task.state = "running"
            if "step" in said:
                before = task.progress.curves if task.progress else ()
                part = said["part"] and tuple(said["part"])  # a message knows lists alone
                task.progress = Progress(
                    said["step"], said["steps"], said["seconds"], (*before, *said["new"]), part
                )
            else:
                task.progress, task.worker, task.began = None, said["worker"], time.monotonic()

    def _finished(self, task: Task, future: Any) -> None:
        """Called by the client, one future at a time."""
        try:
            outcome = outcome_of(future, task.settled)
            if isinstance(outcome, Refusal):
                self._refused(task, outcome)
                return
            outcome = self._owner.keep(task, outcome)
        except Exception as error:
            outcome = RuntimeError(crew.sentence(error))
        self._owner.settle(task, outcome)
        self._landed(task)

    def _refused(self, task: Task, refusal: Refusal) -> None:
        """A worker would do it differently: another one gets it, or it again with the data."""
        task.attempts += 1
        if not self.cluster.refused(refusal):
            task.refusals[refusal.worker] = refusal

        def again() -> None:
            self._owner.attempt(task, functools.partial(self._hand_to_worker, task))
            if task.settled.is_set():
                self._landed(task)

        with contextlib.suppress(RuntimeError):  # closed
            self._hand.submit(again)

    def _watch(self) -> None:
        """A run that took too long and does not stop by itself, in one step that takes for ever,
        is ended together with its worker. Workers that come and go elsewhere are counted.
        """
        while not self._over.wait(LOOK):
            with self._lock:
                late = self._lanes.late(time.monotonic())
            for task in late:
                future = task.future
                self._owner.settle(task, crew.too_long(self._lanes.limits.run_seconds))
                self.call_off(task, future)
                self.cluster.end(task.worker)
            if self.cluster.count():
                with self._lock:
                    self._lanes.count = self.cluster.width
                self._call()
