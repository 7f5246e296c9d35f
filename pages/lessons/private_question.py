"""A private question in the class view: noisy counts of its answers, and the class's account."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.teaching import class_records, private_class
from dpmf_core.teaching.class_records import Answers, Publication
from dpmf_core.teaching.lesson_links import LessonLink
from dpmf_core.teaching.lessons import ANSWER
from dpmf_core.teaching.private_class import EPSILONS, MOST
from pages.kit import charts, colours, safe_text
from pages.kit.safe_text import escape_letters


def draw(class_id: str, place: int, link: LessonLink, all_answers: list[Answers]) -> None:
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


def publish(class_id: str, step: str, n_choices: int, epsilon: float) -> None:
    """Publish the answers to one question; raise BadInput if the account has no room.

    The same answers at the same epsilon are drawn and charged only once.
    """

    def draw(answers: Sequence[str]) -> list[int]:
        counts = private_class.counts_of(answers, n_choices)
        return private_class.noisy_counts(class_id, step, counts, epsilon)

    class_records.publish(class_id, step, epsilon, draw)


def _publish(*question: Any) -> None:
    try:
        publish(*question)
    except BadInput as error:
        st.session_state["teach.problem"] = error


def _draw_publication(step: str, link: LessonLink, publication: Publication) -> None:
    table = pd.DataFrame({"answer": link.choices, "students": publication.counts})
    fig = charts.figure("", "students, with noise", height=260)
    fig.add_bar(
        x=table["answer"],
        y=table["students"],
        text=table["students"],
        textposition="auto",
        marker_color=colours.of("dpals"),
    )
    fig.update_xaxes(type="category")
    alt = f"Counts of {publication.n_answers} answers with noise."
    off = math.sqrt(2) * private_class.mechanism(publication.epsilon).noise_multiplier
    caption = (
        f"{publication.n_answers} answers. Each count is off by about {off:.1f}: Laplace noise of"
        f" scale 2/ε, rounded. ε = {budget_text(publication.epsilon)}, δ = 0, per student,"
        " replacing one answer by any other."
    )
    charts.show(fig, f"teach.counts.{step}", alt, table, leaves=True, caption=caption)


def _draw_account(class_id: str, publications: list[Publication]) -> None:
    spent_epsilon = private_class.spent_epsilon(class_id)
    words = f"ε = {epsilon_text(spent_epsilon)} of at most {epsilon_text(MOST)}"
    st.progress(min(1.0, spent_epsilon / MOST), f"All publications of this class: {words}")
    parts = " + ".join(budget_text(it.epsilon) for it in publications)
    st.caption(
        f"This question: ε = {parts or '0'}. With δ = 0, epsilons add up. Showing a publication"
        " again costs nothing, because its noise is drawn once. New answers need a new publication."
    )
