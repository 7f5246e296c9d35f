"""A class in the eyes of its teacher: who reached what, answers, and counts with noise."""

import math
from collections import Counter

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.teaching import class_records, private_class
from dpmf_core.teaching.class_records import Answers, Publication
from dpmf_core.teaching.lesson_links import (
    TEACHER,
    LessonLink,
    LessonSequence,
    link_token,
    sequence_of,
)
from dpmf_core.teaching.lessons import ANSWER
from dpmf_core.teaching.private_class import EPSILONS, MOST
from pages.kit import charts, colours, lesson_maker, links, safe_text
from pages.kit.lesson_heading import steps_of
from pages.kit.safe_text import escape_letters
from pages.lessons.teachers import draw_codes, page_of
from pages.server import visitor

NAME = "teach"  # parameter of the class view in the address
EVERY = 5.0  # seconds between looks at the class


def draw(token: str) -> None:
    """Draw how many sessions reached each step and what they answered; raise BadInput."""
    sequence = sequence_of(token, TEACHER)
    class_records.open_class(sequence.id, visitor.address())
    st.title(escape_letters(sequence.title) or "Your class", anchor=False)
    st.fragment(_draw_class, run_every=EVERY)(sequence)
    with st.expander("QR code: join this class"):
        links.draw_qr_code(lesson_maker.address(link_token(sequence)))
    with st.expander("Check codes"):
        draw_codes(sequence)


def _draw_class(sequence: LessonSequence) -> None:
    try:
        _draw_what_is_there(sequence)
    except BadInput as error:  # the next look may succeed
        safe_text.error(error, "")


def _draw_what_is_there(sequence: LessonSequence) -> None:
    all_answers = class_records.class_answers(sequence.id)
    finished_count = sum("finished" in step for answers in all_answers for step in answers)
    with st.container(horizontal=True):
        st.metric("sessions", len(all_answers))
        if len(sequence.steps) > 1:
            st.metric("finished", finished_count)
    st.caption("Updated every few seconds. No names; answers are not linked to each other.")
    alt, table = "How many sessions have reached each step.", _steps_table(sequence, all_answers)
    _draw_counts("teach.reached", alt, table)
    for place, link in enumerate(sequence.steps):
        if link.choices:
            _draw_private_question(sequence.id, place, link, all_answers)
        else:
            _draw_answers(place, link, all_answers)


def _draw_counts(key: str, alt: str, table: pd.DataFrame, caption: str = "") -> None:
    """Draw a bar for each row of a table of names and counts."""
    (_, names), (what, counts) = table.items()
    fig = charts.figure(str(what), "", height=80 + 30 * len(table))
    bars = {"x": counts, "y": names, "text": counts, "textposition": "auto", "orientation": "h"}
    fig.add_bar(**bars, marker_color=colours.of("dpals"))
    fig.update_yaxes(autorange="reversed", type="category")
    fig.update_xaxes(rangemode="tozero", tickformat="d")
    charts.show(fig, key, alt, table, leaves=True, caption=caption)


def _steps_table(sequence: LessonSequence, all_answers: list[Answers]) -> pd.DataFrame:
    """Return step, sessions: how many sessions opened each page and did each step."""
    rows = []
    for place, link in enumerate(sequence.steps):
        name, taught = page_of(link)
        names = {it.id: it.heading for it in taught.parts} | {"opened": name, ANSWER: "answered"}
        for step in ("opened", *steps_of(link)):
            count = sum(f"{place}.{step}" in answers for answers in all_answers)
            rows.append({"step": f"{place + 1}. {names[step]}", "sessions": count})
    return pd.DataFrame(rows)


def _draw_answers(place: int, link: LessonLink, all_answers: list[Answers]) -> None:
    """Draw the predictions and answers of one page."""
    name, taught = page_of(link)
    if not taught.own_words:
        return
    with st.expander(f"{place + 1}. {escape_letters(name)}", expanded=True):
        for part in taught.parts:
            counter = Counter(answers.get(f"{place}.{part.id}") for answers in all_answers)
            st.markdown(f"**{part.question}**")
            rows = [
                (f"{answer} (right)" if number == part.right else answer, counter[str(number)])
                for number, answer in enumerate(part.answers)
            ]
            safe_text.words_table(pd.DataFrame(rows, columns=["answer", "sessions"]))
        st.markdown(f"**{escape_letters(taught.own_words)}**")
        texts = [it[key] for it in all_answers if (key := f"{place}.{ANSWER}") in it]
        for text in sorted(texts):  # in alphabetical order, which does not reveal senders
            st.markdown(f"- {escape_letters(' '.join(text.split()))}")


# ---- a private question --------------------------------------------------------------------------


def _draw_private_question(
    class_id: str, place: int, link: LessonLink, all_answers: list[Answers]
) -> None:
    """Draw the question, its epsilon, its last publication at that epsilon, and the account."""
    step = f"{place}.{ANSWER}"
    count = sum(step in answers for answers in all_answers)
    with st.container(border=True):
        st.subheader(escape_letters(link.question), anchor=False)
        epsilon = st.select_slider(
            "ε of this publication", EPSILONS, 1.0, key=f"teach.{step}", format_func=budget_text
        )
        publications = class_records.publications(class_id, step)
        at_epsilon = [it for it in publications if it.epsilon == epsilon]
        st.button(
            f"Publish {count} answers at ε = {budget_text(epsilon)}",
            key=f"teach.publish.{step}",
            type="primary",
            disabled=not count or any(it.n_answers == count for it in at_epsilon),
            on_click=_publish,
            args=(class_id, step, len(link.choices), epsilon),
        )
        if problem := st.session_state.pop("teach.problem", None):
            safe_text.error(problem, "")
        if at_epsilon:
            _draw_publication(step, link, at_epsilon[-1])
        _draw_account(class_id, publications)


def _publish(class_id: str, step: str, n_choices: int, epsilon: float) -> None:
    try:
        private_class.publish(class_id, step, n_choices, epsilon)
    except BadInput as error:
        st.session_state["teach.problem"] = error


def _draw_publication(step: str, link: LessonLink, publication: Publication) -> None:
    table = pd.DataFrame({"answer": link.choices, "students": publication.counts})
    alt = f"Counts of {publication.n_answers} answers with noise."
    off = math.sqrt(2) * private_class.mechanism(publication.epsilon).noise_multiplier
    caption = (
        f"{publication.n_answers} answers. Each count is off by about {off:.1f}: Laplace noise of"
        f" scale 2/ε, rounded. ε = {budget_text(publication.epsilon)}, δ = 0, per student,"
        " replacing one answer by any other."
    )
    _draw_counts(f"teach.counts.{step}", alt, table, caption)


def _draw_account(class_id: str, publications: list[Publication]) -> None:
    spent_epsilon = private_class.spent_epsilon(class_id)
    words = f"ε = {epsilon_text(spent_epsilon)} of at most {epsilon_text(MOST)}"
    st.progress(min(1.0, spent_epsilon / MOST), f"All publications of this class: {words}")
    parts = " + ".join(budget_text(it.epsilon) for it in publications)
    st.caption(
        f"This question: ε = {parts or '0'}. With δ = 0, epsilons add up. Showing a publication"
        " again costs nothing, because its noise is drawn once. New answers need a new publication."
    )
