"""Finished work: runs in the store, and what it does not hold in memory, for a while."""

import threading
from collections import OrderedDict
from weakref import WeakValueDictionary

from dpmf_core.jobs.job import Task
from dpmf_core.runs.record import Run
from dpmf_core.runs.store import DamagedRun, Store
from dpmf_core.serving.settings import settings

MOST_REMEMBERED = 200  # outcomes in memory


class Results:
    """Safe to call from any thread."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        # by key and lightness: sessions that look at the same run share it, and it is read once
        self._cached_runs: WeakValueDictionary[tuple[str, bool], Run] = WeakValueDictionary()
        # of measurements, and of runs on somebody's own file
        self._remembered_tasks: OrderedDict[str, Task] = OrderedDict()

    def find_run(self, key: str, light: bool) -> Run | None:
        """A stored run; None where there is none, or it is damaged and to be computed again.

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
        """Raises BadInput where the disk refuses."""
        self._store.put(run, owner)
        for light in (False, True):
            self._cached_runs.pop((run.key, light), None)
        if (most := settings().most_runs) is not None:
            self._store.keep_at_most(most, besides=run.key)

    def remember(self, task: Task) -> None:
        """A task that is done, whose outcome the store does not hold."""
        with self._lock:
            self._remembered_tasks[task.identity] = task
            while len(self._remembered_tasks) > MOST_REMEMBERED:
                self._remembered_tasks.popitem(last=False)

    def recall(self, identity: str) -> Task | None:
        with self._lock:
            task = self._remembered_tasks.get(identity)
            if task is not None:
                self._remembered_tasks.move_to_end(identity)
            return task

    def recalled_tasks(self, data_id: str) -> list[Task]:
        """All that is remembered of a data set."""
        with self._lock:
            return [it for it in self._remembered_tasks.values() if _data_id(it) == data_id]

    def forget(self, data_id: str) -> None:
        """What was computed on a data set that is gone."""
        with self._lock:
            for name, task in list(self._remembered_tasks.items()):
                if _data_id(task) == data_id:
                    del self._remembered_tasks[name]


def _data_id(task: Task) -> str | None:
    data_id: str | None = getattr(getattr(task.spec, "data", None), "id", None)
    return data_id
