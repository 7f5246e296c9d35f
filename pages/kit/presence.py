"""Who is still there: work that nobody waits for any more is called off, whether or not a page is ever drawn again."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

UNASKED, ASKED = 10.0, 120.0  # seconds after which a session that is gone lets go of what a page began by itself, and of what a button began
LOOK = 1.0  # seconds between looks


class Work(Protocol):
    """Something that goes on in the background: runs of a page, or a search."""

    @property
    def busy(self) -> bool: ...

    def advance(self) -> object:
        """Called again and again as long as it is busy."""

    def cancel(self) -> None: ...


class Going(Protocol):
    @property
    def state(self) -> str: ...

    def cancel(self) -> None: ...


class Runs:
    """Runs of a page, as one piece of work. called_off: whether they were cancelled for want of anybody who looks."""

    def __init__(self, jobs: Sequence[Going]) -> None:
        self.jobs, self.called_off = jobs, False

    @property
    def open(self) -> int:
        return sum(job.state in ("waiting", "running") for job in self.jobs)

    @property
    def busy(self) -> bool:
        return self.open > 0

    def advance(self) -> None:
        """Runs go on by themselves."""

    def cancel(self) -> None:
        self.called_off = True
        for job in self.jobs:
            if job.state in ("waiting", "running"):
                job.cancel()


@dataclass
class _Session:
    seen: float
    held: dict[str, tuple[Work, bool]] = field(default_factory=dict)  # by page: what goes on, and whether a button began it


class Presence:
    """connected: whether a session's browser is connected now. clock: seconds that only grow. Safe to call from any thread."""

    def __init__(self, connected: Callable[[str], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._connected, self._clock, self._lock = connected, clock, threading.RLock()
        self._sessions: dict[str, _Session] = {}

    def hold(self, session: str, page: str, work: Work, asked: bool) -> None:
        """A session has this going on at a page now, in place of what it had there. asked: whether a button began it."""
        with self._lock:
            if work.busy:
                self._sessions.setdefault(session, _Session(self._clock())).held[page] = (work, asked)
            elif session in self._sessions:
                self._sessions[session].held.pop(page, None)

    def going(self, session: str) -> dict[str, tuple[Work, bool]]:
        """What a session has going on, by page."""
        with self._lock:
            found = self._sessions.get(session)
            return {} if found is None else {page: (work, asked) for page, (work, asked) in found.held.items() if work.busy}

    def let_go(self, session: str, page: str) -> None:
        """A session wants it no more; it is called off unless another one has it too."""
        with self._lock:
            found = self._sessions.get(session)
            work, _ = found.held.pop(page, (None, False)) if found is not None else (None, False)
            shared = any(it == work for other in self._sessions.values() for it, _ in other.held.values())
        if work is not None and not shared:
            work.cancel()

    def look(self) -> None:
        """Call off what sessions that are gone had going on, and move on the rest."""
        now, gone, going = self._clock(), [], []
        with self._lock:
            for name, session in list(self._sessions.items()):
                if self._connected(name):
                    session.seen = now
                for page, (work, asked) in list(session.held.items()):
                    if not work.busy:
                        del session.held[page]
                    elif now - session.seen >= (ASKED if asked else UNASKED):
                        gone.append((name, page))
                    else:
                        going.append(work)
                if not session.held:
                    del self._sessions[name]
        for name, page in gone:
            self.let_go(name, page)
        for work in going:
            work.advance()

    def watch(self) -> None:
        """Look for ever."""
        while True:
            time.sleep(LOOK)
            self.look()


def session() -> str:
    """The session that a page is drawn for."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def _connected(name: str) -> bool:
    """A session whose browser has gone is kept by Streamlit for a while, but is not an active one."""
    return bool(runtime.exists() and runtime.get_instance().is_active_session(name))


@st.cache_resource
def presence() -> Presence:
    """Of this server."""
    made = Presence(_connected)
    threading.Thread(target=made.watch, name="dpmf-presence", daemon=True).start()
    return made
