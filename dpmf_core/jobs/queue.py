"""The queue: chooses the next task for a free worker, and counts each asker's work.

An asker is a person: a login or a browser, with all its tabs. Askers take turns; an asker's tasks
go by priority, then cheap ones first. This is plain logic, without threads or processes.
"""

import bisect
import itertools
from collections.abc import Callable, Collection

from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.job import Task
from dpmf_core.jobs.machine import Limits, duration

LONG = 20.0  # estimated seconds; longer tasks never occupy all workers
# priority of work that goes after everything else and leaves one worker free
IDLE = -100


class Queue:
    """Tasks from the request until their workers have finished with them.

    There are `n_workers` workers. A queue is not thread-safe: the engine calls it under its lock.
    The asker '' is unnamed and has no limits.
    """

    def __init__(self, n_workers: int, limits: Limits) -> None:
        self.n_workers = n_workers
        self.limits = limits
        # waiting tasks of each asker in their order; the first asker has the next turn
        self._lines: dict[str, list[Task]] = {}
        self._running: dict[Task, None] = {}
        # estimated seconds of each asker's unfinished work
        self._debts: dict[str, float] = {}
        # places of waiting tasks; None after a change
        self._places: dict[Task, int] | None = None

    # -- asking ------------------------------------------------------------------------------------

    def refusal(self, asker: str, cost: float) -> BadInput | None:
        """Why an asker may not ask for this many more seconds of work; None if it may."""
        debt = self._debts.get(asker, 0.0)
        most = self.limits.session_seconds
        if not asker or debt + cost <= most:
            return None
        return BadInput(
            f"One person may have about {duration(most)} of work waiting here. You have about"
            f" {duration(debt)}, and this would add about {duration(cost)}. Wait, stop some of it"
            " on the Runs page, or choose less work."
        )

    def enter(self, task: Task, asker: str, priority: int) -> None:
        """Note that an asker wants a task; the first one pays its cost."""
        is_new = not task.askers
        if task.is_waiting:
            self._remove(task, asker)
        task.askers[asker] = max(priority, task.askers.get(asker, priority))
        if task.is_waiting:
            self._insert(task, asker)
        if is_new:
            self._charge(task, task.cost)

    def wait(self, task: Task) -> None:
        """Let a task wait for a worker."""
        task.is_waiting = True
        for asker in task.askers:
            self._insert(task, asker)

    def leave(self, task: Task, asker: str) -> None:
        """Note that an asker no longer wants a task that others want."""
        self._remove(task, asker)
        self._charge(task, -task.cost)
        task.askers.pop(asker, None)
        self._charge(task, task.cost)

    def close(self, task: Task) -> None:
        """Remove a task that has ended or is no longer wanted, with its debt."""
        self._withdraw(task)
        self._charge(task, -task.cost)

    def _charge(self, task: Task, seconds: float) -> None:
        """Change the debt of the asker that wanted a task first."""
        debtor = next(iter(task.askers), "")
        debt = self._debts.pop(debtor, 0.0) + seconds
        if debt > 1e-9:
            self._debts[debtor] = debt

    def _insert(self, task: Task, asker: str) -> None:
        self._places = None
        bisect.insort(
            self._lines.setdefault(asker, []), task, key=lambda task: task.place(asker)
        )

    def _remove(self, task: Task, asker: str) -> None:
        line = self._lines.get(asker, [])
        if task in line:
            self._places = None
            line.remove(task)
            if not line:
                del self._lines[asker]

    def _withdraw(self, task: Task) -> None:
        for asker in task.askers:
            self._remove(task, asker)
        task.is_waiting = False

    # -- computing ---------------------------------------------------------------------------------

    def next(self) -> Task | None:
        """Take the task that a free worker gets now; None if nothing may start.

        After an asker's turn, every other asker with something to start comes first.
        """
        turn = self._first(self._may_start) or self._first(self._may_start_idle)
        if turn is None:
            return None
        task, asker = turn
        self._lines[asker] = self._lines.pop(asker)  # to the end
        self._withdraw(task)
        task.turn_of = asker
        self._running[task] = None
        return task

    def _first(self, may_start: Callable[[Task, str], bool]) -> tuple[Task, str] | None:
        for asker, line in self._lines.items():
            for task in line:
                if may_start(task, asker):
                    return task, asker
        return None

    def _may_start(self, task: Task, asker: str) -> bool:
        """Whether an asker may have one more task at once; long ones leave a worker free."""
        if task.askers[asker] <= IDLE:
            return False
        if asker == "":
            return True
        n_own = sum(
            task.turn_of == asker and not _is_idle(task) for task in self._running
        )
        if self.limits.session_runs and n_own >= self.limits.session_runs:
            return False
        n_long = sum(task.cost > LONG for task in self._running)
        return task.cost <= LONG or n_long < max(1, self.n_workers - 1)

    def _may_start_idle(self, task: Task, asker: str) -> bool:
        """Whether idle work may start: with several workers, one stays free."""
        is_idle = task.askers[asker] <= IDLE
        return is_idle and len(self._running) < max(1, self.n_workers - 1)

    def end(self, task: Task) -> None:
        """Note that a worker has finished with a task."""
        self._running.pop(task, None)

    # -- looking -----------------------------------------------------------------------------------

    def ahead(self, task: Task) -> int:
        """Count the waiting tasks that start before this one.

        A task waits behind all of them while its data are being opened.
        """
        if task in self._running:
            return 0
        places = self._order()
        return places.get(task, len(places))

    def seconds_until(self, tasks: Collection[Task]) -> float:
        """Estimate when the last of these ends, with running tasks and what starts before."""
        order = self._order()
        last = max((order.get(task, -1) for task in tasks), default=-1)
        before = (task.cost for task, place in order.items() if place <= last)
        return (sum(task.cost for task in self._running) + sum(before)) / self.n_workers

    @property
    def n_waiting(self) -> int:
        """How many tasks wait, not counting idle ones."""
        return sum(not _is_idle(task) for task in self._order())

    def tasks(self) -> list[Task]:
        """Running tasks, then waiting ones, in the order in which they start."""
        return [*self._running, *self._order()]

    def _order(self) -> dict[Task, int]:
        """The place of each waiting task: round by round, idle tasks last."""
        if self._places is None:
            rounds: list[Task | None] = []
            for idle in (False, True):
                lines = (
                    [task for task in line if (task.askers[asker] <= IDLE) is idle]
                    for asker, line in self._lines.items()
                )
                rounds += itertools.chain.from_iterable(itertools.zip_longest(*lines))
            tasks = dict.fromkeys(task for task in rounds if task is not None)
            self._places = {task: at for at, task in enumerate(tasks)}
        return self._places


def _is_idle(task: Task) -> bool:
    """Whether every requester of the task gives way to all other tasks."""
    return all(priority <= IDLE for priority in task.askers.values())
