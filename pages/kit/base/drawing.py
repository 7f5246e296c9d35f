"""When parts of a page are drawn: turns of pages, first views first, and repeated parts.

The threads of one process share one processor. Pages drawn at the same time are all late; drawn one
after the other, each is as early as it can be.
"""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import streamlit as st

from pages.server import streamlit_internals

# urgency
ANSWER = 0
BELOW = 1
# seconds after which a page is drawn without a turn
PATIENCE: Final = {
    ANSWER: 1.0,
    BELOW: 4.0,
}
LOOK = 0.2  # seconds between checks that a page is still wanted
TURN = "drawing.turn"
FIRST_VIEW_DRAWN = "drawing.drawn"
PAINT = 0.06  # seconds until a browser begins to draw
FIRST_PAINT = 5.0  # at most, if it must first load the scripts of a first view


class Turns:
    """Turns of threads, urgent ones first, otherwise in order of arrival. Thread-safe.

    One thread has the turn at a time. A thread goes on without a turn after its patience, because
    another page may hold it while reading a large file.
    """

    def __init__(self) -> None:
        self.holders = 0  # threads that are drawing
        self.line: list[tuple[int, int]] = []  # (urgency, number) of waiting threads
        self._numbers = itertools.count()
        self._changed = threading.Condition()

    def take(self, urgency: int, still_wanted: Callable[[], object]) -> None:
        """Wait for a turn. `still_wanted` is called meanwhile, and its exception ends the wait."""
        place = (urgency, next(self._numbers))
        until = time.monotonic() + PATIENCE[urgency]
        with self._changed:
            self.line.append(place)
            try:
                while (
                    self.holders or min(self.line) < place
                ) and time.monotonic() < until:
                    self._changed.wait(LOOK)
                    still_wanted()
            finally:
                self.line.remove(place)
                self._changed.notify_all()
            self.holders += 1

    def give_back(self) -> None:
        with self._changed:
            self.holders -= 1
            self._changed.notify_all()


turns = Turns()
_this_thread = threading.local()  # urgency of the turn of this thread, if it has one


def _take(urgency: int) -> None:
    turns.take(urgency, streamlit_internals.end_if_unwanted)
    _this_thread.urgency = urgency


def _give_back() -> int | None:
    """Give the turn back. Return its urgency, or None if this thread had none."""
    urgency: int | None = getattr(_this_thread, "urgency", None)
    if urgency is not None:
        _this_thread.urgency = None
        turns.give_back()
    return urgency


@contextmanager
def in_turn() -> Iterator[None]:
    _take(ANSWER)
    try:
        yield
    finally:
        _give_back()


@contextmanager
def waiting(then: int | None = None) -> Iterator[None]:
    """Give the turn to others while waiting. `then` is the urgency of the rest."""
    before = _give_back()
    yield
    if before is None:
        return
    if then is None:
        then = before
    _take(then)


def let_answers_pass() -> None:
    """Let urgent threads draw between two parts of a page."""
    with waiting():
        pass


def repeat(draw: Callable[[], None], every: float | None) -> None:
    """Draw now and every `every` seconds until the page is drawn again.

    If `every` is None, draw again only when one of its widgets changes.
    """
    turn = st.session_state.get(TURN, 0) + 1
    st.session_state[TURN] = turn
    streamlit_internals.fragment(draw, f"repeat.{turn}", every)


def awaits_first_view() -> bool:
    """Whether this session's browser has yet to draw its first view."""
    return FIRST_VIEW_DRAWN not in st.session_state and st.context.url is not None


def first_view_drawn() -> None:
    st.session_state[FIRST_VIEW_DRAWN] = True


def first_view_ends(has_component: bool) -> None:
    """Send what was drawn so far, and the rest later.

    The rest follows once a browser has begun to draw. In a session's first view it follows once the
    browser reports that it has drawn, which restarts the script. A browser draws everything
    received in one go and runs one script at a time. Plotly and the diagrams' scripts (7 MB) take
    several times as long as everything above them, and would delay a first view sent with them.

    Parameters
    ----------
    has_component
        Whether the first view has a component that reports.
    """
    # Streamlit sends what a script draws without saying when the browser has drawn it, so the
    # script can only wait; the component's report ends it and starts the next one
    with waiting(then=BELOW):
        time.sleep(PAINT)
        if not has_component:
            return
        end = time.monotonic() + FIRST_PAINT
        while awaits_first_view() and time.monotonic() < end:
            time.sleep(PAINT)
            streamlit_internals.end_if_unwanted()
        first_view_drawn()
