"""The language of a session: of its link, of its browser, or chosen on the Lessons page."""

from typing import Any

import streamlit as st

from dpmf_core.language import ENGLISH, LANGUAGES, figure, translated
from pages.kit import links

KEY, NAME = "language", "lang"  # in the session, in an address


def current() -> str:
    """The code of the session's language."""
    try:  # once for every sentence: each look at the session's state counts
        return str(st.session_state[KEY])
    except KeyError:
        st.session_state[KEY] = _first()
        return str(st.session_state[KEY])


def _first() -> str:
    browser = (st.context.locale or "").split("-")[0].lower()
    link = st.query_params.get(NAME, "")
    return next((code for code in (link, browser) if code in LANGUAGES), ENGLISH)


def say(text: str, /, **values: Any) -> str:
    """A template of the app's words in the session's language, with its values."""
    return translated(current(), text, **values)


def local_figure(text: str) -> str:
    """A figure that is printed as in English, as the session's language writes it."""
    return figure(text, current())


def separators() -> str:
    """The decimal mark and that of thousands, as a figure of Plotly's wants them."""
    return local_figure(".,")


def figures_in_browser() -> dict[str, str]:
    """How components write the figures that they fill in: decimal mark and percent sign."""
    return {"mark": separators()[0], "percent": local_figure("%")}


def put(code: str) -> None:
    """Speak another language from now on."""
    st.session_state[KEY] = code
    links.put_in_address({NAME: code})


def switch() -> None:
    """The widget that chooses the language."""
    st.segmented_control(
        say("Language"),
        list(LANGUAGES),
        default=current(),
        key="language.switch",
        format_func=LANGUAGES.__getitem__,
        label_visibility="collapsed",
        required=True,
        on_change=lambda: put(st.session_state["language.switch"]),
    )
