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
from pages.lessons.demonstrations import DRAWN

CODES = "lesson.codes"  # in the session: by lesson


def draw(taught: Lesson) -> bool:
    """The lesson as far as it was walked through; whether that was to its end."""
    st.write(with_terms(say(taught.idea)))
    for place, part in enumerate(taught.parts):
        _draw_place(taught, place)
        if not _draw_part(taught, part):
            return False
    _draw_place(taught, len(taught.parts))
    return _draw_own_words(taught)


def with_terms(text: str) -> str:
    """A text whose terms lead to the glossary, which is English."""
    return linked(text) if language.current() == "en" else text


def _draw_place(taught: Lesson, place: int) -> None:
    st.caption(say("Step {place} of {steps}", place=place + 1, steps=len(taught.steps)))


def _draw_part(taught: Lesson, part: Part) -> bool:
    """One thing to see, once it was predicted."""
    st.header(say(part.heading), anchor=False)
    st.write(with_terms(say(part.words)))
    given = lesson.answers(taught.id).get(part.id)
    if given is None:
        _ask(taught, part)
        return False
    right = given == str(part.right)
    predicted = part.answers[int(given)] if given.isdigit() else given
    st.markdown(f"**{say(part.question)}**")
    (st.success if right else st.warning)(
        say("You said: {answer}.", answer=say(predicted))
        + " "
        + (say("That is right.") if right else say("Not quite."))
        + " "
        + say(part.because),
        icon=":material/check:" if right else ":material/lightbulb:",
    )
    DRAWN[part.id]()
    st.markdown(f":material/touch_app: {say('Try it.')} {say(part.task)}")
    return True


def _ask(taught: Lesson, part: Part) -> None:
    """What is asked before anything is shown."""
    with st.form(f"learn.{taught.id}.{part.id}"):
        picked = st.radio(
            say(part.question),
            range(len(part.answers)),
            index=None,
            key=f"learn.predict.{taught.id}.{part.id}",
            format_func=lambda place: say(part.answers[place]),
        )
        sent = st.form_submit_button(say("Show what happens"), type="primary")
    if sent and picked is not None:
        lesson.note(part.id, str(picked), taught.id)
        st.rerun()
    elif sent:
        st.warning(say("Predict first: choose one of the answers."))
    else:
        st.caption(
            say("What happens is shown once you have predicted it. A wrong guess costs nothing.")
        )


def _draw_own_words(taught: Lesson) -> bool:
    """The answer box; afterwards one good answer and the code."""
    st.header(say("In your own words"), anchor=False)
    answers = lesson.answers(taught.id)
    if ANSWER not in answers:
        with st.form(f"learn.{taught.id}.own", border=False):
            text = st.text_area(
                say(taught.own_words), key=f"learn.words.{taught.id}", max_chars=LONGEST
            )
            sent = st.form_submit_button(say("Send"), type="primary")
        if sent and text.strip():
            lesson.note(ANSWER, text.strip(), taught.id)
            st.rerun()
        lesson_heading.draw_notice()
        return False
    st.markdown(f"**{say(taught.own_words)}**  \n{escape_letters(answers[ANSWER])}")
    st.info(say("One good answer: {answer}", answer=say(taught.model)))
    lesson_heading.draw_code(_code(taught, answers))
    return True


def _code(taught: Lesson, answers: dict[str, str]) -> str:
    codes: dict[str, str] = st.session_state.setdefault(CODES, {})
    if taught.id not in codes:
        right = sum(answers.get(part.id) == str(part.right) for part in taught.parts)
        codes[taught.id] = completion.code(taught.id, right, len(taught.parts))
    return codes[taught.id]
