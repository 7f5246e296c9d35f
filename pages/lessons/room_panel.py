"""The way into a class, for its teacher to show: room code, QR code, and a look as a student."""

import html
from urllib.parse import urljoin, urlsplit

import streamlit as st

from dpmf_core.jobs.machine import duration
from dpmf_core.teaching import room_codes
from dpmf_core.teaching.lesson_links import LessonSequence, link_token
from dpmf_core.teaching.room_codes import Room, in_halves
from pages.kit.base import lesson, links, safe_text
from pages.kit.base.safe_text import button_label
from pages.kit.lessons import lesson_maker, room

# in the session: whether the teacher has asked for another code; why the code did not end
ANOTHER = "teach.another_room"
PROBLEM = "teach.room_problem"


def draw(sequence: LessonSequence) -> None:
    """Draw the room code of a class that its teacher has opened. Raises BadInput."""
    link = link_token(sequence)
    if st.session_state.pop(ANOTHER, False):
        current = room_codes.new_room(sequence.id, link)
    else:
        current = room_codes.room_of(sequence.id, link)
    with st.container(border=True):
        safe_text.draw_kept_problem(PROBLEM)
        if current.seconds_left:
            _draw_open(current)
        else:
            st.markdown(
                "**The room code of this class has ended.** The link still opens it."
            )
        with st.container(horizontal=True):
            _draw_buttons(current, sequence.id, link)
        with st.expander("Link of the class"):
            links.draw_to_copy(lesson_maker.address(link))


def _draw_open(current: Room) -> None:
    url = lesson_maker.address(current.code, room.NAME)
    words, image = st.columns([3, 1], vertical_alignment="center")
    with words:
        st.markdown(f"Open **{_place(url)}** and enter the room code")
        st.html(_letters(current.code))
        st.caption(f"It opens this class for another {duration(current.seconds_left)}.")
        links.draw_reach(url)
    with image:
        links.draw_qr_code(url)


def _draw_buttons(current: Room, class_id: str, link: str) -> None:
    if current.seconds_left:
        icon = ":material/fullscreen:"
        if st.button(
            "Fill the screen",
            key="teach.screen",
            type="primary",
            icon=icon,
        ):
            _draw_screen(current)
    st.link_button(
        "Open as a student", lesson_maker.address(link, **{lesson.PREVIEW: "1"})
    )
    st.button(
        button_label("New room code", f"instead of {current.code}"),
        key="teach.new_room",
        on_click=st.session_state.update,
        args=({ANOTHER: True},),
    )
    if current.seconds_left:
        st.button(
            button_label("End this code", current.code),
            key="teach.end_room",
            on_click=_end,
            args=(class_id,),
        )


@st.dialog("Join this class", width="large")
def _draw_screen(current: Room) -> None:
    url = lesson_maker.address(current.code, room.NAME)
    where = html.escape(_place(url))
    st.html(
        f'<div class="room-screen">{links.qr_image(url)}'
        f"<div><p class='room-place'>{where}</p>{_letters(current.code)}</div></div>"
    )


def _letters(code: str) -> str:
    """A room code in large letters, which a screen reader spells."""
    spelled = " ".join(code)
    return f'<p class="room-code" role="img" aria-label="Room code {spelled}">{in_halves(code)}</p>'


def _place(url: str) -> str:
    """The address of the start page as people type it."""
    start = urlsplit(urljoin(url, "."))
    return f"{start.netloc}{start.path}".rstrip("/")


def _end(class_id: str) -> None:
    with safe_text.kept_problem(PROBLEM):
        room_codes.end_room(class_id)
