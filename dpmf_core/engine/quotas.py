"""How much one session may ask of the server, and one run of a worker.

Runs that no session asked for (command line, Python) have no limits.
"""

import math
from dataclasses import dataclass

from dpmf_core.engine import machine
from dpmf_core.serving.settings import settings


@dataclass(frozen=True)
class Limits:
    """run_seconds, run_memory: of one run, in s and MB; beyond, it ends with a sentence.
    session_runs: of one session, at once; 0 for as many as there are workers. session_seconds:
    estimated, of all that one session has waiting. ask_seconds: estimated; longer work is confirmed
    first.
    """

    run_seconds: float = 1800.0
    run_memory: float = math.inf
    session_runs: int = 0
    session_seconds: float = 7200.0
    ask_seconds: float = 120.0

    @classmethod
    def from_settings(cls) -> "Limits":
        """Those that whoever runs the server set."""
        values = settings()
        return cls(
            run_seconds=_or_none(values.seconds_per_run),
            run_memory=(
                machine.memory() / 2
                if values.memory_per_run == "half"
                else _or_none(values.memory_per_run)
            ),
            session_runs=values.runs_in_flight or 0,
            session_seconds=_or_none(values.estimated_seconds),
            ask_seconds=values.confirm_seconds,
        )


def _or_none(limit: int | None) -> float:
    return math.inf if limit is None else limit


def duration(seconds: float) -> str:
    """Seconds as a person says them, roughly, after "about" too: 5 s, 40 s, 3 min, 2 h."""
    if seconds < 90:
        return f"{round(seconds, -1) if seconds >= 10 else 5:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
