"""Links between pages, the page's own address, and links to copy."""

import html
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import segno
import streamlit as st

from pages.kit.base.page_table import BY_ID, HOME
from pages.server import streamlit_internals
from pages.server.doors import is_loopback

DECLARED = "navigation.pages"  # in the session: Streamlit's page of each section


def put_in_address(values: Mapping[str, str | None]) -> None:
    """Set parameters of the page's address in one change, and remove parameters that are None.

    `pages/server/browser.js` says which changes are steps of the browser's back button.
    """
    now = st.query_params.to_dict()
    then = without_none(now | dict(values))
    if then != now:
        st.query_params.from_dict(then)


def without_none(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in values.items() if text is not None}


def came_back() -> bool:
    """Whether the browser's back or forward button led here, so that its address wins."""
    return streamlit_internals.is_history_navigation()


def draw_to_copy(url: str) -> None:
    st.code(url, language=None, wrap_lines=True)
    draw_reach(url)


def draw_reach(url: str) -> None:
    """Say that others cannot open a link to this computer."""
    host = urlsplit(url).hostname or ""
    if is_loopback(host) or host.endswith(".localhost"):
        st.caption(
            f":material/computer: Only this computer can open this link, because {host} is its own"
            " address. See docs/SERVING.md for a server that others can reach."
        )


def draw_qr_code(url: str) -> None:
    try:
        image = qr_image(url)
    except segno.DataOverflowError:
        st.caption("This link is too long for a QR code. Use fewer pages.")
        return
    st.html(image)


def qr_image(url: str) -> str:
    """The QR code of a link as HTML. Raises segno.DataOverflowError if it is too long."""
    code = segno.make(url, error="l", micro=False)
    image = html.escape(
        code.svg_data_uri(
            border=4,
            light="white",
            nl=False,
            encode_minimal=True,
        )
    )
    alt = html.escape(f"QR code of the link {url}")
    return f'<img class="qr-code" src="{image}" alt="{alt}">'


def to(
    name: str,
    label: str,
    parameters: Mapping[str, str] | None = None,
    icon: str = "",
) -> None:
    st.page_link(
        _as_streamlit(name),
        label=label,
        icon=icon or BY_ID[name].material_icon,
        query_params=BY_ID[name].query | dict(parameters or {}),
    )


def go(name: str, parameters: Mapping[str, str] | None = None) -> None:
    st.switch_page(
        _as_streamlit(name), query_params=BY_ID[name].query | dict(parameters or {})
    )


def draw_ways(
    key: str,
    ways: Mapping[str, str],
    choose: Callable[[], None] | None = None,
    leave: Callable[[str], None] = go,
) -> None:
    """Draw a button for each page, the first one primary.

    Parameters
    ----------
    key
        The key of the buttons in the session.
    ways
        The labels by page.
    choose
        Called first, to set what the opened page shows.
    leave
        Opens the page.
    """
    with st.container(horizontal=True):
        for place, (page, label) in enumerate(ways.items()):
            if st.button(
                label,
                key=f"{key}.{page}",
                on_click=choose,
                type="secondary" if place else "primary",
            ):
                leave(page)


def _as_streamlit(name: str) -> st.Page:
    """The section of a page as the navigation declared it."""
    page = BY_ID[name]
    declared: dict[str, st.Page] = st.session_state.get(DECLARED, {})
    return declared.get(page.section) or st.Page(
        page.script,
        title=page.title,
        url_path=page.section,
        default=page.section == HOME,
    )
