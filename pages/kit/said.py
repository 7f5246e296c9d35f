"""Other people's text on a page and in a file: shown as it is, never read as Markdown, never run as a formula."""

import re
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core import spreadsheets

READ = re.compile(r"([\\\[\]<>!$*_#~|])")
ADDRESS = re.compile(
    r"((?:https?://|www\.)[^\s`'\")]*[^\s`'\").,;:!?]|[-.\w+]+@[-\w]+(?:\.[-\w]+)+)", re.I
)  # the screen would make a link of it, escaped or not
KEPT = "Your settings are kept. Change the one named above."


def harmless(text: str) -> str:
    """What Markdown would read, escaped; code in backticks stays code. An image in a link's parameter would else be fetched from wherever it says."""
    parts = re.sub(r"`{2,}", "`", text).split("`")
    closed = len(parts) - 1 - (len(parts) - 1) % 2  # backticks that have a partner
    out = [part if place % 2 and place < closed else _escaped(part) for place, part in enumerate(parts)]
    return "".join(part + ("`" if place < closed else "\\`" if place < len(parts) - 1 else "") for place, part in enumerate(out))


def plain(text: str) -> str:
    """Letters that Markdown would read otherwise, escaped; an address as code, so that it is no link."""
    return "".join(f"`{part}`" if place % 2 else _lettered(part) for place, part in enumerate(ADDRESS.split(text)))


def _lettered(text: str) -> str:
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]()#+-.!|<>$:~" else letter for letter in text)


def _escaped(text: str) -> str:
    return "".join(f"`{part}`" if place % 2 else READ.sub(r"\\\1", part) for place, part in enumerate(ADDRESS.split(text)))


def error(problem: object, kept: str = KEPT) -> None:
    """What is wrong, and that nothing is lost."""
    st.error(harmless(str(problem)))
    if kept:
        st.caption(kept)


def spared(frame: pd.DataFrame) -> pd.DataFrame:
    """The same, with nothing in cells or headings that a spreadsheet would take for a formula."""
    safe = frame.rename(columns=spreadsheets.harmless)
    for place, kind in enumerate(safe.dtypes):
        if not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind)):
            safe.isetitem(place, safe.iloc[:, place].map(spreadsheets.harmless).array)
    return safe


def csv_of(frame: pd.DataFrame) -> str:
    """As CSV, in which a spreadsheet finds no formula."""
    return spared(frame).to_csv(index=False)


def table(frame: pd.DataFrame, **more: Any) -> Any:
    """A table on the page. Its own menu saves nothing (client.disableDataExport): what may leave has a button."""
    return st.dataframe(frame, **{"hide_index": True} | more)
