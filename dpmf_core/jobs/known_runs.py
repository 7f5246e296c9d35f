"""What is known of many runs at once, without computing, opening or waiting for anything."""

from collections.abc import Sequence
from typing import Any

from dpmf_core.jobs.data_loading import DataFacts, Fingerprints
from dpmf_core.jobs.identity import identity, is_own_data, stamp_of
from dpmf_core.jobs.results import Results
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec, run_key
from dpmf_core.runs.store import Store
from dpmf_core.runs.summary import summarise

Summary = dict[str, Any]  # of a run, as `summary.summarise` has it


class KnownRuns:
    """Runs in the store, and runs on data that somebody brought, which are remembered for a
    while. Safe to call from any thread.
    """

    def __init__(self, store: Store, results: Results, data: Fingerprints) -> None:
        self._store, self._results, self._data = store, results, data

    def summaries(self, specs: Sequence[RunSpec]) -> list[Summary | None]:
        """The summary of each of these runs that is there, None of the others.

        Of data that were not opened yet nothing is found; they are opened meanwhile. Raises
        BadInput.
        """
        stamps = {spec.data: stamp_of(spec) for spec in specs}
        own = {place for place, spec in enumerate(specs) if is_own_data(spec)}
        keys = self._keys(stamps, [spec for i, spec in enumerate(specs) if i not in own])
        stored_keys = iter(keys)
        by_key = self._store.summaries([key for key in keys if key])
        return [
            self._remembered_summary(spec, stamps[spec.data])
            if i in own
            else by_key.get(next(stored_keys))
            for i, spec in enumerate(specs)
        ]

    def _keys(self, stamps: dict[Any, Any], specs: Sequence[RunSpec]) -> list[str]:
        """The key of each run; '' where its data were not opened yet."""
        facts_by_data: dict[Any, DataFacts | None] = {
            data: self._data.find((data, stamps[data])) for data in {spec.data for spec in specs}
        }
        for data in [data for data, facts in facts_by_data.items() if facts is None]:
            self._data.ask((data, stamps[data]), "", lambda _: None)
        return [
            run_key(spec, facts) if (facts := facts_by_data[spec.data]) is not None else ""
            for spec in specs
        ]

    def _remembered_summary(self, spec: RunSpec, stamp: Any) -> Summary | None:
        task = self._results.recall(identity(spec, stamp))
        outcome = None if task is None else task.outcome
        return summarise(outcome.record) if isinstance(outcome, Run) else None

    def whole(self, spec: RunSpec) -> Run | None:
        """A run with its arrays; None where it is not there, or cannot be read."""
        stamp = stamp_of(spec)
        if is_own_data(spec):
            task = self._results.recall(identity(spec, stamp))
            return task.outcome if task and isinstance(task.outcome, Run) else None
        (key,) = self._keys({spec.data: stamp}, [spec])
        return self._results.find_run(key, light=False) if key else None

    def epsilons(self, spec: RunSpec) -> list[float]:
        """At which epsilons, ascending, runs of this algorithm on these data are there."""
        if not is_own_data(spec):
            return self._store.epsilons(spec.data.id, spec.algorithm)
        runs = [task.spec for task in self._results.recalled_tasks(spec.data.id)]
        same = [it for it in runs if isinstance(it, RunSpec) and it.algorithm == spec.algorithm]
        return sorted({it.budget.epsilon for it in same if it.budget is not None})
