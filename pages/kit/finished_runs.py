"""Handles on runs that need not be asked for: of what has finished, and of what comes with the
package.
"""

from collections.abc import Mapping
from typing import Any

from dpmf_core.jobs.engine import engine
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec


class FinishedRun:
    """A finished run of which a page needs the record alone: a handle without arrays."""

    state, error, bad_input, progress, is_queued = "done", None, False, None, False

    def __init__(self, spec: RunSpec, run: Run) -> None:
        self.spec, self._run = spec, Run(run.record, {}) if run.arrays else run

    def cancel(self) -> None:
        """It has ended."""

    def wait(self, timeout: float) -> bool:
        return True

    def result(self, timeout: float | None = None) -> Run:
        return self._run


def from_package(specs: Mapping[str, Any]) -> dict[str, FinishedRun]:
    """Runs that come with the package and that the store is not known to have, by name."""
    runs = {name: spec for name, spec in specs.items() if isinstance(spec, RunSpec)}
    summaries = engine().known_runs.summaries(list(runs.values()))
    records = {
        name: shipped_runs.record(spec)
        for (name, spec), here in zip(runs.items(), summaries, strict=True)
        if here is None
    }
    return {
        name: FinishedRun(runs[name], Run(record, {}))
        for name, record in records.items()
        if record is not None
    }
