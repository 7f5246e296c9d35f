"""Which algorithm, at which epsilon? Many methods, epsilons and draws; the figures of the source papers as presets."""

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.store import to_json
from dpmf_core.sweeps import rows
from pages.kit import asked, guarantee, runs, sidebar, swept, views
from pages.kit.asked import Asked
from pages.kit.swept import Finished

AT_ONCE = 24  # runs that are made without being asked for


def wanted(question: Asked) -> Finished:
    """The finished runs; a larger question waits for its button."""
    distinct = {point.key: point.spec for point in question.points}
    if len(distinct) > AT_ONCE and st.session_state.get("tradeoff.go") != question.signature:
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.write(f"This is **{len(distinct)} runs**. What has been made before is not made again; the rest appears as it finishes.")
        if not right.button("Run", key="tradeoff.run", type="primary", width="stretch"):
            return {}
        st.session_state["tradeoff.go"] = question.signature
    return runs.wanted("tradeoff", distinct)


def take_away(question: Asked, finished: Finished) -> None:
    st.subheader("Take it away")
    left, middle, right = st.columns(3)
    table = pd.DataFrame(rows(question.points, finished))
    left.download_button("Every run as CSV", table.to_csv(index=False), "trade-off.csv", "text/csv", width="stretch")
    exports = [finished[point.key].export() for point in question.points if point.key in finished]
    middle.download_button("Every run as JSON", to_json(exports), "trade-off.json", "application/json", width="stretch")
    with right.popover("Share link", width="stretch"):
        link = "&".join(f"{name}={value}" for name, value in st.query_params.items())
        st.code(f"{(st.context.url or '').split('?')[0]}?{link}", language=None, wrap_lines=True)
    if question.preset:
        st.caption("At full size, from the command line; what is cut goes on:")
        st.code(f"python -m dpmf_core sweep --preset {question.preset.id} --out {question.preset.id}.csv", language="sh")


def main() -> None:
    head = st.container()
    with st.expander("What is compared", expanded=True):
        question = asked.draw(sidebar.choice())
    with head:
        if question.axis == "items":
            views.bunching(sidebar.choice())
            return
        words, schematic = st.container(), st.container()
        finished = wanted(question)
        available = [name for name in swept.METRICS if not finished or any(name in run.record["metrics"] for run in finished.values())]
        lead = question.metric if question.metric in available else "rmse"
        metric = (
            st.segmented_control(
                "Measure", available, key=f"tradeoff.metric.{lead}", default=lead, format_func=swept.METRICS.__getitem__, label_visibility="collapsed"
            )
            or lead
        )
        title, sentence = swept.finding(question.points, finished, metric)
        words.title(title)
        words.write(sentence)
        with schematic:
            guarantee.who_sees_what()
        if finished:
            views.figure(question, finished, metric)
    if not finished:
        return
    if question.preset:
        verdict = question.preset.verdict(question.points, finished)
        (st.success if verdict.reproduced else st.info)(f"**{question.preset.source}.** {question.preset.words} {verdict.words}")
    for sentence in [*swept.worse_than_guessing(question.points, finished, metric), *swept.rule_alone(question.points, finished, metric)]:
        st.markdown(f"- {sentence}")
    views.grid(question, finished)
    views.reaching(question, finished, metric)
    views.payers(question, finished)
    st.subheader("What each method promises, and how long it takes")
    st.dataframe(swept.methods_table(question.points, finished), hide_index=True)
    take_away(question, finished)


try:
    main()
except BadInput as error:
    st.error(str(error))
    st.caption("Your settings are kept. Change the one named above.")
