"""The same choice on private data themselves: a private selection, asked for by a button with its
price.
"""

from dataclasses import replace

import streamlit as st

from dpmf_core.choosing.finding import Finding
from dpmf_core.choosing.selection import TRIALS, among_the_best
from dpmf_core.choosing.wording import names
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec
from dpmf_core.teaching.glossary import linked
from dpmf_core.tuning.private_selection import PrivateSelection, SelectionResult
from pages.choose.controls import Inquiry
from pages.kit import odometer, safe_text
from pages.kit.runs import ask

SELECTING = "choose.selecting"  # in the session: the selection that was asked for
WINNERS = "choose.selected"  # in the session: what left each selection, by its specification


def draw(inquiry: Inquiry, finding: Finding) -> None:
    """What the selection would cost, its button, and what left it."""
    if finding.public:
        return
    st.subheader("Check it on your own data", anchor="own-data")
    spec = _spec(inquiry, finding)
    if spec is None:
        st.caption(
            "What noise leaves comparable on private data is how far predictions are off: ask for"
            " ratings, and for what at least two methods can do."
        )
        return
    methods = names([kind.id for kind in spec.kinds])
    st.write(
        linked(
            f"The twin is simulated. A private selection trains {methods}, at ε ="
            f" {budget_text(finding.answer.best.epsilon if finding.answer.best else 0.0)}, about"
            f" {TRIALS:g} times in all on your rows, scores each with noise, and tells nothing but"
            " the winner and its noisy error."
        )
    )
    button = st.container()
    odometer.panel(inquiry.entry.id, "choose", inquiry.entry.n_users)
    _show(spec, finding)
    if selection_result(inquiry, finding) is None:
        button.button(
            odometer.label("Choose on my data", spec),
            key="choose.own",
            on_click=_select,
            args=(spec,),
        )


def _spec(inquiry: Inquiry, finding: Finding) -> PrivateSelection | None:
    """The selection among the best at the answer's epsilon; None where there is none."""
    return among_the_best(finding.question, finding.answer, DataSpec(id=inquiry.entry.id))


def _select(spec: PrivateSelection) -> None:
    st.session_state[SELECTING] = spec
    odometer.buy([spec])


def _show(spec: PrivateSelection, finding: Finding) -> None:
    if st.session_state.get(SELECTING) != spec:
        return
    works = {"selection": spec}
    selection: SelectionResult | None = ask("choose.own", works, by_button=True).get("selection")
    if selection is None:
        return
    st.session_state[WINNERS] = {
        **st.session_state.get(WINNERS, {}),
        spec.model_dump_json(): selection,
    }
    st.success(safe_text.escape(replace(finding, selection=selection).confirmation))


def selection_result(inquiry: Inquiry, finding: Finding) -> SelectionResult | None:
    """What left the selection that belongs to this answer; None where it was not asked for."""
    if finding.public:
        return None
    spec = _spec(inquiry, finding)
    if spec is None:
        return None
    selection: SelectionResult | None = st.session_state.get(WINNERS, {}).get(
        spec.model_dump_json()
    )
    return selection
