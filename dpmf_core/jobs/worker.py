"""Worker processes, and the server's threads that give them work.

A worker is a plain child process on a pipe; it listens on no port and writes nothing to the store.
It is not started by `multiprocessing`, which would import the parent's `__main__` again; in a
served page that is the page's script. It ends when the pipe closes, so it never outlives the
process that started it, however that one ends.
"""

import contextlib
import functools
import itertools
import logging
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psutil

from dpmf_core.base.errors import BadInput, Cancelled, words_of
from dpmf_core.base.paths import workplace
from dpmf_core.base.progress import Progress, Stopped, Tell
from dpmf_core.base.threads import usable_threads
from dpmf_core.data.catalogue import catalogue
from dpmf_core.jobs.job import Computation, Outcome, Task
from dpmf_core.jobs.machine import Limits, duration
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.specification import RunSpec

log = logging.getLogger(__name__)
MOST = 8  # workers; each holds its own copy of the data
# at this niceness a worker gets a quarter of a core next to one busy page or neighbour; at 19 it
# would get a seventieth
NICE = 5
BETWEEN = 0.1  # seconds between two progress messages of one run, at least
LOOK = 1.0  # seconds between checks of the limits
UNLIMITED = Limits(run_seconds=math.inf)
GRACE = 30.0  # seconds that a run over its time gets to reach the end of its step
DIED = (
    "The worker process died while computing this run, probably because memory ran out. Choose"
    " fewer ratings, items or factors."
)
_numbers = itertools.count()  # of messages that are answered
MEMORY_RAN_OUT = (
    "Memory ran out while computing this run. Choose fewer ratings, items or factors."
)


def usual_count() -> int:
    """The number of workers on this machine: one per core, at most `MOST`."""
    return max(1, min(usable_threads(), MOST))


# ---- in the worker process -----------------------------------------------------------------------


def serve(connection: Connection, on_close: Callable[[], None] = lambda: None) -> None:
    """Compute what comes through a connection until it closes.

    Messages in: ("compute", number, work), ("call", number, function, arguments), ("stop", number),
    ("forget", 0). Messages out: (number, Progress) and, once for each number, (number, outcome).
    """
    inbox = _Inbox(connection, on_close)
    inbox.start()
    while (message := inbox.messages.get()) is not None:
        kind, number, *rest = message
        if kind == "forget":
            data_access.forget()
            continue
        if kind == "call":
            outcome = _value_of(*rest)
        else:
            stopped = functools.partial(inbox.is_stopped, number)
            outcome = _outcome(rest[0], _report(connection, number), stopped)
        with contextlib.suppress(OSError):  # the listener is gone
            try:
                connection.send((number, outcome))
            # the outcome cannot be pickled
            except (TypeError, AttributeError, ValueError) as error:
                connection.send(
                    (number, RuntimeError(f"The run failed: {words_of(error)}"))
                )


def _value_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Call a function; an exception is returned."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


class _Inbox(threading.Thread):
    """Sorts messages until the connection closes; then everything is stopped."""

    def __init__(self, connection: Connection, on_close: Callable[[], None]) -> None:
        super().__init__(name="dpmf-inbox", daemon=True)
        self.messages: SimpleQueue[Any] = SimpleQueue()
        self._connection = connection
        self._on_close = on_close
        self._stopped: set[int] = set()
        self._is_closed = False

    def run(self) -> None:
        try:
            while True:
                message = self._connection.recv()
                if message[0] == "stop":
                    self._stopped.add(message[1])
                else:
                    self.messages.put(message)
        except (EOFError, OSError):
            self._on_close()
            self._is_closed = True
            self.messages.put(None)

    def is_stopped(self, number: int) -> bool:
        return self._is_closed or number in self._stopped


def _report(connection: Connection, number: int) -> Tell:
    """What sends the progress of one run at a readable rate."""
    last = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() >= last + BETWEEN:
            last = time.monotonic()
            connection.send((number, progress))

    return report


def _outcome(work: Computation, report: Tell, stopped: Stopped) -> Outcome:
    """Do one run or measurement; errors are returned, in a form that can be pickled."""
    try:
        if isinstance(work, RunSpec):
            return execution.run(work, report=report, stopped=stopped)
        return work.measure(report, stopped)
    except Cancelled:
        return Cancelled()
    except BadInput as error:
        return BadInput(str(error))
    except MemoryError:
        return RuntimeError(MEMORY_RAN_OUT)
    except Exception as error:
        return RuntimeError(f"The run failed: {words_of(error)}")


def _main(file_descriptor: int) -> None:
    """Serve in this process, which ends at once when the connection closes."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    import scipy.sparse.linalg  # noqa: F401  (most runs need it: not while the first one waits)

    catalogue()
    serve(Connection(file_descriptor), on_close=lambda: os._exit(0))


# ---- in the server -------------------------------------------------------------------------------


class Worker:
    """One of `n_workers` worker processes that share this machine, as their parent sees it."""

    def __init__(self, n_workers: int) -> None:
        self.connection, theirs = Pipe()
        self._sending = threading.Lock()
        threads = str(max(1, usable_threads() // n_workers))
        variables = (
            "DPMF_THREADS",
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dpmf_core.jobs.worker", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # reserved for the parent's output
            pass_fds=[theirs.fileno()],
            env={
                **os.environ,
                **dict.fromkeys(variables, threads),
                "PYTHONPATH": os.pathsep.join(
                    entry or str(Path.cwd()) for entry in sys.path
                ),
                "TMPDIR": str(workplace()),
            },
            start_new_session=True,  # the parent handles Ctrl-C of the terminal
        )
        theirs.close()

    def send(self, *message: Any) -> None:
        """Send a message, from any thread.

        Raises
        ------
        OSError
            If the worker has died.
        """
        with self._sending:
            self.connection.send(message)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns or raises there, while it computes nothing else.

        Raises
        ------
        EOFError, OSError
            If the worker dies.
        """
        self.send("call", next(_numbers), function, arguments)
        return self.connection.recv()[1]

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def memory(self) -> float:
        """Resident memory in MB; 0 if it has died."""
        try:
            return float(psutil.Process(self._process.pid).memory_info().rss) / 1e6
        except psutil.Error:
            return 0.0

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()


class WorkerThread(threading.Thread):
    """Gives one worker process its tasks, one after the other, and replaces it when it dies.

    Parameters
    ----------
    take : callable
        Waits for the next task; None when there will be no more.
    finish : callable
        Takes the outcome of a task.
    start : callable
        Starts a worker.
    limits : Limits
    """

    def __init__(
        self,
        take: Callable[[], Task | None],
        finish: Callable[[Task, Outcome], None],
        start: Callable[[], Worker],
        limits: Limits,
    ) -> None:
        super().__init__(name="dpmf-worker", daemon=True)
        self._take = take
        self._finish = finish
        self._start_worker = start
        self._limits = limits
        self._starting = threading.Lock()
        self._is_closed = False
        self.worker: Worker | None = None

    def run(self) -> None:
        while (task := self._take()) is not None:
            try:
                outcome = self._outcome(task)
            except Cancelled as error:
                outcome = error
            except Exception as error:
                outcome = RuntimeError(f"The run failed: {words_of(error)}")
            try:
                self._finish(task, outcome)
            except Exception:  # without this thread nothing more would be computed
                log.exception("A callback failed at the end of a run.")

    def ready(self) -> Worker:
        """The worker, started if necessary.

        Raises
        ------
        Cancelled
            Once the worker is closed.
        """
        with self._starting:
            if self._is_closed:
                raise Cancelled
            if self.worker is None or not self.worker.is_alive:
                self.worker = self._start_worker()
            return self.worker

    def forget_data(self) -> None:
        """Let the worker forget the data sets in its memory, after its current work."""
        with contextlib.suppress(OSError):
            if self.worker is not None:
                self.worker.send("forget", 0)

    def close(self) -> None:
        """End the worker, and this thread once its owner has no more tasks."""
        with self._starting:
            self._is_closed = True
        if self.worker is not None:
            self.worker.kill()
        self.join(timeout=5.0)

    def _outcome(self, task: Task) -> Outcome:
        """Compute a task; if the worker dies, a run on public data is tried once more.

        Other work is not, because it may have drawn noise on private data, and would draw again.
        """
        for _ in range(2 if task.is_public else 1):
            worker = self.ready()
            try:
                return self._compute(task, worker)
            except (EOFError, OSError):
                worker.kill()
            if task.settled.is_set():
                return Cancelled()
        return RuntimeError(DIED)

    def _compute(self, task: Task, worker: Worker) -> Outcome:
        """Let a worker compute a task. Raises EOFError and OSError if the worker dies."""
        number = next(_numbers)

        def call_off() -> None:
            with contextlib.suppress(OSError):
                worker.send("stop", number)

        task.call_off = call_off  # from here on, stopping the task reaches the worker
        if task.settled.is_set():
            return Cancelled()
        worker.send("compute", number, task.spec)
        return self._await(task, worker)

    def _await(self, task: Task, worker: Worker) -> Outcome:
        """Follow a task to its end, or end the worker if the task breaks a limit.

        Work that no session asked for has no limits.
        """
        limits = self._limits if task.turn_of else UNLIMITED
        end = time.monotonic() + limits.run_seconds
        is_late = False
        while True:
            if worker.connection.poll(min(LOOK, max(0.0, end - time.monotonic()))):
                _, news = worker.connection.recv()
                if not isinstance(news, Progress):
                    if is_late and isinstance(news, Cancelled):
                        return _too_long(limits.run_seconds)
                    return news
                task.progress = news
            if limits.run_memory < math.inf and worker.memory > limits.run_memory:
                worker.kill()
                return BadInput(
                    f"This run needed more than {limits.run_memory / 1000:.1f} GB of memory, the"
                    " limit for one run here. Choose fewer ratings, items or factors."
                )
            if time.monotonic() > end:
                if is_late:
                    worker.kill()
                    return _too_long(limits.run_seconds)
                task.call_off()
                is_late = True
                end += GRACE


def _too_long(seconds: float) -> BadInput:
    return BadInput(
        f"This run took longer than {duration(seconds)}, the limit for one run here. Choose fewer"
        " steps, training runs or ratings."
    )


if __name__ == "__main__":
    _main(int(sys.argv[1]))
