"""The session's own data: reports, accounts, public item tables, and the next steps."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.data.report import Report
from dpmf_datasets.readers.ratings_tables import LABELS
from pages.data import session_data
from pages.kit.base import data_sets, links, safe_text
from pages.kit.privacy import account_summary
from pages.server import upload_quota

ENDINGS = ["csv", "tsv", "txt", "parquet", "gz", "zip"]  # of item tables

LONGEST = 24  # letters of a value
MOST_NAMED = 12  # columns in a sentence
# by kind of data: next pages and their labels
NEXT = {
    "ratings": {"choose": "Next: the question", "explore": "Explore it"},
    "documents": {"topics": "Find its topics"},
    "images": {"faces": "Find its components"},
}


def draw() -> None:
    for entry in reversed(data_sets.own().values()):
        with st.container(border=True):
            _draw_one(entry)


def _draw_one(entry: Any) -> None:
    name = data_sets.name_in_keys(entry.id)
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.subheader(safe_text.escape_letters(entry.title), anchor=False)
    label = safe_text.button_label("Remove", entry.title)
    if right.button(label, key=f"data.remove.{name}", width="stretch"):
        session_data.remove(entry)
    st.caption(
        "Every page of this session can use it. It is not stored or put in links, and is deleted"
        " when the session ends."
    )
    record = session_data.record_of(entry.id)
    if record is not None:
        _draw_report(record.report)
    kind = entry.holds
    links.draw_ways(f"data.next.{name}", NEXT[kind], partial(data_sets.choose, entry))
    account_summary.panel(entry, f"data.{name}")
    st.caption(
        "This total is deleted with the file, but releases cannot be undone: if you upload the file"
        " again, add it to the new total."
    )
    if kind == "ratings":
        _draw_item_table(entry)


def _draw_item_table(entry: Any) -> None:
    """Draw what is known about the items, and a form for a public table of them."""
    title = "Add public facts about the items"
    if entry.item_features:
        title = "Another item table"
        st.markdown(
            f"**Public: the items' {entry.item_features}.** A switch in the sidebar lets every"
            " method use them; the privacy card then lists them as public."
        )
        record = session_data.record_of(entry.id)
        if record is not None:
            _draw_sentences(record.item_table)
    with st.expander(title):
        _item_table_form(entry)


def _item_table_form(entry: Any) -> None:
    name = data_sets.name_in_keys(entry.id)
    st.write(
        "A table with one row for each item: its id as in the ratings, and columns of numbers,"
        " categories or words separated by |. It costs no privacy, because everything in it is"
        " taken as public. It must not contain anything about people or computed from the ratings."
    )
    file = st.file_uploader("Item table", type=ENDINGS, key=f"data.items.{name}")
    if file is None:
        return
    try:
        upload_quota.must_be_there(file)
        if st.button("Use it, as public", key=f"data.items.use.{name}"):
            session_data.add_item_table(entry, file.getvalue(), file.name)
    except BadInput as error:
        safe_text.error(error, "Your ratings have not changed. Choose another table.")


def _draw_report(report: Report) -> None:
    """Draw counts, columns with some values, and each kind of rejected or changed row."""
    _counts(report)
    if report.columns:
        st.markdown("**What was read**")
        _draw_columns(report)
    draw_unused(report.ignored)
    left_out = [problem.row for problem in report.problems if problem.is_left_out]
    changed = [problem.row for problem in report.problems if not problem.is_left_out]
    for title, rows in (("What was left out", left_out), ("What was changed", changed)):
        if rows:
            st.markdown(f"**{title}**")
            safe_text.words_table(rows)
    if not left_out:
        st.markdown("**Every row was understood.**")
    _draw_sentences(report.assumed)


def _draw_sentences(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        st.markdown(f"- {safe_text.escape_letters(sentence)}")


def draw_unused(columns: Sequence[str]) -> None:
    if not columns:
        return
    names = safe_text.escape_letters(", ".join(columns[:MOST_NAMED]))
    n_more = len(columns) - MOST_NAMED
    if n_more > 0:
        names += f" and {n_more:,} more"
    st.caption(f"Not used: {names}.")


def _counts(report: Report) -> None:
    if report.what:
        rows, columns = report.what
        counts = {
            "Rows read": report.read,
            rows.capitalize(): report.n_users,
            columns.capitalize(): report.n_items,
        }
    else:
        counts = {
            "Ratings kept": report.kept,
            "Users": report.n_users,
            "Items": report.n_items,
        }
    counts["Rows left out"] = report.rows_left_out
    for column, (label, count) in zip(st.columns(4), counts.items(), strict=True):
        column.metric(label, f"{count:,}")


def _draw_columns(report: Report) -> None:
    rows = []
    for (role, column), values in zip(report.columns, report.values, strict=False):
        examples = ", ".join(value[:LONGEST] for value in values)
        rows.append((LABELS.get(role, role), column, examples or "empty"))
    safe_text.words_table(rows, ["Read as", "Column", "First values"])
