"""Is my file fit? Bring ratings, documents or images; what was read, what was not understood, and
where to go on with it; real sets from the catalogue.
"""

from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from pages.choose import controls
from pages.data import catalogue, ratings_form, samples_form, session_data, uploaded_data
from pages.kit import safe_text
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
        "A table with a row for each rating: who, what, how much. Columns may have any names and"
        " any order, with commas, semicolons or tabs between; further columns are left alone."
    ),
    "samples": "Text with a document on each line, a table with a column of text, a zip of text"
    " files or images, or a MATLAB matrix.",
}


def main() -> None:
    controls.prepare()
    controls.write_to_address()
    st.title("Bring your own data", anchor=False)
    st.write(
        "A file is read, checked and reported. Only you see it, for as long as this session"
        " lasts, and what is computed on it is not kept. **A reload forgets the file:** move by"
        " the app's own links, or bring it again."
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
        "Whoever runs this server can read what you upload. Other people who use it see neither the"
        " file nor its runs. Downloads hold no raw figure of private data. 'Remove' deletes the"
        " file."
    )
    catalogue.draw()


def upload_succeeded(file: Any) -> bool:
    """Whether the file is there; where there was no room for it, why, above what can be removed."""
    try:
        upload_quota.must_be_there(file)
    except BadInput as error:
        safe_text.error(error, "")
        return False
    return True


def read(kind: str, file: Any) -> None:
    """The questions about a file, folded once they are answered; what is wrong with the answers,
    beneath them.
    """
    is_read = bool(session_data.data_id_of(file.file_id))
    with st.expander("Read this file in another way") if is_read else st.container():
        try:
            FORMS[kind](file)
        except BadInput as error:
            safe_text.error(error, "")


try:
    main()
except BadInput as error:
    safe_text.error(error)
