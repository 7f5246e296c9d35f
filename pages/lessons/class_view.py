"""The class view of a teacher: how many sessions have reached which step, and what they answered,
without names.
"""

from collections import Counter

import pandas as pd
import streamlit as st

from dpmf_core.serving import class_records
from dpmf_core.serving.lesson_links import TEACHER, LessonLink, LessonSequence, sequence_of
from dpmf_core.teaching.course import ANSWER
from dpmf_core.teaching.lessons import LESSONS
from pages.kit import charts, colours, safe_text
from pages.kit.lesson_heading import steps_of
from pages.kit.safe_text import escape_letters
from pages.lessons import codes
from pages.lessons.teachers import name_of

NAME = "teach"  # of the parameter in the address
EVERY = 5.0  # seconds between looks


def draw(token: str) -> None:
    """The class of a teacher's link. Raises BadInput where this server did not make it."""
    sequence = sequence_of(token, TEACHER)
    class_records.pin(sequence.id)
    st.title(escape_letters(sequence.title) or "Your class", anchor=False)
    st.fragment(_draw_class, run_every=EVERY)(sequence)
    with st.expander("Check codes"):
        codes.draw({sequence.id: sequence.title or "this sequence"})


def _draw_class(sequence: LessonSequence) -> None:
    all_answers = class_records.class_answers(sequence.id)
    finished_count = sum("finished" in step for answers in all_answers for step in answers)
    with st.container(horizontal=True):
        st.metric("sessions", len(all_answers))
        if len(sequence.steps) > 1:
            st.metric("finished", finished_count)
    st.caption("Counted anew every few seconds. Nobody is named, and answers are not linked.")
    if class_records.is_full(sequence.id):
        st.warning(
            f"This class is full: answers of {class_records.MOST_SEATS} sessions are kept. New"
            " sessions replace those that have not answered anything."
        )
    table = steps_table(sequence, all_answers)
    fig = charts.figure("sessions", "", height=80 + 30 * len(table))
    fig.add_bar(
        x=table["sessions"],
        y=table["step"],
        orientation="h",
        text=table["sessions"],
        textposition="auto",
        marker_color=colours.of("dpals"),
    )
    fig.update_yaxes(autorange="reversed", type="category")
    fig.update_xaxes(range=[0, max(1, len(all_answers))], dtick=max(1, len(all_answers) // 5))
    alt = "How many sessions have reached each step."
    charts.show(fig, "teach.reached", alt, table, leaves=True)
    for place, link in enumerate(sequence.steps):
        _draw_answers(place, link, all_answers)


def steps_table(sequence: LessonSequence, all_answers: list[class_records.Answers]) -> pd.DataFrame:
    """step, sessions: how many have opened each page and done each step on it."""
    rows = []
    for place, link in enumerate(sequence.steps):
        for step in ("opened", *steps_of(link)):
            count = sum(f"{place}.{step}" in answers for answers in all_answers)
            rows.append({"step": _step_name(place, link, step), "sessions": count})
    return pd.DataFrame(rows)


def _step_name(place: int, link: LessonLink, step: str) -> str:
    if step == "opened":
        return f"{place + 1}. {name_of(link)}"
    if step == ANSWER:
        return f"{place + 1}. answered"
    parts = LESSONS[link.query["lesson"]].parts
    return f"{place + 1}. {next(part.heading for part in parts if part.id == step)}"


def _draw_answers(place: int, link: LessonLink, all_answers: list[class_records.Answers]) -> None:
    """What was predicted and answered on one page."""
    course_lesson = LESSONS.get(link.query.get("lesson", "")) if link.page == "lessons" else None
    question = course_lesson.own_words if course_lesson else link.question
    if not question:
        return
    with st.expander(f"{place + 1}. {escape_letters(name_of(link))}", expanded=True):
        for part in course_lesson.parts if course_lesson else ():
            counter = Counter(answers.get(f"{place}.{part.id}") for answers in all_answers)
            counts = {answer: counter[str(number)] for number, answer in enumerate(part.answers)}
            right = part.answers[part.right]
            st.markdown(f"**{part.question}**")
            rows = [
                {
                    "answer": f"{answer} (right)" if answer == right else answer,
                    "sessions": str(count),
                }
                for answer, count in counts.items()
            ]
            safe_text.words_table(pd.DataFrame(rows))
        st.markdown(f"**{question if course_lesson else escape_letters(question)}**")
        # by the alphabet: their order tells nothing of who sent what
        for text in sorted(
            answers[f"{place}.{ANSWER}"]
            for answers in all_answers
            if f"{place}.{ANSWER}" in answers
        ):
            st.markdown(f"- {escape_letters(' '.join(text.split()))}")
