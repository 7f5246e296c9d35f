"""What stands above the pages of a teacher's lesson: its title and question, an answer box, the way
on, and at the end a code.
"""

import streamlit as st

from dpmf_core.serving import completion
from dpmf_core.serving.class_records import LONGEST
from dpmf_core.serving.lesson_links import LessonLink, LessonSequence
from dpmf_core.teaching.lessons import LESSONS
from pages.kit import lesson, safe_text
from pages.kit.safe_text import escape_letters


def draw() -> None:
    """Title and question, above the page; or why there is no lesson."""
    if complaint := st.session_state.get("lesson.complaint"):
        st.warning(safe_text.escape(complaint))
    link: LessonLink | None = st.session_state.get("lesson.link")
    if link is None:
        return
    sequence = lesson.sequence()
    several = sequence is not None and len(sequence.steps) > 1
    if not (several or link.title or link.question):
        return
    with st.container(border=True):
        if sequence is not None and several:
            _draw_way(sequence)
        if link.title or link.question:
            title = escape_letters(link.title) or "Lesson"
            st.markdown(f":material/school: **{title}**  \n{escape_letters(link.question)}")
        if sequence is not None and link.question and link.page != "lessons":
            _draw_answer_box()


def _draw_way(sequence: LessonSequence) -> None:
    """Where in the sequence the session is, and the buttons that lead back and on."""
    place, last = lesson.place(), len(sequence.steps) - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{escape_letters(sequence.title) or 'Lesson'} · page {place + 1} of {last + 1}")
        st.button(
            "Back",
            key="lesson.back",
            on_click=lesson.go,
            args=(place - 1,),
            disabled=not place,
        )
        if place < last:
            st.button(
                "Next page",
                key="lesson.next",
                type="primary",
                on_click=lesson.go,
                args=(place + 1,),
            )
        elif st.button("Finish", key="lesson.finish", type="primary"):
            st.session_state["lesson.finished"] = True
    if place == last and st.session_state.get("lesson.finished"):
        _draw_end(sequence)


def _draw_answer_box() -> None:
    answers = lesson.answers()
    if "answer" in answers:
        st.caption(f"Your answer: {escape_letters(answers['answer'])}")
        return
    with st.form("lesson.answering", border=False):
        text = st.text_area("Your answer", key=f"lesson.text.on{lesson.place()}", max_chars=LONGEST)
        submitted = st.form_submit_button("Send")
    if submitted and text.strip():
        lesson.note("answer", text.strip())
        st.rerun()
    draw_notice()


def draw_notice() -> None:
    """Who will read an answer."""
    sequence = lesson.sequence()
    if sequence is not None and sequence.gathers:
        st.caption("Your teacher sees the answers of the class, without names.")


def missing(sequence: LessonSequence) -> list[int]:
    """The pages of a sequence on which something is still to be answered, from 1."""
    answers = st.session_state.get("lesson.answers", {})
    return [
        place + 1
        for place, link in enumerate(sequence.steps)
        if any(f"{place}.{step}" not in answers for step in steps_of(link))
    ]


def steps_of(link: LessonLink) -> tuple[str, ...]:
    """What there is to answer on a page of a sequence."""
    if link.page == "lessons" and (taught_lesson := LESSONS.get(link.query.get("lesson", ""))):
        return taught_lesson.steps
    return ("answer",) if link.question else ()


def _draw_end(sequence: LessonSequence) -> None:
    """The code of whoever has answered everything; else what is missing."""
    if pages := missing(sequence):
        st.warning(f"Something is still to be answered on page {', '.join(map(str, pages))}.")
        return
    state = st.session_state
    if "lesson.code" not in state:
        right, total = _predictions(sequence)
        state["lesson.code"] = completion.code(sequence.id, right, total)
    lesson.note("finished", "")
    draw_code(state["lesson.code"])


def _predictions(sequence: LessonSequence) -> tuple[int, int]:
    """How many predictions were right, and how many there were."""
    answers = st.session_state.get("lesson.answers", {})
    parts = [
        (f"{place}.{part.id}", part.right)
        for place, link in enumerate(sequence.steps)
        if link.page == "lessons" and link.query.get("lesson") in LESSONS
        for part in LESSONS[link.query["lesson"]].parts
    ]
    return sum(answers.get(step) == str(right) for step, right in parts), len(parts)


def draw_code(code: str) -> None:
    st.success(
        "Done. This code shows your teacher the lesson, date and score, not your name.",
        icon=":material/check:",
    )
    st.code(code, language=None, wrap_lines=True)
