"""A public table of the items beside ratings that a session brought."""

from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_datasets import session_files
from pages.data import session_data
from pages.data.report import columns_text
from pages.kit import safe_text
from pages.server import upload_quota

ENDINGS = ["csv", "tsv", "txt", "parquet", "gz", "zip"]


def draw(entry: Any) -> None:
    """What the ratings know of their items, and a place for a table that says it."""
    if entry.item_features:
        st.markdown(
            f"**Public: the items' {entry.item_features}.** A switch in the sidebar of other pages"
            " lets every method use them, and the privacy card then lists them as public."
        )
        for sentence in session_data.item_table_of(entry.id):
            st.markdown(f"- {safe_text.escape_letters(sentence)}")
    title = (
        "Another item table" if entry.item_features else "Add what anybody can know of the items"
    )
    with st.expander(title):
        _form(entry)


def _form(entry: Any) -> None:
    st.write(
        "A table with a row for each item: its id as it stands in the ratings, and any columns of"
        " numbers, categories or words with | between. It costs no privacy, because everything in"
        " it is taken as public. Bring nothing that was made from the ratings, and nothing about"
        " people."
    )
    file = st.file_uploader("Item table", type=ENDINGS, key=f"data.items.{entry.id}")
    if file is None:
        return
    try:
        upload_quota.must_be_there(file)
        _ask(entry, file)
    except BadInput as error:
        safe_text.error(error, "Your ratings are as they were. Bring another table.")


def _ask(entry: Any, file: Any) -> None:
    rows = session_data.read_once(file, session_files.preview_items)
    st.caption(f"Its columns: {columns_text(rows, list(map(str, rows)))}.")
    if st.button("Use it, as public", key=f"data.items.use.{entry.id}"):
        session_data.add_item_table(entry, file.getvalue(), file.name)
