"""The session's own data sets and their reports, kept in the session's memory."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.data.report import Report
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import accounts
from dpmf_datasets import session_files
from dpmf_datasets.readers.tables import OwnTable
from pages.kit import data_sets, drawing
from pages.server import sessions, upload_quota

TABLE = "data.table"  # in the session: the last file's id, and its table or refusal
RECORDS = "data.records"  # in the session: its uploads by the ids of their data sets

_readers = threading.BoundedSemaphore(2)  # each needs several times its file's size


@dataclass(frozen=True)
class UploadRecord:
    """A data set's uploaded file and reports. item_table: its report, in sentences."""

    file_id: str
    report: Report
    item_table: tuple[str, ...] = ()


def _records() -> dict[str, UploadRecord]:
    records: dict[str, UploadRecord] = st.session_state.setdefault(RECORDS, {})
    return records


def record_of(data_id: str) -> UploadRecord | None:
    return _records().get(data_id)


def data_id_of(file_id: str) -> str:
    """Return the id of the data set made from an uploaded file; "" for none."""
    return next((data_id for data_id, it in _records().items() if it.file_id == file_id), "")


def keep(upload: session_files.Upload, file_id: str) -> NoReturn:
    """Make a data set of this session from a file, replace an earlier one from it, and rerun.

    Raise BadInput if there is no room.
    """
    upload_quota.must_keep(upload.entry)
    before = st.session_state.get(data_sets.OWN, {}).get(data_id_of(file_id))
    if before is not None:
        _forget(before)
    data_sets.add_own(upload.entry)
    _records()[upload.entry.id] = UploadRecord(file_id, upload.report)
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
    if (before := _records().pop(entry.id, None)) is not None:
        _records()[new_entry.id] = replace(before, item_table=sentences)
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
    _records().pop(entry.id, None)
