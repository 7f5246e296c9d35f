"""What first views share that follow epsilon: the result before, which stays while the next is
computed, and what they say of a point of the grid.
"""

from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.language import phrase
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.epsilon_grid import Point
from pages.kit.choice import Choice, SampleChoice
from pages.kit.language import say

Story = dict[str, Any]  # what a component draws
Anything = Choice | SampleChoice


def remember(page: str, choice: Anything, story: Story) -> None:
    """Keep what is drawn, for as long as the next result is being computed."""
    description = phrase(
        "{title} at ε = {epsilon} on {data}",
        title=phrase(algorithms.find(choice.algorithm).title),
        epsilon=budget_text(choice.epsilon),
        data=phrase(choice.entry.title),
    )
    st.session_state[f"{page}.story"] = (description, story)


def before(page: str) -> Story | None:
    """The last result, greyed, with what it is of; None where there was none."""
    previous: tuple[str, Story] | None = st.session_state.get(f"{page}.story")
    if previous is None:
        return None
    description, story = previous
    sentence = say("This is still {named}; what you chose is not there yet.", named=description)
    return story | {"stale": True, "words": story["words"] | {"stale": sentence}}


# ---- words ---------------------------------------------------------------------------------------


def twin_title(algorithm: str) -> str:
    """What the method without privacy is called."""
    return phrase(algorithms.find(algorithms.find(algorithm).twin).title)


def headline(choice: Anything, point: Point, title: str, clause: str, each: str = "") -> str:
    """At which epsilon a method does what, and what epsilon that truly is where the noise is set
    by the source's rule. clause: what the method does; each: what the source's epsilon is of,
    where it is not the total.
    """
    draws = of_draws(len(point.beside) or DRAWS)
    if choice.calibration == "source" and point.prices:
        return phrase(
            "At the source's ε = {epsilon}{each}, truly {truly}, {title} {found}{draws}",
            epsilon=budget_text(point.epsilon),
            each=each,
            truly=epsilon_text(point.prices[0]),
            title=phrase(title),
            found=clause,
            draws=draws,
        )
    return proved_headline(point.epsilon, title, clause, draws)


def proved_headline(epsilon: float, title: str, clause: str, draws: str = "") -> str:
    """The headline of an epsilon. draws: which there are, where some are missing."""
    return phrase(
        "At ε = {epsilon}, {title} {found}{draws}",
        epsilon=budget_text(epsilon),
        title=phrase(title),
        found=clause,
        draws=draws,
    )


def unproved_headline(title: str, clause: str, draws: str = "") -> str:
    """The headline where epsilon promises nothing."""
    return phrase(
        "With nothing proved, {title} {found}{draws}",
        title=phrase(title),
        found=clause,
        draws=draws,
    )


def of_draws(count: int) -> str:
    """Where draws are missing: which there are."""
    if count >= DRAWS:
        return ""
    if count == 1:
        return phrase(", in the first draw")
    return phrase(", in {count} of {every} draws", count=count, every=DRAWS)


def purchase_text(choice: Anything, point: Point) -> str:
    """What a point cost, on private data; nothing on public ones."""
    if choice.entry.public:
        return ""
    prices = ", ".join(epsilon_text(price) for price in point.prices)
    if len(point.prices) == 1:
        return phrase("Bought: 1 draw, with an ε of its own of {prices}", prices=prices)
    return phrase(
        "Bought: {count} draws, with an ε of its own of {prices}",
        count=len(point.prices),
        prices=prices,
    )
