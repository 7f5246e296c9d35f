"""What computes runs for the engine: the function that a worker executes, and the workers of this
machine.

The local scheduler and its workers hang below a process of their own (`python -m
dpmf_core.jobs.workers`): workers are spawned, spawning imports the parent's `__main__` again, and
in a served page that is the page's script. That process lives as long as its standard input is
open, so nothing outlasts the engine, however it ends.
"""

import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import psutil

from dpmf_core import kernels
from dpmf_core.data.catalogue import catalogue
from dpmf_core.errors import BadInput, Cancelled, words_of
from dpmf_core.jobs import dask_settings
from dpmf_core.jobs.machine import duration
from dpmf_core.jobs.scheduler_security import Scheduler, local_cluster, threads_cluster
from dpmf_core.jobs.verification import Expected, refusal
from dpmf_core.paths import workplace
from dpmf_core.runs import execution
from dpmf_core.runs.execution import Progress, Report
from dpmf_core.runs.specification import RunSpec


class Measurement(Protocol):
    """Work that is not kept in the store, e.g. an audit: equal text and equal data, equal work.

    One that reads a data set names it in `data`.
    """

    def check(self) -> None: ...

    def model_dump_json(self) -> str: ...

    def measure(self, report: Report, stopped: Callable[[], bool]) -> Any: ...


Work = RunSpec | Measurement
# a Run, what a measurement found, a Refusal, or BadInput, Cancelled, RuntimeError
Outcome = Any
MOST = 8  # workers; each holds its own copy of the data
# beside one busy page a worker has a quarter of a core, and so it has beside a neighbour; at 19 it
# would have a seventieth
NICE = 5
BETWEEN = 0.1  # seconds at least between two messages of one run's progress
# it frees what a killed process held, and says so
QUIET = ("-W", "ignore::UserWarning:multiprocessing.resource_tracker")

_stopped_tickets: set[str] = set()  # tickets of cancelled runs


def dask_setup(_worker: object) -> None:
    """Called by a worker process while it starts (`preload`): what most runs need is loaded then,
    not while the first run of each worker is waited for.
    """
    import scipy.sparse.linalg  # noqa: F401

    catalogue()


def usual_count() -> int:
    """How many workers this machine has: one for each core, at most `MOST`."""
    return max(1, min(kernels.usable_threads(), MOST))


def stop(ticket: str) -> None:
    _stopped_tickets.add(ticket)


def is_stopped(ticket: str) -> bool:
    """Whether somebody stopped it in this process."""
    return ticket in _stopped_tickets


def too_long(seconds: float) -> BadInput:
    return BadInput(
        f"This run took longer than {duration(seconds)}, which is the most that one run may take"
        " here. Choose fewer steps, trainings or ratings."
    )


def _too_large(megabytes: float) -> BadInput:
    return BadInput(
        f"This run needed more than {megabytes / 1000:.1f} GB of memory, which is the most that one"
        " run may take here. Choose fewer ratings, items or factors."
    )


def resident() -> float:
    """Memory of this process, in MB."""
    return float(psutil.Process().memory_info().rss) / 1e6


class Bounds:
    """Asked between two steps of a run: whether it has to stop. broken_limit: the limit that it
    broke, if it broke one.
    """

    def __init__(self, ticket: str, seconds: float, megabytes: float) -> None:
        self._ticket, self._seconds, self._megabytes = ticket, seconds, megabytes
        self._end = time.monotonic() + seconds
        self.broken_limit: BadInput | None = None

    def stopped(self) -> bool:
        if time.monotonic() > self._end:
            self.broken_limit = too_long(self._seconds)
        elif resident() > self._megabytes:
            self.broken_limit = _too_large(self._megabytes)
        return self.broken_limit is not None or self._ticket in _stopped_tickets


def _place(progress: Progress) -> dict[str, Any]:
    """Where a run is, as an event says it."""
    return {name: getattr(progress, name) for name in ("step", "steps", "seconds", "part")}


def verified_work(
    spec: Work,
    requirement: Expected,
    ticket: str,
    topic: str,
    seconds: float = float("inf"),
    megabytes: float = float("inf"),
) -> Outcome:
    """Do one run or measurement, or refuse it where this worker would do it differently; telling
    `topic` after its steps, though not more often than anybody can read. What a person can cause is
    returned, not raised: it is no failure of the worker.

    seconds, megabytes: a run that needs more ends between two steps, with a sentence.
    """
    from distributed import get_worker

    worker, n_sent, bounds = get_worker(), 0, Bounds(ticket, seconds, megabytes)
    last_message = time.monotonic()

    def tell(progress: Progress) -> None:
        nonlocal n_sent, last_message
        if (now := time.monotonic()) < last_message + BETWEEN:
            return
        last_message = now
        new, n_sent = progress.curves[n_sent:], len(progress.curves)
        worker.log_event(topic, {"ticket": ticket, "new": list(new), **_place(progress)})

    worker.log_event(topic, {"ticket": ticket, "worker": worker.address})
    try:
        return _outcome(spec, requirement, worker.address, tell, bounds)
    finally:
        _stopped_tickets.discard(ticket)


def verified_works(
    works: Sequence[tuple[RunSpec, Expected, str]],
    topic: str,
    seconds: float = float("inf"),
    megabytes: float = float("inf"),
) -> list[Outcome]:
    """As `verified_work`, for several small runs on public data, each with its ticket, one after
    the other. One that was stopped before its turn is not begun; what breaks one breaks no other.
    """
    outcomes: list[Outcome] = []
    for spec, requirement, ticket in works:
        if is_stopped(ticket):
            _stopped_tickets.discard(ticket)
            outcomes.append(Cancelled())
            continue
        try:
            outcomes.append(verified_work(spec, requirement, ticket, topic, seconds, megabytes))
        except Exception as error:
            outcomes.append(RuntimeError(sentence(error)))
    return outcomes


def _outcome(
    spec: Work, requirement: Expected, worker: str, tell: Report, bounds: Bounds
) -> Outcome:
    try:
        if answer := refusal(spec, requirement, worker):
            return answer
        if isinstance(spec, RunSpec):
            return execution.run(spec, report=tell, stopped=bounds.stopped)
        return spec.measure(tell, bounds.stopped)
    except Cancelled as outcome:
        return bounds.broken_limit or outcome
    except BadInput as outcome:
        return outcome


def sentence(error: BaseException) -> str:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return (
            "The worker process died while computing this run, twice; most often because memory ran"
            " out. Choose fewer ratings, items or factors."
        )
    if isinstance(error, MemoryError):
        return "Memory ran out while computing this run. Choose fewer ratings, items or factors."
    if isinstance(error, CancelledError):
        return "The workers went away while computing this run. Start it again."
    return f"The run failed: {words_of(error)}"


@contextlib.contextmanager
def threads(workers: int) -> Iterator[Scheduler]:
    """The way to a scheduler with its workers as threads of this process, which end with this
    context.
    """
    import dask

    dask.config.set(dask_settings.HERE)
    with threads_cluster(workers, workplace()) as cluster:
        yield Scheduler(cluster.scheduler_address)


@contextlib.contextmanager
def processes(workers: int) -> Iterator[Scheduler]:
    """The way to a scheduler with worker processes, which end with this context or with this
    process. Their temporary files go with this process too.
    """
    each = str(max(1, kernels.usable_threads() // workers))
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    thread_limits = dict.fromkeys(
        ("DPMF_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), each
    )
    command = [sys.executable, *QUIET, "-m", "dpmf_core.jobs.workers", str(workers)]
    env = {**os.environ, **thread_limits, "PYTHONPATH": path, "TMPDIR": str(workplace())}
    # a session of its own: Ctrl-C in the terminal is for us to answer
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
        start_new_session=True,
    )
    with child:  # closes both pipes and waits
        line = child.stdout.readline().strip() if child.stdout else ""
        if not line:
            raise RuntimeError("the worker processes did not start; see the messages above")
        yield Scheduler(**json.loads(line))
        if child.stdin:
            child.stdin.close()


def _serve(workers: int) -> None:
    """A scheduler and its workers on loopback, until standard input closes."""
    import dask
    from distributed.system import MEMORY_LIMIT

    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    dask.config.set(dask_settings.of_workers({name: os.environ[name] for name in names}))
    if hasattr(os, "nice"):
        os.nice(NICE)
    # whoever asked may end while an answer is under way (Ctrl-C), which is no news
    logging.getLogger("distributed.scheduler").addFilter(
        lambda record: not str(record.msg).startswith("Closed comm")
    )
    _cluster, scheduler = local_cluster(
        workers, Path(tempfile.gettempdir()), memory_limit=MEMORY_LIMIT
    )
    print(
        json.dumps(scheduler.as_dict()), flush=True
    )  # the key goes through this pipe and nowhere else
    sys.stdin.read()
    os._exit(0)  # workers see their parent end and follow at once


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
