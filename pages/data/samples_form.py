"""The form for a file of documents or images."""

from typing import Any

import streamlit as st

from dpmf_datasets import session_files
from dpmf_datasets.sample_paths import FOLDER
from pages.data import session_data
from pages.kit import safe_text
from pages.server import visitor

NOBODYS = "none: each row is a different person's"
ORDERS = {"": "column by column, as MATLAB does", "lines": "line by line"}
# texts about a file, by fact: the question, the endings of such files, an example
TEXTS = {
    "key": ("Name of the matrix in the file", ("mat",), "fea"),
    "image": ("Height,width of images (empty: as stored)", ("mat", "zip"), "e.g. 32,32"),
    "drop": ("Columns to leave out, counted from 1", ("mat",), "e.g. 1,2"),
    "group": (f"Name of the vector of people (empty: {NOBODYS})", ("mat",), "e.g. gnd"),
    "encoding": (
        "Encoding of text (empty: detect it)",
        ("txt", "csv", "tsv", "zip"),
        "e.g. koi8-r",
    ),
}


def draw(file: Any) -> None:
    """Draw the questions and the button that reads the file; raise BadInput."""
    ending = file.name.lower().rpartition(".")[2]
    facts = _of_table(file) if ending in ("csv", "tsv") else {}
    texts = [(fact, it) for fact, it in TEXTS.items() if ending in it[1]]
    for column, (fact, (label, _, example)) in zip(st.columns(len(texts)), texts, strict=True):
        look: dict[str, Any] = {"key": f"data.{fact}.{ending}", "placeholder": example}
        facts[fact] = column.text_input(label, max_chars=200, **look)
    if ending == "mat":
        facts["key"] = facts["key"] or "fea"
        label, look = "Pixels of images are stored", {"format_func": ORDERS.__getitem__}
        facts["order"] = st.selectbox(label, list(ORDERS), key="data.order", **look)
        label = "Rows are pixels or words, columns are samples"
        facts["transpose"] = "1" * st.checkbox(label, key="data.transpose")
    if ending == "zip":
        label = "Each sub-folder holds the files of one person"
        facts["group"] = FOLDER * st.checkbox(label, key="data.folders")
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
            upload = session_files.samples(file.getvalue(), file.name, answers, owner)
        session_data.keep(upload, file.file_id)


def _of_table(file: Any) -> dict[str, str]:
    rows = session_data.table_of(file).rows
    safe_text.table(rows.head())
    left, right = st.columns(2)
    text = left.selectbox("The column that holds the text", list(rows), key="data.text")
    label, people = "The column that names the person", ["", *rows]
    look: dict[str, Any] = {"key": "data.group", "format_func": lambda it: it or NOBODYS}
    return {"text": text, "group": right.selectbox(label, people, **look)}
