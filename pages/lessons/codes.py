"""Check pasted completion codes. A line holds one code, and may hold other text."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dpmf_core.teaching import completion
from dpmf_core.teaching.lesson_links import LessonSequence
from dpmf_core.teaching.lessons import LESSONS
from pages.kit.base import safe_text

MOST_CODES = 500
SHOWN_LETTERS = 8  # letters of a code on the page
COLUMNS = [
    "rest of the line",
    "check",
    "finished",
    "day",
    "predicted correctly",
    "code",
]


def draw_codes(sequence: LessonSequence | None) -> None:
    """Draw the check of codes of lessons and, if given, of a sequence of lessons."""
    text = st.text_area(
        "Codes, one per line",
        key="teach.codes",
        max_chars=50_000,
        placeholder="Ada Lovelace, AFMW...",
        help="Paste lines as they come, also from a table: names and other cells are kept.",
    )
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        st.caption(
            "A code shows the lesson, the date and the score, not the student's name."
        )
        return
    if len(lines) > MOST_CODES:
        st.warning(f"Only the first {MOST_CODES} of {len(lines):,} lines are checked.")
    table = _checked(lines[:MOST_CODES], _titles(sequence))
    n_valid = (table["check"] == "valid").sum()
    words = safe_text.count_text(
        len(table), "line holds a valid code", "lines hold a valid code"
    )
    st.markdown(f"**{n_valid} of {words}.**")
    shortened = table["code"].map(
        lambda code: f"{code[:SHOWN_LETTERS]} ..." if code else ""
    )
    safe_text.words_table(table.assign(code=shortened))
    st.download_button(
        "Download the codes (CSV)",
        safe_text.to_csv(table),
        "codes.csv",
        "text/csv",
        key="teach.codes_csv",
        icon=":material/download:",
    )


def _titles(sequence: LessonSequence | None) -> dict[bytes, str]:
    """The titles of what codes can be for, by the mark that a code holds."""
    titles = {name: lesson.title for name, lesson in LESSONS.items()}
    if sequence is not None:
        titles[sequence.id] = sequence.title or "this sequence"
    return {completion.mark(name): title for name, title in titles.items()}


def _checked(lines: Sequence[str], titles: Mapping[bytes, str]) -> pd.DataFrame:
    """The checked lines: a row of texts for each, with its code and the rest of the line."""
    rows = []
    earlier: set[completion.Completion] = set()
    for line in lines:
        handed_in = completion.find(line)
        row = {"rest of the line": handed_in.rest, "code": handed_in.code}
        content = handed_in.content
        if content is None:
            row["check"] = "not valid" if handed_in.code else "no code"
        else:
            row["check"] = "handed in twice" if content in earlier else "valid"
            what = titles.get(content.what, "a sequence that is not open here")
            row["finished"] = what
            row["day"] = content.day.isoformat()
            row["predicted correctly"] = f"{content.right} of {content.n_questions}"
            earlier.add(content)
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS).fillna("")
