"""Widgets that hold a value of the session, which a link, a lesson or another widget may have set before a person does."""

from collections.abc import Sequence
from typing import Any

import streamlit as st


def tied(key: str, options: Sequence[Any] | None = None, emptiable: bool = False) -> dict[str, Any]:
    """The arguments that tie a widget to the session's value under key; options: of a widget that takes an index.

    Streamlit tells the browser once that a value was set. A browser that has not drawn the widget by then, or draws it anew, falls back to the
    widget's default and reports that; so the value is the default too. A widget that may be emptied has an empty default: there only
    persisting helps, by which Streamlit tells the value again until the browser has reported one.
    """
    value = st.session_state[key]
    start = {"value": None if emptiable else value} if options is None else {"index": list(options).index(value)}
    return {"key": key, "persist_state": "session", **start}
