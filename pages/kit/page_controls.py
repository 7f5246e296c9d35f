"""First values of a page's own controls."""

from collections.abc import Callable, Collection
from typing import Any

import streamlit as st

from dpmf_core.teaching.lesson_links import in_new_names
from pages.kit import lesson, safe_text

Read = Callable[[str], Any]  # turns a link's text into a value; raises ValueError


def start(key: str, name: str, first: Any, read: Read = str) -> None:
    """Set a widget's value before it is drawn.

    The value is the lesson's if fixed, otherwise the previous one, the link's, or `first`.
    Unreadable text becomes `first`, with a warning.

    Parameters
    ----------
    key : str
        The widget's key in the session.
    name : str
        Its parameter in the address.
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
