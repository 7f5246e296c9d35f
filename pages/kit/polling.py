"""When a browser draws the parts of a page: the first view before the rest, and what draws itself
again and again.
"""

import logging
import time
from collections.abc import Callable

import streamlit as st

from pages.server import turns

TURN = "polling.turn"
FIRST_VIEW_DRAWN = "polling.drawn"
PAINT = 0.06  # seconds within which a browser has begun to draw what it was sent
FIRST_PAINT = 5.0  # the same, at most, where it has yet to load what draws a first view
# at level info it tells of every request for a fragment that no longer exists, of which there are
# many here
logging.getLogger("streamlit.runtime.app_session").setLevel(logging.WARNING)


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
    with turns.waiting(then=turns.BELOW):
        time.sleep(PAINT)
        end = time.monotonic() + FIRST_PAINT
        # a look at the state, and Streamlit ends this script where the next is asked for
        while has_component and awaits_first_view() and time.monotonic() < end:
            time.sleep(PAINT)
        if has_component:
            first_view_drawn()
