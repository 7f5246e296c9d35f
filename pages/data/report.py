"""The report on an uploaded file, shown only to the person who uploaded it."""

import itertools
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpmf_datasets.readers.columns import LABELS
from dpmf_datasets.readers.report import Report
from pages.kit import safe_text

MOST_VALUES, LONGEST = 3, 24  # values of a column, letters of a value
MOST_NAMED = 12  # columns in a sentence


def draw(report: Report) -> None:
    """Draw counts, columns with some values, and each kind of rejected or changed row."""
    _counts(report)
    if report.columns:
        st.markdown("**What was read**")
        safe_text.words_table(_columns(report))
    if report.ignored:
        more = f" and {len(report.ignored) - MOST_NAMED:,} more"
        names = safe_text.escape_letters(", ".join(report.ignored[:MOST_NAMED]))
        st.caption(f"Not used: {names}{more if len(report.ignored) > MOST_NAMED else ''}.")
    left_out = [it.row for it in report.problems if it.is_left_out]
    changed = [it.row for it in report.problems if not it.is_left_out]
    for title, rows in (("What was left out", left_out), ("What was changed", changed)):
        if rows:
            st.markdown(f"**{title}**")
            safe_text.words_table(pd.DataFrame(rows))
    if not left_out:
        st.markdown("**Every row was understood.**")
    for sentence in (*report.assumed, *([report.note] if report.note else [])):
        st.markdown(f"- {safe_text.escape_letters(sentence)}")


def _counts(report: Report) -> None:
    rows, columns = report.what or ("users", "items")
    left, middle, right, last = st.columns(4)
    label = "ratings kept" if not report.what else "rows read"
    left.metric(label.capitalize(), f"{report.kept if not report.what else report.read:,}")
    middle.metric(rows.capitalize(), f"{report.n_users:,}")
    right.metric(columns.capitalize(), f"{report.n_items:,}")
    last.metric("Rows left out", f"{report.rows_left_out:,}")


def _columns(report: Report) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Read as": LABELS.get(role, role),
                "Column": column,
                "First values": ", ".join(value[:LONGEST] for value in values) or "empty",
            }
            for (role, column), values in zip(report.columns, report.values, strict=False)
        ]
    )


# ---- values of a column --------------------------------------------------------------------------


def values_text(rows: pd.DataFrame, column: str) -> str:
    """Return the first distinct values of a column, shortened, as Markdown."""
    if column not in rows:
        return ""
    texts = (str(value).strip() for value in rows[column] if value is not None)
    different = [text for text in dict.fromkeys(texts) if text]
    short = (it if len(it) <= LONGEST else f"{it[: LONGEST - 3]}..." for it in different)
    return safe_text.escape_letters(", ".join(itertools.islice(short, MOST_VALUES)))


def columns_text(rows: pd.DataFrame, columns: Sequence[str]) -> str:
    """Return columns with their first values, as Markdown."""
    texts = [
        f"**{safe_text.escape_letters(column) or 'no name'}**"
        f" ({values_text(rows, column) or 'empty'})"
        for column in columns[:MOST_NAMED]
    ]
    more = f" and {len(columns) - MOST_NAMED:,} more" if len(columns) > MOST_NAMED else ""
    return ", ".join(texts) + more
