"""Links from page to page, and the address of the page itself."""

from collections.abc import Mapping

import streamlit as st

from pages.kit.page_table import BY_ID, HOME


def put_in_address(values: Mapping[str, str | None]) -> None:
    """Put values into the page's address, and take those out that are None, all at once: the
    browser's back button passes every change.
    """
    now = st.query_params.to_dict()
    then = {name: text for name, text in (now | dict(values)).items() if text is not None}
    if then != now:
        st.query_params.from_dict(then)


def to(name: str, label: str, parameters: dict[str, str], icon: str = "") -> None:
    """A link to the page of this address, with its icon unless another is given."""
    st.page_link(
        _as_streamlit(name),
        label=label,
        icon=icon or BY_ID[name].material_icon,
        query_params=parameters,
    )


def go(name: str, parameters: Mapping[str, str] | None = None) -> None:
    """Leave for the page of this address."""
    st.switch_page(_as_streamlit(name), query_params=parameters)


def _as_streamlit(name: str) -> st.Page:
    page = BY_ID[name]
    return st.Page(page.script, title=page.title, url_path=name, default=name == HOME)
