"""A private selection on a page: its controls, and the one thing that leaves it."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.privacy import Relation
from dpmf_core.privacy.formatting import budget_text, epsilon_in_full
from dpmf_core.runs.store import to_json
from dpmf_core.teaching.glossary import linked
from dpmf_core.tuning.private_selection import MOST, PrivateSelection, SelectionResult
from dpmf_core.tuning.search_space import TuneSpec
from pages.kit import forms, odometer
from pages.kit.runs import ask
from pages.kit.sidebar_values import Choice
from pages.tune.use import draw_use

RULE = "by the privacy profile of a trial"


def _select(spec: PrivateSelection) -> None:
    st.session_state["tune.selecting"] = spec
    odometer.buy([spec])


def page(choice: Choice, search: TuneSpec, trials: int, head: DeltaGenerator) -> None:
    """Controls here, begun by their button; the outcome at the head."""
    spec = _settings(choice, search, trials)
    st.button(
        odometer.label("Choose in private", spec),
        type="primary",
        key="tune.select",
        on_click=_select,
        args=(spec,),
    )
    with head:
        if st.session_state.get("tune.selecting") == spec:
            _draw(spec)
            return
        st.title("Tune privately", anchor=False)
        budget = spec.budget
        cost = epsilon_in_full(
            spec.epsilon, budget.delta, spec.kinds[0]().guarantee().unit, budget.relation, RULE
        )
        error = choice.shape.half_range / 2
        deviation = spec.score_deviation(error, choice.shape)
        st.write(
            linked(
                f"About {spec.trials:g} trials, their number and parameters drawn at random. Only"
                f" the winner and its noisy score leave: **{cost}** in all. Each training has ε ="
                f" {budget_text(float(f'{budget.epsilon:.3g}'))}. Noise moves a score by about ±"
                f" {2 * deviation:.2g} (95%) where the error is {error:g}."
            )
        )


def _settings(choice: Choice, search: TuneSpec, trials: int) -> PrivateSelection:
    """What the controls say. Raises BadInput."""
    left, right = st.columns(2)
    cap = left.number_input(
        "The search may cost at most ε",
        0.01,
        1000.0,
        choice.epsilon,
        key=f"tune.cap.{choice.epsilon:g}",
        format="%g",
        help="Each training gets what this leaves after scoring and choosing.",
    )
    text = "Each trial's score is computed from private validation ratings."
    key, label = "tune.noise", "Noise multiplier of each score"
    noise = right.number_input(label, 0.1, 1000.0, 5.0, key=key, format="%g", help=text)
    return PrivateSelection.parse(
        searches=(search,),
        distribution="geometric",  # the logarithmic one costs less, and often tries one alone
        trials=float(min(trials, MOST)),
        score_noise=noise or 5.0,
    ).within(cap or choice.epsilon)


def _draw(spec: PrivateSelection) -> None:
    """The selection once it is asked for: its winner, and what it cost."""
    selection: SelectionResult | None = ask(
        "tune.selection", {"selection": spec}, by_button=True
    ).get("selection")
    if selection is None:
        st.title("Choosing in private", anchor=False)
        return
    budget = spec.searches[0].budget
    cost = epsilon_in_full(
        selection.epsilon,
        budget.delta if budget else 0.0,
        selection.unit,
        budget.relation if budget else Relation.ADD_REMOVE,
        RULE,
    )
    if selection.score is None:
        st.title("No trial was drawn", anchor=False)
        st.write(
            "The number of trials is random, and was 0: nothing is released. The selection still"
            f" cost **{cost}**. Another seed draws again."
        )
        return
    st.title(f"The winner's validation RMSE, with noise: {selection.score:.3f}", anchor=False)
    algorithm = spec.searches[0].algorithm
    st.write(linked(f"With {forms.in_words(algorithm, selection.winner)}. All in all: **{cost}**."))
    draw_use(algorithm, spec.searches[0].fixed | selection.winner)
    st.caption(
        f"{selection.guarantee} The theorem does not cover how long the selection took, which may"
        " reveal how many trials there were. Nothing else was trained, and no error computed."
    )
    st.download_button(
        "The selection as JSON",
        to_json(selection.export(), indent=1),
        "selection.json",
        "application/json",
    )
