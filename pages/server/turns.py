"""Whose page is drawn next: what answers a touch before what stands below it.

The threads of one process share one processor. Pages that are drawn all at once are all ready
late; one after the other, each is ready as early as it can be.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import streamlit as st

AT_ONCE: Final = 1  # page: two at once are both ready as late as the second would be
ANSWER, BELOW = 0, 1  # how urgent
PATIENCE: Final = {ANSWER: 1.0, BELOW: 4.0}  # seconds after which a page is drawn without a turn
LOOK = 0.2  # seconds between looks whether a page is still wanted
Place = tuple[int, int, threading.Event]  # urgency, number, set when its turn has come


class Turns:
    """Turns of threads, the urgent first, and those that came first before later ones.

    Nobody waits longer than its patience: a turn may be held by a page that reads a large file.
    Safe to call from any thread.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._free, self._lock = at_once, threading.Lock()
        self._waiting: list[Place] = []
        self._numbers = itertools.count()

    def take(self, urgency: int, still_wanted: Callable[[], object]) -> None:
        """Wait for a turn. still_wanted: looked at meanwhile; what it raises ends the waiting."""
        mine = urgency, next(self._numbers), threading.Event()
        with self._lock:
            heapq.heappush(self._waiting, mine)
            self._hand_out()
        until = time.monotonic() + PATIENCE[urgency]
        try:
            while not mine[2].wait(LOOK) and time.monotonic() < until:
                still_wanted()
        except BaseException:
            if not self._leave(mine):
                self.give_back()
            raise
        if self._leave(mine):
            with self._lock:
                self._free -= 1

    def _leave(self, mine: Place) -> bool:
        """Whether this place was still in the queue."""
        with self._lock:
            there = not mine[2].is_set()
            if there:
                self._waiting.remove(mine)
                heapq.heapify(self._waiting)
            return there

    def _hand_out(self) -> None:
        while self._free > 0 and self._waiting:
            heapq.heappop(self._waiting)[2].set()
            self._free -= 1

    def give_back(self) -> None:
        with self._lock:
            self._free += 1
            self._hand_out()


_turns = Turns()
_this_thread = threading.local()  # urgency of the turn of this thread, if it has one


def _look() -> None:
    """Streamlit ends this thread here where the page is not wanted any more."""
    _ = "turns" in st.session_state


def _take(urgency: int) -> None:
    _turns.take(urgency, _look)
    _this_thread.urgency = urgency


def _give_back() -> int | None:
    """How urgent the turn was; None where this thread had none."""
    urgency: int | None = getattr(_this_thread, "urgency", None)
    if urgency is not None:
        _this_thread.urgency = None
        _turns.give_back()
    return urgency


@contextmanager
def drawing() -> Iterator[None]:
    """A page is drawn here, in turn."""
    _take(ANSWER)
    try:
        yield
    finally:
        _give_back()


@contextmanager
def waiting(then: int | None = None) -> Iterator[None]:
    """Something is waited for here; others may be drawn meanwhile. then: how urgent the rest of
    the page is, as before unless given.
    """
    before = _give_back()
    yield
    if before is not None:
        _take(before if then is None else then)


def let_answers_pass() -> None:
    """Between two parts of what is not urgent."""
    with waiting():
        pass
