"""The end of a search: its parameters, on every page and in the command."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.kit import forms, links

WAYS = {"take-away": "Take it away", "explore": "Explore it", "choose": "Back to the answer"}


def draw_use(algorithm: str, values: Mapping[str, Any]) -> None:
    """The button that sets these parameters everywhere; once they are set, the ways on."""
    if forms.set_parameters(algorithm) != dict(values):
        st.button(
            "Use these",
            key="tune.use",
            type="primary",
            on_click=forms.choose,
            args=(algorithm, values),
        )
        return
    st.caption("In use: every page and the command to take away have these parameters.")
    with st.container(horizontal=True):
        for page, label in WAYS.items():
            if st.button(label, key=f"tune.next.{page}"):
                links.go(page)
