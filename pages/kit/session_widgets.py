"""Widgets bound to a session value that a link, a lesson or another widget may set first."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

REPLACED_WIDGETS = 20  # replaced widgets of a key that a browser may still report


def bind(key: str, options: Sequence[Any] | None = None, emptiable: bool = False) -> dict[str, Any]:
    """Return arguments that tie a widget to the session's value under `key`.

    options: of a widget that takes an index. Streamlit tells the browser only once that a value was
    set. A browser that has not drawn the widget by then falls back to the widget's default and
    reports it, so the value is also the default. A widget that may be empty has an empty default;
    there only persisting helps, which repeats the value until the browser has reported one.
    """
    value = st.session_state[key]
    start = (
        {"value": None if emptiable else value}
        if options is None
        else {"index": list(options).index(value)}
    )
    return {"key": key, "persist_state": "session", **start}


def follow(
    key: str,
    then: Callable[[], None] | None = None,
    check: Callable[[Any], bool] | None = None,
) -> dict[str, Any]:
    """Return arguments of a widget that follows and sets the session's value under `key`.

    then: called after a person has moved it. check: whether its value is valid; otherwise the
    widget returns to the session's value. A browser repeats the values of all widgets with every
    request, even if it has not yet heard of a new value: a widget set by the server would be set
    back. So no value is ever set: a widget that must show another value is a new widget.
    """
    value, turns = st.session_state[key], _turns(key)
    last = max(turns, default=0)
    turn = last if turns.get(last, value) == value else last + 1
    turns[turn] = value
    turns.pop(turn - REPLACED_WIDGETS, None)
    return {
        "key": _widget(key, turn),
        "value": value,
        "on_change": _keep_value,
        "args": (key, turn, then, check),
    }


def number_within(
    place: DeltaGenerator,
    label: str,
    key: str,
    low: float,
    high: float,
    then: Callable[[], None] | None = None,
    below: DeltaGenerator | None = None,
    **look: Any,
) -> float:
    """Draw a box for the session's number under key that says in words why it refuses one.

    Streamlit's own limits mark the box red, say nothing, and keep the number from the session.

    Parameters
    ----------
    place
        Where the box is drawn.
    low, high
        Range of the number.
    then
        Called after a person has changed the number.
    below
        Where the refusal is drawn; by default in the same place.
    look
        Further arguments of `st.number_input`.
    """
    refusal = f"{key}.refused"

    def check(number: float) -> bool:
        is_within = low <= number <= high
        st.session_state[refusal] = None if is_within else number
        return is_within

    place.number_input(label, **follow(key, then, check), **look)
    number: float = st.session_state[key]
    if (got := st.session_state.get(refusal)) is not None:
        (below or place).error(
            f"{label}: give a number from {low:g} to {high:g}. Got {got:,.10g}; {number:g} is used."
        )
    return number


def _keep_value(
    key: str,
    turn: int,
    then: Callable[[], None] | None,
    check: Callable[[Any], bool] | None,
) -> None:
    """Take a widget's new value, unless a replaced widget repeats its last one."""
    value, turns = st.session_state[_widget(key, turn)], _turns(key)
    if turns.get(turn, value) == value:
        return
    turns[turn] = value
    if check is not None and not check(value):
        return
    st.session_state[key] = value
    if then is not None:
        then()


def _turns(key: str) -> dict[int, Any]:
    """Return the last value of each of the latest widgets of a key, by number."""
    turns: dict[int, Any] = st.session_state.setdefault(f"{key}.turns", {})
    return turns


def _widget(key: str, turn: int) -> str:
    return f"{key}.{turn}"
