"""The sessions of this server: who they are, what goes on for them, and what happens when one
has gone.

Streamlit keeps a session for two minutes after its connection is lost, then forgets it without
giving its files back. Here it is closed a little earlier, and what it brought goes with it.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SessionState

from dpmf_core.administration.overview import Visit
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import accounts
from dpmf_datasets import session_files
from pages.server import memory, visitor
from pages.server.background_work import Work

# Seconds without a connection after which a session loses
PAGE_WORK = 10.0  # what a page began by itself
UPLOADS = 30.0  # files as they were sent; what was made of them stays
GONE = 115.0  # everything; Streamlit would let it come back for 120
LOOK = 1.0  # seconds between looks
LATER = 10.0  # seconds after which Streamlit has let go of an ended session's last objects


@dataclass
class Session:
    """One browser tab. own_data: its own data sets, by id. work: by page what goes on, and whether
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

    def visits(self) -> list[Visit]:
        """Every session, the oldest first."""
        now = self._clock()
        with self._lock:
            sessions = list(self._open.values())
        return [
            Visit(
                it.owner,
                it.label,
                it.page,
                now - it.began,
                None if it.left_at is None else it.away(now),
                len(it.own_data),
            )
            for it in sessions
        ]

    # -- what goes on ------------------------------------------------------------------------------

    def hold(self, ident: str, page: str, work: Work, by_button: bool) -> None:
        """A session has this going on at a page now, in place of what it had there.

        by_button: whether a button began it.
        """
        with self._lock:
            session = self.find(ident)
            if session is not None and work.busy:
                session.work[page] = (work, by_button)
            elif session is not None:
                session.work.pop(page, None)

    def going(self, ident: str) -> dict[str, tuple[Work, bool]]:
        """What a session has going on, by page, and whether a button began it."""
        with self._lock:
            by_page = dict(self._open[ident].work) if ident in self._open else {}
        return {page: (work, by_button) for page, (work, by_button) in by_page.items() if work.busy}

    def let_go(self, ident: str, page: str) -> None:
        """A session wants it no more; it is called off unless another one has it too."""
        with self._lock:
            entry = self._open[ident].work.pop(page, None) if ident in self._open else None
        if entry is not None:
            self._call_off(entry[0])

    def _call_off(self, work: Work) -> None:
        with self._lock:
            works = [it for other in self._open.values() for it, _ in other.work.values()]
        if work not in works:
            work.cancel()

    # -- who has gone ------------------------------------------------------------------------------

    def look(self) -> Departures:
        """Call off what sessions that are gone had going on, and move on the rest."""
        now = self._clock()
        with self._lock:
            uploading = set(self._uploading())
            for ident in uploading:  # also files of a session that never drew a page
                self.find(ident)
            for session in self._open.values():
                self._note_connection(session, now)
            gone = [it for it in self._open.values() if it.away(now) >= GONE]
            to_end = [work for it in self._open.values() for work in _work_to_end(it, now)]
            for session in gone:
                del self._open[session.id]
                self._closed_ids.append(session.id)
            going = [work for it in self._open.values() for work, _ in it.work.values()]
            files = [
                it for it in self._open.values() if it.id in uploading and it.away(now) >= UPLOADS
            ]
        for work in to_end:
            self._call_off(work)
        for work in going:
            work.advance()
        return Departures(files, gone)

    def _note_connection(self, session: Session, now: float) -> None:
        if self._is_connected(session.id):
            session.left_at = None
        elif session.left_at is None:
            session.left_at = now


def _work_to_end(session: Session, now: float) -> list[Work]:
    """What a session has going on no longer; it is taken from it."""
    works = []
    for page, (work, by_button) in list(session.work.items()):
        if not work.busy:
            del session.work[page]
        elif session.away(now) >= (GONE if by_button else PAGE_WORK):
            del session.work[page]
            works.append(work)
    return works


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
    session.state = _state(session.id)
    session.own_data = dict(st.session_state.get("data.own", {}))


def _state(ident: str) -> SessionState | None:
    session = Runtime.instance().get_app_session(ident) if Runtime.exists() else None
    return None if session is None else session.session_state


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
        loop.call_later(LATER, loop.run_in_executor, None, memory.give_back)


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
    memory.give_back()
