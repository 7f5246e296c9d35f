"""Handles on runs that are being computed: what a page holds, and the shared task behind it."""

import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Literal, Protocol

from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.jobs.verification import Refusal
from dpmf_core.jobs.workers import Outcome
from dpmf_core.runs.execution import Progress
from dpmf_core.serving.requesters import owner_now

State = Literal["waiting", "running", "done", "failed", "cancelled"]


@dataclass(eq=False)
class Task:
    """One run or measurement being computed, shared by all the handles that wait for it."""

    identity: str
    spec: Any  # Work
    number: int = 0
    cost: float = 0.0  # estimated seconds; 0 where nobody estimated
    # sessions that want it, '' for none, and with which priority
    askers: dict[str, int] = field(default_factory=dict)
    debtor: str = ""  # the session that its cost counts for
    turn_of: str = ""  # the session in whose turn a worker has it
    lane: str = ""  # the ticket of the first run of those that a worker has in one task
    public: bool = False  # whether it is a run on data that are known to be public
    in_line: bool = False  # whether it waits for a worker, its data being open
    light: bool = False  # whether nobody needs a stored run's arrays
    began: float | None = None  # when a worker began, on the monotonic clock
    worker: str = ""  # where
    ticket: str = field(default_factory=lambda: uuid.uuid4().hex)
    key: str = ""
    state: State = "waiting"
    progress: Progress | None = None
    outcome: Outcome | None = None
    future: Any = None
    refusals: dict[str, Refusal] = field(default_factory=dict)  # by worker
    attempts: int = 0  # how often a worker refused it
    given_up: bool = False  # whether its worker was ended, as it took too long
    handles: weakref.WeakSet["Job"] = field(default_factory=weakref.WeakSet)
    # the key is known, or never will be
    key_ready: threading.Event = field(default_factory=threading.Event)
    settled: threading.Event = field(default_factory=threading.Event)
    owner: str = field(default_factory=owner_now)  # of whoever asked first
    request_time: float = field(default_factory=time.monotonic)
    _listening: threading.Lock = field(default_factory=threading.Lock)
    _listeners: list[Callable[[], None]] = field(default_factory=list)

    def settle(self, outcome: Outcome) -> None:
        """The end, once. Whoever waits goes on; listeners hear of it by `tell`."""
        self.outcome, self.future, self.state = outcome, None, _state(outcome)
        self.key_ready.set()
        with self._listening:
            self.settled.set()

    def listen(self, listener: Callable[[], None]) -> None:
        """Have `listener` called when the task has ended, or now where it has."""
        with self._listening:
            if not self.settled.is_set():
                self._listeners.append(listener)
                return
        listener()

    def tell(self) -> None:
        """Call who listens, after the end."""
        for listener in self._listeners:
            listener()

    def place(self, asker: str) -> tuple[int, float, int]:
        """The tasks of an asker start in this order: by her priority, then the cheap ones."""
        return -self.askers[asker], self.cost, self.number


def _state(outcome: Outcome) -> State:
    """How a task that has this outcome ended."""
    if isinstance(outcome, Cancelled):
        return "cancelled"
    return "failed" if isinstance(outcome, Exception) else "done"


class JobEngine(Protocol):
    """What a handle asks of the engine."""

    def ahead(self, task: Task) -> int: ...

    def waiting(self) -> int: ...

    def leave(self, task: Task, job: "Job") -> None: ...


class Job:
    """One caller's handle on a run; cheap to ask.

    A handle that is dropped does not cancel its run.
    """

    def __init__(self, engine: JobEngine, task: Task, asker: str = "") -> None:
        self._engine, self._task, self._has_left = engine, task, False
        self.asker = asker

    @property
    def spec(self) -> Any:
        """What was asked for: a RunSpec or a Measurement."""
        return self._task.spec

    @property
    def key(self) -> str:
        """The run's key; waits for its data to be opened. '' when they cannot be."""
        self._task.key_ready.wait()
        return self._task.key

    @property
    def state(self) -> State:
        """An end is told when the outcome can be had."""
        if self._task.state not in ("waiting", "running"):
            self._task.settled.wait(1.0)
        return "cancelled" if self._has_left else self._task.state

    @property
    def is_queued(self) -> bool:
        """Whether it is known that the run has to be computed: it waits for a worker or has one."""
        return self._task.in_line or bool(self._task.turn_of)

    @property
    def ticket(self) -> str:
        """Names the run among all that this server computes."""
        return self._task.ticket

    @property
    def owner(self) -> str:
        """Whose the run is, as the store keeps it; '' where nobody is named."""
        return self._task.owner

    @property
    def age(self) -> float:
        """Seconds since it was first asked for."""
        return time.monotonic() - self._task.request_time

    @property
    def progress(self) -> Progress | None:
        return self._task.progress

    @property
    def ahead(self) -> int:
        """How many waiting runs start before this one."""
        return self._engine.ahead(self._task) if self.state == "waiting" else 0

    @property
    def waiting(self) -> int:
        """How many runs wait in all, this one among them."""
        return self._engine.waiting()

    @property
    def cost(self) -> float:
        """Estimated seconds; 0 where nobody estimated."""
        return self._task.cost

    @property
    def error(self) -> str | None:
        """Why it failed, in a sentence."""
        return str(self._task.outcome) if self.state == "failed" else None

    @property
    def bad_input(self) -> bool:
        """It failed because of what was asked for; otherwise asking again may help."""
        return self.state == "failed" and isinstance(self._task.outcome, BadInput)

    def listen(self, listener: Callable[["Job"], None]) -> None:
        """Have `listener` called with this handle when the run has ended."""
        self._task.listen(lambda: listener(self))

    def wait(self, timeout: float) -> bool:
        """Whether the run ended, well or badly, within so many seconds."""
        return self._has_left or self._task.settled.wait(timeout)

    def cancel(self) -> None:
        """Stop waiting; the run itself stops, between two steps, when no other handle waits for
        it.
        """
        if self.state in ("waiting", "running"):
            self._has_left = True
            self._engine.leave(self._task, self)

    def stop(self) -> None:
        """End the run for everybody who waits for it."""
        for handle in (*list(self._task.handles), self):
            handle.cancel()

    def result(self, timeout: float | None = None) -> Any:
        """The finished Run, or what a measurement found.

        Raises BadInput, Cancelled, RuntimeError when it failed, TimeoutError.
        """
        if not self._has_left and not self._task.settled.wait(timeout):
            raise TimeoutError(f"The run is not finished after {timeout} s.")
        if self._has_left or self._task.outcome is None:
            raise Cancelled
        if isinstance(self._task.outcome, Exception):
            raise self._task.outcome
        return self._task.outcome


def outcomes(jobs: Sequence[Job]) -> Iterator[tuple[Any, Any]]:
    """What each job was asked for and its result, or what went wrong with it, as they end.

    Stopping the iteration cancels what is left.
    """
    ended_jobs: SimpleQueue[Job] = SimpleQueue()
    waiting = set(jobs)
    try:
        for job in jobs:
            job.listen(ended_jobs.put)
        while waiting:
            job = ended_jobs.get()
            waiting.discard(job)
            try:
                yield job.spec, job.result()
            except (BadInput, Cancelled, RuntimeError) as error:
                yield job.spec, error
    finally:
        for job in waiting:
            job.cancel()
