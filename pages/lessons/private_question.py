"""A private question in the class view: its publications with noise, and the class's account."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.teaching import private_class
from dpmf_core.teaching.class_answers import ClassPage, step_name
from dpmf_core.teaching.class_records import Answers, Publication
from dpmf_core.teaching.lessons import ANSWER
from dpmf_core.teaching.private_class import EPSILONS, FEW, MOST, noise_range
from pages.kit.base import safe_text
from pages.kit.base.safe_text import button_label, count_text, escape_letters
from pages.lessons import class_figures

PROBLEM = "teach.problem"  # in the session: why nothing was published


def draw(
    class_id: str, place: int, page: ClassPage, all_answers: list[Answers]
) -> None:
    """Draw the question, its epsilon, its last publication at that epsilon, and the account."""
    step = step_name(place, ANSWER)
    count = sum(step in answers for answers in all_answers)
    with st.container(border=True):
        st.header(escape_letters(page.link.question), anchor=False)
        epsilon = st.select_slider(
            "ε of this publication",
            EPSILONS,
            1.0,
            key=f"teach.{step}",
            format_func=budget_text,
        )
        at_epsilon = [one for one in page.publications if one.epsilon == epsilon]
        waits = count < FEW and not _few_are_enough(step, count, epsilon)
        action = f"Publish {count_text(count, 'answer')} at ε = {budget_text(epsilon)}"
        st.button(
            button_label(action, f"to {page.link.question}"),
            key=f"teach.publish.{step}",
            type="primary",
            disabled=not count
            or waits
            or any(one.n_answers == count for one in at_epsilon),
            on_click=_publish,
            args=(class_id, step, len(page.link.choices), epsilon),
        )
        safe_text.draw_kept_problem(PROBLEM)
        if at_epsilon:
            _draw_publication(step, page, at_epsilon[-1])
        _draw_account(class_id, page.publications)


def _few_are_enough(step: str, count: int, epsilon: float) -> bool:
    """Draw the number of answers, and a switch that publishes fewer than ten."""
    so_far = "there is 1" if count == 1 else f"there are {count}"
    st.caption(
        f"Publishing waits for {FEW} answers, and {so_far}. At ε = {budget_text(epsilon)} the noise"
        f" of a count is up to ±{noise_range(epsilon)} (95 of 100 counts), which hides what so few"
        " have answered."
    )
    return st.toggle(f"Publish fewer than {FEW} answers", key=f"teach.few.{step}")


def _publish(class_id: str, step: str, n_choices: int, epsilon: float) -> None:
    with safe_text.kept_problem(PROBLEM):
        private_class.publish(class_id, step, n_choices, epsilon)


def _draw_publication(step: str, page: ClassPage, publication: Publication) -> None:
    table = pd.DataFrame({"answer": page.link.choices, "students": publication.counts})
    answers = count_text(publication.n_answers, "answer")
    noise = noise_range(publication.epsilon)
    alt = f"Counts of {answers} with noise, each ±{noise}."
    caption = (
        f"{answers}. Every count has noise of up to ±{noise} (95 of 100 counts), so it can be"
        " negative or exceed the number of answers. It stays as drawn: setting negative counts to 0"
        " would make small counts too high on average. Laplace noise of scale 2/ε, rounded."
        f" ε = {budget_text(publication.epsilon)}, δ = 0, per student, replacing one answer by any"
        " other."
    )
    class_figures.draw(f"teach.counts.{step}", alt, table, caption, noise=noise)


def _draw_account(class_id: str, publications: Sequence[Publication]) -> None:
    spent_epsilon = private_class.spent_epsilon(class_id)
    words = f"ε = {epsilon_text(spent_epsilon)} of at most {epsilon_text(MOST)}"
    st.progress(
        min(1.0, spent_epsilon / MOST), f"All publications of this class: {words}"
    )
    parts = " + ".join(budget_text(publication.epsilon) for publication in publications)
    st.caption(
        f"This question: ε = {parts or '0'}. With δ = 0, epsilons add up. Showing a publication"
        " again costs nothing, because its noise is drawn once. New answers need a new publication."
    )
