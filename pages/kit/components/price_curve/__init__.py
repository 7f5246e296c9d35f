"""A curve of what is kept at each epsilon, with a handle that walks along it in the browser alone,
and beside it what holds there.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

from pages.kit.components import Component

COMPONENT = Component(Path(__file__).parent)


@dataclass(frozen=True)
class Words:
    """name: of the handle, for screen readers. low, high: the ends of the axis. twin, trivial: the
    levels of all and of nothing kept. price: the space between the curve and all.
    """

    name: str
    low: str
    high: str
    twin: str
    trivial: str
    price: str


def draw(
    key: str,
    stops: Sequence[dict[str, object]],
    first: float,
    words: Words,
    colour: str,
    then: Callable[[float], None],
) -> None:
    """The curve through the stops; a person who lets the handle go has chosen an epsilon.

    stops: ascending by epsilon; each has `kept`, `low` and `high` as shares of 1, `measured`, and
    `facts`, a list of numbers with their words. first: the epsilon at which the handle stands
    first. then: called with the chosen epsilon.
    """
    epsilons = [stop["epsilon"] for stop in stops]
    data = {
        "stops": list(stops),
        "first": epsilons.index(first),
        "words": asdict(words),
        "colour": colour,
    }

    def handle_release() -> None:
        if (epsilon := st.session_state[key].get("released")) in epsilons:
            then(float(epsilon))

    COMPONENT.mount(key, data, on_released_change=handle_release)
