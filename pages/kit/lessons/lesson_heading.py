"""The box above a page of a teacher's lesson: title, question, answers, navigation, final code."""

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.teaching import completion
from dpmf_core.teaching.class_records import LONGEST
from dpmf_core.teaching.lesson_links import LessonLink, LessonSequence
from dpmf_core.teaching.lessons import ANSWER, LESSONS
from dpmf_core.teaching.private_class import MOST
from pages.kit.base import lesson, safe_text
from pages.kit.base.safe_text import escape_letters

YOUR_ADDRESS = (
    " The address of this page is yours: do not share it. "
    "Anyone who opens it continues as you."
)
FINISHED = "finished"  # kept with the day on which the sequence was finished


def draw() -> None:
    _draw_messages()
    link = lesson.opened()
    if link is None:
        return
    sequence = lesson.sequence()
    several = sequence is not None and len(sequence.steps) > 1
    has_words = link.title or link.question
    has_steps = sequence is not None and steps_of(link)
    if not (several or has_words):
        if has_steps:
            draw_notice()
        return
    with st.container(border=True):
        if sequence is not None and several:
            _draw_way(sequence)
        if has_words:
            title = escape_letters(link.title) or "Lesson"
            st.markdown(
                f":material/school: **{title}**  \n{escape_letters(link.question)}"
            )
        if has_steps:
            draw_notice(link)
        asks = link.choices or (link.question and link.page != "lessons")
        if sequence is not None and asks:
            _draw_question(link)


def _draw_messages() -> None:
    if complaint := st.session_state.get("lesson.complaint"):
        st.warning(safe_text.escape(complaint))
    if reason := st.session_state.get(lesson.UNSENT):
        _draw_unsent(reason)
    if lesson.is_preview():
        st.info(
            "You see this class as a student does. You count as a student once you answer."
        )


def _draw_unsent(reason: str) -> None:
    """Say that the server does not have the last answers, with a button that sends them again."""
    with st.container(border=True):
        st.warning(
            f"Your last answer or step is not stored. {safe_text.escape(reason)}"
        )
        st.caption("It is still on this page and is also sent with your next step.")
        st.button(
            "Send again",
            key="lesson.send",
            type="primary",
            on_click=lesson.send,
        )


def draw_unread(problem: BadInput) -> None:
    """Say that the answers of this seat cannot be opened, with a button that tries again."""
    safe_text.error(problem)
    st.button("Try again", key="lesson.retry", type="primary")


def _draw_way(sequence: LessonSequence) -> None:
    place = lesson.place()
    last = len(sequence.steps) - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{escape_letters(sequence.title) or 'Lesson'} · page {place + 1} of {last + 1}"
        )
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
    if place == last and (
        st.session_state.get("lesson.finished") or FINISHED in lesson.answers()
    ):
        _draw_end(sequence)


def _draw_question(link: LessonLink) -> None:
    """Draw the box for an answer, in words or from choices, or the answer given."""
    choices = link.choices
    place = lesson.place()
    label = "Your answer"
    own = lesson.answers().get(ANSWER)
    changing = f"lesson.changing.on{place}"
    if own is not None and _is_private(link):
        # a student who opens the address must not see the answer
        if not st.session_state.get(changing):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption("Your answer was sent.")
                st.button(
                    "Change it",
                    key=f"lesson.change.on{place}",
                    on_click=st.session_state.update,
                    args=({changing: True},),
                )
            return
    elif own is not None:
        own = choices[int(own)] if choices and own.isdigit() else own
        st.caption(f"{label}: {escape_letters(own)}")
        return
    with st.form("lesson.answering", border=False):
        if choices:
            texts = {
                str(number): escape_letters(text) for number, text in enumerate(choices)
            }
            answer = st.radio(
                label,
                texts,
                index=None,
                horizontal=True,
                format_func=texts.__getitem__,
                key=f"lesson.choice.on{place}",
            )
        else:
            answer = st.text_area(
                label, key=f"lesson.text.on{place}", max_chars=LONGEST
            ).strip()
        submitted = st.form_submit_button("Send")
    if submitted and answer:
        st.session_state.pop(changing, None)
        lesson.note(ANSWER, answer, again=own is not None)
        st.rerun()


def _is_private(link: LessonLink) -> bool:
    """Whether a question's answers are only published as counts with noise."""
    sequence = lesson.sequence()
    return bool(link.choices) and sequence is not None and sequence.gathers


def draw_notice(link: LessonLink | None = None) -> None:
    """Draw who will read the answers to this page of a teacher's link."""
    sequence = lesson.sequence()
    if link is not None and _is_private(link):
        words = (
            "This question is private. The server keeps your answer without your name, and no page"
            " shows it, not even to you. Your teacher sees how many have answered, and can publish"
            f" counts with noise. All publications together cost you at most ε = {MOST:g}. A"
            " changed answer counts in later publications."
        )
    elif sequence is not None and sequence.gathers:
        words = (
            "Your answers are collected. Your teacher sees, without names, how far each student"
            " got, what they predicted and what they wrote."
        )
    else:
        words = (
            "This server keeps your answers under the address of this page, so that a reload loses"
            " nothing."
        )
    if not st.session_state.get("lesson.by_login"):
        words += YOUR_ADDRESS
    st.caption(words)


def steps_of(link: LessonLink) -> tuple[str, ...]:
    if link.choices:
        return (ANSWER,)
    if link.page == "lessons" and (
        taught_lesson := LESSONS.get(link.query.get("lesson", ""))
    ):
        return taught_lesson.steps
    if link.question:
        return (ANSWER,)
    return ()


def _draw_end(sequence: LessonSequence) -> None:
    """Draw the code of a finished sequence, or which pages have open questions."""
    answers = st.session_state.get("lesson.answers", {})
    pages = list(enumerate(sequence.steps))
    open_pages = [
        str(place + 1)
        for place, link in pages
        if any(f"{place}.{step}" not in answers for step in steps_of(link))
    ]
    if open_pages:
        st.warning(
            f"Please answer the questions on page {', '.join(open_pages)} first."
        )
        return
    rights = [
        answers.get(f"{place}.{part.id}") == str(part.right)
        for place, link in pages
        if link.page == "lessons" and link.query.get("lesson") in LESSONS
        for part in LESSONS[link.query["lesson"]].parts
    ]
    draw_code(sequence.id, (sum(rights), len(rights)), FINISHED)


def draw_code(what: str, score: tuple[int, int], step: str, of: str = "") -> None:
    """Draw the code of what is finished, with the day on which it was finished.

    Parameters
    ----------
    what
        The id of the lesson or sequence.
    score
        The number of correct predictions and of all predictions.
    step
        The step that keeps the day.
    of
        The id of the lesson, if there is no teacher's link.
    """
    was_stored = lesson.UNSENT not in st.session_state
    lesson.note(step, completion.today(), of)
    if was_stored and lesson.UNSENT in st.session_state:
        st.rerun()  # the heading, drawn earlier, says so
    day = lesson.answers(of)[step] or completion.today()
    right, total = score
    st.success(
        "Done. This code shows your teacher the lesson, date and score"
        f" ({right} of {total} predictions right), not your name.",
        icon=":material/check:",
    )
    code = completion.code(what, right, total, st.session_state["lesson.seat"], day)
    st.code(code, language=None, wrap_lines=True)
