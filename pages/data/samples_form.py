"""The form for a file of documents or images."""

from typing import Any

import streamlit as st

from dpmf_datasets import session_files
from dpmf_datasets.table_paths import FOLDER
from pages.data import session_data
from pages.kit import safe_text
from pages.server import visitor

NOBODYS = "none: each row is a different person's"
ORDERS = {"columns": "column by column, as MATLAB does", "lines": "line by line"}
Facts = dict[str, str]


def draw(file: Any) -> None:
    """Draw the questions and the button that reads the file; raise BadInput."""
    name = file.name
    ending = name.lower().rpartition(".")[2]
    facts: Facts = {}
    left, middle, right = st.columns(3)
    if ending in ("csv", "tsv"):
        facts |= _of_table(file, left, middle)
    if ending == "mat":
        facts |= _of_matrix(left, right)
    if ending in ("mat", "zip"):
        facts["image"] = middle.text_input(
            "Height,width of images (empty: as stored)", key="data.image", max_chars=20
        )
    if ending == "zip":
        by_folder = left.checkbox(
            "Each sub-folder holds the files of one person", key="data.folders"
        )
        facts["group"] = FOLDER if by_folder else ""
    if ending in ("txt", "csv", "tsv", "zip"):
        facts["encoding"] = (left if ending == "txt" else right).text_input(
            "Encoding of text (empty: detect it)",
            key="data.encoding",
            max_chars=20,
            placeholder="e.g. koi8-r",
        )
    unit = "The privacy unit is a person with all their documents or images."
    if not facts.get("group"):
        unit = (
            "The privacy unit is one document or image: one line, one file or one row. A person"
            " with several is protected less, unless you name the people here."
        )
    st.caption(unit)
    if st.button("Check and use", type="primary", key="data.use"):
        answers = {fact: value for fact, value in facts.items() if value}
        owner = visitor.account_owner()
        with session_data.reading():
            upload = session_files.samples(file.getvalue(), name, answers, owner)
        session_data.keep(upload, file.file_id)


def _of_table(file: Any, left: Any, right: Any) -> Facts:
    rows = session_data.table_of(file).rows
    safe_text.table(rows.head())
    return {
        "text": left.selectbox("The column that holds the text", list(rows), key="data.text"),
        "group": right.selectbox(
            "The column that names the person",
            ["", *rows],
            key="data.group",
            format_func=lambda name: name or NOBODYS,
        ),
    }


def _of_matrix(left: Any, right: Any) -> Facts:
    key = left.text_input("Name of the matrix in the file", "fea", key="data.matrix", max_chars=60)
    drop = right.text_input("Columns to leave out, counted from 1", key="data.drop", max_chars=200)
    order = st.selectbox(
        "Pixels of images are stored",
        list(ORDERS),
        key="data.order",
        format_func=ORDERS.__getitem__,
    )
    transposed = st.checkbox("Rows are pixels or words, columns are samples", key="data.transpose")
    group = st.text_input(
        "Name of the vector of people (empty: each row is a different person's)",
        key="data.group",
        max_chars=60,
    )
    return {
        "key": key,
        "drop": drop,
        "order": "" if order == "columns" else order,
        "transpose": "1" if transposed else "",
        "group": group,
    }
