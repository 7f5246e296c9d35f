"""What follows an answer: a check on private data with its price, and what is left to take home."""

from dataclasses import replace
from typing import Any

import streamlit as st

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec
from dpmf_core.teaching.glossary import linked
from dpmf_core.tuning.choosing.finding import Finding
from dpmf_core.tuning.choosing.report import notebook, report
from dpmf_core.tuning.choosing.selection import TRIALS, among_the_best
from dpmf_core.tuning.choosing.wording import names
from dpmf_core.tuning.private_selection import PrivateSelection, SelectionResult
from pages.kit import links, odometer, recommendations, safe_text
from pages.kit.page_table import BY_ID
from pages.kit.recommendations import Recommendation
from pages.kit.runs import ask

SELECTING = "choose.selecting"  # in the session: the selection that was asked for
WINNERS = "choose.selected"  # in the session: what left each selection, by its specification


# ---- the same choice on private data themselves --------------------------------------------------


def check(finding: Finding, entry: Any) -> Finding:
    """Draw what a private selection would cost, its button, and what left it.

    Returns the finding with the selection, where there was one. entry: of the data set.
    """
    if finding.public:
        return finding
    st.subheader("Check it on your own data", anchor="own-data")
    spec = among_the_best(finding.question, finding.answer, DataSpec(id=entry.id))
    best = finding.answer.best
    if spec is None or best is None:
        st.caption(
            "On private data only the error of predictions can be compared with noise. Ask for"
            " ratings, and for a goal that at least two methods reach."
        )
        return finding
    methods = names([kind.id for kind in spec.kinds])
    st.write(
        linked(
            f"The twin is simulated. A private selection trains {methods}, at ε ="
            f" {budget_text(best.epsilon)}, about {TRIALS:g} times in total on your rows. It scores"
            " each with noise, and releases only the winner and its noisy error."
        )
    )
    button = st.container()
    odometer.panel(entry.id, "choose", entry.n_users)
    selection = _selection(spec)
    if selection is None:
        label = odometer.label("Choose on my data", spec)
        button.button(label, key="choose.own", on_click=_select, args=(spec,))
        return finding
    finding = replace(finding, selection=selection)
    if st.session_state.get(SELECTING) == spec:
        st.success(safe_text.escape(finding.confirmation))
    return finding


def _select(spec: PrivateSelection) -> None:
    st.session_state[SELECTING] = spec
    odometer.buy([spec])


def _selection(spec: PrivateSelection) -> SelectionResult | None:
    """What left the selection; None where it was not asked for, or goes on."""
    winners: dict[str, SelectionResult] = st.session_state.setdefault(WINNERS, {})
    key = spec.model_dump_json()
    if st.session_state.get(SELECTING) == spec:
        results = ask("choose.own", {"selection": spec}, by_button=True)
        if "selection" in results:
            winners[key] = results["selection"]
    return winners.get(key)


# ---- to take home --------------------------------------------------------------------------------


def draw(finding: Finding, entry: Any) -> None:
    """The command that trains the answer, a report, a notebook. entry: of the data set."""
    st.subheader("Take it away", anchor="take-away")
    left, right = st.columns([3, 2], gap="large")
    with left:
        _explore(finding, entry)
        if finding.train:
            st.code(finding.train, language="bash", wrap_lines=True)
            where = "" if finding.public else ", in the folder of your file"
            st.caption(f"It runs where dpmf is installed{where}.")
        st.caption(f"{finding.cost} {finding.training}")
    wide: dict[str, Any] = {"on_click": "ignore", "width": "stretch"}
    with right:
        page: dict[str, Any] = {
            "data": report(finding),
            "file_name": "which-method.html",
            "mime": "text/html",
        }
        st.download_button("Report, to print", **page, type="primary", key="choose.report", **wide)
        st.download_button(
            "Notebook",
            notebook(finding),
            "which-method.ipynb",
            "application/x-ipynb+json",
            key="choose.notebook",
            **wide,
        )
        st.caption("They hold public, simulated, declared and noisy figures, and no private rows.")


def _explore(finding: Finding, entry: Any) -> None:
    """The way on: Explore of these data, with the answer's method and epsilon."""
    question, best = finding.question, finding.answer.best
    if best is None:
        return
    answer = Recommendation(finding.method, question.of_one(best.epsilon), question.delta)
    recommendations.keep(entry.id, answer)
    label, icon = f"Open {answer.words} in Explore", BY_ID["explore"].material_icon
    press: dict[str, Any] = {"on_click": recommendations.choose, "args": (entry, answer)}
    if st.button(label, key="choose.explore", icon=icon, **press):
        links.go("explore")
