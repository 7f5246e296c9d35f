"""Opening data sets for the engine: several at a time, sessions in turns, so that a slow one holds up nobody but those who wait for it."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dpmf_core.turns import Turns

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
        """Call `then` with what opening the source gives. A source that is waited for already is opened once."""
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
            taken = self._turns.take(lambda _, asker: asker == "" or asker not in self._now.values())
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
