"""Which data? Choose a data set or upload a file, and see what was read."""

from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from pages.choose import controls
from pages.data import catalogue, ratings_form, samples_form, session_data, uploaded_data
from pages.kit import data_sets, links, safe_text
from pages.kit.data_sets import session_key
from pages.server import upload_quota

KINDS = {"ratings": "Ratings", "samples": "Documents or images"}
FORMS = {"ratings": ratings_form.draw, "samples": samples_form.draw}
ENDINGS = {
    "ratings": [
        *("csv", "tsv", "txt", "dat", "data", "inter", "jsonl", "json"),
        *("parquet", "feather", "npz", "xlsx", "xls", "ods", "gz", "zip"),
    ],
    "samples": ["txt", "csv", "tsv", "zip", "mat"],
}
FITS = {
    "ratings": (
        "A table with one row for each rating: user, item, value. Columns may have any name and"
        " order and are separated by commas, semicolons or tabs; other columns are ignored."
    ),
    "samples": "Text with a document on each line, a table with a column of text, a zip of text"
    " files or images, or a MATLAB matrix.",
}


def main() -> None:
    controls.prepare()
    controls.write_to_address()
    st.title("Which data?", anchor=False)
    draw_choice()
    st.header("Bring your own", anchor=False)
    st.write(
        "We read the file, check it and report what we found. Only you see it, in this session, and"
        " no result on it is stored. **Reloading the page deletes the file:** move between pages"
        " with the app's links."
    )
    left, right = st.columns([1, 3])
    kind = (
        left.segmented_control(
            "It holds",
            list(KINDS),
            default="ratings",
            required=True,
            key="data.kind",
            format_func=KINDS.__getitem__,
        )
        or "ratings"
    )
    file = right.file_uploader("File", type=ENDINGS[kind], key=f"data.file.{kind}")
    if file is None:
        st.caption(FITS[kind])
    elif upload_succeeded(file):
        read(kind, file)
    uploaded_data.draw()
    st.caption(
        "The operator of this server can read what you upload; other visitors see neither the file"
        " nor its runs. Downloads contain no exact figures of private data."
    )
    catalogue.draw()


def draw_choice() -> None:
    """Draw the choice of a data set for all pages, and the way on."""
    titles, usable = {it.id: it.title for it in data_sets.entries()}, data_sets.usable()
    now = st.session_state[session_key("dataset")]
    key = f"data.choice.{now}"  # a new widget for each value: the server never sets one
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.selectbox(
        "Synthetic, published or your own ratings",
        usable,
        usable.index(now),
        key=key,
        format_func=titles.__getitem__,
        on_change=_choose,
        args=(key,),
    )
    with right:
        links.to("choose", "Next: the question", {})


def _choose(key: str) -> None:
    data_sets.choose(data_sets.find(st.session_state[key]))


def upload_succeeded(file: Any) -> bool:
    """Return whether the file was stored; otherwise show why not."""
    try:
        upload_quota.must_be_there(file)
    except BadInput as error:
        safe_text.error(error, "")
        return False
    return True


def read(kind: str, file: Any) -> None:
    """Draw the form of a file, folded once it was read, and what is wrong with the answers."""
    is_read = bool(session_data.data_id_of(file.file_id))
    with st.expander("Read this file differently") if is_read else st.container():
        try:
            FORMS[kind](file)
        except BadInput as error:
            safe_text.error(error, "")


try:
    main()
except BadInput as error:
    safe_text.error(error)
