"""The form for a file of documents or images."""

from typing import Any

import streamlit as st

from dpmf_datasets.readers.words import NONE, SHORTEST
from dpmf_datasets.sample_paths import FOLDER
from pages.data import layout_form, session_data
from pages.data.layout_form import FileFacts

NOBODYS = "none: each row is a different person's"
ORDERS = {"": "column by column, as MATLAB does", "lines": "line by line"}
PACKED = ("gz", "bz2", "xz")  # of one file
TABLES = ("csv", "tsv", "jsonl", "json", "parquet", "feather", "xlsx", "xls", "ods")
ARCHIVES = ("zip", "tar", "tgz")
TEXT_FILES = ("txt",)
# texts about a file, by fact: the question, the endings of such files, an example
TEXTS = {
    "key": ("Name of the matrix in the file", ("mat",), "fea"),
    "image": (
        "Height,width of images (empty: as stored)",
        ("mat", *ARCHIVES),
        "e.g. 32,32",
    ),
    "drop": ("Columns to leave out, counted from 1", ("mat",), "e.g. 1,2"),
    "group": (f"Name of the vector of people (empty: {NOBODYS})", ("mat",), "e.g. gnd"),
    "encoding": (
        "Encoding of text (empty: detect it)",
        ("txt", *ARCHIVES),
        "e.g. koi8-r",
    ),
}


def draw(file: Any) -> None:
    """Draw the questions and the button that reads the file. Raises BadInput."""
    ending = _ending(file.name)
    facts: FileFacts = {}
    if ending in TABLES:
        of_table = _of_table(file)
        if of_table is None:
            return
        facts = of_table
    facts |= _texts(ending)
    if ending == "mat":
        facts |= _of_matrix()
        facts.setdefault("key", "fea")
    if ending in ARCHIVES and st.checkbox(
        "Each sub-folder holds the files of one person", key="data.folders"
    ):
        facts["group"] = FOLDER
    if ending in TEXT_FILES or "text" in facts or ending in ARCHIVES:
        facts |= _of_words()
    unit = "The privacy unit is a person with all their documents or images."
    if not facts.get("group"):
        unit = (
            "The privacy unit is one document or image: one line, one file or one row. A person"
            " with several is protected less, unless you name the people here."
        )
    st.caption(unit)
    if st.button("Check and use", type="primary", key="data.use"):
        session_data.keep(session_data.read(file, facts), file.file_id)


def _ending(name: str) -> str:
    """The ending of a file's name. For a packed file it is the ending before the packing's."""
    parts = name.lower().split(".")
    if parts[-1] not in PACKED:
        return parts[-1]
    if parts[-2] == "tar":
        return "tgz"
    return parts[-2]


def _texts(ending: str) -> FileFacts:
    """Ask for texts about the file; return the given ones."""
    asked_facts = [fact for fact, (_, endings, _) in TEXTS.items() if ending in endings]
    facts: FileFacts = {}
    if not asked_facts:
        return facts
    for column, fact in zip(st.columns(len(asked_facts)), asked_facts, strict=True):
        label, _, example = TEXTS[fact]
        text = column.text_input(
            label,
            max_chars=200,
            key=f"data.{fact}.{ending}",
            placeholder=example,
        )
        if text:
            facts[fact] = text
    return facts


def _of_matrix() -> FileFacts:
    facts = {}
    order = st.selectbox(
        "Pixels of images are stored",
        ORDERS,
        format_func=ORDERS.__getitem__,
        key="data.order",
    )
    if order:
        facts["order"] = order
    if st.checkbox(
        "Rows are pixels or words, columns are samples", key="data.transpose"
    ):
        facts["transpose"] = "1"
    return facts


def _of_words() -> FileFacts:
    """Ask which words count; return what differs from the default."""
    left, right = st.columns(2)
    shortest = left.number_input(
        "Letters of the shortest word", 1, 20, SHORTEST, key="data.shortest"
    )
    keeps_all = right.checkbox(
        "Keep English stop words, such as 'the'", key="data.stop_words"
    )
    facts = {}
    if shortest != SHORTEST:
        facts["shortest"] = str(shortest)
    if keeps_all:
        facts["stop_words"] = NONE
    return facts


def _of_table(file: Any) -> FileFacts | None:
    """Ask for the columns of a table; return None if its layout needs another answer."""
    facts, preview = layout_form.ask(file)
    if preview is None:
        return None
    left, right = st.columns(2)
    facts["text"] = left.selectbox(
        "The column that holds the text", preview.columns, key=f"data.text.{file.name}"
    )
    group = right.selectbox(
        "The column that names the person",
        ["", *preview.columns],
        format_func=lambda column: column or NOBODYS,
        key=f"data.group.{file.name}",
    )
    if group:
        facts["group"] = group
    return facts
