"""Opening data sets for the engine: several at a time, sessions in turns, so that a slow one
holds up nobody but those who wait for it; and what is remembered of them.
"""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from dpmf_core.jobs.round_robin import Turns
from dpmf_core.runs import data_access
from dpmf_core.runs.specification import DataSpec

AT_ONCE = 4  # data sets; of one session one

Source = Hashable
OpenResult = Any  # what opening gave, or the exception that it raised


class Openers:
    """open_source: opens a source; it runs in threads of these openers."""

    def __init__(self, open_source: Callable[[Any], Any]) -> None:
        self._open_source, self._closed = open_source, False
        self._lock = threading.Lock()
        self._turns: Turns[Source] = Turns()
        self._waiting: dict[Source, list[Callable[[OpenResult], None]]] = {}
        self._now: dict[Source, str] = {}  # being opened, and for whom
        self._pool = ThreadPoolExecutor(AT_ONCE, "dpmf-loading")
        self._n_requests = 0

    def ask(self, source: Source, asker: str, then: Callable[[OpenResult], None]) -> None:
        """Call `then` with what opening the source gives.

        A source that is waited for already is opened once.
        """
        with self._lock:
            waiting = self._waiting.setdefault(source, [])
            waiting.append(then)
            if source not in self._now:
                self._n_requests += 1
                self._turns.add(source, asker, (self._n_requests,))
        self._next()

    def _next(self) -> None:
        with self._lock:
            if self._closed or len(self._now) >= AT_ONCE:
                return
            turn = self._turns.take(lambda _, asker: asker == "" or asker not in self._now.values())
            if turn is not None:
                self._now[turn[0]] = turn[1]
                self._pool.submit(self._work, turn[0])

    def _work(self, source: Source) -> None:
        try:
            result: OpenResult = self._open_source(source)
        except Exception as error:
            result = error
        with self._lock:
            waiting = self._waiting.pop(source)
            del self._now[source]
        self._next()
        for then in waiting:
            then(result)

    def close(self) -> None:
        """Open nothing more; what is being opened is waited for."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(cancel_futures=True)


DataSource = tuple[DataSpec, Any]  # a data set and the stamp of its bytes


@dataclass(frozen=True)
class DataFacts:
    """What a run's key needs of its data, and whether they are public."""

    fingerprint: str
    public: bool


class Fingerprints:
    """Of data sets that were opened; asking again opens nothing."""

    def __init__(self) -> None:
        self._facts: dict[DataSource, DataFacts] = {}
        self._openers = Openers(self._open)

    def find(self, source: DataSource) -> DataFacts | None:
        """What is known already."""
        return self._facts.get(source)

    def ask(self, source: DataSource, asker: str, then: Callable[[OpenResult], None]) -> None:
        """Call `then` with what opening the data gives."""
        self._openers.ask(source, asker, then)

    def _open(self, source: DataSource) -> DataFacts:
        data = data_access.identified_data(source[0])
        facts = self._facts[source] = DataFacts(data.fingerprint, data.public)
        return facts

    def forget(self, data_id: str) -> None:
        for source in [source for source in list(self._facts) if source[0].id == data_id]:
            del self._facts[source]

    def close(self) -> None:
        self._openers.close()
