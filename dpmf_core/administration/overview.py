"""What whoever runs a server sees of it: sessions, queue, memory, store; and Stop."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psutil

from dpmf_core.data.catalogue import is_own
from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import Engine
from dpmf_core.jobs.job import Job
from dpmf_core.runs.specification import RunSpec
from dpmf_core.serving import class_records

MB = 1e6


@dataclass(frozen=True)
class Visit:
    """One session. label: its login, '' without one. seconds: since it began; away: since its
    connection was lost. brought: its own data sets.
    """

    owner: str
    label: str
    page: str
    seconds: float
    away: float | None
    brought: int


@dataclass(frozen=True)
class QueueEntry:
    """One unfinished run or measurement. ahead: how many waiting ones start before it. age:
    seconds since it was first asked for.
    """

    ticket: str
    words: str
    state: str
    ahead: int
    owner: str
    age: float
    step: str


@dataclass(frozen=True)
class Overview:
    """mb_server, mb_workers: resident memory; workers elsewhere are not counted. mb_store: on
    disk, with what belongs to it.
    """

    sessions: tuple[Visit, ...]
    queue: tuple[QueueEntry, ...]
    mb_server: float
    mb_workers: float
    workers: int
    runs: int
    mb_store: float
    lessons: int
    mb_uploads: float


def overview(engine: Engine, sessions: Sequence[Visit], upload_bytes: int) -> Overview:
    """The server as it is now. upload_bytes: bytes of uploads, in memory and on disk."""
    workers = engine.worker_memory()
    return Overview(
        sessions=tuple(sessions),
        queue=tuple(_queue_entry(job) for job in engine.jobs()),
        mb_server=psutil.Process().memory_info().rss / MB,
        mb_workers=sum(workers) / MB,
        workers=len(workers),
        runs=engine.store.count(),
        mb_store=engine.store.path.stat().st_size / MB,
        lessons=class_records.count(),
        mb_uploads=upload_bytes / MB,
    )


def _queue_entry(job: Job) -> QueueEntry:
    progress = job.progress
    step = f"step {progress.step} of {progress.steps}" if progress is not None else ""
    return QueueEntry(job.ticket, words(job.spec), job.state, job.ahead, job.owner, job.age, step)


def words(spec: Any) -> str:
    """What is computed, in a line; of a file that somebody brought, not where it lies."""
    data = getattr(spec, "data", None)
    name = "" if data is None else "a file of her own" if is_own(data.id) else data.id
    if isinstance(spec, RunSpec):
        epsilon = "" if spec.budget is None else f", epsilon {spec.budget.epsilon:g}"
        parameters = "".join(
            f", {parameter} {value}" for parameter, value in spec.parameters.items()
        )
        return f"{spec.algorithm} on {name}{epsilon}, seed {spec.seed}{parameters}"
    size = getattr(spec, "size", None)
    return (
        f"{type(spec).__name__.removesuffix('Spec').lower()}"
        + (f" of {size:,g}" if size else "")
        + (f" on {name}" if name else "")
    )


def stop(engine: Engine, ticket: str) -> str:
    """End a run for everybody who waits for it; what was stopped.

    Raises BadInput where it is not in the queue.
    """
    jobs = [job for job in engine.jobs() if ticket and job.ticket.startswith(ticket)]
    if len(jobs) != 1:
        what = f"{len(jobs)} runs in the queue begin" if jobs else "No run in the queue begins"
        raise BadInput(f"{what} with {ticket!r}. The Operator page lists them.")
    jobs[0].stop()
    return words(jobs[0].spec)


# ---- in words ------------------------------------------------------------------------------------


def lasting(seconds: float) -> str:
    """3 s, 12 min, 5.0 h"""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def presence(away: float | None) -> str:
    return "yes" if away is None else f"gone for {lasting(away)}"
