"""The box for a room code, and room codes in the address."""

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.teaching import room_codes
from pages.kit.base import lesson, safe_text
from pages.server import visitor

NAME = "room"  # parameter in the address
LABEL = "Room code"
PAGES = ("start", "lessons")  # that draw the box themselves
TYPED = "room.code"  # in the session: the text of the box
PROBLEM = "room.problem"  # in the session: why its code failed


def take_code_from_address() -> None:
    """Replace a room code in the address by its class's link, or keep why that is not possible."""
    text = st.query_params.get(NAME)
    if text is None:
        return
    # one try: a rerun must not count as another
    del st.query_params[NAME]
    if lesson.sequence() is None and lesson.NAME not in st.query_params:
        st.session_state[TYPED] = text[:20]
        _join()


def was_refused() -> bool:
    """Whether the last code opened nothing."""
    return PROBLEM in st.session_state


def draw() -> None:
    """Draw the box, with the reason why the last code opened nothing."""
    if problem := st.session_state.get(PROBLEM):
        st.error(safe_text.escape(problem))
    with (
        st.form("room", border=False, width=240),
        st.container(
            horizontal=True,
            wrap=False,
            gap="xsmall",
        ),
    ):
        st.text_input(
            LABEL,
            key=TYPED,
            max_chars=20,
            placeholder=LABEL,
            label_visibility="collapsed",
        )
        st.form_submit_button("Join", on_click=_join)


def _join() -> None:
    """Open the class of the code in the box."""
    state = st.session_state
    text = state.get(TYPED, "")
    state.pop(PROBLEM, None)
    try:
        with visitor.here():
            token = room_codes.link_of(text, visitor.address())
    except BadInput as error:
        state[PROBLEM] = error.args[0]
        return
    lesson.forget_settings()
    state.pop("lesson.complaint", None)  # of an earlier link
    st.query_params[lesson.NAME] = token
