"""Which epsilon keeps so much of the gain? Answered from the measured points of the figure above,
with a button that goes there.
"""

from collections.abc import Callable

import streamlit as st

from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.gain import KeptGain, first_keeping, kept_along
from pages.kit import kept_gain, lesson
from pages.kit.choice import Choice

KEY = "explore.keep"


def draw(choice: Choice, title: str, grid: EpsilonGrid, go_to: Callable[[float], None]) -> None:
    """title: of the method. grid: what is known of it. go_to: called with the epsilon that a
    person wants to see.
    """
    line = kept_along(grid)
    if len(line) > 1:  # one point alone answers for itself
        _question(choice.epsilon, title, line, go_to)


@st.fragment
def _question(now: float, title: str, line: list[KeptGain], go_to: Callable[[float], None]) -> None:
    """It answers without drawing the page again."""
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="explore.keep.row"
    ):
        st.markdown("To keep", width="content")
        percent = kept_gain.percent(KEY)
        answer, detail = kept_gain.answer(line, percent)
        st.markdown(
            f"% of the gain with {title}: **{answer}**{detail}",
            width="content",
            help=kept_gain.BETWEEN,
        )
        estimate = first_keeping(line, percent / 100).median
        if estimate is None or lesson.fixed_value("eps") is not None:
            return
        there = kept_gain.target_epsilon(estimate)
        if there != now and st.button("Show", key="explore.keep.go", on_click=go_to, args=(there,)):
            st.rerun()
