"""The same choice on private data themselves: a private selection, asked for by a button with its
price.
"""

from dataclasses import replace

import streamlit as st

from dpmf_core.choosing.finding import Finding
from dpmf_core.choosing.selection import TRIALS, MethodSelection, among_the_best
from dpmf_core.choosing.wording import names
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec
from dpmf_core.teaching.glossary import linked
from dpmf_core.tuning.private_selection import Selected
from pages.choose.controls import Asked
from pages.kit import odometer, run_progress, safe_text

SELECTING = "choose.selecting"  # in the session: the selection that was asked for
FOUND = "choose.selected"  # in the session: what left each selection, by its specification


def draw(asked: Asked, found: Finding) -> None:
    """What the selection would cost, its button, and what left it."""
    if found.public:
        return
    st.subheader("Check it on your own data", anchor="own-data")
    spec = _spec(asked, found)
    if spec is None:
        st.caption(
            "What noise leaves comparable on private data is how far predictions are off: ask for"
            " ratings, and for what at least two methods can do."
        )
        return
    st.write(
        linked(
            f"The twin is simulated. A private selection trains {names(spec.methods)}, at ε ="
            f" {budget_text(found.answer.best.epsilon if found.answer.best else 0.0)}, about"
            f" {TRIALS:g} times in all on your rows, scores each with noise, and tells nothing but"
            " the winner and its noisy error."
        )
    )
    button = st.container()
    odometer.panel(asked.entry.id, "choose", asked.entry.n_users)
    _show(spec, found)
    if selected(asked, found) is None:
        button.button(
            odometer.label("Choose on my data", spec),
            key="choose.own",
            on_click=_select,
            args=(spec,),
        )


def _spec(asked: Asked, found: Finding) -> MethodSelection | None:
    """The selection among the best at the answer's epsilon; None where there is none."""
    return among_the_best(found.question, found.answer, DataSpec(id=asked.entry.id))


def _select(spec: MethodSelection) -> None:
    st.session_state[SELECTING] = spec
    odometer.buy([spec])


def _show(spec: MethodSelection, found: Finding) -> None:
    if st.session_state.get(SELECTING) != spec:
        return
    works = {"selection": spec}
    made: Selected | None = run_progress.request("choose.own", works, asked=True).get("selection")
    if made is None:
        return
    st.session_state[FOUND] = {**st.session_state.get(FOUND, {}), spec.model_dump_json(): made}
    st.success(safe_text.escape(replace(found, selected=made).confirmed))


def selected(asked: Asked, found: Finding) -> Selected | None:
    """What left the selection that belongs to this answer; None where it was not asked for."""
    if found.public:
        return None
    spec = _spec(asked, found)
    if spec is None:
        return None
    made: Selected | None = st.session_state.get(FOUND, {}).get(spec.model_dump_json())
    return made
