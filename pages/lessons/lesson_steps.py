"""A lesson's steps: predictions, demonstrations, a final answer and the completion code."""

import streamlit as st

from dpmf_core.teaching.class_records import LONGEST
from dpmf_core.teaching.glossary import linked
from dpmf_core.teaching.lessons import ANSWER, Lesson, LessonPart
from pages.kit import components
from pages.kit.base import lesson
from pages.kit.base.safe_text import escape_letters
from pages.kit.lessons import lesson_heading
from pages.lessons import lesson_parts

LAST_STEP = "done"  # kept with the day on which the lesson was finished
# in the session: the lesson and step that were just answered
LAST_STEP_TAKEN = "learn.taken"


def draw(course_lesson: Lesson) -> bool:
    """Draw the lesson up to its current step. Return whether it is finished."""
    st.write(linked(course_lesson.idea))
    for place, part in enumerate(course_lesson.parts):
        _draw_place(course_lesson, place)
        if not _draw_part(course_lesson, part):
            return False
    _draw_place(course_lesson, len(course_lesson.parts))
    return _draw_own_words(course_lesson)


def _draw_place(course_lesson: Lesson, place: int) -> None:
    st.caption(f"Step {place + 1} of {len(course_lesson.steps)}")


def _draw_part(course_lesson: Lesson, part: LessonPart) -> bool:
    """Draw one part, its prediction first. Return whether it was predicted."""
    st.header(part.heading, anchor=False)
    st.write(linked(part.words))
    answer = lesson.answers(course_lesson.id).get(part.id)
    if answer is None:
        _ask(course_lesson, part)
        return False
    st.markdown(f"**{part.question}**")
    _draw_verdict(course_lesson, part, answer)
    lesson_parts.draw(part)
    st.markdown(f":material/touch_app: Try it. {part.task}")
    return True


def _draw_verdict(course_lesson: Lesson, part: LessonPart, answer: str) -> None:
    """Draw whether the prediction was right, and why. A new verdict gets the keyboard's focus."""
    is_right = answer == str(part.right)
    if answer.isdigit():
        prediction = part.answers[int(answer)]
    else:
        prediction = escape_letters(answer)
    # an alert would be announced, and read once more with the focus
    key = (
        f"learn.verdict.{'right' if is_right else 'wrong'}.{course_lesson.id}.{part.id}"
    )
    with st.container(key=key, gap=None):
        st.subheader("That is right." if is_right else "Not quite.", anchor=False)
        st.markdown(f"You said: {prediction}. {part.because}")
        if st.session_state.get(LAST_STEP_TAKEN) == (course_lesson.id, part.id):
            components.draw_focus(key, key)


def _ask(course_lesson: Lesson, part: LessonPart) -> None:
    """Ask for the prediction."""
    with st.form(f"learn.{course_lesson.id}.{part.id}"):
        choice = st.radio(
            part.question,
            range(len(part.answers)),
            index=None,
            key=f"learn.predict.{course_lesson.id}.{part.id}",
            format_func=lambda place: part.answers[place],
        )
        submitted = st.form_submit_button("Show what happens", type="primary")
    if submitted and choice is not None:
        lesson.note(part.id, str(choice), course_lesson.id)
        st.session_state[LAST_STEP_TAKEN] = (course_lesson.id, part.id)
        st.rerun()
    elif submitted:
        st.warning("Predict first: choose one of the answers.")
    else:
        st.caption("Predict first, then see. A wrong guess costs nothing.")


def _draw_own_words(course_lesson: Lesson) -> bool:
    """Draw the answer box; after the answer, a model answer and the code."""
    answers = lesson.answers(course_lesson.id)
    with st.container(key="learn.own", gap=None):
        st.header("In your own words", anchor=False)
        if st.session_state.get(LAST_STEP_TAKEN) == (course_lesson.id, ANSWER):
            components.draw_focus("learn.own", f"answered {course_lesson.id}")
    if ANSWER not in answers:
        with st.form(f"learn.{course_lesson.id}.own", border=False):
            key = f"learn.words.{course_lesson.id}"
            text = st.text_area(course_lesson.own_words, key=key, max_chars=LONGEST)
            submitted = st.form_submit_button("Send", type="primary")
        if submitted and text.strip():
            lesson.note(ANSWER, text.strip(), course_lesson.id)
            st.session_state[LAST_STEP_TAKEN] = (course_lesson.id, ANSWER)
            st.rerun()
        return False
    st.markdown(f"**{course_lesson.own_words}**  \n{escape_letters(answers[ANSWER])}")
    st.info(f"One good answer: {course_lesson.model}")
    right = sum(answers.get(part.id) == str(part.right) for part in course_lesson.parts)
    score = right, len(course_lesson.parts)
    lesson_heading.draw_code(course_lesson.id, score, LAST_STEP, course_lesson.id)
    return True
