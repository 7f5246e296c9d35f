"""Which algorithm, at which epsilon?

Many methods, epsilons and draws; the figures of the source papers.
"""

import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from pages.kit import (
    odometer,
    published_figures,
    run_progress,
    safe_text,
    sidebar,
    stored_results,
    time_estimate,
    who_sees_what,
)
from pages.kit.sweep_frames import Runs
from pages.tradeoff import bunching, controls, exports, figures, findings, kept_shares, references
from pages.tradeoff.controls import Question

AT_ONCE = 24  # runs that are made without being asked for


def _confirm(signature: str) -> None:
    """As a callback it is not lost where the page is just being drawn anew."""
    st.session_state["tradeoff.go"] = st.session_state["tradeoff.asked"] = signature


def request_runs(question: Question) -> Runs:
    """The finished runs. A question with many that are not stored, or that take long, waits for
    its button, and shows the stored ones meanwhile.
    """
    distinct = {point.key: point.spec for point in question.points}
    has_private = bool(odometer.names_of_private(distinct))  # these have buttons of their own
    if not has_private and st.session_state.get("tradeoff.go") != question.signature:
        stored_keys = time_estimate.stored_names(distinct)
        missing = {key: spec for key, spec in distinct.items() if key not in stored_keys}
        seconds = time_estimate.seconds(missing) if missing else 0.0
        if len(missing) > AT_ONCE or seconds > engine().limits.ask_seconds:
            amount = time_estimate.words(seconds)
            words, button = st.columns([3, 1], vertical_alignment="center")
            runs = (
                f"These are **{len(distinct):,} runs**, of which {len(stored_keys):,} are stored."
                f" The other {len(missing):,} take roughly {amount} and appear as they finish."
            )
            words.write(f"{runs} {run_progress.queue()}")
            button.button(
                "Run",
                key="tradeoff.run",
                type="primary",
                width="stretch",
                on_click=_confirm,
                args=(question.signature,),
            )
            return run_progress.request(
                "tradeoff", {key: distinct[key] for key in distinct if key in stored_keys}, whole=()
            )
        st.session_state["tradeoff.go"] = question.signature
    by_button = st.session_state.get("tradeoff.asked") == question.signature
    return run_progress.request(
        "tradeoff", distinct, patience=0.7, first=_first(question), by_button=by_button, whole=()
    )


def _first(question: Question) -> list[str]:
    """The first draw of each method, of a few places of the grid."""
    seed = min((point.spec.seed for point in question.points), default=0)
    return [point.key for point in question.points if point.spec.seed == seed][:AT_ONCE]


def verdict(question: Question, runs: Runs) -> None:
    """Whether the runs bear out what is published."""
    if question.figure:
        outcome = question.figure.verdict(question.points, runs)
        published_figures.show_verdict(question.figure, outcome)


def main() -> None:
    head = st.container()
    with st.expander("What is compared", expanded=True):
        try:
            question = controls.draw(sidebar.choice())
        except BadInput:
            head.title(findings.QUESTION)
            raise
    with head:
        if question.axis == "items":
            bunching.draw(sidebar.choice())
            return
        words = st.container()
        runs = request_runs(question)
        control, aside = st.columns([4, 1], vertical_alignment="center")
        metric = question.metric
        if runs:
            available = [
                name
                for name in controls.MEASURES
                if any(name in run.record.metrics for run in runs.values())
            ]
            with control:
                metric = controls.measure(available, metric if metric in available else "rmse")
        title, sentence = findings.finding(question.points, runs, metric)
        words.title(title)
        words.write(sentence if runs else odometer.opening_text("tradeoff", sentence))
        if runs:
            figures.figure(question, runs, metric, aside)
            stored_results.note([point.spec for point in question.points])
        who_sees_what.draw(who_sees_what.USERS)
    if not runs:
        return
    verdict(question, runs)
    for line in findings.weak_references(question.points, runs, metric):
        st.warning(line)
    for line in references.better_than_reference(question.points, runs, metric):
        st.markdown(f"- {line}")
    for line in findings.worse_than_guessing(question.points, runs, metric):
        st.markdown(f"- {line}")
    figures.grid(question, runs)
    kept_shares.draw(question, runs, metric)
    figures.reaching(question, runs, metric)
    figures.rule(question, runs, metric)
    figures.payers(question, runs)
    figures.promises(question.points, runs)
    exports.draw(question, runs)


try:
    main()
except BadInput as error:
    safe_text.error(error)
