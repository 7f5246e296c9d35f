"""The session's own data sets and their reports, kept in the session's memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import settings
from dpmf_core.data.report import Report
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import accounts
from dpmf_datasets import session_files
from dpmf_datasets.sandbox import SandboxLimits
from dpmf_datasets.upload_reading import Preview
from pages.kit.base import data_sets, drawing, safe_text
from pages.server import (
    reading_turns,
    sessions,
    streamlit_internals,
    upload_quota,
    visitor,
)

# in the session: previews or refusals of the last file, by facts
PREVIEWS = "data.previews"
RECORDS = "data.records"  # in the session: its uploads by the ids of their data sets
READING = "data.reading"  # the place of the session's reading among its background work
Result = TypeVar("Result")


@dataclass(frozen=True)
class UploadRecord:
    """A data set's uploaded file and reports.

    Attributes
    ----------
    item_table
        The report of the item table, in sentences.
    """

    file_id: str
    report: Report
    item_table: tuple[str, ...] = ()


def _records() -> dict[str, UploadRecord]:
    records: dict[str, UploadRecord] = st.session_state.setdefault(RECORDS, {})
    return records


def record_of(data_id: str) -> UploadRecord | None:
    return _records().get(data_id)


def data_id_of(file_id: str) -> str:
    """The id of the data set made from an uploaded file; "" for none."""
    for data_id, record in _records().items():
        if record.file_id == file_id:
            return data_id
    return ""


def keep(upload: session_files.Upload, file_id: str) -> NoReturn:
    """Make a data set of this session from a file, replace an earlier one from it, and rerun.

    Raise BadInput if there is no room.
    """
    upload_quota.must_keep(upload.entry)
    before = data_sets.own().get(data_id_of(file_id))
    if before is not None:
        _forget(before)
    data_sets.add_own(upload.entry)
    _records()[upload.entry.id] = UploadRecord(file_id, upload.report)
    st.rerun()


def add_item_table(entry: Any, content: bytes, name: str) -> NoReturn:
    """Replace a data set by the same ratings with a public item table, and rerun.

    People and account stay the same. If it raises BadInput, nothing has changed.
    """
    upload_quota.must_fit_here(len(content))
    new_entry, sentences = _in_turn(
        lambda watch: session_files.with_item_table(
            entry, content, name, limits=limits(), watch=watch
        )
    )
    upload_quota.exchange(entry, new_entry)
    engine().forget(entry.id)
    data_sets.remove_own(entry)
    data_sets.add_own(new_entry)
    record = _records().pop(entry.id, None)
    if record is not None:
        _records()[new_entry.id] = replace(record, item_table=sentences)
    st.rerun()


def limits() -> SandboxLimits:
    """The limits of reading one upload on this server."""
    now = settings()
    return SandboxLimits(
        memory=now.memory_per_upload << 20,
        seconds=now.seconds_per_upload,
        users=now.users_per_upload,
        items=now.items_per_upload,
        ratings=now.ratings_per_upload,
    )


# ---- reading -------------------------------------------------------------------------------------


def preview_of(file: Any, facts: Mapping[str, str]) -> Preview:
    """The beginning of the table in an uploaded file. Raises BadInput.

    It is read once for each declared layout.
    """
    file_id, previews = st.session_state.get(PREVIEWS, ("", {}))
    if file_id != file.file_id:
        previews = {}
    key = tuple(facts.items())
    if key not in previews:
        content = file.getvalue()
        try:
            previews[key] = _in_turn(
                lambda watch: session_files.look(
                    content, file.name, facts, limits=limits(), watch=watch
                )
            )
        except BadInput as refusal:
            previews[key] = refusal
        st.session_state[PREVIEWS] = (file.file_id, previews)
    preview: Preview | BadInput = previews[key]
    if isinstance(preview, BadInput):
        raise BadInput(str(preview))
    return preview


def read(file: Any, facts: Mapping[str, str]) -> session_files.Upload:
    """Read the whole of an uploaded file. Raises BadInput."""
    content = file.getvalue()
    owner = visitor.account_owner()
    return _in_turn(
        lambda watch: session_files.read(
            content,
            file.name,
            facts,
            owner=owner,
            limits=limits(),
            watch=watch,
        )
    )


def _in_turn(act: Callable[[Callable[[], None]], Result]) -> Result:
    """Read a file in this visitor's turn, while other pages are drawn, and say what it waits for.

    If the page is closed or a widget changes, the reading ends.
    """
    turn = reading_turns.turns.join(visitor.asker().owner)
    sessions.registry.hold(sessions.this(), READING, turn, by_button=False)
    place = st.empty()
    last_words = ""

    def watch(n_ahead: int) -> None:
        nonlocal last_words
        streamlit_internals.end_if_unwanted()
        words = _waiting_words(n_ahead)
        if words != last_words:
            place.info(words)
            last_words = words

    try:
        with drawing.waiting():
            result = turn.run(act, watch)
    except BadInput:
        place.empty()
        raise
    place.empty()
    return result


def _waiting_words(n_ahead: int) -> str:
    if not n_ahead:
        return "Reading the file"
    return f"Waiting for {safe_text.count_text(n_ahead, 'other file')}"


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
