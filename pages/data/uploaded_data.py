"""The session's own data: reports, accounts, public item tables, and the next steps."""

from functools import partial
from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_datasets import session_files
from pages.data import report, session_data
from pages.data.report import columns_text
from pages.kit import data_sets, links, odometer, safe_text
from pages.server import upload_quota

ENDINGS = ["csv", "tsv", "txt", "parquet", "gz", "zip"]  # of item tables

# by kind of data: next pages and their labels
NEXT = {
    "ratings": {"choose": "Next: the question", "explore": "Explore it"},
    "documents": {"topics": "Find its topics"},
    "images": {"faces": "Find its components"},
}


def draw() -> None:
    for entry in reversed(st.session_state.get(data_sets.OWN, {}).values()):
        with st.container(border=True):
            _draw_one(entry)


def _draw_one(entry: Any) -> None:
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.subheader(safe_text.escape_letters(entry.title), anchor=False)
    if right.button("Remove", key=f"data.remove.{entry.id}", width="stretch"):
        session_data.remove(entry)
    st.caption(
        "Every page of this session can use it. It is not stored or put in links, and is deleted"
        " when the session ends."
    )
    if (file_report := session_data.report_of(entry.id)) is not None:
        report.draw(file_report)
    kind = data_sets.kind_of(entry)
    links.draw_ways(f"data.next.{entry.id}", NEXT[kind], partial(data_sets.choose, entry))
    odometer.panel(entry.id, f"data.{entry.id}", data_sets.privacy_units(entry))
    st.caption(
        "This total is deleted with the file, but releases cannot be undone: if you upload the file"
        " again, add it to the new total."
    )
    if kind == "ratings":
        _draw_item_table(entry)


# ---- a public table of the items -----------------------------------------------------------------


def _draw_item_table(entry: Any) -> None:
    """Draw what is known of the items, and a form for a public table of them."""
    if entry.item_features:
        st.markdown(
            f"**Public: the items' {entry.item_features}.** A switch in the sidebar lets every"
            " method use them; the privacy card then lists them as public."
        )
        for sentence in session_data.item_table_of(entry.id):
            st.markdown(f"- {safe_text.escape_letters(sentence)}")
    title = "Another item table" if entry.item_features else "Add public facts about the items"
    with st.expander(title):
        _item_table_form(entry)


def _item_table_form(entry: Any) -> None:
    st.write(
        "A table with one row for each item: its id as in the ratings, and columns of numbers,"
        " categories or words separated by |. It costs no privacy, because everything in it is"
        " taken as public. It must not contain anything about people or computed from the ratings."
    )
    file = st.file_uploader("Item table", type=ENDINGS, key=f"data.items.{entry.id}")
    if file is None:
        return
    try:
        upload_quota.must_be_there(file)
        rows = session_data.read_once(file, session_files.preview_items)
        st.caption(f"Its columns: {columns_text(rows, list(map(str, rows)))}.")
        if st.button("Use it, as public", key=f"data.items.use.{entry.id}"):
            session_data.add_item_table(entry, file.getvalue(), file.name)
    except BadInput as error:
        safe_text.error(error, "Your ratings have not changed. Choose another table.")
