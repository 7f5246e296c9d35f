"""Which method, at which epsilon? Many methods, epsilons and draws compared."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.base.errors import BadInput
from dpmf_core.runs.draws import Draws, Judgement
from dpmf_core.runs.record import Runs
from dpmf_core.runs.specification import RunSpec
from pages.compare import comparison_controls, findings
from pages.compare.comparison_controls import CompareQuestion
from pages.kit import sidebar
from pages.kit.base import data_sets, lesson, links
from pages.kit.controls.session_widgets import ask_of_shares
from pages.kit.privacy import observer_diagram, purchases
from pages.kit.running import epsilon_grid
from pages.kit.running.runs import AT_ONCE, ask, note_shipped


def request_runs(question: CompareQuestion) -> Runs:
    distinct = {point.key: point.spec for point in question.points}
    # the first draw of each method at each epsilon, for a first answer
    first_seed = min((spec.seed for spec in distinct.values()), default=0)
    first = [key for key, spec in distinct.items() if spec.seed == first_seed][:AT_ONCE]
    confirm = question.signature
    if purchases.names_of_private(distinct):
        confirm = ""  # each of them has its own button
    return ask(
        "compare",
        distinct,
        first=first,
        confirm=confirm,
        whole=(),
    )


def known_draws(spec: RunSpec) -> Draws:
    """The table of a run's data set, with the rivals that are stored or shipped."""
    if spec.budget is None or not data_sets.is_public(spec.data.id):
        return Draws(())
    return epsilon_grid.read(spec, sidebar.choice().shape, (spec.budget.epsilon,))


def draw_headline(judgement: Judgement, has_runs: bool) -> None:
    title, sentence = findings.title_and_text(judgement, known_draws)
    if not has_runs:
        sentence = purchases.opening_text("compare", sentence)
    st.title(title)
    st.write(sentence)
    if not judgement.table.is_public:
        links.to("choose", "Select a method privately")


def draw_comparison(
    question: CompareQuestion, runs: Runs, words: DeltaGenerator
) -> Judgement:
    """Draw the headline above, and once a run has finished the figure with its switches here."""
    switches = st.container(horizontal=True)
    metric = question.metric
    if runs:
        with switches:
            metric = comparison_controls.ask_measure(runs, metric)
    judgement = Draws.of_runs(question.points, runs).by(metric)
    with words:
        draw_headline(judgement, bool(runs))
    if runs:
        of_shares = False
        if judgement.is_sharing_worth and len(question.sweep.grid) < 2:
            with switches:
                of_shares = ask_of_shares(
                    judgement.metric.label,
                    "compare.scale",
                    disabled=lesson.page_values() is not None,
                )
        findings.draw_figure(question, judgement, switches, of_shares)
        note_shipped([point.spec for point in question.points])
    return judgement


def main() -> None:
    head = st.container()
    with st.expander("What is compared", expanded=True):
        try:
            question = comparison_controls.draw(sidebar.choice())
        except BadInput:
            head.title(findings.QUESTION)
            raise
    with head:
        words = st.container()
        runs = request_runs(question)
        judgement = draw_comparison(question, runs, words)
        observer_diagram.draw_folded(observer_diagram.USERS)
    if runs:
        for line in findings.weak_references(judgement):
            st.warning(line)
        findings.draw_promises(question.points, runs)
        with st.expander("Export"):
            findings.draw_exports(question, runs)


main()
