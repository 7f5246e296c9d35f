"""Widgets that hold a value of the session, which a link, a lesson or another widget may have
set before a person does.
"""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

REPLACED_WIDGETS = 20  # replaced widgets of a key that a browser may still speak of


def bind(key: str, options: Sequence[Any] | None = None, emptiable: bool = False) -> dict[str, Any]:
    """The arguments that tie a widget to the session's value under key; options: of a widget that
    takes an index.

    Streamlit tells the browser once that a value was set. A browser that has not drawn the widget
    by then, or draws it anew, falls back to the widget's default and reports that; so the value is
    the default too. A widget that may be emptied has an empty default: there only persisting helps,
    by which Streamlit tells the value again until the browser has reported one.
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
    """The arguments of a widget that follows the session's value under key and leads it; then:
    called after a person has moved it. check: whether its value may be used; else the session's
    value stays, and the widget goes back to it.

    A browser repeats the values of all its widgets whenever it asks for anything, also what it has
    not yet heard to be set anew: a widget whose value the server sets would be set back. Here no
    value is ever set: a widget that has to show another one is another widget.
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


def _keep_value(
    key: str,
    turn: int,
    then: Callable[[], None] | None,
    check: Callable[[Any], bool] | None,
) -> None:
    """A widget has another value than before; one that was replaced may also be repeating its
    last one.
    """
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
    """What each of the latest widgets of a key showed last, by its number."""
    turns: dict[int, Any] = st.session_state.setdefault(f"{key}.turns", {})
    return turns


def _widget(key: str, turn: int) -> str:
    return f"{key}.{turn}"
