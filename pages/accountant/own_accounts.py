"""What both views of Account begin with: the accounts of this session's private data."""

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.base.errors import BadInput
from pages.kit import sidebar
from pages.kit.base import data_sets, safe_text
from pages.kit.privacy import account_summary


def draw_with(draw_view: Callable[[DeltaGenerator], None]) -> None:
    """Draw the accounts, then a view, which gets the place of its heading."""
    if own_entries := _private_entries():
        _draw_accounts(own_entries)
        st.divider()
    heading = st.container()
    try:
        draw_view(heading)
    except BadInput as error:
        with heading:
            draw_heading("Correct an entry")
        safe_text.error(error, "Your entries are kept.")


def draw_heading(text: str) -> None:
    """Draw the heading of a view: the page's title, unless that is of private data."""
    if _private_entries():
        st.header(text, anchor=False)
    else:
        st.title(text, anchor=False)


def _private_entries() -> list[Any]:
    """The private data sets of this session: its uploads, and the chosen one."""
    chosen = sidebar.choice().entry
    if chosen.public:
        return list(data_sets.own().values())
    # an imported data set is not an upload, so it may be chosen without being among them
    return list(({chosen.id: chosen} | data_sets.own()).values())


def _draw_accounts(entries: list[Any]) -> None:
    """Draw the account of each private data set of this session."""
    st.title("The account of your data", anchor=False)
    st.write(
        "What was drawn from your data: by which method, when, what it costs together, and what a"
        " budget leaves."
    )
    for entry in entries:
        key = f"account.{data_sets.name_in_keys(entry.id)}"
        account_summary.panel(entry, key, is_unfolded=True)
