"""Links from page to page, the address of the page itself, and links to copy."""

import html
import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

import segno
import streamlit as st

from pages.kit.page_table import BY_ID, HOME

DECLARED = "navigation.pages"  # in the session: Streamlit's page of each section


def put_in_address(values: Mapping[str, str | None]) -> None:
    """Put values into the page's address, and take those out that are None, all at once: the
    browser's back button passes every change.
    """
    now = st.query_params.to_dict()
    then = {name: text for name, text in (now | dict(values)).items() if text is not None}
    if then != now:
        st.query_params.from_dict(then)


def draw_to_copy(url: str) -> None:
    """A link to copy, and whether other computers can open it."""
    st.code(url, language=None, wrap_lines=True)
    if opens_here_only(url):
        host = urlsplit(url).hostname
        st.caption(
            f":material/computer: Only this computer can open this link, because {host} is its own"
            " address. See docs/SERVING.md for a server that others can reach."
        )


def draw_qr_code(url: str) -> None:
    """A link as a QR code, drawn here, with the link as its alternative text."""
    try:
        code = segno.make(url, error="l", micro=False)
    except segno.DataOverflowError:
        st.caption("This link is too long for a QR code. Take fewer pages.")
        return
    image = html.escape(code.svg_data_uri(border=4, light="white", nl=False, encode_minimal=True))
    alt = html.escape(f"QR code of the link {url}")
    st.html(f'<img src="{image}" alt="{alt}" style="width: min(100%, 30rem)">')


def opens_here_only(url: str) -> bool:
    """Whether the host of a link is the computer that opens it."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def to(name: str, label: str, parameters: dict[str, str], icon: str = "") -> None:
    """A link to the page of this address, with its icon unless another is given."""
    st.page_link(
        _as_streamlit(name),
        label=label,
        icon=icon or BY_ID[name].material_icon,
        query_params=BY_ID[name].query | parameters,
    )


def go(name: str, parameters: Mapping[str, str] | None = None) -> None:
    """Leave for the page of this address."""
    st.switch_page(_as_streamlit(name), query_params=BY_ID[name].query | dict(parameters or {}))


def _as_streamlit(name: str) -> st.Page:
    """A page's section as the navigation has declared it, with whichever view it shows now."""
    page = BY_ID[name]
    declared: dict[str, st.Page] = st.session_state.get(DECLARED, {})
    return declared.get(page.section) or st.Page(
        page.script, title=page.title, url_path=page.section, default=page.section == HOME
    )
