"""A class in front of the class: the way in, who reached what, answers, and counts with noise."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.teaching import class_answers, class_records
from dpmf_core.teaching.class_answers import ClassPage, page_name, step_name
from dpmf_core.teaching.class_records import Answers
from dpmf_core.teaching.lesson_links import TEACHER, LessonSequence, sequence_of
from dpmf_core.teaching.lessons import ANSWER, LessonPart
from pages.kit.base import safe_text
from pages.kit.base.safe_text import count_text, escape_letters
from pages.lessons import class_figures, private_question, room_panel
from pages.lessons.codes import draw_codes
from pages.lessons.teachers import page_of
from pages.server import visitor

NAME = "teach"  # parameter of the class view in the address
EVERY = 5.0  # seconds between looks at the class


def draw(token: str) -> None:
    """Draw the class view. Raises BadInput."""
    sequence = sequence_of(token, TEACHER)
    class_records.open_class(sequence.id, visitor.address())
    st.title(escape_letters(sequence.title) or "Your class", anchor=False)
    room_panel.draw(sequence)
    st.fragment(_draw_class, run_every=EVERY)(sequence)
    with st.expander("Check codes"):
        draw_codes(sequence)


def _draw_class(sequence: LessonSequence) -> None:
    try:
        _draw_answers(sequence)
    except BadInput as error:  # the next look may succeed
        safe_text.error(error)


def _draw_answers(sequence: LessonSequence) -> None:
    all_answers = class_records.class_answers(sequence.id)
    pages = _pages(sequence)
    finished_count = sum(
        "finished" in step for answers in all_answers for step in answers
    )
    with st.container(horizontal=True):
        st.metric("sessions", len(all_answers))
        if len(pages) > 1:
            st.metric("finished", finished_count)
    st.caption(
        "Updated every few seconds. No names; answers are not linked to each other."
    )
    if len(pages) > 1:
        class_figures.draw(
            "teach.reached",
            "How many sessions have opened each page.",
            _reached(pages, all_answers),
        )
        place = st.selectbox(
            "Page of the class",
            range(len(pages)),
            key="teach.page",
            format_func=lambda place: page_name(place, pages[place].title),
        )
    else:
        place = 0
    page = pages[place]
    if page.link.choices:
        private_question.draw(sequence.id, place, page, all_answers)
    else:
        _draw_page(place, page, all_answers)
    st.download_button(
        "Download the answers (CSV)",
        safe_text.to_csv(class_answers.answers_table(pages, all_answers)),
        "class-answers.csv",
        "text/csv",
        key="teach.answers",
        icon=":material/download:",
    )
    st.caption(
        "One row for each answer and how many gave it, without names and senders."
    )


def _pages(sequence: LessonSequence) -> list[ClassPage]:
    pages = []
    for place, link in enumerate(sequence.steps):
        title, lesson = page_of(link)
        publications = []
        if link.choices:
            publications = class_records.publications(
                sequence.id, step_name(place, ANSWER)
            )
        pages.append(ClassPage(title, link, lesson, publications))
    return pages


def _reached(pages: Sequence[ClassPage], all_answers: list[Answers]) -> pd.DataFrame:
    """Page, sessions: how many sessions have opened each page."""
    return pd.DataFrame(
        {
            "page": page_name(place, page.title),
            "sessions": sum(
                step_name(place, "opened") in answers for answers in all_answers
            ),
        }
        for place, page in enumerate(pages)
    )


def _draw_page(place: int, page: ClassPage, all_answers: list[Answers]) -> None:
    """Draw the predictions and answers of one page."""
    if not page.lesson.own_words:
        return
    with st.container(border=True):
        st.header(escape_letters(page_name(place, page.title)), anchor=False)
        for part in page.lesson.parts:
            _draw_prediction(place, part, all_answers)
        texts = class_answers.texts(all_answers, place)
        st.markdown(f"**{escape_letters(page.lesson.own_words)}**")
        st.caption(count_text(len(texts), "answer"))
        if not texts:
            return
        # folded: what students write is not for all eyes before their teacher has read it
        with st.expander("Show the answers", key=f"teach.texts.{place}"):
            for text in texts:
                st.markdown(f"- {escape_letters(text)}")


def _draw_prediction(place: int, part: LessonPart, all_answers: list[Answers]) -> None:
    """Draw how many gave each answer; which one is right only on a switch."""
    step = step_name(place, part.id)
    counts = class_answers.prediction_counts(all_answers, place, part)
    st.markdown(f"**{part.question}**")
    is_shown = st.toggle("Show the right answer", key=f"teach.right.{step}")
    class_figures.draw(
        f"teach.predicted.{step}",
        f"How many students gave each answer: {part.question}",
        pd.DataFrame({"answer": part.answers, "students": counts}),
        count_text(sum(counts), "answer"),
        part.right if is_shown else None,
    )
    if is_shown:
        st.info(f"{part.answers[part.right]}. {part.because}")
