"""Other people's text on a page and in a file: shown as it is, never read as Markdown, never run as a formula."""

import re

import pandas as pd
import streamlit as st

READ = re.compile(r"([\\\[\]<>!$*_#~|])")
KEPT = "Your settings are kept. Change the one named above."
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def harmless(text: str) -> str:
    """What Markdown would read, escaped; code in backticks stays code. An image in a link's parameter would else be fetched from wherever it says."""
    parts = re.sub(r"`{2,}", "`", text).split("`")
    closed = len(parts) - 1 - (len(parts) - 1) % 2  # backticks that have a partner
    out = [part if place % 2 and place < closed else READ.sub(r"\\\1", part) for place, part in enumerate(parts)]
    return "".join(part + ("`" if place < closed else "\\`" if place < len(parts) - 1 else "") for place, part in enumerate(out))


def error(problem: object, kept: str = KEPT) -> None:
    """What is wrong, and that nothing is lost."""
    st.error(harmless(str(problem)))
    if kept:
        st.caption(kept)


def csv_of(table: pd.DataFrame) -> str:
    """As CSV, in which a spreadsheet finds no formula."""
    safe = table.copy()
    for column in safe.select_dtypes(["object", "string"]):
        safe[column] = [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in safe[column]]
    return safe.to_csv(index=False)
