"""Error against epsilon, with its headline and one person's list: drawn in the browser, where all
three follow the slider while its handle is held.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from pages.kit import drawing
from pages.kit.components import Component

COMPONENT = Component(Path(__file__).parent, shared="story")


def draw(key: str, story: Mapping[str, Any], on_pick: Callable[[float], None]) -> None:
    """story: epsilon, method, title, sentence, alt, colour; points ascending by epsilon (epsilon,
    median, low, high, values, title, sentence, label, cells); twin and trivial (median, label);
    range of the axis; lists of one person or None; terms with their meanings; words; whether it is
    stale, pending, and choosable.

    on_pick: called with the epsilon of a point that a person has chosen.
    """

    def handle_pick() -> None:
        epsilon = known_epsilon(st.session_state[key].get("picked"), story["points"])
        if epsilon is not None and story["choosable"]:
            on_pick(epsilon)

    COMPONENT.mount(
        key,
        {**story, "awaited": drawing.awaits_first_view()},
        on_picked_change=handle_pick,
        on_drawn_change=drawing.first_view_drawn,
    )


def known_epsilon(answer: object, points: Sequence[Mapping[str, Any]]) -> float | None:
    """What a browser says, where it is the epsilon of a point that it was given."""
    if not isinstance(answer, int | float) or not math.isfinite(answer):
        return None
    return next((float(it["epsilon"]) for it in points if it["epsilon"] == answer), None)
