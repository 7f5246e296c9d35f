"""What is this? A course of short lessons, and the pages for teachers."""

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import asker
from dpmf_core.teaching.lessons import LESSONS
from pages.kit.base import lesson, links
from pages.kit.lessons import lesson_heading, room
from pages.lessons import class_view, course, lesson_steps, teachers

FIRST = next(iter(LESSONS))


def main() -> None:
    if token := st.query_params.get(class_view.NAME):
        class_view.draw(token)
    elif st.query_params.get("view") == "teachers":
        teachers.draw()
    elif (link := lesson.current()) is not None:
        course.note_opened(f"page {lesson.place()}")
        _draw_lesson(link.query.get("lesson", FIRST))
    else:
        _draw_course()


def _draw_course() -> None:
    try:
        lesson.take_own_seat(asker().owner)
    except BadInput as error:
        lesson_heading.draw_unread(error)
        return
    name = st.query_params.get("lesson", "")
    if name in LESSONS:
        course.note_opened(name)
        course.link_to("", "All lessons", ":material/arrow_back:")
        if room.was_refused():
            room.draw()
        is_finished = _draw_lesson(name)
        if is_finished:
            _draw_next(name)
    else:
        course.note_opened("")
        course.draw(name)
    links.put_in_address(
        {"view": None, teachers.SEQUENCE: None, lesson.SEAT: lesson.seat()}
    )


def _draw_next(name: str) -> None:
    names = list(LESSONS)
    rest = names[names.index(name) + 1 :]
    if rest:
        with st.container(border=True, key="learn.card.next"):
            course.link_to(
                rest[0],
                f"**Next: {course.title(rest[0])}**",
                ":material/arrow_forward:",
            )


def _draw_lesson(name: str) -> bool:
    """Draw a lesson up to its current step. Return whether it is finished; raise BadInput."""
    if name not in LESSONS:
        raise BadInput(
            f"There is no lesson '{name[:40]}'. Ask your teacher for a new link. The lessons"
            f" are {', '.join(LESSONS)}."
        )
    course_lesson = LESSONS[name]
    course.draw_title(course_lesson.title)
    if lesson.sequence() is None:
        lesson_heading.draw_notice()
    return lesson_steps.draw(course_lesson)


main()
