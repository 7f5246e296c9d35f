"""Which algorithm, at which epsilon? Many methods, epsilons and draws; the figures of the source papers as presets."""

import streamlit as st

from dpmf_core.errors import BadInput
from pages.kit import asked, findings, forecast, odometer, runs, said, seen, sidebar, swept, takeaway, views
from pages.kit.asked import Asked
from pages.kit.swept import Finished

AT_ONCE = 24  # runs that are made without being asked for


def _go(signature: str) -> None:
    """As a callback it is not lost where the page is just being drawn anew."""
    st.session_state["tradeoff.go"] = st.session_state["tradeoff.asked"] = signature


def wanted(question: Asked) -> Finished:
    """The finished runs. A question with many that are not stored waits for its button, and shows the stored ones meanwhile."""
    distinct = {point.key: point.spec for point in question.points}
    unasked = bool(odometer.private_among(distinct))  # these have buttons of their own
    if not unasked and st.session_state.get("tradeoff.go") != question.signature:
        known = forecast.stored(distinct)
        left = {key: spec for key, spec in distinct.items() if key not in known}
        if len(left) > AT_ONCE:
            amount = forecast.words(forecast.seconds(left))
            words, button = st.columns([3, 1], vertical_alignment="center")
            words.write(
                f"These are **{len(distinct):,} runs**, of which {len(known):,} are stored. The other {len(left):,} take roughly {amount} and appear as they "
                f"finish. {runs.queue()}"
            )
            button.button("Run", key="tradeoff.run", type="primary", width="stretch", on_click=_go, args=(question.signature,))
            return runs.wanted("tradeoff", {key: distinct[key] for key in distinct if key in known}, light=True)
        st.session_state["tradeoff.go"] = question.signature
    asked = st.session_state.get("tradeoff.asked") == question.signature
    return runs.wanted("tradeoff", distinct, patience=0.7, first=_first(question), asked=asked, light=True)


def _first(question: Asked) -> list[str]:
    """The first draw of each method, of a few places of the grid."""
    seed = min((point.spec.seed for point in question.points), default=0)
    return [point.key for point in question.points if point.spec.seed == seed][:AT_ONCE]


def verdict(question: Asked, finished: Finished) -> None:
    """Whether a preset reproduces what is published."""
    if question.preset:
        found = question.preset.verdict(question.points, finished)
        (st.success if found.reproduced else st.info)(f"**{question.preset.source}.** {found.words}")


def main() -> None:
    head = st.container()
    with st.expander("What is compared", expanded=True):
        try:
            question = asked.draw(sidebar.choice())
        except BadInput:
            head.title("Which method, at which ε?")
            raise
    with head:
        if question.axis == "items":
            views.bunching(sidebar.choice())
            return
        words, schematic = st.container(), st.container()
        finished = wanted(question)
        control, aside = st.columns([4, 1], vertical_alignment="center")
        metric = question.metric
        if finished:
            available = [name for name in swept.METRICS if any(name in run.record["metrics"] for run in finished.values())]
            with control:
                metric = asked.measure(available, metric if metric in available else "rmse")
        title, sentence = findings.finding(question.points, finished, metric)
        words.title(title)
        words.write(sentence if finished else odometer.unasked("tradeoff", sentence))
        with schematic:
            seen.draw(seen.USERS)
        if finished:
            views.figure(question, finished, metric, aside)
    if not finished:
        return
    verdict(question, finished)
    for line in findings.weak_references(question.points, finished, metric):
        st.warning(line)
    for line in findings.worse_than_guessing(question.points, finished, metric):
        st.markdown(f"- {line}")
    views.grid(question, finished)
    views.reaching(question, finished, metric)
    views.rule(question, finished, metric)
    views.payers(question, finished)
    views.promises(question.points, finished)
    takeaway.draw(question, finished)


try:
    main()
except BadInput as error:
    said.error(error)
