"""The session's own data sets and their reports, kept in the session's memory."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, cast

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import accounts
from dpmf_datasets import session_files
from dpmf_datasets.readers.bounded_tables import OwnTable
from dpmf_datasets.readers.report import Report
from pages.kit import data_sets, drawing
from pages.server import sessions, upload_quota

TABLE = "data.table"  # in the session: the last file's id, and its table or refusal
REPORTS = "data.reports"  # in the session: reports on its data sets, by id
READ = "data.read"  # in the session: ids of data sets, by their files' ids
ITEM_TABLES = "data.item_tables"  # in the session: reports on item tables, by data set


_readers = threading.BoundedSemaphore(2)  # each needs several times its file's size


def report_of(data_id: str) -> Report | None:
    """Return the report on a data set."""
    report: Report | None = st.session_state.get(REPORTS, {}).get(data_id)
    return report


def item_table_of(data_id: str) -> tuple[str, ...]:
    """Return the report on the item table of a data set, in sentences."""
    sentences: tuple[str, ...] = st.session_state.get(ITEM_TABLES, {}).get(data_id, ())
    return sentences


def data_id_of(file_id: str) -> str:
    """Return the id of the data set made from an uploaded file; "" for none."""
    data_id = str(st.session_state.get(READ, {}).get(file_id, ""))
    return data_id if data_id in st.session_state.get(data_sets.OWN, {}) else ""


def keep(upload: session_files.Upload, file_id: str) -> NoReturn:
    """Make a data set of this session from a file, replace an earlier one from it, and rerun.

    Raise BadInput if there is no room.
    """
    upload_quota.must_keep(upload.entry)
    before = st.session_state.get(data_sets.OWN, {}).get(data_id_of(file_id))
    if before is not None:
        _forget(before)
    data_sets.add_own(upload.entry)
    _put(REPORTS, upload.entry.id, upload.report)
    _put(READ, file_id, upload.entry.id)
    st.rerun()


def add_item_table(entry: Any, content: bytes, name: str) -> NoReturn:
    """Replace a data set by the same ratings with a public item table, and rerun.

    People and account stay the same. Raise BadInput without a change.
    """
    upload_quota.must_fit_here(len(content))
    with reading():
        new_entry, sentences = session_files.with_item_table(entry, content, name)
    upload_quota.exchange(entry, new_entry)
    engine().forget(entry.id)
    data_sets.remove_own(entry)
    data_sets.add_own(new_entry)
    _put(REPORTS, new_entry.id, report_of(entry.id))
    _put(REPORTS, entry.id, None)
    _put(ITEM_TABLES, new_entry.id, sentences)
    for file_id, data_id in st.session_state.get(READ, {}).items():
        if data_id == entry.id:
            _put(READ, file_id, new_entry.id)
    st.rerun()


@contextmanager
def reading() -> Iterator[None]:
    """Read a file, at most two at a time, while other pages are drawn."""
    with drawing.waiting(), _readers:
        yield


def table_of(file: Any) -> OwnTable:
    """Return the table in an uploaded file, which is read once; raise BadInput."""
    file_id, result = st.session_state.get(TABLE, ("", None))
    if file_id != file.file_id:
        try:
            with reading():
                result = session_files.table(file.getvalue(), file.name)
            upload_quota.count_table(len(result.parquet))
        except BadInput as refusal:
            result = refusal
        st.session_state[TABLE] = (file.file_id, result)
    if isinstance(result, BadInput):
        raise BadInput(str(result))
    return cast(OwnTable, result)


def _put(key: str, name: str, value: Any) -> None:
    """Set an entry of one of the session's tables; None removes it."""
    table = {**st.session_state.get(key, {}), name: value}
    st.session_state[key] = {name: it for name, it in table.items() if it is not None}


def remove(entry: Any) -> NoReturn:
    """Remove a file and its results, and with its last copy its account; rerun."""
    _forget(entry)
    sessions.give_memory_back()
    st.rerun()


def _forget(entry: Any) -> None:
    session_files.remove(entry)
    engine().forget(entry.id)
    data_sets.remove_own(entry)
    accounts.sweep(session_files.origins)
    _put(REPORTS, entry.id, None)
    _put(ITEM_TABLES, entry.id, None)
