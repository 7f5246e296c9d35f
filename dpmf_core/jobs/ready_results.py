"""Results that need no computing: stored runs, finished work in memory, open data."""

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakValueDictionary

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import settings
from dpmf_core.jobs.job import (
    Outcome,
    Task,
    data_id_of,
    identity,
    is_own_data,
    stamp_of,
)
from dpmf_core.runs import data_access
from dpmf_core.runs.record import Run, Summary, summarise
from dpmf_core.runs.run_file import DamagedRun
from dpmf_core.runs.specification import DataSpec, RunSpec, run_key
from dpmf_core.runs.store import Store
from dpmf_core.runs.stored_charges import enter_stored

MOST_REMEMBERED = 200  # outcomes in memory
AT_ONCE = 8  # data sets that are opened together: a slow one delays only those who wait for it

StampedData = tuple[DataSpec, Any]  # a data set and the stamp of its bytes


class Opener:
    """Opens data sets in the background; an open one is reported at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(AT_ONCE, "dpmf-loading")
        self._waiting: dict[StampedData, list[Callable[[Any], None]]] = {}

    def ask(self, source: StampedData, then: Callable[[Any], None]) -> None:
        """Call `then` with a data set's identity, or with the exception from opening it."""
        if (known := data_access.known_identity(source[0])) is not None:
            then(known)
            return
        with self._lock:
            is_new = source not in self._waiting
            self._waiting.setdefault(source, []).append(then)
        if is_new:
            with contextlib.suppress(RuntimeError):  # closed
                self._pool.submit(self._open, source)

    def _open(self, source: StampedData) -> None:
        result: Any
        try:
            result = data_access.identified_data(source[0])
        except Exception as error:
            result = error
        with self._lock:
            then = self._waiting.pop(source)
        for each in then:
            each(result)

    def close(self) -> None:
        """Open nothing more, and wait for what is being opened."""
        self._pool.shutdown(cancel_futures=True)


class KnownRuns:
    """Finished runs and measurements. Safe to call from any thread."""

    def __init__(self, store: Store, opener: Opener) -> None:
        self._store = store
        self._opener = opener
        self._lock = threading.Lock()
        # sessions that look at the same run share it, so it is read once
        self._cached_runs: WeakValueDictionary[str, Run] = WeakValueDictionary()
        # measurements, and runs on uploaded files, by identity
        self._remembered: OrderedDict[str, Task] = OrderedDict()

    def stored(self, key: str) -> Run | None:
        """A stored run; None if the run is not stored or is damaged."""
        run = self._cached_runs.get(key)
        if run is None or not self._store.has(key):
            try:
                run = self._store.get(key)
            except DamagedRun:
                return None
            if run is not None:
                self._cached_runs[key] = run
        return run

    def keep(self, run: Run, owner: str) -> None:
        """Store a run.

        Raises
        ------
        BadInput
            If the disk refuses.
        """
        self._store.put(run, owner)
        self._cached_runs.pop(run.key, None)
        if (most := settings().most_runs) is not None:
            self._store.keep_at_most(most, besides=run.key)

    # -- what the store does not hold --------------------------------------------------------------

    def remember(self, task: Task, outcome: Outcome) -> None:
        """Keep a task that ends with this outcome for a while, and the run that it made, if any."""
        of_run = _task_of_run(task, outcome)
        with self._lock:
            self._remembered[task.identity] = task
            if of_run is not None:
                self._remembered.setdefault(of_run.identity, of_run)
            while len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)

    def recall(self, task_identity: str) -> Task | None:
        with self._lock:
            task = self._remembered.get(task_identity)
            if task is not None:
                self._remembered.move_to_end(task_identity)
            return task

    def forget(self, data_id: str) -> None:
        """Forget the results on a deleted data set."""
        with self._lock:
            for name, task in list(self._remembered.items()):
                if data_id_of(task.spec) == data_id:
                    del self._remembered[name]

    # -- without computing or waiting for anything -------------------------------------------------

    def find(self, spec: RunSpec) -> Run | None:
        """A run that is stored, in memory or comes with the package; else None.

        A run that comes with the package has no arrays. While its data are not open, only such a
        run is found; the data are opened meanwhile. Raises BadInput.
        """
        return self.find_runs([spec])[0]

    def find_runs(self, specs: Sequence[RunSpec]) -> list[Run | None]:
        """`find` for several runs."""
        shared = iter(self._store.find_runs(self._identified(specs)))
        runs = []
        for spec in specs:
            if is_own_data(spec):
                run = self._remembered_run(spec)
            else:
                run = next(shared)
            runs.append(_charged(run))
        return runs

    def find_all(self, specs: Sequence[RunSpec]) -> list[Summary | None]:
        """`find` for several runs, as summaries."""
        shared = iter(self._store.find_all(self._identified(specs)))
        summaries: list[Summary | None] = []
        for spec in specs:
            if is_own_data(spec):
                run = _charged(self._remembered_run(spec))
                summaries.append(summarise(run.record) if run else None)
            else:
                summaries.append(self._charged_summary(next(shared)))
        return summaries

    def _charged_summary(self, summary: Summary | None) -> Summary | None:
        if summary is None or summary["public"]:
            return summary
        if _charged(self.stored(summary["key"])):
            return summary
        return None

    def lacking(self, specs: Sequence[RunSpec]) -> list[RunSpec]:
        """The runs on shared data that the store does not have, as far as their data are open."""
        return self._store.lacking(self._identified(specs))

    def whole(self, spec: RunSpec) -> Run | None:
        """A run with its arrays, if it is stored or in memory; else None."""
        if is_own_data(spec):
            return _charged(self._remembered_run(spec))
        known = self._identify(spec)
        if known is None:
            return None
        return _charged(self.stored(run_key(spec, known)))

    def _identified(self, specs: Sequence[RunSpec]) -> list[RunSpec]:
        """The runs on shared data; have these data opened if they are not known."""
        shared = [spec for spec in specs if not is_own_data(spec)]
        for spec in {spec.data: spec for spec in shared}.values():
            self._identify(spec)
        return shared

    def _identify(self, spec: RunSpec) -> data_access.DataIdentity | None:
        """A run's data identity if known; otherwise have the data opened."""
        known = data_access.known_identity(spec.data)
        if known is None:
            self._opener.ask((spec.data, stamp_of(spec)), lambda _: None)
        return known

    def _remembered_run(self, spec: RunSpec) -> Run | None:
        task = self.recall(identity(spec, stamp_of(spec)))
        if task is not None and isinstance(task.outcome, Run):
            return task.outcome
        return None

    def epsilons(self, spec: RunSpec) -> list[float]:
        """The known epsilons, ascending, of this algorithm's runs on these data."""
        if not is_own_data(spec):
            return self._store.epsilons(spec.data.id, spec.algorithm)
        with self._lock:
            works = [task.spec for task in self._remembered.values()]
        epsilons = {
            work.epsilon
            for work in works
            if isinstance(work, RunSpec)
            and (work.data.id, work.algorithm) == (spec.data.id, spec.algorithm)
        }
        return sorted(epsilon for epsilon in epsilons if epsilon is not None)


def _charged(run: Run | None) -> Run | None:
    """A stored run that the account of its data holds; None if a budget does not allow it.

    The person who submits it then gets the reason.
    """
    try:
        if run is not None:
            enter_stored(run.record)
    except BadInput:
        return None
    return run


def _task_of_run(task: Task, outcome: Outcome) -> Task | None:
    """The finished task of a run on an uploaded file that other work made, such as a measured one.

    Anyone who asks for that run then gets it, and it is not drawn twice.
    """
    if isinstance(task.spec, RunSpec) or not isinstance(outcome, Run):
        return None
    spec = outcome.spec
    if not is_own_data(spec):
        return None
    of_run = Task(identity(spec, stamp_of(spec)), spec)
    of_run.settle(outcome)
    return of_run
