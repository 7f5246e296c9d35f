"""What a session has brought, and what was found in it: in its memory alone."""

from typing import Any

import streamlit as st

from dpmf_core.engine.executor import engine
from dpmf_core.privacy import accounts
from dpmf_datasets import session_files
from dpmf_datasets.readers.report import Report
from pages.kit import data_sets
from pages.server import memory, upload_quota

REPORTS = "data.reports"  # in the session: what was found in its data sets, by id
READ = "data.read"  # in the session: the data set that was made of a file, by the file's id
ITEM_TABLES = "data.item_tables"  # in the session: what was found in item tables, by data set


def held() -> list[Any]:
    """The data sets of this session, in the order in which they came."""
    return list(st.session_state.get(data_sets.OWN, {}).values())


def report_of(data_id: str) -> Report | None:
    """What was found in a file."""
    found: Report | None = st.session_state.get(REPORTS, {}).get(data_id)
    return found


def item_table_of(data_id: str) -> tuple[str, ...]:
    """What was found in the item table of a data set, in sentences."""
    found: tuple[str, ...] = st.session_state.get(ITEM_TABLES, {}).get(data_id, ())
    return found


def made_of(file_id: str) -> str:
    """The id of the data set that was made of an uploaded file; "" where none is."""
    made = str(st.session_state.get(READ, {}).get(file_id, ""))
    return made if made in st.session_state.get(data_sets.OWN, {}) else ""


def keep(found: session_files.Brought, file_id: str) -> None:
    """A file that was read is a data set of this session, in place of what was made of the same
    file before. Raises BadInput where there is no room.
    """
    upload_quota.must_keep(found.entry)
    before = st.session_state.get(data_sets.OWN, {}).get(made_of(file_id))
    if before is not None:
        _forget(before)
    data_sets.add_own(found.entry)
    _put(REPORTS, found.entry.id, found.report)
    _put(READ, file_id, found.entry.id)
    st.rerun()


def add_item_table(entry: Any, content: bytes, name: str) -> None:
    """The ratings of an entry, with a public table of their items: the same people, and the same
    account. Raises BadInput, and leaves the entry as it is.
    """
    upload_quota.must_fit_here(len(content))
    made, sentences = session_files.with_item_table(entry, content, name)
    upload_quota.exchange(entry, made)
    engine().forget(entry.id)
    data_sets.remove_own(entry)
    data_sets.add_own(made)
    _put(REPORTS, made.id, report_of(entry.id))
    _put(REPORTS, entry.id, None)
    _put(ITEM_TABLES, made.id, sentences)
    for file_id, data_id in st.session_state.get(READ, {}).items():
        if data_id == entry.id:
            _put(READ, file_id, made.id)
    st.rerun()


def _put(key: str, name: str, value: Any) -> None:
    """Under a name of one of the session's tables; nothing stays of None."""
    table = {**st.session_state.get(key, {}), name: value}
    st.session_state[key] = {name: it for name, it in table.items() if it is not None}


def remove(entry: Any) -> None:
    """A file goes, with what was computed on it and, with the last copy of it, its account."""
    _forget(entry)
    memory.give_back()
    st.rerun()


def _forget(entry: Any) -> None:
    session_files.remove(entry)
    engine().forget(entry.id)
    accounts.sweep(session_files.origins())
    data_sets.remove_own(entry)
    _put(REPORTS, entry.id, None)
