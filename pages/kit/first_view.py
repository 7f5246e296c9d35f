"""What first views share that follow epsilon: the result before, which stays while the next is
computed, and what they say of a point of the grid.
"""

from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.epsilon_grid import Point
from pages.kit.choice import Choice, SampleChoice

Story = dict[str, Any]  # what a component draws
Anything = Choice | SampleChoice


def remember(page: str, choice: Anything, story: Story) -> None:
    """Keep what is drawn, for as long as the next result is being computed."""
    description = (
        f"{algorithms.find(choice.algorithm).title} at ε = {budget_text(choice.epsilon)} on"
        f" {choice.entry.title}"
    )
    st.session_state[f"{page}.story"] = (description, story)


def before(page: str) -> Story | None:
    """The last result, greyed, with what it is of; None where there was none."""
    previous: tuple[str, Story] | None = st.session_state.get(f"{page}.story")
    if previous is None:
        return None
    description, story = previous
    sentence = f"This is still {description}; what you chose is not there yet."
    return story | {"stale": True, "words": story["words"] | {"stale": sentence}}


# ---- words ---------------------------------------------------------------------------------------


def twin_title(algorithm: str) -> str:
    """What the method without privacy is called."""
    return algorithms.find(algorithms.find(algorithm).twin).title


def headline(choice: Anything, point: Point, title: str, clause: str, each: str = "") -> str:
    """At which epsilon a method does what, and what epsilon that truly is where the noise is set
    by the source's rule. clause: what the method does; each: what the source's epsilon is of,
    where it is not the total.
    """
    draws = of_draws(len(point.beside) or DRAWS)
    if choice.calibration == "source" and point.prices:
        return (
            f"At the source's ε = {budget_text(point.epsilon)}{each}, truly"
            f" {epsilon_text(point.prices[0])}, {title} {clause}{draws}"
        )
    return proved_headline(point.epsilon, title, clause, draws)


def proved_headline(epsilon: float, title: str, clause: str, draws: str = "") -> str:
    """The headline of an epsilon. draws: which there are, where some are missing."""
    return f"At ε = {budget_text(epsilon)}, {title} {clause}{draws}"


def unproved_headline(title: str, clause: str, draws: str = "") -> str:
    """The headline where epsilon promises nothing."""
    return f"With nothing proved, {title} {clause}{draws}"


def of_draws(count: int) -> str:
    """Where draws are missing: which there are."""
    if count >= DRAWS:
        return ""
    if count == 1:
        return ", in the first draw"
    return f", in {count} of {DRAWS} draws"


def purchase_text(choice: Anything, point: Point) -> str:
    """What a point cost, on private data; nothing on public ones."""
    if choice.entry.public:
        return ""
    prices = ", ".join(epsilon_text(price) for price in point.prices)
    if len(point.prices) == 1:
        return f"Bought: 1 draw, with an ε of its own of {prices}"
    return f"Bought: {len(point.prices)} draws, with an ε of its own of {prices}"
