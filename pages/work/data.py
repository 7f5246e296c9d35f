"""Is my file fit? Bring ratings, documents or images; what was repaired or refused; what the data look like; real sets from the catalogue."""

from typing import Any

import streamlit as st

import datasets
from datasets import own
from datasets.columns import LABELS, NEEDED
from datasets.people import FOLDER
from dpmf_core.data import Ratings
from dpmf_core.errors import BadInput
from pages.kit import brought, listed, odometer, said, seen, sidebar, uploads

KINDS = {"ratings": "Ratings", "samples": "Documents or images"}
NOBODYS = "none: all of different people"
ORDERS = {"columns": "column by column, as MATLAB does", "lines": "line by line"}


def ratings_form(content: bytes, name: str) -> None:
    """Columns and bounds of a table, with its first rows."""
    columns, found, rows = own.preview(content, name)
    said.table(rows)
    mapping: dict[str, str] = {}
    for place, (column, (role, title)) in enumerate(zip(st.columns(len(LABELS)), LABELS.items(), strict=True)):
        options = ["", *columns]
        start = options.index(found[role]) if found.get(role) in options else 0
        mapping[role] = column.selectbox(title, options, start, key=f"data.role.{place}.{name}", format_func=lambda it: it or "none")
        column.caption(brought.first_values(rows, mapping[role]))
    dates = brought.dates(rows, mapping["time"], f"data.dates.{name}")
    left, right, button = st.columns([1, 1, 2], vertical_alignment="bottom")
    low = left.number_input("Lowest rating anybody can give", value=None, format="%g", key=f"data.low.{name}", placeholder="e.g. 1")
    high = right.number_input("Highest", value=None, format="%g", key=f"data.high.{name}", placeholder="e.g. 5")
    st.caption(
        "The bounds are declared, not read off the ratings: what the data hold would tell something about them. What is protected is one user's whole row."
    )
    missing = [f"the column for {title}" for role, title in LABELS.items() if role in NEEDED and not mapping[role]]
    missing += [bound for bound, value in (("the lowest rating", low), ("the highest rating", high)) if value is None]
    if missing:
        st.caption(f"**Check and use** waits for {' and '.join(missing)}.")
    used = button.button("Check and use", type="primary", key="data.use", disabled=bool(missing), width="stretch")
    if used and low is not None and high is not None:
        keep(own.ratings(content, name, mapping, (low, high), dates))


def samples_form(content: bytes, name: str) -> None:
    """What kind of file it is, and what it needs said."""
    facts: dict[str, str] = {}
    ending = name.lower().rpartition(".")[2]
    left, middle, right = st.columns(3)
    if ending in ("csv", "tsv"):
        columns, _, rows = own.preview(content, name)
        said.table(rows)
        facts["text"] = left.selectbox("The column that holds the text", columns, key="data.text")
        facts["group"] = middle.selectbox("The column that says whose it is", ["", *columns], key="data.group", format_func=lambda name: name or NOBODYS)
    if ending == "mat":
        facts["key"] = left.text_input("Name of the matrix in the file", "fea", key="data.matrix", max_chars=60)
        facts["drop"] = right.text_input("Columns to leave out, counted from 1", key="data.drop", max_chars=200)
        stored = st.selectbox("Pixels of images are stored", list(ORDERS), key="data.order", format_func=ORDERS.__getitem__)
        facts["order"] = "" if stored == "columns" else stored
        facts["transpose"] = "1" if st.checkbox("The rows are the pixels or words, the columns the samples", key="data.transpose") else ""
        facts["group"] = st.text_input("Name of the vector that says whose each row is (empty: all of different people)", key="data.group", max_chars=60)
    if ending in ("mat", "zip"):
        facts["image"] = middle.text_input("Height,width of images (empty: none, or as they are)", key="data.image", max_chars=20)
    if ending == "zip":
        facts["white"] = left.text_input("Number that stands for white (fractions and 32 bits only)", key="data.white", max_chars=20, placeholder="e.g. 1")
        facts["group"] = FOLDER if st.checkbox("Each sub-folder holds the files of one person", key="data.folders") else ""
    if ending in ("txt", "csv", "tsv", "zip"):
        facts["encoding"] = brought.encoding(left if ending == "txt" else right)
    own_unit = "a person, with all documents or images of hers" if facts.get("group") else "one document or image: one line, one file or one row"
    less = "" if facts.get("group") else " Who has several is protected less, unless you say here whose each is."
    st.caption(f"What is protected is {own_unit}.{less}")
    if st.button("Check and use", type="primary", key="data.use"):
        keep(own.samples(content, name, {fact: value for fact, value in facts.items() if value}))


def keep(found: own.Brought) -> None:
    uploads.must_keep(found.entry)
    sidebar.bring(found.entry)
    st.session_state["data.report"] = (found.entry.id, found.report)
    st.rerun()


def yours() -> None:
    """What this session has brought, and what was found in it."""
    held: dict[str, Any] = st.session_state.get("data.own", {})
    for entry in list(held.values()):
        with st.container(border=True):
            left, right = st.columns([5, 1], vertical_alignment="center")
            left.markdown(
                f"**{said.plain(entry.title)}** is a data set on every page of this session: in no link, not in the store, gone when the session ends."
            )
            if right.button("Remove", key=f"data.remove.{entry.id}", width="stretch"):
                brought.remove(entry)
            odometer.panel(entry.id, f"data.{entry.id}", entry.n_users if isinstance(entry, datasets.Entry) else entry.n_samples)
            st.caption(
                "This count is kept as long as the file is here, in any session, and goes with it. What was released stays released: if you bring the same "
                "file again after removing it, add what stands here to what is counted then."
            )
            told = st.session_state.get("data.report", ("", None))
            if told[0] == entry.id and told[1] is not None:
                st.code(told[1].on_screen, language=None, wrap_lines=True)
            data = datasets.load(entry.id)
            if isinstance(data, Ratings):
                brought.summary(data)


def uploaded(file: Any) -> bool:
    """Whether the file is there; where there was no room for it, why, above what can be removed."""
    try:
        uploads.must_be_there(file)
    except BadInput as error:
        said.error(error, "")
        return False
    return True


def main() -> None:
    st.title("Bring your own data", anchor=False)
    st.write("A file is read, checked and told about. It stays in this session: nobody else sees it, and what is computed on it is not kept.")
    seen.draw(seen.BROUGHT)
    kind = st.segmented_control("It holds", list(KINDS), default="ratings", required=True, key="data.kind", format_func=KINDS.__getitem__) or "ratings"
    endings = ["csv", "tsv", "txt", "dat", "data", "parquet", "gz", "zip"] if kind == "ratings" else ["txt", "csv", "tsv", "zip", "mat"]
    file = st.file_uploader("File", type=endings, key=f"data.file.{kind}")
    if file is not None and uploaded(file):
        with uploads.reading:
            (ratings_form if kind == "ratings" else samples_form)(file.getvalue(), file.name)
    yours()
    listed.draw()


try:
    main()
except BadInput as error:
    said.error(error)
