"""After an answer: a check on private data with its price, and files to take away."""

from dataclasses import replace
from typing import Any

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.base.program import start
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing.finding import TRIALS, Finding, among_the_best
from dpmf_core.runs.tuning.choosing.report import notebook, report
from dpmf_core.runs.tuning.choosing.wording import names
from dpmf_core.runs.tuning.private_selection import PrivateSelection, SelectionResult
from dpmf_core.teaching.glossary import linked
from dpmf_datasets import session_files
from pages.kit import data_sets, forms, links, odometer, safe_text
from pages.kit.exports import draw_files
from pages.kit.runs import ask, request_at
from pages.server import visitor

SELECTING = "choose.selecting"  # in the session: the requested selection
WINNERS = "choose.selected"  # in the session: results of selections, by specification
FOLDER = "choose.folder"  # in the session: the file's folder on the person's machine


def with_selection(finding: Finding, entry: Any) -> Finding:
    """Return the finding with the result of a private selection and parameters set on Tune."""
    spec = _selection_spec(finding, entry)
    winners = st.session_state.setdefault(WINNERS, {})
    selection = winners.get(spec.model_dump_json()) if spec else None
    if selection is not None:
        finding = finding.with_selection(selection)
    if not finding.method:
        return finding
    forms.read_address(finding.method)
    parameters = forms.set_parameters(finding.method)
    forms.write_to_address(finding.method, parameters)
    return replace(finding, parameters=parameters)


def _selection_spec(finding: Finding, entry: Any) -> PrivateSelection | None:
    """Return the private selection; None on public data or without noisy errors to compare."""
    if finding.public:
        return None
    return among_the_best(finding.question, finding.answer, DataSpec(id=entry.id))


def check(finding: Finding, entry: Any) -> None:
    """Draw the price of a private selection, its button, and its result."""
    if finding.public:
        return
    st.subheader("Check it on your own data", anchor="own-data")
    spec, best = _selection_spec(finding, entry), finding.answer.best
    if spec is None or best is None:
        st.caption(
            "On private data only errors of predicted ratings can be compared. Choose Ratings, and"
            " a goal that at least two methods reach."
        )
        return
    methods = names([kind.id for kind in spec.kinds])
    st.write(
        linked(
            f"A private selection trains {methods} on your ratings, about {TRIALS:g} times in"
            f" total, each time at ε = {budget_text(best.epsilon)}. It scores each with noise, and"
            " releases only the winner and its noisy error."
        )
    )
    requested = st.session_state.get(SELECTING) == spec
    if finding.selection is None and not requested:
        label = odometer.label("Choose on my data", spec)
        st.button(label, key="choose.own", on_click=_select, args=(spec,))
    total = st.container()
    if finding.selection is not None:
        st.success(safe_text.escape(finding.confirmation))
    elif requested:
        results = ask("choose.own", {"selection": spec}, by_button=True)
        if "selection" in results:
            winners: dict[str, SelectionResult] = st.session_state[WINNERS]
            winners[spec.model_dump_json()] = results["selection"]
            st.rerun()
    with total:  # after the request, which enters the account
        waits = finding.selection is None and request_at("choose.own").busy
        odometer.panel(entry.id, "choose", entry.n_users, awaits=waits)


def _select(spec: PrivateSelection) -> None:
    st.session_state[SELECTING] = spec
    odometer.buy([spec])


def program() -> tuple[str, ...]:
    """Return the start of a command, with its full path for someone at their own machine."""
    return start() if visitor.asker().alone else ("dpmf",)


def command_path(entry: Any) -> str:
    """Return the data's id, or its path in the folder that the person named."""
    if not datasets.is_own(entry.id):
        return str(entry.id)
    folder = str(st.session_state.get(FOLDER) or "").rstrip("/\\")
    name = session_files.command_path(entry.id)
    return f"{folder}/{name}" if folder else name


def use(finding: Finding, entry: Any) -> None:
    """Choose the data set and the answer on every page. Call it before widgets are drawn."""
    place, question = finding.place, finding.question
    assert place is not None
    data_sets.choose(entry)
    epsilon = question.of_one(place.epsilon)
    values = {"algorithm": place.method, "epsilon": epsilon, "delta": question.delta}
    for name, value in values.items():
        st.session_state[data_sets.session_key(name, "ratings")] = value


def draw(finding: Finding, entry: Any) -> None:
    """Draw the command that trains the answer, a configuration, a report and a notebook."""
    if datasets.is_own(entry.id):
        st.text_input(
            "Folder of the file on your computer",
            key=FOLDER,
            persist_state="session",
            placeholder="without it, run the command in that folder",
        )
    st.code(finding.train, language="bash", wrap_lines=True)
    st.caption(
        f"{safe_text.escape(finding.cost)} {finding.training}"
        " `fit --config which-method.toml` does the same."
    )
    files = {
        "which-method.html": ("Page to print", report(finding)),
        "which-method.toml": ("Configuration", finding.configuration_file),
        "which-method.ipynb": ("Notebook", notebook(finding)),
    }
    draw_files(files, first="which-method.html")
    if st.button("Split ε over several models", on_click=_ask_total, args=(finding,)):
        links.go("accountant")
    st.caption("The files contain public, synthetic, declared and noisy figures, no private rows.")


def _ask_total(finding: Finding) -> None:
    """Set the answer's epsilon as the total of several models on Account."""
    assert finding.place is not None
    epsilon = finding.question.of_one(finding.place.epsilon)
    st.session_state["accountant.total"] = epsilon
