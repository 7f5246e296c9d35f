"""What is known without computing: runs in the store, finished work in memory, opened data sets."""

import contextlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from dpmf_core.jobs.job import Task, identity, is_own_data, stamp_of
from dpmf_core.runs import data_access
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec, run_key
from dpmf_core.runs.store import DamagedRun, Store
from dpmf_core.runs.summary import summarise
from dpmf_core.serving.settings import settings

MOST_REMEMBERED = 200  # outcomes in memory
AT_ONCE = 4  # data sets that are opened at a time; of one session one

Source = tuple[DataSpec, Any]  # a data set and the stamp of its bytes
Summary = dict[str, Any]  # of a run, as `summary.summarise` has it


@dataclass(frozen=True)
class DataFacts:
    """What a run's key needs of its data, and whether they are public."""

    fingerprint: str
    public: bool


class Fingerprints:
    """The facts of data sets, which are opened in the background, sessions in turn.

    A slow data set holds up only those who wait for it. Asking again opens nothing.
    """

    def __init__(self) -> None:
        self._facts: dict[Source, DataFacts] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(AT_ONCE, "dpmf-loading")
        self._lines: dict[str, deque[Source]] = {}  # of each session; one is being opened
        self._waiting: dict[Source, list[Callable[[Any], None]]] = {}
        self._opening: set[Source] = set()

    def find(self, source: Source) -> DataFacts | None:
        """Return what is known already."""
        return self._facts.get(source)

    def ask(self, source: Source, asker: str, then: Callable[[Any], None]) -> None:
        """Call `then` with the facts of a data set, or with the exception that opening raised."""
        with self._lock:
            self._waiting.setdefault(source, []).append(then)
            line = self._lines.setdefault(asker, deque())
            line.append(source)
            if len(line) == 1:
                self._pool.submit(self._open_next, asker)

    def _open_next(self, asker: str) -> None:
        """Open the first source of a session's line, unless another session's turn did."""
        with self._lock:
            source = self._lines[asker][0]
            is_ours = source in self._waiting and source not in self._opening
            if is_ours:
                self._opening.add(source)
        facts = self._open(source) if is_ours else None
        with self._lock:
            then = self._waiting.pop(source) if is_ours else []
            self._opening.discard(source)
            self._lines[asker].popleft()
            if not self._lines[asker]:
                del self._lines[asker]
            else:
                with contextlib.suppress(RuntimeError):  # closed
                    self._pool.submit(self._open_next, asker)  # after all other sessions' turns
        for each in then:
            each(facts)

    def _open(self, source: Source) -> Any:
        try:
            data = data_access.identified_data(source[0])
        except Exception as error:
            return error
        facts = self._facts[source] = DataFacts(data.fingerprint, data.public)
        return facts

    def forget(self, data_id: str) -> None:
        for source in [source for source in list(self._facts) if source[0].id == data_id]:
            del self._facts[source]

    def close(self) -> None:
        """Open nothing more; what is being opened is waited for."""
        self._pool.shutdown(cancel_futures=True)


class Results:
    """Finished runs and measurements. Safe to call from any thread."""

    def __init__(self, store: Store, data: Fingerprints) -> None:
        self._store, self._data, self._lock = store, data, threading.Lock()
        # by key and lightness: sessions that look at the same run share it, and it is read once
        self._cached_runs: WeakValueDictionary[tuple[str, bool], Run] = WeakValueDictionary()
        # measurements, and runs on uploaded files, by identity
        self._remembered: OrderedDict[str, Task] = OrderedDict()

    # -- one run -----------------------------------------------------------------------------------

    def find_run(self, key: str, light: bool) -> Run | None:
        """Return a stored run; None where there is none, or it is damaged.

        light: without its arrays.
        """
        cached_run = self._cached_runs.get((key, light))
        if cached_run is not None and self._store.has(key):
            return cached_run
        run = self._read(key, light)
        if run is not None:
            self._cached_runs[key, light] = run
        return run

    def _read(self, key: str, light: bool) -> Run | None:
        try:
            if not light:
                return self._store.get(key)
            record = self._store.record(key)
        except DamagedRun:
            return None
        return None if record is None else Run(record, {})

    def keep(self, run: Run, owner: str) -> None:
        """Store a run. Raises BadInput where the disk refuses."""
        self._store.put(run, owner)
        for light in (False, True):
            self._cached_runs.pop((run.key, light), None)
        if (most := settings().most_runs) is not None:
            self._store.keep_at_most(most, besides=run.key)

    # -- what the store does not hold --------------------------------------------------------------

    def remember(self, task: Task) -> None:
        """Hold on to a finished task for a while."""
        with self._lock:
            self._remembered[task.identity] = task
            while len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)

    def recall(self, task_identity: str) -> Task | None:
        with self._lock:
            task = self._remembered.get(task_identity)
            if task is not None:
                self._remembered.move_to_end(task_identity)
            return task

    def forget(self, data_id: str) -> None:
        """Forget what was computed on a data set that is gone."""
        with self._lock:
            for name, task in list(self._remembered.items()):
                if _data_id(task) == data_id:
                    del self._remembered[name]

    # -- many runs, without computing, opening or waiting for anything -----------------------------

    def summaries(self, specs: Sequence[RunSpec]) -> list[Summary | None]:
        """Return the summary of each of these runs that is known, None of the others.

        Of data that were not opened yet nothing is found; they are opened meanwhile. Raises
        BadInput.
        """
        stamps = {spec.data: stamp_of(spec) for spec in specs}
        keys = ["" if is_own_data(spec) else self._key(spec, stamps[spec.data]) for spec in specs]
        stored = self._store.summaries([key for key in keys if key])
        return [
            stored.get(key) if key else self._remembered_summary(spec, stamps[spec.data])
            for spec, key in zip(specs, keys, strict=True)
        ]

    def _key(self, spec: RunSpec, stamp: Any) -> str:
        """Return the key of a run; '' where its data were not opened yet."""
        source = spec.data, stamp
        if (facts := self._data.find(source)) is not None:
            return run_key(spec, facts)
        self._data.ask(source, "", lambda _: None)
        return ""

    def _remembered_summary(self, spec: RunSpec, stamp: Any) -> Summary | None:
        task = self.recall(identity(spec, stamp))
        outcome = None if task is None else task.outcome
        return summarise(outcome.record) if isinstance(outcome, Run) else None

    def whole(self, spec: RunSpec) -> Run | None:
        """Return a run with its arrays; None where it is not known, or cannot be read."""
        stamp = stamp_of(spec)
        if is_own_data(spec):
            task = self.recall(identity(spec, stamp))
            return task.outcome if task and isinstance(task.outcome, Run) else None
        key = self._key(spec, stamp)
        return self.find_run(key, light=False) if key else None

    def epsilons(self, spec: RunSpec) -> list[float]:
        """Return at which epsilons, ascending, runs of this algorithm on these data are known."""
        if not is_own_data(spec):
            return self._store.epsilons(spec.data.id, spec.algorithm)
        with self._lock:
            runs = [it.spec for it in self._remembered.values() if _data_id(it) == spec.data.id]
        same = [it for it in runs if isinstance(it, RunSpec) and it.algorithm == spec.algorithm]
        return sorted({it.budget.epsilon for it in same if it.budget is not None})


def _data_id(task: Task) -> str | None:
    data_id: str | None = getattr(getattr(task.spec, "data", None), "id", None)
    return data_id
