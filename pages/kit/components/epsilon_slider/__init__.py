"""The slider of epsilon: while its handle is held it tells all figures of the page, in the
browser alone; when it is released, the session.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import streamlit as st

from pages.kit.components import Component

COMPONENT = Component(Path(__file__).parent)


@dataclass(frozen=True)
class Stop:
    """An epsilon that the handle stops at; meaning: a sentence, or nothing; name: of a mark."""

    epsilon: float
    meaning: str = ""
    name: str = ""


@dataclass(frozen=True)
class Labels:
    """The slider's words: its name, and what its ends stand for."""

    name: str
    low: str
    high: str


def draw(
    key: str,
    now: Stop,
    stops: Sequence[Stop],
    marks: Sequence[Stop],
    labels: Labels,
    then: Callable[[float], None],
    *,
    fixed: bool = False,
    place: Literal["side", "bar"] = "side",
) -> None:
    """A slider that shows an epsilon, on a logarithmic scale.

    stops: in ascending order. marks: epsilons with a name, which a click chooses exactly. then:
    called with the epsilon at which a person has let go. fixed: it cannot be moved. place: a bar
    stays at the bottom of a small screen, and shows on no other.
    """
    data = {
        "now": asdict(now),
        "stops": [asdict(stop) for stop in stops],
        "marks": [asdict(mark) for mark in marks],
        "labels": asdict(labels),
        "fixed": fixed,
        "place": place,
    }
    low, high = stops[0].epsilon, stops[-1].epsilon

    def handle_release() -> None:
        epsilon = _number(st.session_state[key].get("released"), low, high)
        if epsilon is not None and not fixed:
            then(epsilon)

    COMPONENT.mount(key, data, on_released_change=handle_release)


def _number(answer: object, low: float, high: float) -> float | None:
    """What a browser says, where it is an epsilon of the slider."""
    if not isinstance(answer, int | float):
        return None
    return float(answer) if math.isfinite(answer) and low <= answer <= high else None
