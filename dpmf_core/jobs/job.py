"""Work that worker processes compute, and the handles that callers hold on it."""

import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.base.progress import Progress, Stopped, Tell
from dpmf_core.base.requesters import owner_now
from dpmf_core.data.catalogue import catalogue, is_own
from dpmf_core.runs.specification import RunSpec

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
# the outcome: a Run, a measurement's result, or BadInput, Cancelled, RuntimeError
Outcome = Any


class Measurement(Protocol):
    """Work whose result the store does not keep, such as an audit.

    Equal JSON on equal data is equal work. `data` names the data set that it reads, if any.
    """

    def check(self) -> None:
        """Raise BadInput if it cannot be measured."""

    def model_dump_json(self) -> str: ...

    def measure(self, report: Tell, stopped: Stopped) -> Any: ...


Computation = RunSpec | Measurement
Works = Mapping[str, Computation]  # by name


def data_id_of(work: Computation) -> str | None:
    """The id of the data that the work reads, if any."""
    data = getattr(work, "data", None)
    return None if data is None else data.id


def stamp_of(work: Computation) -> Any:
    """The stamp of the data's bytes; '' if the work reads none. Raises BadInput."""
    data_id = data_id_of(work)
    if data_id is not None:
        return catalogue().stamp(data_id)
    return ""


def identity(work: Computation, stamp: Any) -> str:
    """A text that is equal for equal work on equal bytes."""
    if isinstance(work, RunSpec):
        return f"{stamp} {work.canonical().model_dump_json()}"
    return f"{type(work).__name__} {stamp} {work.model_dump_json()}"


def is_own_data(work: Computation) -> bool:
    """Whether the work is on an uploaded file. The shared store never holds runs on one."""
    data_id = data_id_of(work)
    return data_id is not None and is_own(data_id)


@dataclass(eq=False)
class Task:
    """One run or measurement, shared by all handles that wait for it."""

    identity: str
    spec: Any  # Work
    number: int = 0
    cost: float = 0.0  # estimated seconds; 0 without an estimate
    # the people who want it, with their priorities; the first pays; '' is unnamed
    askers: dict[str, int] = field(default_factory=dict)
    turn_of: str = ""  # a worker got it in the turn of this asker
    is_public: bool = False  # whether it is a run on data that are known to be public
    is_waiting: bool = False  # for a worker; its data are then open
    call_off: Callable[[], None] = lambda: None  # tells its worker to stop
    key: str = ""
    state: JobState = "waiting"
    progress: Progress | None = None
    outcome: Outcome | None = None
    ticket: str = field(default_factory=lambda: uuid.uuid4().hex)
    owner: str = field(default_factory=owner_now)
    request_time: float = field(default_factory=time.monotonic)
    handles: weakref.WeakSet["Job"] = field(default_factory=weakref.WeakSet)
    # or there will be none
    key_ready: threading.Event = field(default_factory=threading.Event)
    settled: threading.Event = field(default_factory=threading.Event)

    def settle(self, outcome: Outcome) -> None:
        """End the task, once."""
        state: JobState = "done"
        if isinstance(outcome, Cancelled):
            state = "cancelled"
        elif isinstance(outcome, Exception):
            state = "failed"
        self.outcome = outcome
        self.state = state
        self.key_ready.set()
        self.settled.set()

    def place(self, asker: str) -> tuple[int, float, int]:
        """The sort key among an asker's tasks: by priority, then cheap ones first."""
        return -self.askers[asker], self.cost, self.number


class Job:
    """One caller's handle on a run or measurement; its methods are cheap.

    The `Engine` makes it. Dropping a handle does not cancel its run.
    """

    def __init__(self, engine: Any, task: Task, asker: str = "") -> None:
        self._engine = engine
        self._task = task
        self._has_left = False
        self.asker = asker
        self.spec = task.spec  # the work: a RunSpec or a Measurement
        self.cost = task.cost  # estimated seconds; 0 without an estimate
        self.ticket = task.ticket  # names the run among all that this server computes
        self.owner = task.owner  # the first requester, as stored; '' if unnamed

    @property
    def key(self) -> str:
        """The run's key; waits until its data are open. '' if they cannot be opened."""
        self._task.key_ready.wait()
        return self._task.key

    @property
    def state(self) -> JobState:
        """Its progress; the result is available once it has ended."""
        if self._task.state not in ("waiting", "running"):
            self._task.settled.wait(1.0)
        if self._has_left:
            return "cancelled"
        return self._task.state

    @property
    def is_queued(self) -> bool:
        """Whether it must be computed: it waits for a worker or has one."""
        return self._task.is_waiting or self._task.state == "running"

    @property
    def age(self) -> float:
        """Seconds since it was first asked for."""
        return time.monotonic() - self._task.request_time

    @property
    def progress(self) -> Progress | None:
        return self._task.progress

    @property
    def ahead(self) -> int:
        """The number of waiting runs that start before this one."""
        if self.state == "waiting":
            return int(self._engine.ahead(self._task))
        return 0

    @property
    def waiting(self) -> int:
        """The number of waiting runs, this one included."""
        return int(self._engine.waiting())

    @property
    def error(self) -> str | None:
        """Why it failed, in a sentence."""
        if self.state == "failed":
            return str(self._task.outcome)
        return None

    @property
    def bad_input(self) -> bool:
        """Whether it failed because of its input; otherwise a retry may help."""
        return self.state == "failed" and isinstance(self._task.outcome, BadInput)

    def wait(self, timeout: float) -> bool:
        """Whether the run ended, well or badly, within this many seconds."""
        return self._has_left or self._task.settled.wait(timeout)

    def cancel(self) -> None:
        """Stop waiting; the run stops between two steps if no other handle waits for it."""
        if self.state in ("waiting", "running"):
            self._has_left = True
            self._engine.leave(self._task, self)

    def stop(self) -> None:
        """End the run for every handle."""
        for handle in (*list(self._task.handles), self):
            handle.cancel()

    def result(self, timeout: float | None = None) -> Any:
        """The finished Run, or a measurement's result.

        Raises
        ------
        TimeoutError
            If it is not finished after `timeout` seconds.
        Cancelled
            If it was cancelled.
        BadInput
            If its input was refused.
        RuntimeError
            If it failed.
        """
        if not self._has_left and not self._task.settled.wait(timeout):
            raise TimeoutError(f"The run is not finished after {timeout} s.")
        if self._has_left or self._task.outcome is None:
            raise Cancelled
        if isinstance(self._task.outcome, Exception):
            raise self._task.outcome
        return self._task.outcome
