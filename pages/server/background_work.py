"""What goes on for a session while its page may not be shown."""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.runs.specification import RunSpec

OPEN = ("waiting", "running")


class Work(Protocol):
    """Something that goes on in the background: runs of a page, or a search."""

    @property
    def busy(self) -> bool: ...

    def advance(self) -> object:
        """Called again and again as long as it is busy."""

    def cancel(self) -> None: ...


class Cancellable(Protocol):
    """Work that can be cancelled."""

    @property
    def state(self) -> str: ...

    def cancel(self) -> None: ...


class Runs:
    """Runs of a page, as one piece of work.

    called_off: whether they were cancelled because nobody looked any more.
    """

    def __init__(
        self,
        jobs: Sequence[Cancellable],
        ask_rest: Callable[[], Sequence[Cancellable]] | None = None,
    ) -> None:
        """ask_rest: asks for what is wanted besides, once these have ended; None: nothing is."""
        self.jobs, self.called_off = list(jobs), False
        self._ask_rest, self._asking = ask_rest, threading.Lock()

    @property
    def open(self) -> int:
        """How many have not ended."""
        return sum(job.state in OPEN for job in self.jobs)

    @property
    def busy(self) -> bool:
        return self.open > 0 or self._ask_rest is not None

    def advance(self) -> None:
        """Ask for the rest as the page would, were it still looked at: not after a Cancel."""
        with self._asking:
            if self.open == 0 and self._ask_rest is not None:
                ask, self._ask_rest = self._ask_rest, None
                if all(job.state != "cancelled" for job in self.jobs):
                    self.jobs += ask()

    def leave_rest(self) -> None:
        """The page asks for the rest itself; where it is just being asked for, that is waited for:
        a run that was asked for twice would go on when the page cancels it.
        """
        with self._asking:
            self._ask_rest = None

    def end(self, but: Sequence[Cancellable] = ()) -> None:
        """Ask for nothing more, and cancel what goes on but these."""
        self.leave_rest()
        exempt = {id(job) for job in but}
        for job in self.jobs:
            if job.state in OPEN and id(job) not in exempt:
                job.cancel()

    def cancel(self) -> None:
        self.called_off = True
        self.end()


class Filling:
    """Runs that a grid lacks, a few asked for at a time. Safe to call from any thread."""

    def __init__(self, specs: Sequence[RunSpec], submit: Callable[[RunSpec], Job]) -> None:
        self._all, self._missing = {it.model_dump_json() for it in specs}, list(specs)
        self._submit = submit
        self._jobs: list[Job] = []
        self._lock = threading.Lock()
        self._called_off = False

    def covers(self, specs: Sequence[RunSpec]) -> bool:
        """Whether all of these were among the wanted ones, and it goes on.

        What failed is not asked for again.
        """
        return not self._called_off and self._all >= {it.model_dump_json() for it in specs}

    @property
    def busy(self) -> bool:
        return bool(self._missing) or any(job.state in OPEN for job in self._jobs)

    def advance(self) -> None:
        """Ask for as many at a time as there are workers."""
        with self._lock:
            self._jobs = [job for job in self._jobs if job.state in OPEN]
            while self._missing and len(self._jobs) < engine().width:
                self._jobs.append(self._submit(self._missing.pop(0)))

    def cancel(self) -> None:
        with self._lock:
            self._called_off, self._missing = True, []
            for job in self._jobs:
                job.cancel()
