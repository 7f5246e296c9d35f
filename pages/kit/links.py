"""Links from page to page, and the address of the page itself."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

PAGES = Path(__file__).parents[1]
PLACES = {
    "explore": ("recommend/explore.py", "Explore", ":material/explore:"),
    "audit": ("privacy/audit.py", "Audit", ":material/policy:"),
    "glossary": ("learn/glossary.py", "Glossary", ":material/menu_book:"),
}


def tell(values: Mapping[str, str | None]) -> None:
    """Put values into the page's address, and take those out that are None, all at once: the browser's back button passes every change."""
    now = st.query_params.to_dict()
    then = {name: text for name, text in (now | dict(values)).items() if text is not None}
    if then != now:
        st.query_params.from_dict(then)


def to(name: str, label: str, parameters: dict[str, str]) -> None:
    """A link to the page of this address."""
    script, title, icon = PLACES[name]
    st.page_link(st.Page(PAGES / script, title=title, url_path=name, default=name == "explore"), label=label, icon=icon, query_params=parameters)
