"""Which epsilon is enough? Answered from the measured points of the figure above, with a button
that goes there.
"""

from collections.abc import Callable

import streamlit as st

from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.needed_epsilon import answer, needed_epsilon
from pages.kit import goals, lesson
from pages.kit.choice import Choice


def draw(choice: Choice, title: str, grid: EpsilonGrid, go_to: Callable[[float], None]) -> None:
    """title: of the method. grid: what is known of it. go_to: called with the epsilon that a
    person wants to see.
    """
    if len(grid.kept) > 1:  # one point alone answers for itself
        _question(choice.epsilon, title, grid, go_to)


@st.fragment
def _question(now: float, title: str, grid: EpsilonGrid, go_to: Callable[[float], None]) -> None:
    """It answers without drawing the page again."""
    with goals.row("explore.keep"):
        goal = goals.choose("explore.keep", grid.metric, grid.twin, grid.trivial)
        line = grid.kept if goal.is_share else grid.measured
        value, detail = answer(line, goal)
        st.markdown(f"with {title}: **{value}**{detail}", width="content", help=goals.BETWEEN)
        needed = needed_epsilon(line, goal)
        if needed is None or lesson.fixed_value("epsilon") is not None:
            return
        there = needed.rounded
        if there != now and st.button("Show", key="explore.keep.go", on_click=go_to, args=(there,)):
            st.rerun()
