"""Which method, at which epsilon? Many methods, epsilons and draws compared."""

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.specification import RunSpec
from pages.compare import controls, findings
from pages.compare.controls import CompareQuestion
from pages.kit import data_sets, epsilon_grid, links, odometer, privacy_card, sidebar
from pages.kit.runs import AT_ONCE, ask, note_shipped
from pages.kit.sweep_charts import Runs


def request_runs(question: CompareQuestion) -> Runs:
    distinct = {point.key: point.spec for point in question.points}
    seed = min((point.spec.seed for point in question.points), default=0)
    first = [point.key for point in question.points if point.spec.seed == seed][:AT_ONCE]
    # private ones have buttons of their own
    confirm = "" if odometer.names_of_private(distinct) else question.signature
    return ask("compare", distinct, first=first, confirm=confirm, whole=())


def known_draws(spec: RunSpec) -> Draws:
    """Return the table of a run's data set, with the rivals that are stored or shipped."""
    if spec.budget is None or not data_sets.is_public(spec.data.id):
        return Draws(())
    return epsilon_grid.read(spec, sidebar.choice().shape, (spec.budget.epsilon,))


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
        switches = st.container(horizontal=True)
        metric = question.metric
        if runs:
            metrics = {name for run in runs.values() for name in run.record.metrics}
            available = [name for name in controls.MEASURES if name in metrics]
            with switches:
                metric = controls.measure(available, metric if metric in available else "rmse")
        judgement = Draws.of_runs(question.points, runs).by(metric)
        title, sentence = findings.headline(judgement, known_draws)
        words.title(title)
        words.write(sentence if runs else odometer.opening_text("compare", sentence))
        if not judgement.table.is_public:
            with words:
                links.to("choose", "Select a method privately", {})
        if runs:
            of_shares = False
            if judgement.is_sharing_worth and len(question.sweep.grid) < 2:
                with switches:
                    of_shares = controls.of_shares(metric)
            findings.figure(question, judgement, switches, of_shares)
            note_shipped([point.spec for point in question.points])
        privacy_card.who_sees_what(privacy_card.USERS)
    if runs:
        for line in findings.weak_references(judgement):
            st.warning(line)
        findings.promises(question.points, runs)
        with st.expander("Export"):
            findings.exports(question, runs)


main()
