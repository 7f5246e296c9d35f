"""Links from page to page, with what the other page is to show."""

from pathlib import Path

import streamlit as st

PAGES = Path(__file__).parents[1]
PLACES = {
    "explore": ("recommend/explore.py", "Explore", ":material/explore:"),
    "audit": ("privacy/audit.py", "Audit", ":material/policy:"),
    "glossary": ("learn/glossary.py", "Glossary", ":material/menu_book:"),
}


def to(name: str, label: str, parameters: dict[str, str]) -> None:
    """A link to the page of this address."""
    script, title, icon = PLACES[name]
    st.page_link(st.Page(PAGES / script, title=title, url_path=name, default=name == "explore"), label=label, icon=icon, query_params=parameters)
