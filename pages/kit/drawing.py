"""When the parts of a page are drawn: whose page is next, what answers a touch before what stands
below it, and what draws itself again.

The threads of one process share one processor. Pages that are drawn all at once are all ready
late; one after the other, each is ready as early as it can be.
"""

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import streamlit as st

ANSWER, BELOW = 0, 1  # how urgent
PATIENCE: Final = {ANSWER: 1.0, BELOW: 4.0}  # seconds after which a page is drawn without a turn
LOOK = 0.2  # seconds between looks whether a page is still wanted
TURN = "drawing.turn"
FIRST_VIEW_DRAWN = "drawing.drawn"
PAINT = 0.06  # seconds within which a browser has begun to draw what it was sent
FIRST_PAINT = 5.0  # the same, at most, where it has yet to load what draws a first view
# at level info it tells of every request for a fragment that no longer exists, of which there are
# many here
logging.getLogger("streamlit.runtime.app_session").setLevel(logging.WARNING)


class Turns:
    """Turns of threads: the urgent first, and those that came first before later ones.

    One has the turn at a time; after its patience a thread goes on without, for a turn may be held
    by a page that reads a large file. Safe to call from any thread.
    """

    def __init__(self) -> None:
        self.holders = 0  # how many threads are drawing
        self.line: list[tuple[int, int]] = []  # urgency and number of those that wait
        self._numbers, self._changed = itertools.count(), threading.Condition()

    def take(self, urgency: int, still_wanted: Callable[[], object]) -> None:
        """Wait for a turn. still_wanted: looked at meanwhile; what it raises ends the waiting."""
        place, until = (urgency, next(self._numbers)), time.monotonic() + PATIENCE[urgency]
        with self._changed:
            self.line.append(place)
            try:
                while (self.holders or min(self.line) < place) and time.monotonic() < until:
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


def _look() -> None:
    """Streamlit ends this thread here where the page is not wanted any more."""
    _ = TURN in st.session_state


def _take(urgency: int) -> None:
    turns.take(urgency, _look)
    _this_thread.urgency = urgency


def _give_back() -> int | None:
    """How urgent the turn was; None where this thread had none."""
    urgency: int | None = getattr(_this_thread, "urgency", None)
    if urgency is not None:
        _this_thread.urgency = None
        turns.give_back()
    return urgency


@contextmanager
def in_turn() -> Iterator[None]:
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


# ---- again and again, and the first view ---------------------------------------------------------


def repeat(draw: Callable[[], None], every: float | None) -> None:
    """Draw something now and every so many seconds, until the page is drawn anew; None: only when
    one of its own widgets is touched.

    Each drawing of a page has fragments with names of its own. A browser's request for a fragment
    that arrives when a drawing has just ended begins another script, and Streamlit (1.67) then
    drops what the first still has to send: the page would stand still. A request for a fragment
    that no longer exists is ignored.
    """
    turn = st.session_state[TURN] = st.session_state.get(TURN, 0) + 1

    def draw_turn() -> None:
        draw()

    draw_turn.__qualname__ = f"repeat.{turn}"
    st.fragment(draw_turn, run_every=every)()


def awaits_first_view() -> bool:
    """Whether this session has a browser, and it has yet to draw its first view."""
    return FIRST_VIEW_DRAWN not in st.session_state and st.context.url is not None


def first_view_drawn() -> None:
    """It has."""
    st.session_state[FIRST_VIEW_DRAWN] = True


def first_view_ends(has_component: bool) -> None:
    """What was drawn so far is sent, and the rest later: once a browser has begun to draw it; in
    a session's first view, once it says that it has drawn it, which begins the script anew.

    A browser draws all that has come in one go, and runs one script at a time. What Plotly and
    the drawings of diagrams are made of (7 MB) takes it several times as long as everything above
    them, and a first view that comes together with them would wait for them.

    has_component: whether the first view has a component that will say so.
    """
    with waiting(then=BELOW):
        time.sleep(PAINT)
        end = time.monotonic() + FIRST_PAINT
        # a look at the state, and Streamlit ends this script where the next is asked for
        while has_component and awaits_first_view() and time.monotonic() < end:
            time.sleep(PAINT)
        if has_component:
            first_view_drawn()
