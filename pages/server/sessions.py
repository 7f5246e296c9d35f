"""The sessions of this server: what goes on for each, and what ends when one has gone.

Streamlit keeps a session for two minutes after its connection is lost, then forgets it without
giving its files back. Here it is closed a little earlier, and what it brought goes with it.
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
PAGE_WORK = 10.0  # what a page began by itself
UPLOADS = 30.0  # files as they were sent; what was made of them stays
GONE = 115.0  # everything; Streamlit would let it come back for 120
LOOK = 1.0  # seconds between looks
LATER = 10.0  # seconds after which Streamlit has let go of an ended session's last objects

# Arrow's own pool keeps what threads that have ended allocated; this one's can be given back
pa.set_memory_pool(pa.system_memory_pool())


class Work(Protocol):
    """Something that goes on in the background: runs of a page, or a search."""

    @property
    def busy(self) -> bool: ...

    def advance(self) -> object:
        """Called again and again as long as it is busy."""

    def cancel(self) -> None: ...


@dataclass
class Session:
    """One browser tab. own_data: its own data sets, by id. work: by place what goes on, and whether
    a button began it.
    """

    id: str
    owner: str = ""
    label: str = ""
    page: str = ""
    began: float = field(default_factory=time.monotonic)
    left_at: float | None = None  # when its connection was lost
    own_data: dict[str, Any] = field(default_factory=dict)
    work: dict[str, tuple[Work, bool]] = field(default_factory=dict)
    state: SessionState | None = None  # all that Streamlit keeps for it

    def away(self, now: float) -> float:
        """Seconds without a connection."""
        return 0.0 if self.left_at is None else now - self.left_at

    def end_work(self, now: float) -> list[Work]:
        """Take from it what goes on no longer; what of that is to be cancelled."""
        ended = []
        for place, (work, by_button) in list(self.work.items()):
            late = self.away(now) >= (GONE if by_button else PAGE_WORK)
            if late or not work.busy:
                del self.work[place]
            if late and work.busy:
                ended.append(work)
        return ended


@dataclass(frozen=True)
class Departures:
    """Sessions that have been without a connection for so long that something of them goes."""

    uploads: list[Session]  # the files that they sent
    everything: list[Session]  # all


class Sessions:
    """Safe to call from any thread.

    is_connected: whether a session's browser is connected now. uploading: names of the sessions
    that have sent files. clock: seconds that only grow.
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
        self._closed_ids: deque[str] = deque(maxlen=1_000)  # the latest that were closed

    def find(self, ident: str) -> Session | None:
        """None where it was closed."""
        with self._lock:
            if ident in self._closed_ids:
                return None
            return self._open.setdefault(ident, Session(ident, began=self._clock()))

    def own_data_of(self, ident: str) -> list[str]:
        """Ids of a session's own data sets."""
        with self._lock:
            return list(self._open[ident].own_data) if ident in self._open else []

    def all(self) -> list[Session]:
        """Every session, the oldest first."""
        with self._lock:
            return list(self._open.values())

    def count_busy(self) -> int:
        """How many sessions have something going on."""
        with self._lock:
            return sum(any(work.busy for work, _ in it.work.values()) for it in self._open.values())

    def hold(self, ident: str, place: str, work: Work, by_button: bool) -> None:
        """A session has this going on at a place of a page, instead of what it had there."""
        with self._lock:
            session = self.find(ident)
            if session is not None and work.busy:
                session.work[place] = (work, by_button)
            elif session is not None:
                session.work.pop(place, None)

    def going(self, ident: str) -> dict[str, tuple[Work, bool]]:
        """What a session has going on, by place, and whether a button began it."""
        with self._lock:
            works = dict(self._open[ident].work) if ident in self._open else {}
        return {place: entry for place, entry in works.items() if entry[0].busy}

    def let_go(self, ident: str, place: str) -> None:
        """A session wants it no more; it is called off unless another one has it too."""
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

    def look(self) -> Departures:
        """Call off what sessions that are gone had going on, and move on the rest."""
        now = self._clock()
        with self._lock:
            uploading = set(self._uploading())
            for ident in uploading:  # also files of a session that never drew a page
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
            lacking = [it for it in every if it.id in uploading and UPLOADS <= it.away(now) < GONE]
        for work in to_end:
            self._call_off(work)
        for work in self._works():
            work.advance()
        return Departures(lacking, gone)


# ---- of this server ------------------------------------------------------------------------------


def uploaded_files() -> dict[str, dict[str, Any]]:
    """Streamlit's uploaded files, by session and file."""
    if not Runtime.exists():
        return {}
    manager = Runtime.instance().uploaded_file_mgr
    files: dict[str, dict[str, Any]] = getattr(manager, "file_storage", {})
    return files


def _has_browser(ident: str) -> bool:
    """A session whose browser has gone is kept by Streamlit for a while, but is not an active
    one.
    """
    return bool(Runtime.exists() and Runtime.instance().is_active_session(ident))


registry = Sessions(_has_browser, lambda: list(uploaded_files()))


def this() -> str:
    """The session that a page is drawn for."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def here() -> Session | None:
    """The session of the page that is being drawn; None where it has ended meanwhile."""
    return registry.find(this())


def note(page: str) -> None:
    """This session looks at a page."""
    session = here()
    if session is None:
        return
    session.owner, session.label, session.page = visitor.asker().owner, visitor.label(), page
    streamlit_session = Runtime.instance().get_app_session(session.id) if Runtime.exists() else None
    session.state = None if streamlit_session is None else streamlit_session.session_state
    session.own_data = dict(st.session_state.get("data.own", {}))


async def watch() -> None:
    """Look for ever, on the server's event loop; what takes a while is done in threads."""
    while True:
        await asyncio.sleep(LOOK)
        try:
            await _say_goodbye(await asyncio.to_thread(registry.look))
        except Exception:
            logging.getLogger(__name__).exception("Sessions that have gone could not be closed")


async def _say_goodbye(departures: Departures) -> None:
    """What sessions that have gone take with them."""
    runtime = Runtime.instance()
    for session in departures.everything:
        runtime.close_session(session.id)
        if session.state is not None:
            # the runtime's own loop may hold on to the last session that it served
            session.state.clear()
    for session in (*departures.uploads, *departures.everything):
        runtime.uploaded_file_mgr.remove_session_files(session.id)
    if departures.everything or departures.uploads:
        await asyncio.to_thread(release, departures.everything)
        loop = asyncio.get_running_loop()
        loop.call_later(LATER, loop.run_in_executor, None, give_memory_back)


def release(gone: list[Session]) -> None:
    """The files of ended sessions, what was opened from them here and in the workers, and their
    accounts. Takes a while: not for the event loop.
    """
    entries = [entry for session in gone for entry in session.own_data.values()]
    for entry in entries:
        session_files.remove(entry)
        engine().forget(entry.id)
    if entries:
        accounts.sweep(session_files.origins)
    give_memory_back()


def give_memory_back() -> None:
    """Memory that nothing uses any more, as far as the libraries can; takes a while."""
    gc.unfreeze()  # else a session that was open when everything was frozen would stay for ever
    gc.collect()
    gc.freeze()
    memory.give_back()
