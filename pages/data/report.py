"""What was read of a file that a session brought, and what was not understood."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpmf_datasets.readers.columns import LABELS
from dpmf_datasets.readers.report import Problem, Report
from pages.data.sample_values import LONGEST
from pages.kit import safe_text

MOST_NAMED = 12  # columns that are not used


def draw(report: Report) -> None:
    """Counts, the columns with some values, and the rows that were refused or mended, each kind
    with its first lines and its first value.
    """
    _counts(report)
    if report.columns:
        st.markdown("**What was read**")
        safe_text.words_table(_columns(report))
    if report.ignored:
        more = f" and {len(report.ignored) - MOST_NAMED:,} more"
        names = safe_text.escape_letters(", ".join(report.ignored[:MOST_NAMED]))
        st.caption(f"Not used: {names}{more if len(report.ignored) > MOST_NAMED else ''}.")
    if report.problems:
        st.markdown("**What was not understood**")
        safe_text.words_table(_problems(report.problems))
    else:
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


def _problems(problems: Sequence[Problem]) -> pd.DataFrame:
    return pd.DataFrame([problem.row for problem in problems])
