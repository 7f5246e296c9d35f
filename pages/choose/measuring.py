"""Train the answer on private data, measure what it brought, and double epsilon step by step."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.measured_fall import LEAST, MOST
from dpmf_core.runs.measured_training import MeasuredTraining
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing.private_finding import PrivateFinding
from dpmf_core.runs.tuning.choosing.question import LARGEST_SPEND, Question
from dpmf_core.runs.tuning.choosing.steps import USUAL_EPSILON, AnswerStep
from dpmf_core.teaching.glossary import linked
from pages.choose.controls import press
from pages.kit import odometer, purchases, safe_text, sidebar_values
from pages.kit.runs import ask, request_at
from pages.kit.session_widgets import number_within

REQUESTED = (
    "choose.measured"  # in the session: requested measured trainings, by data set
)
MEASUREMENT = "choose.measurement"  # in the session: the epsilon of a measurement


@dataclass(frozen=True)
class Requested:
    """A measured training that was requested.

    epsilon: of the training, for those whom the question must protect.
    """

    work: MeasuredTraining
    epsilon: float
    group: int
    delta: float


def steps_of(question: Question, entry: Any) -> tuple[AnswerStep, ...]:
    """Take the finished measured trainings on these data, and draw the progress of the others.

    They are those of the question's group and delta, in the order in which they were requested.
    """
    requested = [
        one
        for one in _requested(entry)
        if one.group == question.group and one.delta == question.delta
    ]
    if not requested:
        return ()
    works = {one.work.model_dump_json(): one.work for one in requested}
    runs = ask("choose.measured", works, by_button=True)
    finished = [(one, runs.get(one.work.model_dump_json())) for one in requested]
    return tuple(
        AnswerStep.of(run, one.epsilon) for one, run in finished if run is not None
    )


def _requested(entry: Any) -> list[Requested]:
    by_data: dict[str, list[Requested]] = st.session_state.setdefault(REQUESTED, {})
    return by_data.setdefault(entry.id, [])


def _request(one: Requested, entry: Any) -> None:
    """Request a measured training, whose epsilon becomes that of the question."""
    requested = _requested(entry)
    if one not in requested:
        requested.append(one)
    purchases.buy([one.work])
    st.session_state[sidebar_values.EPSILON] = one.epsilon
    press(in_full=False)


def draw(finding: PrivateFinding, entry: Any) -> None:
    """Draw the button that trains and measures the answer, or the next step of the ladder."""
    st.header("Train it, and measure what it brought", anchor="measure")
    if finding.question.goal != "ratings":
        st.caption("Only errors of predicted ratings can be measured. Choose Ratings.")
        return
    st.write(
        linked(
            "Some ratings are held out, the method is trained on the others, and the fall of the"
            " error is released with noise. The measured figure then replaces the prediction."
        )
    )
    st.session_state.setdefault(MEASUREMENT, USUAL_EPSILON)
    box, button = st.columns([1, 3], vertical_alignment="bottom")
    measurement = number_within(box, "ε of the measurement", MEASUREMENT, LEAST, MOST)
    with button:
        if finding.step is None:
            title = f"Train at ε = {budget_text(finding.epsilon)} and measure"
            _draw_request(title, finding, entry, measurement, finding.epsilon)
        elif 2 * finding.epsilon <= LARGEST_SPEND:
            title = f"Double ε to {budget_text(2 * finding.epsilon)}"
            _draw_request(title, finding, entry, measurement, 2 * finding.epsilon)
    _draw_steps(finding)


def _draw_steps(finding: PrivateFinding) -> None:
    """Draw a table of what each step brought and cost."""
    steps = finding.steps_of_method
    if not steps:
        return
    measured = {budget_text(step.epsilon) for step in steps}
    rows = [row for row in finding.rows if row[0] in measured]
    safe_text.table(pd.DataFrame(rows, columns=finding.columns))
    st.caption("Stop where doubling brings too little.")


def _draw_request(
    title: str, finding: PrivateFinding, entry: Any, measurement: float, epsilon: float
) -> None:
    question = finding.question
    work = finding.work(DataSpec(id=entry.id), measurement, epsilon)
    one = Requested(work, epsilon, question.group, question.delta)
    if request_at("choose.measured").busy:
        return
    account = purchases.draw_button(
        "choose.measure", title, [work], _request, (one, entry)
    )
    if account is not None:
        st.caption(safe_text.escape(odometer.terms(account.after(work.charges))))
