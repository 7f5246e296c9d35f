"""Which data? Choose a data set or upload a file, and see what was read."""

from typing import Any

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.base import limits
from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import WHOSE, settings
from dpmf_core.runs import permissions
from pages.choose import question_controls
from pages.data import ratings_form, samples_form, session_data, uploaded_data
from pages.kit.base import data_sets, links, safe_text
from pages.kit.base.data_sets import session_key
from pages.server import upload_quota, visitor

KINDS = {"ratings": "Ratings", "samples": "Documents or images"}
FORMS = {"ratings": ratings_form.draw, "samples": samples_form.draw}
ENDINGS = {
    "ratings": [
        "csv",
        "tsv",
        "txt",
        "dat",
        "data",
        "inter",
        "jsonl",
        "json",
        "parquet",
        "feather",
        "npz",
        "npy",
        "mtx",
        "mat",
        "xlsx",
        "xls",
        "ods",
        "gz",
        "bz2",
        "xz",
        "zip",
        "tar",
        "tgz",
    ],
    "samples": [
        "txt",
        "mat",
        *samples_form.TABLES,
        *samples_form.ARCHIVES,
        *samples_form.PACKED,
    ],
}
FITS = {
    "ratings": (
        "A table with one row for each rating: user, item, value. Columns may have any name and"
        " order and are separated by commas, semicolons or tabs; other columns are ignored. Or a"
        " table with a row for each person and a column for each item, a spreadsheet, or a matrix."
    ),
    "samples": "Text with a document on each line, a table with a column of text, a zip of text"
    " files or images, or a MATLAB matrix.",
}


def main() -> None:
    question_controls.prepare()
    question_controls.write_to_address()
    st.title("Which data?", anchor=False)
    choice = st.container()
    st.header("Bring your own", anchor=False)
    st.write(
        "We read the file, check it and report what we found. Only you see it, in this session, and"
        " no result on it is stored. **Reloading the page deletes the file:** move between pages"
        " with the app's links."
    )
    left, right = st.columns([1, 3])
    kind: str = left.segmented_control(
        "It holds",
        KINDS,
        default="ratings",
        required=True,
        key="data.kind",
        format_func=KINDS.__getitem__,
    )
    file = right.file_uploader("File", type=ENDINGS[kind], key=f"data.file.{kind}")
    st.session_state[data_sets.UNREAD] = None
    if file is None:
        st.caption(FITS[kind])
    else:
        draw_form(kind, file)
        if not session_data.data_id_of(file.file_id):
            st.session_state[data_sets.UNREAD] = file.name
    with choice:
        draw_choice()
    uploaded_data.draw()
    st.caption(
        "The operator of this server can read what you upload; other visitors see neither the file"
        " nor its runs. Downloads contain no exact figures of private data."
    )
    draw_catalogue()


def draw_choice() -> None:
    """Draw the choice of a data set for all pages, and the way on."""
    titles = data_sets.usable()
    now = st.session_state[session_key("dataset")]
    # a new widget for each value: the server never sets one
    key = f"data.choice.{data_sets.name_in_keys(now)}"
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.selectbox(
        "Synthetic, published or your own ratings",
        titles,
        list(titles).index(now),
        key=key,
        format_func=titles.__getitem__,
        on_change=_choose,
        args=(key,),
    )
    with right:
        links.to("choose", "Next: the question")
    question_controls.draw_unread(
        data_sets.find(now), "Answer the questions below to use it instead."
    )


def _choose(key: str) -> None:
    data_sets.choose(data_sets.find(st.session_state[key]))


def draw_form(kind: str, file: Any) -> None:
    """Draw the form of a file, folded once it was read, and what is wrong with it."""
    is_read = bool(session_data.data_id_of(file.file_id))
    with st.expander("Read this file differently") if is_read else st.container():
        try:
            upload_quota.must_be_there(file)
            FORMS[kind](file)
        except BadInput as error:
            safe_text.error(error)


def draw_catalogue() -> None:
    st.header("The catalogue", anchor=False)
    _draw_table()
    st.caption(
        "For ratings that do not fit in memory, `dpmf datasets import NAME 'BIG.csv?bounds=1,5'"
        f" --partitioned` adds up to about {data_sets.LARGEST_IN_PARTS:,} ratings to this list."
    )
    missing = {
        entry.id: entry
        for entry in datasets.catalogue()
        if entry.kind == "download" and not datasets.present(entry.id)
    }
    if not missing:
        return
    if settings().downloads == "operator" and not visitor.asker().operator:
        st.caption(f"Only the operator of this server may download. {WHOSE}")
        return
    data_id = st.selectbox(
        "Download",
        missing,
        index=None,
        format_func=lambda name: f"{missing[name].title}, {missing[name].size_mb:g} MB",
        key="data.download",
    )
    if data_id:
        _offer(missing[data_id])


def _draw_table() -> None:
    entries: list[Any] = list(datasets.catalogue())
    entries += [
        entry for entry in data_sets.in_parts() if limits.allowed_here(entry.id)
    ]
    rows = [
        {
            "id": entry.id,
            "data": entry.title,
            "here": datasets.present(entry.id),
            "what": entry.words,
            "licence": entry.licence,
        }
        for entry in entries
    ]
    safe_text.table(
        rows,
        column_config={
            "id": st.column_config.TextColumn(width=120),
            "data": st.column_config.TextColumn(width=200),
            "here": st.column_config.CheckboxColumn(width=50),
            "what": st.column_config.TextColumn(width=400),
            "licence": st.column_config.TextColumn(width=330),
        },
        row_height=56,  # pixels of two lines
    )


def _offer(entry: datasets.DatasetFacts) -> None:
    """Draw a data set's licence; download the set once the licence is accepted."""
    st.write(f"{entry.licence} {entry.citation}")
    accepted = st.checkbox(
        "I have read the licence and accept it", key=f"data.licence.{entry.id}"
    )
    if not accepted:
        st.caption("Please accept the licence to download.")
    label = safe_text.button_label("Download", entry.title)
    if st.button(label, disabled=not accepted, key="data.fetch"):
        bar = st.progress(0.0, "Asking the publisher")

        def show_progress(bytes_read: int, total: int) -> None:
            bar.progress(
                min(bytes_read / max(total, 1), 1.0), f"{bytes_read / 1e6:.1f} MB"
            )

        with visitor.here():
            permissions.download(entry.id, show_progress)
        st.rerun()


main()
