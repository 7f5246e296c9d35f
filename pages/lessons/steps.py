"""A lesson as it is walked through: what is asked before it is shown, what is seen, what one
says of it in one's own words, and a code at the end.
"""

import streamlit as st

from dpmf_core.serving import completion
from dpmf_core.serving.class_records import LONGEST
from dpmf_core.teaching.course import ANSWER, Lesson, Part
from dpmf_core.teaching.glossary import linked
from pages.kit import language, lesson, lesson_heading
from pages.kit.language import say
from pages.kit.safe_text import escape_letters
from pages.lessons.demonstrations import DEMONSTRATIONS

CODES = "lesson.codes"  # in the session: by lesson


def draw(course_lesson: Lesson) -> bool:
    """The lesson as far as it was walked through; whether that was to its end."""
    st.write(with_terms(say(course_lesson.idea)))
    for place, part in enumerate(course_lesson.parts):
        _draw_place(course_lesson, place)
        if not _draw_part(course_lesson, part):
            return False
    _draw_place(course_lesson, len(course_lesson.parts))
    return _draw_own_words(course_lesson)


def with_terms(text: str) -> str:
    """A text whose terms lead to the glossary, which is English."""
    return linked(text) if language.current() == "en" else text


def _draw_place(course_lesson: Lesson, place: int) -> None:
    st.caption(say("Step {place} of {steps}", place=place + 1, steps=len(course_lesson.steps)))


def _draw_part(course_lesson: Lesson, part: Part) -> bool:
    """One thing to see, once it was predicted."""
    st.header(say(part.heading), anchor=False)
    st.write(with_terms(say(part.words)))
    answer = lesson.answers(course_lesson.id).get(part.id)
    if answer is None:
        _ask(course_lesson, part)
        return False
    right = answer == str(part.right)
    prediction = part.answers[int(answer)] if answer.isdigit() else answer
    st.markdown(f"**{say(part.question)}**")
    (st.success if right else st.warning)(
        say("You said: {answer}.", answer=say(prediction))
        + " "
        + (say("That is right.") if right else say("Not quite."))
        + " "
        + say(part.because),
        icon=":material/check:" if right else ":material/lightbulb:",
    )
    DEMONSTRATIONS[part.id]()
    st.markdown(f":material/touch_app: {say('Try it.')} {say(part.task)}")
    return True


def _ask(course_lesson: Lesson, part: Part) -> None:
    """What is asked before anything is shown."""
    with st.form(f"learn.{course_lesson.id}.{part.id}"):
        choice = st.radio(
            say(part.question),
            range(len(part.answers)),
            index=None,
            key=f"learn.predict.{course_lesson.id}.{part.id}",
            format_func=lambda place: say(part.answers[place]),
        )
        submitted = st.form_submit_button(say("Show what happens"), type="primary")
    if submitted and choice is not None:
        lesson.note(part.id, str(choice), course_lesson.id)
        st.rerun()
    elif submitted:
        st.warning(say("Predict first: choose one of the answers."))
    else:
        st.caption(
            say("What happens is shown once you have predicted it. A wrong guess costs nothing.")
        )


def _draw_own_words(course_lesson: Lesson) -> bool:
    """The answer box; afterwards one good answer and the code."""
    st.header(say("In your own words"), anchor=False)
    answers = lesson.answers(course_lesson.id)
    if ANSWER not in answers:
        with st.form(f"learn.{course_lesson.id}.own", border=False):
            text = st.text_area(
                say(course_lesson.own_words),
                key=f"learn.words.{course_lesson.id}",
                max_chars=LONGEST,
            )
            submitted = st.form_submit_button(say("Send"), type="primary")
        if submitted and text.strip():
            lesson.note(ANSWER, text.strip(), course_lesson.id)
            st.rerun()
        lesson_heading.draw_notice()
        return False
    st.markdown(f"**{say(course_lesson.own_words)}**  \n{escape_letters(answers[ANSWER])}")
    st.info(say("One good answer: {answer}", answer=say(course_lesson.model)))
    lesson_heading.draw_code(_code(course_lesson, answers))
    return True


def _code(course_lesson: Lesson, answers: dict[str, str]) -> str:
    codes: dict[str, str] = st.session_state.setdefault(CODES, {})
    if course_lesson.id not in codes:
        right = sum(answers.get(part.id) == str(part.right) for part in course_lesson.parts)
        codes[course_lesson.id] = completion.code(course_lesson.id, right, len(course_lesson.parts))
    return codes[course_lesson.id]
