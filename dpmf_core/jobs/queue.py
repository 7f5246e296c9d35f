"""Which runs the workers have, which is next, and how much each session has asked for.

All of it is plain logic: no threads, no scheduler.
"""

import functools
import math
from collections.abc import Hashable

from dpmf_core.errors import BadInput
from dpmf_core.jobs.job import Task
from dpmf_core.jobs.machine import Limits, duration
from dpmf_core.jobs.round_robin import Turns

LONG = 20.0  # estimated seconds; runs that take longer never have all workers
IDLE = -100  # priority of work that goes only where nobody else's can, and leaves a worker free
SMALL = 0.1  # expected seconds; runs that take no longer may go to a worker together
TOGETHER = 0.25  # expected seconds of all of them, which others may have to wait
MOST = 16  # of them
KINDS = 1000  # of runs, of which it is remembered how long they take
GRACE = 30.0  # seconds after which a run that took too long is ended together with its worker


class Lanes:
    """Tasks from the moment they are asked for until a worker has them no more. It is not
    thread-safe: the engine calls it under its lock.

    count: how many tasks the workers may have at once. limits: of what sessions ask for; the asker
    '' has none.
    """

    def __init__(self, count: int, limits: Limits) -> None:
        self.count, self.limits = count, limits
        self._turns: Turns[Task] = Turns()  # those that wait for a worker
        self._idle: Turns[Task] = Turns()  # those that wait behind them
        self._handed_tasks: dict[str, Task] = {}  # those that a worker has, by ticket
        self._took: dict[Hashable, float] = {}  # seconds of the quickest run of each kind
        self._debts: dict[str, float] = {}  # estimated seconds of what each session has unfinished

    # -- asking ------------------------------------------------------------------------------------

    def refusal(self, asker: str, cost: float) -> BadInput | None:
        """Why a session may not ask for so many more seconds of work; None where it may."""
        debt, most = self._debts.get(asker, 0.0), self.limits.session_seconds
        if not asker or debt + cost <= most:
            return None
        return BadInput(
            f"One session may have about {duration(most)} of work waiting here. You have about"
            f" {duration(debt)}, and this would take about {duration(cost)}. Wait, stop some of it"
            " on the Runs page, or ask for less."
        )

    def enter(self, task: Task, asker: str, priority: int) -> None:
        """A session asks for a task, as the first or beside others; the first answers for its
        cost.
        """
        if not task.askers:
            self._charge(task, asker)
        task.askers[asker] = max(priority, task.askers.get(asker, priority))
        if task.in_line:
            self._wait(task, asker)

    def quit(self, task: Task, asker: str) -> None:
        """A session wants a task no more, others do."""
        task.askers.pop(asker, None)
        for line in (self._turns, self._idle):
            line.remove(task, asker)
        if task.debtor == asker and task.askers:
            self._pay(task)
            self._charge(task, next(iter(task.askers)))

    def close(self, task: Task) -> None:
        """A task has ended, or nobody wants it: it does not wait, and nobody owes it."""
        task.in_line = False
        for line in (self._turns, self._idle):
            line.remove(task)
        self._pay(task)

    def _charge(self, task: Task, asker: str) -> None:
        task.debtor = asker
        self._debts[asker] = self._debts.get(asker, 0.0) + task.cost

    def _pay(self, task: Task) -> None:
        debt = self._debts.pop(task.debtor, 0.0) - task.cost
        if debt > 1e-9:
            self._debts[task.debtor] = debt

    # -- computing ---------------------------------------------------------------------------------

    def line_up(self, task: Task) -> None:
        """From now on a task waits for a worker."""
        task.in_line = True
        for asker in task.askers:
            self._wait(task, asker)

    def _wait(self, task: Task, asker: str) -> None:
        if task.askers[asker] <= IDLE:
            self._idle.add(task, asker, task.place(asker))
            return
        self._idle.remove(task, asker)
        self._turns.add(task, asker, task.place(asker))

    def next(self) -> Task | None:
        """The task that a worker gets now; None where none is free, or nothing may go."""
        if self._busy() >= self.count:
            return None
        turn = self._turns.take(self._is_allowed) or self._idle.take(self._is_allowed_idle)
        if turn is None:
            return None
        self._submit_pool(*turn, lane=turn[0].ticket)
        return turn[0]

    def together_with(self, first: Task) -> list[Task]:
        """Small runs that go to a worker in one task with the first, after it: of the same session
        and priority, in her order. Enough stay for the other workers.
        """
        tasks: list[Task] = []
        seconds_left = TOGETHER - self._expected(first)
        if self._expected(first) > SMALL or _is_idle(first):
            return tasks
        for _ in range(min(MOST - 1, len(self._turns) // self.count)):
            turn = self._turns.take(
                functools.partial(self._may_follow, first, min(SMALL, seconds_left))
            )
            if turn is None:
                break
            self._submit_pool(*turn, lane=first.ticket)
            tasks.append(turn[0])
            seconds_left -= self._expected(turn[0])
        return tasks

    def _may_follow(self, first: Task, seconds: float, task: Task, asker: str) -> bool:
        return (
            asker == first.turn_of
            and task.askers[asker] == first.askers.get(asker)
            and self._expected(task) <= seconds
        )

    def _submit_pool(self, task: Task, asker: str, lane: str) -> None:
        for line in (self._turns, self._idle):
            line.remove(task)
        task.turn_of, task.in_line, task.lane = asker, False, lane
        self._handed_tasks[task.ticket] = task

    def _busy(self) -> int:
        """How many workers have something."""
        return len({task.lane for task in self._handed_tasks.values()})

    def took(self, task: Task, seconds: float) -> None:
        """How long a run took."""
        if len(self._took) >= KINDS:
            self._took.clear()
        kind = _kind(task)
        self._took[kind] = min(seconds, self._took.get(kind, seconds))

    def _expected(self, task: Task) -> float:
        """Seconds, by the quickest run of its kind, which had a core to itself, or by whoever
        estimated; infinite where nobody knows, and of what goes to a worker alone: private data, of
        which a task that Dask begins again would draw anew, and what is no run.
        """
        if not task.public:
            return math.inf
        return self._took.get(_kind(task), task.cost or math.inf)

    def _is_allowed(self, task: Task, asker: str) -> bool:
        """Whether a session may have one more run at once; and one worker is kept from long
        runs, so that short ones need not wait for their end.
        """
        if asker == "":
            return True
        now = self._handed_tasks.values()
        hers = {other.lane for other in now if other.turn_of == asker and not _is_idle(other)}
        if self.limits.session_runs and len(hers) >= self.limits.session_runs:
            return False
        return task.cost <= LONG or sum(other.cost > LONG for other in now) < max(1, self.count - 1)

    def _is_allowed_idle(self, task: Task, asker: str) -> bool:
        """Of several workers one stays free, for whoever comes next."""
        return self._busy() < max(1, self.count - 1) and self._is_allowed(task, asker)

    def task_of(self, ticket: str) -> Task | None:
        """The task that a worker has under this ticket."""
        return self._handed_tasks.get(ticket)

    def beside(self, task: Task) -> list[Task]:
        """The other runs that its worker has with it in one task."""
        lane = [it for it in self._handed_tasks.values() if it.lane == task.lane]
        return [it for it in lane if it is not task and not it.settled.is_set()]

    def land(self, task: Task) -> bool:
        """A worker has it no more; whether one had."""
        return self._handed_tasks.pop(task.ticket, None) is not None

    def late(self, now: float) -> list[Task]:
        """What sessions asked for and a worker does not end by itself, though its time is long
        over; what was given up once is not among it. now: on the monotonic clock.
        """
        end = now - self.limits.run_seconds - GRACE
        return [
            task
            for task in self._handed_tasks.values()
            if task.turn_of and task.began is not None and task.began < end and not task.given_up
        ]

    # -- looking -----------------------------------------------------------------------------------

    def ahead(self, task: Task) -> int:
        """How many waiting tasks go before this one; all of them before one whose data are
        still being opened.
        """
        if task.ticket in self._handed_tasks:
            return 0
        behind = len(self._turns) + self._idle.ahead(task)
        return self._turns.ahead(task) if task.in_line and not _is_idle(task) else behind

    @property
    def waiting(self) -> int:
        """What waits behind everything else holds up nobody, and is not counted."""
        return len(self._turns)

    def tasks(self) -> list[Task]:
        """What workers have, then what waits, in the order in which it goes."""
        return [*self._handed_tasks.values(), *self._turns.items(), *self._idle.items()]


def _kind(task: Task) -> Hashable:
    """Runs of one kind take about as long: the same data, method and parameters."""
    spec = task.spec
    return spec.data, spec.algorithm, tuple(sorted(spec.parameters.items()))


def _is_idle(task: Task) -> bool:
    """Whether nobody wants it otherwise than behind everything else."""
    return all(priority <= IDLE for priority in task.askers.values())
