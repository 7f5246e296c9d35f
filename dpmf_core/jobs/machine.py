"""The resources of this machine, and the limits of one session and one run.

Runs that no session asked for (command line, Python) have no limits.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

SMALL = 1500.0  # MB; with less, worker processes would leave no memory for the runs


def memory(root: Path = Path("/")) -> float:
    """The memory that this process may use, in MB.

    It is the machine's, or what a control group (version 1 or 2) allows. Tests pass another root of
    the file system.
    """
    whole: int = psutil.virtual_memory().total
    return min([whole, *_limits(root)]) / 1e6


def is_small(root: Path = Path("/")) -> bool:
    return memory(root) < SMALL


def _limits(root: Path) -> Iterator[int]:
    """Bytes that the visible control groups of the process and those above it allow."""
    groups = root / "sys/fs/cgroup"
    for version, name in (
        (groups, "memory.max"),
        (groups / "memory", "memory.limit_in_bytes"),
    ):
        for inner in ("", *_own(root)):
            for folder in (version / inner, *(version / inner).parents):
                if folder != version and version not in folder.parents:
                    break
                if (limit := _number(folder / name)) is not None:
                    yield limit


def _own(root: Path) -> list[str]:
    """Paths of this process's control groups, relative to their mount points."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    return [
        line.split(":", 2)[2].lstrip("/")
        for line in lines
        if line.count(":") >= 2 and ".." not in line
    ]


def _number(path: Path) -> int | None:
    """The number in a file; None if the file is missing or says "max"."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class Limits:
    """Limits of sessions and runs.

    Attributes
    ----------
    run_seconds, run_memory : float
        The limits of one run, in s and MB. Beyond them it ends with a message.
    session_runs : int
        How many runs one session has at once; 0 for as many as there are workers.
    session_seconds : float
        The estimated time of all waiting work of a session, in s.
    ask_seconds : float
        An estimated time, in s. Longer work needs confirmation.
    """

    run_seconds: float = 1800.0
    run_memory: float = math.inf
    session_runs: int = 0
    session_seconds: float = 7200.0
    ask_seconds: float = 120.0

    @classmethod
    def from_settings(cls) -> "Limits":
        """Limits set by the operator of the server."""
        from dpmf_core.base.settings import settings  # most commands need none

        values = settings()
        most_memory: float | None
        if values.memory_per_run == "half":
            most_memory = memory() / 2
        else:
            most_memory = values.memory_per_run
        return cls(
            run_seconds=values.seconds_per_run or math.inf,
            run_memory=most_memory or math.inf,
            session_runs=values.runs_in_flight or 0,
            session_seconds=values.estimated_seconds or math.inf,
            ask_seconds=values.confirm_seconds,
        )


def duration(seconds: float) -> str:
    """Rough seconds in words, also after "about": 5 s, 40 s, 3 min, 2 h."""
    if seconds < 90:
        return f"{round(seconds, -1) if seconds >= 10 else 5:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
