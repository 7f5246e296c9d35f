"""Other people's text on a page and in a file: shown as it is, never read as Markdown, never
run as a formula.
"""

import re
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.runs import spreadsheets

READ = re.compile(r"([\\\[\]<>!$*_#~|])")
# the screen would make a link of it, escaped or not; bounded, so that a search takes linear time
ADDRESS = re.compile(
    r"((?:https?://|www\.)[^\s`'\")]*[^\s`'\").,;:!?]|[-.\w+]{1,64}@[-\w]{1,63}(?:\.[-\w]{1,63}){1,9})",
    re.I,
)
MOST_LETTERS = 5_000  # of one text on a page; the rest is left out
SETTINGS_KEPT = "Your settings are kept."


def escape(text: str) -> str:
    """What Markdown would read, escaped; code in backticks stays code.

    An image in a link's parameter would else be fetched from wherever it says.
    """
    parts = re.sub(r"`{2,}", "`", _shortened(text)).split("`")
    paired_ticks = len(parts) - 1 - (len(parts) - 1) % 2  # backticks that have a partner
    out = [
        part if place % 2 and place < paired_ticks else _escape_part(part)
        for place, part in enumerate(parts)
    ]
    return "".join(
        part + ("`" if place < paired_ticks else "\\`" if place < len(parts) - 1 else "")
        for place, part in enumerate(out)
    )


def escape_letters(text: str) -> str:
    """Letters that Markdown would read otherwise, escaped; an address as code, so that it is no
    link.
    """
    return "".join(
        f"`{part}`" if place % 2 else _escape_all(part)
        for place, part in enumerate(ADDRESS.split(_shortened(text)))
    )


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"


def _escape_all(text: str) -> str:
    return "".join(
        f"\\{letter}" if letter in r"\`*_{}[]()#+-.!|<>$:~" else letter for letter in text
    )


def _escape_part(text: str) -> str:
    return "".join(
        f"`{part}`" if place % 2 else READ.sub(r"\\\1", part)
        for place, part in enumerate(ADDRESS.split(text))
    )


def error(problem: object, note: str = SETTINGS_KEPT) -> None:
    """What is wrong, and that nothing is lost."""
    st.error(escape(message(problem)))
    if note:
        st.caption(note)


def message(problem: object) -> str:
    """What is wrong, in words."""
    return problem.args[0] if isinstance(problem, BadInput) and problem.args else str(problem)


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """The same, with nothing in cells or headings that a spreadsheet would take for a formula."""
    safe = frame.rename(columns=spreadsheets.harmless)
    for place, kind in enumerate(safe.dtypes):
        if not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind)):
            safe.isetitem(place, safe.iloc[:, place].map(spreadsheets.harmless).array)
    return safe


def to_csv(frame: pd.DataFrame) -> str:
    """As CSV, in which a spreadsheet finds no formula."""
    return without_formulas(frame).to_csv(index=False)


def table(frame: pd.DataFrame, **more: Any) -> Any:
    """A table on the page. Its own menu saves nothing (client.disableDataExport): what may
    leave has a button.
    """
    return st.dataframe(frame, **{"hide_index": True} | more)


def words_table(frame: pd.DataFrame, is_markdown: bool = False) -> None:
    """A short table of words: sentences wrap, and all rows and columns are seen at any width.

    is_markdown: whether cells are Markdown, with other people's text escaped in it.
    """
    safe_frame = frame if is_markdown else frame.map(lambda cell: escape_letters(str(cell)))
    st.table(safe_frame.rename(columns=escape_letters), hide_index=True)
