"""What an answer leaves to take home: the command that trains it, a report, a notebook."""

from typing import Any

import streamlit as st

from dpmf_core.choosing.finding import Finding
from dpmf_core.choosing.report import notebook, report
from pages.kit import links, recommendations
from pages.kit.page_table import BY_ID
from pages.kit.recommendations import Recommendation


def draw(finding: Finding, entry: Any) -> None:
    """entry: of the data set that the answer is for."""
    st.subheader("Take it away", anchor="take-away")
    left, right = st.columns([3, 2], gap="large")
    with left:
        _explore(finding, entry)
        if finding.train:
            st.code(finding.train, language="bash", wrap_lines=True)
            st.caption(
                "It runs where dpmf is installed"
                + ("." if finding.public else ", in the folder of your file.")
            )
        st.caption(f"{finding.cost} {finding.training}")
    with right:
        st.download_button(
            "Report, to print",
            report(finding),
            "which-method.html",
            "text/html",
            type="primary",
            key="choose.report",
            on_click="ignore",
            width="stretch",
        )
        st.download_button(
            "Notebook",
            notebook(finding),
            "which-method.ipynb",
            "application/x-ipynb+json",
            key="choose.notebook",
            on_click="ignore",
            width="stretch",
        )
        st.caption(
            "They hold public, simulated, declared and noisy figures: nothing raw of private rows."
        )


def _explore(finding: Finding, entry: Any) -> None:
    """The way on: Explore of these data, with the answer's method and epsilon."""
    question, best = finding.question, finding.answer.best
    if best is None:
        return
    answer = Recommendation(finding.method, question.of_one(best.epsilon), question.delta)
    recommendations.keep(entry.id, answer)
    if st.button(
        f"Open {answer.words} in Explore",
        key="choose.explore",
        icon=BY_ID["explore"].material_icon,
        on_click=recommendations.choose,
        args=(entry, answer),
    ):
        links.go("explore")
