"""The sessions of this server: who they are, and what happens when one has ended.

Streamlit keeps a session for two minutes after its connection is lost, then forgets it without
giving its files back. Here it is closed a little earlier, and what it brought goes with it.
"""

import gc
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SessionState

from datasets import own
from dpmf_core import accounts
from dpmf_core.engine import engine
from dpmf_core.overview import Visit
from pages.kit import visitor

GONE = 110.0  # seconds without a connection after which a session is closed; Streamlit would let it come back for 120


@dataclass
class Session:
    """One browser tab. brought: its own data sets, by id."""

    id: str
    owner: str = ""
    label: str = ""
    page: str = ""
    began: float = field(default_factory=time.monotonic)
    left: float | None = None  # when its connection was lost
    brought: dict[str, Any] = field(default_factory=dict)
    state: SessionState | None = None  # all that Streamlit keeps for it


pa.set_memory_pool(pa.system_memory_pool())  # Arrow's own keeps what threads that have ended allocated; what this one frees can be given back

_sessions: dict[str, Session] = {}
_closed: deque[str] = deque(maxlen=1_000)  # the latest that were closed
_lock = threading.Lock()


def _this() -> str:
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def ended() -> bool:
    """Whether the session of the page that is still being drawn has been closed."""
    return _this() in _closed


def here() -> Session | None:
    """The session of the page that is being drawn; None where it has ended meanwhile."""
    with _lock:
        return None if ended() else _sessions.setdefault(_this(), Session(_this()))


def note(page: str) -> None:
    """This session looks at a page."""
    with _lock:
        session = _sessions.setdefault(_this(), Session(_this()))
    session.owner, session.label, session.page = visitor.asker().owner, visitor.label(), page
    session.state = _state(session.id)
    session.brought = dict(st.session_state.get("data.own", {}))


def _state(ident: str) -> SessionState | None:
    found = Runtime.instance().get_app_session(ident) if Runtime.exists() else None
    return None if found is None else found.session_state


def visits() -> list[Visit]:
    """Every session, the oldest first."""
    now = time.monotonic()
    with _lock:
        known = list(_sessions.values())
    return [Visit(it.owner, it.label, it.page, now - it.began, None if it.left is None else now - it.left, len(it.brought)) for it in known]


def uploaded_by(ident: str) -> int:
    """Bytes that a session's files take: those uploaded, and those kept of them."""
    return _in_memory(ident) + own.size(list(_sessions[ident].brought) if ident in _sessions else [])


def uploaded_in_all() -> int:
    """Bytes that the files of all sessions take."""
    return sum(_in_memory(ident) for ident in _with_files()) + own.size()


def _files() -> dict[str, dict[str, Any]]:
    """Streamlit's uploaded files, by session and file."""
    if not Runtime.exists():
        return {}
    found: dict[str, dict[str, Any]] = getattr(Runtime.instance().uploaded_file_mgr, "file_storage", {})
    return found


def _with_files() -> list[str]:
    return list(_files())


def _in_memory(ident: str) -> int:
    return sum(len(file.data) for file in list(_files().get(ident, {}).values()))


# ---- the end of a session ---------------------------------------------------------------------------------------------


def lost() -> None:
    """Note which sessions have no connection any more, and which have one again. Call it where a connection has ended."""
    runtime, now = Runtime.instance(), time.monotonic()
    with _lock:
        for ident in [ident for ident in _with_files() if ident not in _sessions]:  # files of a session that never drew a page
            _sessions[ident] = Session(ident)
        for session in _sessions.values():
            active = runtime.is_active_session(session.id)
            session.left = None if active else now if session.left is None else session.left


def close_gone() -> list[Session]:
    """Close the sessions that have had no connection for `GONE` seconds; what they brought is for `release`. Call it on the server's event loop."""
    runtime, now = Runtime.instance(), time.monotonic()
    lost()
    with _lock:
        gone = [it for it in _sessions.values() if it.left is not None and now - it.left >= GONE]
        for session in gone:
            del _sessions[session.id]
            _closed.append(session.id)
    for session in gone:
        runtime.close_session(session.id)
        if session.state is not None:
            session.state.clear()  # the runtime's own loop may hold on to the last session that it served
        runtime.uploaded_file_mgr.remove_session_files(session.id)
    return gone


def release(gone: list[Session]) -> None:
    """The files of ended sessions, what was opened from them here and in the workers, and their accounts. Takes a while: not for the event loop."""
    brought = [entry for session in gone for entry in session.brought.values()]
    for entry in brought:
        own.remove(entry)
        engine().forget(entry.id)
    if brought:
        accounts.sweep(own.origins())
    if gone:
        give_back()


def give_back() -> None:
    """Memory that nothing uses any more goes back to the system, as far as the libraries can."""
    gc.unfreeze()  # else a session that was open when the shell froze everything would stay for ever
    gc.collect()
    gc.freeze()
    _trim()


def _trim() -> None:
    """The C library keeps freed memory for itself unless it is asked."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library
    if trim is not None:
        trim(0)
