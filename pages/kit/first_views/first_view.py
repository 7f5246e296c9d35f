"""What the first views of Explore, Topics and Faces have in common: a story that follows epsilon.

A story is the data of a page's component in the browser: points along epsilon, each with its
headline, its sentence and its row in a table of numbers; terms with their meanings; and texts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.measurements import Measured
from pages.kit.base.safe_text import count_text
from pages.kit.components import Story
from pages.kit.controls.sidebar_values import SidebarChoice, source_rule


def compose(
    choice: SidebarChoice,
    points: Sequence[Mapping[str, Any]],
    terms: Mapping[str, str],
    words: Mapping[str, Any],
) -> Story:
    """The parts of a story that all pages have.

    Parameters
    ----------
    choice
        The choice in the sidebar.
    points
        The points, ascending by epsilon.
    terms
        The meanings by term.
    words
        The browser's texts, in which it fills in {..}.

    Returns
    -------
    Story
        Points, terms and words, and the part that depends on the chosen epsilon.
    """
    pending = "This ε itself is being computed."
    if not choice.entry.public:
        pending = ""
    return {
        "points": points,
        "terms": [{"term": term, "meaning": terms[term]} for term in terms],
        "words": {**words, "pending": pending, "stale": ""},
        **at_choice(choice, points),
    }


def at_choice(choice: SidebarChoice, points: Sequence[Mapping[str, Any]]) -> Story:
    """The part of a story that depends on the chosen epsilon."""
    return {
        "epsilon": choice.epsilon,
        "stale": False,
        "pending": choice.epsilon not in [point["epsilon"] for point in points],
    }


def displayed(
    page: str, choice: SidebarChoice, story: Story | None, waits: bool
) -> Story | None:
    """The new result, or the previous one, greyed, with its description.

    Parameters
    ----------
    page
        The id of the page.
    choice
        The choice in the sidebar.
    story
        The new result. It is kept if it contains the chosen epsilon.
    waits
        Whether the previous result stays until there is a new one.

    Returns
    -------
    Story or None
        None if there is nothing to draw.
    """
    key = f"{page}.story"
    if story is not None:
        for point in story["points"]:
            if point["epsilon"] == choice.epsilon:
                texts = {"title": point["title"], "sentence": point["sentence"]}
                now = f"{choice.words} on {choice.entry.title}"
                st.session_state[key] = now, story | texts
        return story
    if not waits or key not in st.session_state:
        return None
    last: tuple[str, Story] = st.session_state[key]
    description, previous = last
    sentence = f"Still showing {description}; the new result is being computed."
    return previous | {"stale": True, "words": previous["words"] | {"stale": sentence}}


# ---- words ---------------------------------------------------------------------------------------


def headline(
    choice: SidebarChoice, one: Measured, clause: str, proved: bool = True
) -> str:
    """The headline of a measured epsilon.

    With the source's rule it states the total first.

    Parameters
    ----------
    choice
        The choice in the sidebar.
    one
        The measured epsilon.
    clause
        What the method does there.
    proved
        Whether epsilon is guaranteed.

    Returns
    -------
    str
        A sentence without a full stop.
    """
    if not proved:
        return f"With no proven ε, {one.title} {clause}"
    nominal = f"ε = {budget_text(one.epsilon or 0.0)}"
    words = f"At {nominal}, {one.title} {clause}"
    total = next(iter(one.totals), None)
    if choice.calibration == "source" and total is not None:
        rule = f"{source_rule(one.algorithm)}: {nominal}"
        words = f"At ε = {epsilon_text(total)} in total ({rule}), {one.title} {clause}"
    if len(one.draws) == 1:
        words += ", in the first draw"
    return words


def purchase_text(choice: SidebarChoice, one: Measured) -> str:
    """What a measured epsilon cost on private data; '' on public data."""
    if choice.entry.public:
        return ""
    prices = ", ".join(epsilon_text(total) for total in one.totals if total is not None)
    return f"{count_text(len(one.draws), 'draw')} on your data, at ε = {prices}"
