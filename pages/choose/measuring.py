"""Train the chosen method on private data, measure its gain, and double epsilon step by step."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.measured_fall import LEAST, MOST, MeasuredTraining
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing.measured_trainings import USUAL_EPSILON, AnswerStep
from dpmf_core.runs.tuning.choosing.private_finding import PrivateFinding
from dpmf_core.runs.tuning.choosing.question import LARGEST_SPEND, Question
from dpmf_core.teaching.glossary import linked
from pages.choose.question_controls import press
from pages.kit.base import safe_text
from pages.kit.controls import sidebar_values
from pages.kit.controls.session_widgets import number_within
from pages.kit.privacy import purchases
from pages.kit.running.runs import ask, request_at

# in the session: the measured trainings that were requested, by data set
REQUESTED = "choose.measured"
# in the session: the epsilon of a measurement
MEASUREMENT = "choose.measurement"


@dataclass(frozen=True)
class Requested:
    """A measured training that was requested.

    Attributes
    ----------
    work
        The computation.
    epsilon
        The epsilon of the training for the people whom the question protects.
    group, delta
        The question's group size and delta when the training was requested.
    """

    work: MeasuredTraining
    epsilon: float
    group: int
    delta: float


def steps_of(question: Question, entry: Any) -> tuple[AnswerStep, ...]:
    """The finished trainings on these data. Draws the progress of running ones.

    Only trainings for the question's group and delta count, in the order of their requests.
    """
    requested = {
        training.work.model_dump_json(): training
        for training in _requested(entry)
        if training.group == question.group and training.delta == question.delta
    }
    if not requested:
        return ()
    works = {name: training.work for name, training in requested.items()}
    runs = ask("choose.measured", works, by_button=True)
    return tuple(
        AnswerStep.of(runs[name], training.epsilon)
        for name, training in requested.items()
        if name in runs
    )


def _requested(entry: Any) -> list[Requested]:
    by_data: dict[str, list[Requested]] = st.session_state.setdefault(REQUESTED, {})
    return by_data.setdefault(entry.id, [])


def _request(training: Requested, entry: Any) -> None:
    """Request a measured training, and set the question's epsilon to the training's."""
    requested = _requested(entry)
    if training not in requested:
        requested.append(training)
    purchases.buy([training.work])
    st.session_state[sidebar_values.EPSILON] = training.epsilon
    press(in_full=False)


def draw(finding: PrivateFinding, entry: Any) -> None:
    """Draw the button that trains and measures the answer, or the button that doubles epsilon."""
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
    box, button = st.columns([1, 3], vertical_alignment="bottom")
    measurement = number_within(
        box, "ε of the measurement", MEASUREMENT, LEAST, MOST, first=USUAL_EPSILON
    )
    with button:
        if finding.step is None:
            title = f"Train at ε = {budget_text(finding.epsilon)} and measure"
            _draw_request(title, finding, entry, measurement, finding.epsilon)
        elif 2 * finding.epsilon <= LARGEST_SPEND:
            title = f"Double ε to {budget_text(2 * finding.epsilon)}"
            _draw_request(title, finding, entry, measurement, 2 * finding.epsilon)
    _draw_steps(finding)


def _draw_steps(finding: PrivateFinding) -> None:
    """Draw the table of the gain and the cost of each step."""
    steps = finding.steps_of_method
    if not steps:
        return
    # the first cell of a row is its epsilon
    measured = {budget_text(step.epsilon) for step in steps}
    rows = [row for row in finding.rows if row[0] in measured]
    safe_text.table(rows, finding.columns)
    st.caption("Stop where doubling brings too little.")


def _draw_request(
    title: str, finding: PrivateFinding, entry: Any, measurement: float, epsilon: float
) -> None:
    question = finding.question
    work = finding.work(DataSpec(id=entry.id), measurement, epsilon)
    training = Requested(work, epsilon, question.group, question.delta)
    if request_at("choose.measured").busy:
        return
    purchases.draw_button("choose.measure", title, [work], _request, (training, entry))
