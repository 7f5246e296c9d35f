"""Widgets bound to a session value that a link, a lesson or another widget may set first."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.teaching.lesson_links import in_new_names
from pages.kit import lesson, safe_text

Read = Callable[[str], Any]  # turns a link's text into a value; raises ValueError
REPLACED_WIDGETS = 20  # replaced widgets of a key that a browser may still report


def bind(key: str, options: Sequence[Any] | None = None, emptiable: bool = False) -> dict[str, Any]:
    """Return arguments that tie a widget to the session's value under `key`.

    options: of a widget that takes an index. Streamlit tells the browser only once that a value was
    set. A browser that has not drawn the widget by then falls back to the widget's default and
    reports it, so the value is also the default. A widget that may be empty has an empty default;
    there only persisting helps, which repeats the value until the browser has reported one.
    """
    value, bound = st.session_state[key], {"key": key, "persist_state": "session"}
    if options is not None:
        return bound | {"index": list(options).index(value)}
    return bound | {"value": None if emptiable else value}


def start(key: str, name: str, first: Any, read: Read = str) -> None:
    """Set a widget's value before it is drawn.

    The value is the lesson's if fixed, otherwise the previous one, the link's, or `first`.
    Unreadable text becomes `first`, with a warning. name: the parameter in the address.
    """
    fixed_values = lesson.page_values()
    if fixed_values is None and key in st.session_state:
        return
    values = st.query_params if fixed_values is None else fixed_values
    text = in_new_names(values).get(name)
    try:
        value = first if text is None else read(text)
    except (ValueError, OverflowError):
        value = first
        got = f"'{name}' in the link is invalid. Got '{(text or '')[:40]}'."
        st.warning(safe_text.escape(f"{got} {first} is used instead."))
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def within(kind: type, low: float, high: float) -> Read:
    def read(text: str) -> Any:
        value = kind(text)
        if not low <= value <= high:
            raise ValueError
        return value

    return read


def one_of(names: Collection[str]) -> Read:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError
        return text

    return read


def number_within(
    place: DeltaGenerator,
    label: str,
    key: str,
    low: float,
    high: float,
    below: DeltaGenerator | None = None,
    **look: Any,
) -> float:
    """Draw a box for the session's number under key that says in words why it refuses one.

    Streamlit's own limits mark the box red, say nothing, and keep the number from the session.

    A browser repeats the values of all widgets with every request, even if it has not yet heard of
    a new value: a box set by the server would be set back. So no value is ever set: a box that must
    show another number is a new widget.

    below: where the refusal is drawn; by default in the same place. look: further arguments of
    `st.number_input`.
    """
    state = st.session_state
    # the last value of each of the latest widgets, by number
    turns: dict[int, Any] = state.setdefault(f"{key}.turns", {})
    value, last = state[key], max(turns, default=0)
    turn = last if turns.get(last, value) == value else last + 1
    turns[turn] = value
    turns.pop(turn - REPLACED_WIDGETS, None)
    change: dict[str, Any] = {"on_change": _keep, "args": (key, turn, low, high)}
    place.number_input(label, value=value, key=f"{key}.{turn}", **change, **look)
    number: float = state[key]
    if (got := state.get(f"{key}.refused")) is not None:
        (below or place).error(
            f"{label}: give a number from {low:g} to {high:g}. Got {got:,.10g}; {number:g} is used."
        )
    return number


def _keep(key: str, turn: int, low: float, high: float) -> None:
    """Take a box's new number, unless a replaced one repeats its last or it is out of range."""
    state = st.session_state
    number, turns = state[f"{key}.{turn}"], state[f"{key}.turns"]
    if turns.get(turn, number) == number:
        return
    turns[turn] = number
    is_within = low <= number <= high
    state[f"{key}.refused"] = None if is_within else number
    if is_within:
        state[key] = number
