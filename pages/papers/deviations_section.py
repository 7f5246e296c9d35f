"""Where our algorithms depart from a paper's, why, and what it costs in error."""

import streamlit as st

from dpmf_core.algorithms import find
from dpmf_core.papers.deviations import Deviation, cost_words
from dpmf_core.papers.paper import Paper
from dpmf_core.papers.registry import DEVIATIONS
from pages.kit.base import safe_text


def draw(paper: Paper) -> None:
    """Draw a table of deviations for each algorithm that follows the paper."""
    st.write(
        "Each algorithm of the paper is also here as it is printed, and a test gives it and ours"
        " the same data and the same noise. These are all differences. The cost compares the"
        " printed algorithm with the one that departs from it in this place alone."
    )
    for algorithm, deviations in DEVIATIONS[paper.id].items():
        st.header(find(algorithm).title, anchor=False)
        safe_text.words_table(_row(algorithm, deviation) for deviation in deviations)


def _row(algorithm: str, deviation: Deviation) -> dict[str, str]:
    return {
        "place": deviation.place,
        "the paper": deviation.paper,
        "ours": deviation.ours,
        "why": deviation.why,
        "cost": cost_words(algorithm, deviation),
    }
