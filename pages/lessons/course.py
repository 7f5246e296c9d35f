"""The course page: a card for each lesson, with its minutes and what was finished here."""

import streamlit as st

from dpmf_core.teaching.lessons import LESSONS, Lesson
from pages.kit import components
from pages.kit.base import lesson, links, safe_text
from pages.kit.lessons import lesson_heading, room
from pages.lessons.lesson_steps import LAST_STEP

ACROSS = 3  # cards in a row of a wide page
# in the session, also on other pages of a sequence: what is shown, '' for the course page, and how
# often something else was opened
OPENED = "lesson.shown"
OPENED_COUNT = "lesson.shown.count"


def draw(unknown: str = "") -> None:
    """Draw the cards, and a warning about an unknown lesson in the address."""
    with st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="bottom",
    ):
        draw_title("What privacy costs: a course")
        room.draw()
    if unknown:
        name = safe_text.escape_letters(unknown[:40])
        st.warning(f"There is no lesson “{name}”. Choose one of these.")
    minutes = sum(one.minutes for one in LESSONS.values())
    st.write(
        f"{len(LESSONS)} short lessons, about {minutes} minutes together. Each builds on those"
        " before it. You predict first, then see what happens."
    )
    finished = sum(map(is_finished, LESSONS))
    st.progress(finished / len(LESSONS), f"{finished} of {len(LESSONS)} done")
    lessons = list(LESSONS.values())
    for start in range(0, len(lessons), ACROSS):
        row = lessons[start : start + ACROSS]
        for column, course_lesson in zip(st.columns(ACROSS), row, strict=False):
            with column:
                _draw_card(course_lesson)
    if lesson.seat() is not None:
        lesson_heading.draw_notice()


def _draw_card(course_lesson: Lesson) -> None:
    """Draw a lesson's link, what it is about, how long it takes and how far this session got."""
    answers = lesson.answers(course_lesson.id)
    count = sum(step in answers for step in course_lesson.steps)
    icon = "radio_button_unchecked"
    progress = ""
    if is_finished(course_lesson.id):
        icon = "check_circle"
        progress = " · done"
    elif count:
        icon = "clock_loader_40"
        progress = f" · {count} of {len(course_lesson.steps)} steps done"
    key = f"learn.card.{course_lesson.id}"
    with st.container(
        border=True,
        height="stretch",
        key=key,
        gap="xsmall",
    ):
        link_to(
            course_lesson.id, f"**{title(course_lesson.id)}**", f":material/{icon}:"
        )
        st.caption(course_lesson.summary)
        st.markdown(f":small[{course_lesson.minutes} minutes{progress}]")


def is_finished(name: str) -> bool:
    return LAST_STEP in lesson.answers(name)


def note_opened(name: str) -> None:
    """Remember what is shown: a lesson, or '' for the course page."""
    state = st.session_state
    if state.get(OPENED, name) != name:
        state[OPENED_COUNT] = state.get(OPENED_COUNT, 0) + 1
    state[OPENED] = name


def draw_title(words: str) -> None:
    """Draw a title, which gets the keyboard's focus if something else was shown before."""
    with st.container(key="learn.title", gap=None):
        st.title(words, anchor=False)
        if count := st.session_state.get(OPENED_COUNT):
            components.draw_focus("learn.title", f"opened {count}")


def link_to(name: str, label: str, icon: str = "") -> None:
    """Draw a link to a lesson, or with '' to the course page; it keeps the seat in a new tab."""
    parameters = {"lesson": name} if name else {}
    seat = lesson.seat()
    if seat is not None:
        parameters[lesson.SEAT] = seat
    links.to("lessons", label, parameters, icon)


def title(name: str) -> str:
    """A lesson's numbered title; the first number is 0."""
    return f"{list(LESSONS).index(name)}. {LESSONS[name].title}"
