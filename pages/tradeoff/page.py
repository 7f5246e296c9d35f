"""Which method, at which epsilon? Many methods, epsilons and draws compared."""

from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.machine import duration
from pages.kit import odometer, sidebar, time_estimate, who_sees_what
from pages.kit.runs import ask, note_shipped, queue
from pages.kit.sweep_frames import Runs
from pages.tradeoff import controls, findings, sections
from pages.tradeoff.controls import Question
from pages.tradeoff.findings import Results

AT_ONCE = 24  # missing runs that start without a button


def _confirm(signature: str) -> None:
    """Start the comparison. A callback survives a rerun."""
    st.session_state["tradeoff.go"] = st.session_state["tradeoff.asked"] = signature


def request_runs(question: Question) -> Runs:
    """Return the finished runs; many or long missing runs wait for a button."""
    distinct = {point.key: point.spec for point in question.points}
    has_private = bool(odometer.names_of_private(distinct))  # these have buttons of their own
    if not has_private and st.session_state.get("tradeoff.go") != question.signature:
        stored = time_estimate.stored_names(distinct)
        missing = {key: spec for key, spec in distinct.items() if key not in stored}
        seconds = time_estimate.seconds(missing) if missing else 0.0
        if len(missing) > AT_ONCE or seconds > engine().limits.ask_seconds:
            words, button = st.columns([3, 1], vertical_alignment="center")
            words.write(
                f"**{len(distinct):,} runs**, {len(stored):,} of them stored. The others take about"
                f" {duration(seconds)} and appear as they finish. {queue()}"
            )
            look: dict[str, Any] = {"key": "tradeoff.run", "type": "primary", "width": "stretch"}
            button.button("Run", on_click=_confirm, args=(question.signature,), **look)
            some = {key: distinct[key] for key in distinct if key in stored}
            return ask("tradeoff", some, whole=())
        st.session_state["tradeoff.go"] = question.signature
    by_button = st.session_state.get("tradeoff.asked") == question.signature
    seed = min((point.spec.seed for point in question.points), default=0)
    first = [point.key for point in question.points if point.spec.seed == seed][:AT_ONCE]
    return ask("tradeoff", distinct, first=first, by_button=by_button, whole=())


def below(question: Question, results: Results) -> None:
    for line in findings.weak_references(results):
        st.warning(line)
    sections.grid(question, results.runs)
    sections.promises(results)
    with st.expander("Export"):
        sections.exports(question, results.runs)


def main() -> None:
    head = st.container()
    with st.expander("What is compared", expanded=True):
        try:
            question = controls.draw(sidebar.choice())
        except BadInput:
            head.title(findings.QUESTION)
            raise
    with head:
        words = st.container()
        runs = request_runs(question)
        control, aside = st.columns([4, 1], vertical_alignment="center")
        metric = question.metric
        if runs:
            metrics = {name for run in runs.values() for name in run.record.metrics}
            available = [name for name in controls.MEASURES if name in metrics]
            with control:
                metric = controls.measure(available, metric if metric in available else "rmse")
        results = Results(question.points, runs, metric)
        title, sentence = findings.headline(results)
        words.title(title)
        words.write(sentence if runs else odometer.opening_text("tradeoff", sentence))
        if runs:
            sections.figure(question, runs, metric, aside)
            note_shipped([point.spec for point in question.points])
        who_sees_what.draw(who_sees_what.USERS)
    if runs:
        below(question, results)


main()
