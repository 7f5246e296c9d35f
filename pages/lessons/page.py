"""What is this? A course of five-minute lessons, and the pages for teachers."""

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import asker
from dpmf_core.teaching.lessons import LESSONS
from pages.kit import lesson, lesson_heading, links, room, safe_text
from pages.lessons import class_view, steps, teachers

FIRST = next(iter(LESSONS))
UNKNOWN = "learn.unknown"  # in the session: an unknown lesson in the address


def main() -> None:
    if token := st.query_params.get(class_view.NAME):
        class_view.draw(token)
    elif st.query_params.get("view") == "teachers":
        teachers.draw()
    elif (link := lesson.current()) is not None:
        _draw_lesson(link.query.get("lesson", FIRST))
    else:
        _draw_course()


def _draw_course() -> None:
    try:
        lesson.take_own_seat(asker().owner)
    except BadInput as error:
        lesson_heading.draw_unread(error)
        return
    room.draw()
    lesson_id = _draw_choice()
    if unknown := st.session_state.get(UNKNOWN):
        name = safe_text.escape_letters(unknown[:40])
        st.warning(f"There is no lesson “{name}”. This is the first one; choose another above.")
    is_finished, names = _draw_lesson(lesson_id), list(LESSONS)
    own = {"lesson": lesson_id, lesson.SEAT: lesson.seat()}
    links.put_in_address({"view": None, teachers.SEQUENCE: None, **own})
    rest = names[names.index(lesson_id) + 1 :]
    if is_finished and rest:
        label, key = f"Next: {title(rest[0])}", f"learn.next.{lesson_id}"
        st.button(label, key=key, type="primary", on_click=_go, args=(rest[0],))


def _draw_choice() -> str:
    start = st.query_params.get("lesson", FIRST)
    if "learn.lesson" not in st.session_state or (links.came_back() and start in LESSONS):
        st.session_state["learn.lesson"] = start if start in LESSONS else FIRST
        st.session_state[UNKNOWN] = start if start not in LESSONS else ""
    return st.selectbox(
        "Lesson",
        list(LESSONS),
        key="learn.lesson",
        format_func=title,
        on_change=lambda: st.session_state.pop(UNKNOWN, None),
        persist_state="session",
        label_visibility="collapsed",
        width=360,
    )


def _draw_lesson(name: str) -> bool:
    """Draw a lesson up to its current step. Return whether it is finished; raise BadInput."""
    if name not in LESSONS:
        raise BadInput(
            f"There is no lesson '{name[:40]}'. Ask your teacher for a new link. The lessons"
            f" are {', '.join(LESSONS)}."
        )
    course_lesson = LESSONS[name]
    st.title(course_lesson.title, anchor=False)
    if lesson.sequence() is None:
        lesson_heading.draw_notice()
    return steps.draw(course_lesson)


def title(name: str) -> str:
    """Return a lesson's numbered title; the first number is 0."""
    return f"{list(LESSONS).index(name)}. {LESSONS[name].title}"


def _go(name: str) -> None:
    st.session_state.pop(UNKNOWN, None)
    st.session_state["learn.lesson"] = name


main()
