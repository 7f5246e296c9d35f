"""The sessions of this server: their background work, and what ends with them.

Streamlit keeps a session for two minutes after its connection is lost, then forgets it without
releasing its files. Here it is closed a little earlier, together with its files.
"""

import asyncio
import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa
import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SessionState

from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import accounts
from dpmf_core.runs import memory
from dpmf_datasets import session_files
from pages.server import visitor

# seconds without a connection after which a session loses
PAGE_WORK = 10.0  # work that a page began by itself
GONE = 115.0  # everything; Streamlit lets it come back for 120
LOOK = 1.0  # seconds between checks
LATER = 10.0  # seconds until Streamlit has released an ended session's last objects

# Arrow's own pool keeps memory of ended threads; the system's can be returned
pa.set_memory_pool(pa.system_memory_pool())


class Work(Protocol):
    """Background work: runs of a page, or a search."""

    @property
    def busy(self) -> bool: ...

    def advance(self) -> object:
        """Advance the work; called repeatedly while it is busy."""

    def cancel(self) -> None: ...


@dataclass
class Session:
    """One browser tab.

    own_data: its own data sets by id. work: by place, background work and whether a button began
    it.
    """

    id: str
    owner: str = ""
    label: str = ""
    page: str = ""
    began: float = field(default_factory=time.monotonic)
    left_at: float | None = None  # time of the lost connection
    own_data: dict[str, Any] = field(default_factory=dict)
    work: dict[str, tuple[Work, bool]] = field(default_factory=dict)
    state: SessionState | None = None  # Streamlit's state of it

    def away(self, now: float) -> float:
        """Return the seconds without a connection."""
        return 0.0 if self.left_at is None else now - self.left_at

    def end_work(self, now: float) -> list[Work]:
        """Remove work that has ended or is too late; return what must be cancelled."""
        ended = []
        for place, (work, by_button) in list(self.work.items()):
            late = self.away(now) >= (GONE if by_button else PAGE_WORK)
            if late or not work.busy:
                del self.work[place]
            if late and work.busy:
                ended.append(work)
        return ended


class Sessions:
    """The open sessions. Thread-safe.

    is_connected: whether a session's browser is connected. uploading: ids of sessions with uploaded
    files. clock: monotonic seconds.
    """

    def __init__(
        self,
        is_connected: Callable[[str], bool],
        uploading: Callable[[], Iterable[str]] = tuple,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_connected, self._uploading, self._clock = is_connected, uploading, clock
        self._lock = threading.RLock()
        self._open: dict[str, Session] = {}
        self._closed_ids: deque[str] = deque(maxlen=1_000)  # closed last

    def find(self, ident: str) -> Session | None:
        """Return a session, or None if it was closed."""
        with self._lock:
            if ident in self._closed_ids:
                return None
            return self._open.setdefault(ident, Session(ident, began=self._clock()))

    def own_data_of(self, ident: str) -> list[str]:
        """Return ids of a session's own data sets."""
        with self._lock:
            return list(self._open[ident].own_data) if ident in self._open else []

    def all(self) -> list[Session]:
        """Return all sessions, oldest first."""
        with self._lock:
            return list(self._open.values())

    def count_busy(self) -> int:
        """Return the number of sessions with unfinished work."""
        with self._lock:
            return sum(any(work.busy for work, _ in it.work.values()) for it in self._open.values())

    def hold(self, ident: str, place: str, work: Work, by_button: bool) -> None:
        """Register a session's work at a place of a page, replacing earlier work there."""
        with self._lock:
            session = self.find(ident)
            if session is not None and work.busy:
                session.work[place] = (work, by_button)
            elif session is not None:
                session.work.pop(place, None)

    def going(self, ident: str) -> dict[str, tuple[Work, bool]]:
        """Return a session's unfinished work by place, and whether a button began it."""
        with self._lock:
            works = dict(self._open[ident].work) if ident in self._open else {}
        return {place: entry for place, entry in works.items() if entry[0].busy}

    def let_go(self, ident: str, place: str) -> None:
        """Release a session's work; cancel it unless another session has it too."""
        with self._lock:
            entry = self._open[ident].work.pop(place, None) if ident in self._open else None
        if entry is not None:
            self._call_off(entry[0])

    def _call_off(self, work: Work) -> None:
        if work not in self._works():
            work.cancel()

    def _works(self) -> list[Work]:
        with self._lock:
            return [work for it in self._open.values() for work, _ in it.work.values()]

    def look(self) -> list[Session]:
        """Cancel work of disconnected sessions and advance the rest; return closed sessions."""
        now = self._clock()
        with self._lock:
            for ident in self._uploading():  # includes sessions that never drew a page
                self.find(ident)
            for session in self._open.values():
                connected = self._is_connected(session.id)
                began = now if session.left_at is None else session.left_at
                session.left_at = None if connected else began
            every = list(self._open.values())
            to_end = [work for it in every for work in it.end_work(now)]
            gone = [it for it in every if it.away(now) >= GONE]
            for session in gone:
                del self._open[session.id]
                self._closed_ids.append(session.id)
        for work in to_end:
            self._call_off(work)
        for work in self._works():
            work.advance()
        return gone


# ---- of this server ------------------------------------------------------------------------------


def uploaded_files() -> dict[str, dict[str, Any]]:
    """Return Streamlit's uploaded files by session and file."""
    if not Runtime.exists():
        return {}
    manager = Runtime.instance().uploaded_file_mgr
    files: dict[str, dict[str, Any]] = getattr(manager, "file_storage", {})
    return files


# Streamlit keeps disconnected sessions for a while
registry = Sessions(
    lambda ident: Runtime.exists() and Runtime.instance().is_active_session(ident),
    lambda: list(uploaded_files()),
)


def this() -> str:
    """Return the id of the session whose page is drawn."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def here() -> Session | None:
    """Return the session whose page is drawn; None if it has ended."""
    return registry.find(this())


def note(page: str) -> None:
    session = here()
    if session is None:
        return
    session.owner, session.label, session.page = visitor.asker().owner, visitor.label(), page
    streamlit_session = Runtime.instance().get_app_session(session.id) if Runtime.exists() else None
    session.state = None if streamlit_session is None else streamlit_session.session_state
    session.own_data = dict(st.session_state.get("data.own", {}))


async def watch() -> None:
    """Watch sessions forever on the server's event loop; slow work runs in threads."""
    while True:
        await asyncio.sleep(LOOK)
        try:
            await _say_goodbye(await asyncio.to_thread(registry.look))
        except Exception:
            logging.getLogger(__name__).exception("Disconnected sessions could not be closed")


async def _say_goodbye(gone: list[Session]) -> None:
    """Close sessions that have left, with their files and state."""
    runtime = Runtime.instance()
    for session in gone:
        runtime.close_session(session.id)
        if session.state is not None:
            # the runtime's loop may keep the last session that it served
            session.state.clear()
        runtime.uploaded_file_mgr.remove_session_files(session.id)
    if gone:
        await asyncio.to_thread(release, gone)
        loop = asyncio.get_running_loop()
        loop.call_later(LATER, loop.run_in_executor, None, give_memory_back)


def release(gone: list[Session]) -> None:
    """Remove files, opened data and accounts of ended sessions. Slow: not for the event loop."""
    entries = [entry for session in gone for entry in session.own_data.values()]
    for entry in entries:
        session_files.remove(entry)
        engine().forget(entry.id)
    if entries:
        accounts.sweep(session_files.origins)
    give_memory_back()


def give_memory_back() -> None:
    """Return unused memory to the system. Slow."""
    gc.unfreeze()  # else sessions open at the freeze would stay forever
    gc.collect()
    gc.freeze()
    memory.give_back()
