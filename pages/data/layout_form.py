"""Questions about the layout of an uploaded table: file in an archive, sheet, header."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpmf_datasets.upload_reading import Preview
from pages.data import session_data
from pages.kit.base import safe_text

ROWS_SHOWN = 5
COLUMNS_SHOWN = 50  # more make a browser slow
LONGEST = 60  # letters of a cell
FileFacts = dict[str, str]  # what a person declares of a file


def ask(file: Any) -> tuple[FileFacts, Preview | None]:
    """Ask for the layout of a table; return it as facts, and the beginning of the table.

    None if another answer is needed. Raise BadInput.
    """
    facts: FileFacts = {}
    preview = session_data.preview_of(file, facts)
    if len(preview.members) > 1:
        facts["member"] = _choice(
            "Which file of the archive?", preview.members, "member", file
        )
        preview = session_data.preview_of(file, facts)
    if len(preview.sheets) > 1:
        facts["sheet"] = _choice("Which sheet?", preview.sheets, "sheet", file)
        preview = session_data.preview_of(file, facts)
    with st.expander("The first rows, and what to do if they look wrong"):
        rows = st.empty()
        answers = _line_answers(file.name)
        if answers:
            facts |= answers
            preview = session_data.preview_of(file, facts)
        with rows:
            _draw_rows(preview)
    if preview.problem:
        safe_text.error(preview.problem)
        return facts, None
    return facts, preview


def _choice(question: str, options: Sequence[str], fact: str, file: Any) -> str:
    return st.selectbox(question, options, key=f"data.{fact}.{file.name}")


def _line_answers(name: str) -> FileFacts:
    """Ask for the header, the encoding and the quoting; return only what was answered."""
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    header = left.number_input(
        "Line with the names of columns (0: none)",
        0,
        1000,
        value=None,
        key=f"data.header.{name}",
        placeholder="found by itself",
    )
    encoding = middle.text_input(
        "Encoding",
        max_chars=40,
        key=f"data.encoding.{name}",
        placeholder="found by itself, e.g. cp1252",
    )
    is_multiline = right.checkbox(
        "Quoted cells reach over several lines", key=f"data.multiline.{name}"
    )
    facts = {}
    if header is not None:
        facts["header"] = str(header)
    if encoding.strip():
        facts["encoding"] = encoding.strip()
    if is_multiline:
        facts["multiline"] = "true"
    return facts


def _draw_rows(preview: Preview) -> None:
    cells = [
        [cell[:LONGEST] for cell in row[:COLUMNS_SHOWN]]
        for row in preview.rows[:ROWS_SHOWN]
    ]
    safe_text.table(cells, preview.columns[:COLUMNS_SHOWN])
