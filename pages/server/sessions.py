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

from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import accounts
from dpmf_core.runs import memory
from dpmf_datasets import session_files
from pages.server import streamlit_internals, visitor

# seconds without a connection after which a session loses
PAGE_WORK = 10.0  # work that a page began by itself
GONE = 115.0  # everything; Streamlit lets it come back for 120
LOOK = 1.0  # seconds between checks
LATER = 10.0  # seconds until Streamlit has released an ended session's last objects

# Arrow's own pool keeps memory of ended threads; the system's can be returned
pa.set_memory_pool(pa.system_memory_pool())


class BackgroundWork(Protocol):
    """Background work: runs of a page, or a search."""

    @property
    def busy(self) -> bool: ...

    def advance(self) -> object:
        """Advance the work; called repeatedly while it is busy."""

    def cancel(self) -> None: ...


@dataclass
class Session:
    """One browser tab.

    Attributes
    ----------
    own_data
        Its own data sets by id.
    work
        Background work by place, and whether a button began it.
    """

    id: str
    owner: str = ""
    label: str = ""
    page: str = ""
    began: float = field(default_factory=time.monotonic)
    left_at: float | None = None  # time of the lost connection
    own_data: dict[str, Any] = field(default_factory=dict)
    work: dict[str, tuple[BackgroundWork, bool]] = field(default_factory=dict)
    state: streamlit_internals.SessionState | None = None  # Streamlit's state of it

    def away(self, now: float) -> float:
        """The seconds without a connection."""
        if self.left_at is None:
            return 0.0
        return now - self.left_at

    def end_work(self, now: float) -> list[BackgroundWork]:
        """Remove work that has ended or is too late; return what must be cancelled."""
        ended = []
        for place, (work, by_button) in list(self.work.items()):
            patience = GONE if by_button else PAGE_WORK
            late = self.away(now) >= patience
            if late or not work.busy:
                del self.work[place]
            if late and work.busy:
                ended.append(work)
        return ended


class Sessions:
    """The open sessions. Thread-safe.

    Parameters
    ----------
    is_connected
        Whether a session's browser is connected.
    uploading
        The ids of sessions with uploaded files.
    clock
        Monotonic seconds.
    """

    def __init__(
        self,
        is_connected: Callable[[str], bool],
        uploading: Callable[[], Iterable[str]] = tuple,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_connected = is_connected
        self._uploading = uploading
        self._clock = clock
        self._lock = threading.RLock()
        self._open: dict[str, Session] = {}
        self._closed_ids: deque[str] = deque(maxlen=1_000)  # closed last

    def find(self, ident: str) -> Session | None:
        """A session, or None if it was closed."""
        with self._lock:
            if ident in self._closed_ids:
                return None
            return self._open.setdefault(ident, Session(ident, began=self._clock()))

    def own_data_of(self, ident: str) -> list[str]:
        """Ids of a session's own data sets."""
        with self._lock:
            if ident not in self._open:
                return []
            return list(self._open[ident].own_data)

    def all(self) -> list[Session]:
        """All sessions, oldest first."""
        with self._lock:
            return list(self._open.values())

    def count_busy(self) -> int:
        """The number of sessions with unfinished work."""
        count = 0
        with self._lock:
            for session in self._open.values():
                if any(work.busy for work, _ in session.work.values()):
                    count += 1
        return count

    def hold(
        self, ident: str, place: str, work: BackgroundWork, by_button: bool
    ) -> None:
        """Register a session's work at a place of a page, replacing earlier work there."""
        with self._lock:
            session = self.find(ident)
            if session is not None and work.busy:
                session.work[place] = (work, by_button)
            elif session is not None:
                session.work.pop(place, None)

    def going(self, ident: str) -> dict[str, tuple[BackgroundWork, bool]]:
        """A session's unfinished work by place, and whether a button began it."""
        with self._lock:
            if ident not in self._open:
                return {}
            works = dict(self._open[ident].work)
        return {
            place: (work, began) for place, (work, began) in works.items() if work.busy
        }

    def let_go(self, ident: str, place: str) -> None:
        """Release a session's work; cancel it unless another session has it too."""
        with self._lock:
            if ident not in self._open or place not in self._open[ident].work:
                return
            work, _ = self._open[ident].work.pop(place)
        self._call_off(work)

    def _call_off(self, work: BackgroundWork) -> None:
        if work not in self._works():
            work.cancel()

    def _works(self) -> list[BackgroundWork]:
        with self._lock:
            return [
                work
                for session in self._open.values()
                for work, _ in session.work.values()
            ]

    def look(self) -> list[Session]:
        """Cancel work of disconnected sessions and advance the rest; return closed sessions."""
        now = self._clock()
        with self._lock:
            for ident in self._uploading():  # includes sessions that never drew a page
                self.find(ident)
            to_end = []
            gone = []
            for session in list(self._open.values()):
                if self._is_connected(session.id):
                    session.left_at = None
                elif session.left_at is None:
                    session.left_at = now
                to_end += session.end_work(now)
                if session.away(now) >= GONE:
                    gone.append(session)
                    del self._open[session.id]
                    self._closed_ids.append(session.id)
        for work in to_end:
            self._call_off(work)
        for work in self._works():
            work.advance()
        return gone


# ---- of this server ------------------------------------------------------------------------------


# Streamlit keeps disconnected sessions for a while
registry = Sessions(
    streamlit_internals.is_connected, lambda: list(streamlit_internals.uploaded_files())
)


def this() -> str:
    """The id of the session whose page is drawn."""
    return streamlit_internals.session_id()


def here() -> Session | None:
    """The session whose page is drawn; None if it has ended."""
    return registry.find(this())


def note(page: str) -> None:
    session = here()
    if session is None:
        return
    session.owner = visitor.asker().owner
    session.label = visitor.label()
    session.page = page
    session.state = streamlit_internals.state_of(session.id)
    session.own_data = dict(st.session_state.get("data.own", {}))


async def watch() -> None:
    """Watch sessions forever on the server's event loop; slow work runs in threads."""
    while True:
        await asyncio.sleep(LOOK)
        try:
            await _say_goodbye(await asyncio.to_thread(registry.look))
        except Exception:
            logging.getLogger(__name__).exception(
                "Disconnected sessions could not be closed"
            )


async def _say_goodbye(gone: list[Session]) -> None:
    """Close sessions that have left, with their files and state."""
    for session in gone:
        streamlit_internals.close(session.id)
        if session.state is not None:
            # the runtime's loop may keep the last session that it served
            session.state.clear()
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
    """Unused memory to the system. Slow."""
    gc.unfreeze()  # else sessions open at the freeze would stay forever
    gc.collect()
    gc.freeze()
    memory.give_back()
