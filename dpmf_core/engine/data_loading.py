"""Opening data sets for the engine: several at a time, sessions in turns, so that a slow one
holds up nobody but those who wait for it; and what is remembered of them.
"""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from dpmf_core.engine.round_robin import Turns
from dpmf_core.runs import data_access
from dpmf_core.runs.specification import DataSpec

AT_ONCE = 4  # data sets; of one session one

Source = Hashable
Found = Any  # what opening gave, or the exception that it raised


class Openers:
    """opened: opens a source; it runs in threads of these openers."""

    def __init__(self, opened: Callable[[Any], Any]) -> None:
        self._opened, self._closed = opened, False
        self._lock = threading.Lock()
        self._turns: Turns[Source] = Turns()
        self._waiting: dict[Source, list[Callable[[Found], None]]] = {}
        self._now: dict[Source, str] = {}  # being opened, and for whom
        self._pool = ThreadPoolExecutor(AT_ONCE, "dpmf-desk")
        self._asked = 0

    def ask(self, source: Source, asker: str, then: Callable[[Found], None]) -> None:
        """Call `then` with what opening the source gives.

        A source that is waited for already is opened once.
        """
        with self._lock:
            waiting = self._waiting.setdefault(source, [])
            waiting.append(then)
            if source not in self._now:
                self._asked += 1
                self._turns.add(source, asker, (self._asked,))
        self._next()

    def _next(self) -> None:
        with self._lock:
            if self._closed or len(self._now) >= AT_ONCE:
                return
            taken = self._turns.take(
                lambda _, asker: asker == "" or asker not in self._now.values()
            )
            if taken is not None:
                self._now[taken[0]] = taken[1]
                self._pool.submit(self._work, taken[0])

    def _work(self, source: Source) -> None:
        try:
            found: Found = self._opened(source)
        except Exception as error:
            found = error
        with self._lock:
            waiting = self._waiting.pop(source)
            del self._now[source]
        self._next()
        for then in waiting:
            then(found)

    def close(self) -> None:
        """Open nothing more; what is being opened is waited for."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(cancel_futures=True)


DataSource = tuple[DataSpec, Any]  # a data set and the stamp of its bytes


@dataclass(frozen=True)
class Opened:
    """What a run's key needs of its data, and whether they are public."""

    fingerprint: str
    public: bool


class Fingerprints:
    """Of data sets that were opened; asking again opens nothing."""

    def __init__(self) -> None:
        self._known: dict[DataSource, Opened] = {}
        self._openers = Openers(self._open)

    def find(self, source: DataSource) -> Opened | None:
        """What is known already."""
        return self._known.get(source)

    def ask(self, source: DataSource, asker: str, then: Callable[[Found], None]) -> None:
        """Call `then` with what opening the data gives."""
        self._openers.ask(source, asker, then)

    def _open(self, source: DataSource) -> Opened:
        data = data_access.identified(source[0])
        found = self._known[source] = Opened(data.fingerprint, data.public)
        return found

    def forget(self, data_id: str) -> None:
        for source in [source for source in list(self._known) if source[0].id == data_id]:
            del self._known[source]

    def close(self) -> None:
        self._openers.close()
