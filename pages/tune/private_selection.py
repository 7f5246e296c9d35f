"""A private selection: its controls, its one release, and using the parameters found."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.privacy import Relation
from dpmf_core.privacy.formatting import budget_text, epsilon_in_full
from dpmf_core.runs.store import to_json
from dpmf_core.teaching.glossary import linked
from dpmf_core.tuning.private_selection import MOST, PrivateSelection, SelectionResult
from dpmf_core.tuning.search_space import TuneSpec
from pages.kit import forms, links, odometer
from pages.kit.runs import ask
from pages.kit.session_widgets import number_within
from pages.kit.sidebar_values import Choice

RULE = "by the privacy profile of a trial"
WAYS = {"take-away": "Export", "explore": "Explore it", "choose": "Back to the answer"}


def _select(spec: PrivateSelection) -> None:
    st.session_state["tune.selecting"] = spec
    odometer.buy([spec])


def page(choice: Choice, search: TuneSpec, trials: int, head: DeltaGenerator) -> None:
    """Draw the controls and the button here, the outcome at the head."""
    spec = _settings(choice, search, trials)
    st.button(
        odometer.label("Tune on my data", spec),
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
                f"About {spec.trials:g} trials; their number and parameters are random. Only the"
                f" winner and its noisy score are released: **{cost}** in total. Each training has"
                f" ε = {budget_text(float(f'{budget.epsilon:.3g}'))}. Noise moves a score by about"
                f" ± {2 * deviation:.2g} (95%) at an error of {error:g}."
            )
        )


def _settings(choice: Choice, search: TuneSpec, trials: int) -> PrivateSelection:
    """Return the controls' selection; raise BadInput."""
    left, right = st.columns(2)
    key = f"tune.cap.{choice.epsilon:g}"
    st.session_state.setdefault(key, choice.epsilon)
    look: dict[str, Any] = {"format": "%g"}
    look["help"] = "Trainings share what remains after scoring and choosing."
    cap = number_within(left.container(), "Largest total ε", key, 0.01, 1000.0, **look)
    text = "Each trial's score is computed from private validation ratings."
    key, label = "tune.noise", "Noise multiplier of each score"
    noise = right.number_input(label, 0.1, 1000.0, 5.0, key=key, format="%g", help=text)
    return PrivateSelection.parse(
        searches=(search,),
        distribution="geometric",  # the logarithmic one costs less, but often tries only one
        trials=float(min(trials, MOST)),
        score_noise=noise or 5.0,
    ).within(cap)


def _draw(spec: PrivateSelection) -> None:
    """Draw the winner of a requested selection and its cost."""
    selection: SelectionResult | None = ask(
        "tune.selection", {"selection": spec}, by_button=True
    ).get("selection")
    if selection is None:
        st.title("Tuning privately", anchor=False)
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
            "The random number of trials was 0, so nothing is released. The selection still cost"
            f" **{cost}**. Another seed draws again."
        )
        return
    st.title(f"The winner's validation RMSE, with noise: {selection.score:.3f}", anchor=False)
    algorithm = spec.searches[0].algorithm
    st.write(linked(f"With {forms.in_words(algorithm, selection.winner)}. In total: **{cost}**."))
    draw_use(algorithm, spec.searches[0].fixed | selection.winner)
    st.caption(
        f"{selection.guarantee} The theorem does not cover the duration, which may reveal the"
        " number of trials. Nothing else was trained, and no error was computed."
    )
    st.download_button(
        "The selection as JSON",
        to_json(selection.export(), indent=1),
        "selection.json",
        "application/json",
    )


def draw_use(algorithm: str, values: Mapping[str, Any]) -> None:
    """Draw the button that sets these parameters everywhere, then the next steps."""
    if forms.set_parameters(algorithm) != dict(values):
        args = (algorithm, values)
        st.button("Use these", key="tune.use", type="primary", on_click=forms.choose, args=args)
        return
    st.caption("In use on every page and in the command.")
    links.draw_ways("tune.next", WAYS)
