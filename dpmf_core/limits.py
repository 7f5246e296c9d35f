"""How much one session may ask of the server, and one run of a worker. Runs that no session asked for (command line, Python) have no limits."""

import os
from dataclasses import dataclass

from dpmf_core import machine
from dpmf_core.errors import BadInput


@dataclass(frozen=True)
class Limits:
    """run_seconds, run_memory: of one run, in s and MB; beyond, it ends with a sentence. session_runs: of one session, at once; 0 for as many as
    there are workers. session_seconds: estimated, of all that one session has waiting. ask_seconds: estimated; longer work is confirmed first."""

    run_seconds: float = 1800.0
    run_memory: float = 0.0
    session_runs: int = 0
    session_seconds: float = 7200.0
    ask_seconds: float = 120.0

    @classmethod
    def from_environment(cls) -> "Limits":
        """DPMF_RUN_SECONDS, DPMF_RUN_MEMORY (MB; half of the machine's memory), DPMF_SESSION_RUNS, DPMF_SESSION_SECONDS, DPMF_ASK_SECONDS.

        Raises BadInput on what is no positive number.
        """
        half = machine.memory() / 2
        return cls(
            run_seconds=_setting("DPMF_RUN_SECONDS", cls.run_seconds),
            run_memory=_setting("DPMF_RUN_MEMORY", half),
            session_runs=int(_setting("DPMF_SESSION_RUNS", cls.session_runs)),
            session_seconds=_setting("DPMF_SESSION_SECONDS", cls.session_seconds),
            ask_seconds=_setting("DPMF_ASK_SECONDS", cls.ask_seconds),
        )


def _setting(name: str, usual: float) -> float:
    text = os.environ.get(name)
    if not text:
        return usual
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise BadInput(f"{name} must be a number above 0. Got '{text[:40]}'. Take it out of the environment for {usual:g}.")
    return value


def duration(seconds: float) -> str:
    """Seconds as a person says them, roughly: a few seconds, 40 s, 3 min, 2 h."""
    if seconds < 5:
        return "a few seconds"
    if seconds < 90:
        return f"{round(seconds, -1) if seconds >= 10 else 5:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.0f} h"
