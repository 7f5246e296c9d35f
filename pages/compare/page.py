"""Which method, at which epsilon? Many methods, epsilons and draws compared."""

import streamlit as st

from dpmf_core.base.errors import BadInput
from pages.compare import controls, findings
from pages.compare.controls import CompareQuestion
from pages.compare.findings import CompareResults
from pages.kit import odometer, privacy_card, sidebar
from pages.kit.runs import AT_ONCE, ask, note_shipped
from pages.kit.sweep_charts import Runs


def request_runs(question: CompareQuestion) -> Runs:
    distinct = {point.key: point.spec for point in question.points}
    seed = min((point.spec.seed for point in question.points), default=0)
    first = [point.key for point in question.points if point.spec.seed == seed][:AT_ONCE]
    # private ones have buttons of their own
    confirm = "" if odometer.names_of_private(distinct) else question.signature
    return ask("compare", distinct, first=first, confirm=confirm, whole=())


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
        results = CompareResults(question.points, runs, metric)
        title, sentence = findings.headline(results)
        words.title(title)
        words.write(sentence if runs else odometer.opening_text("compare", sentence))
        if runs:
            findings.figure(question, results, aside)
            note_shipped([point.spec for point in question.points])
        privacy_card.who_sees_what(privacy_card.USERS)
    if runs:
        for line in findings.weak_references(results):
            st.warning(line)
        findings.promises(results)
        with st.expander("Export"):
            findings.exports(question, results.runs)


main()
