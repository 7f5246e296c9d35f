"""Which server computes a run that several ask for: whoever holds its lease. The others wait, and
find it in the store.

A lease runs out unless it is renewed, so a run of a server that died is computed by another. Leases
only save work: where they cannot be kept, or a clock jumps, a run is computed twice and is the
same.

Stored runs have leases, those of a search among them. A measurement (an audit, a private selection)
has none: its outcome is in no store, so whoever waited for another server would find nothing and
compute it all the same. The trainings inside an audit are steps of one measurement, milliseconds
each, and not runs.
"""

import contextlib
import logging
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger("dpmf.leases")
FILE = "leases.sqlite"
LENGTH = 15.0  # seconds; a third of it passes between renewals
POLL = 0.5  # seconds between two looks at what others hold
TABLE = """CREATE TABLE IF NOT EXISTS leases (
    key TEXT PRIMARY KEY NOT NULL,
    holder TEXT NOT NULL,
    expires REAL NOT NULL  -- seconds since 1970
)"""


@dataclass(frozen=True)
class _Waiting:
    again: Callable[[], object]
    over: Callable[[], bool]


class Leases:
    """The leases of one engine on the runs of a store's folder. length: seconds until those of
    a dead holder run out.
    """

    def __init__(self, folder: Path, length: float = LENGTH) -> None:
        self._file, self._length, self._holder = folder / FILE, length, uuid.uuid4().hex
        self._lock = threading.RLock()
        self._change = threading.Condition(self._lock)
        self._held_keys: set[str] = set()
        self._waiting: dict[str, list[_Waiting]] = {}
        self._db: sqlite3.Connection | None = None
        self._thread: threading.Thread | None = None
        self._closed = self._warned = False

    # -- what an engine asks -----------------------------------------------------------------------

    def claim(self, key: str) -> bool:
        """Whether this engine is to compute the run: its lease is ours now, or leases cannot be
        kept.
        """
        take = (
            "INSERT INTO leases (key, holder, expires) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO"
            " UPDATE SET holder = ?2, expires = ?3 WHERE holder = ?2 OR NOT expires BETWEEN ?4"
            " AND ?5"
        )
        with self._lock:
            now, latest = self._valid()
            row = (key, self._holder, now + self._length, now, latest)
            try:
                is_ours = self._connection().execute(take, row).rowcount > 0
            except sqlite3.Error as error:
                return self._without(error)
            if is_ours:
                self._held_keys.add(key)
                self._wake()
            return is_ours

    def wait(self, key: str, again: Callable[[], object], over: Callable[[], bool]) -> None:
        """Call `again`, from a thread of its own, once nobody else holds the run's lease,
        unless `over()` says that nobody waits any more.
        """
        with self._lock:
            self._waiting.setdefault(key, []).append(_Waiting(again, over))
            self._wake()

    def release(self, key: str) -> None:
        """The run is in the store, or is not to be computed here.

        One that is not held is no error.
        """
        with self._lock:
            if key not in self._held_keys:
                return
            self._held_keys.discard(key)
            with contextlib.suppress(sqlite3.Error):  # it runs out by itself
                self._connection().execute(
                    "DELETE FROM leases WHERE key = ? AND holder = ?", (key, self._holder)
                )

    def close(self) -> None:
        """Give up all leases; nobody waits any more."""
        with self._lock:
            self._closed = True
            self._change.notify_all()
            if self._db is not None:
                with contextlib.suppress(sqlite3.Error):  # they run out by themselves
                    self._db.execute("DELETE FROM leases WHERE holder = ?", (self._holder,))
                self._db.close()
                self._db = None

    def _valid(self) -> tuple[float, float]:
        """Now, and the latest time at which a lease runs out that somebody holds; one beyond is of
        a clock that jumped. A second length of room, for the lease that another server takes while
        this one waits for the file.
        """
        now = time.time()
        return now, now + 2 * self._length

    # -- the file ----------------------------------------------------------------------------------

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            try:
                self._db = _connect(self._file)
            except sqlite3.OperationalError:  # locked, or the disk refuses
                raise
            except sqlite3.DatabaseError:  # damaged: what it held was worth a few seconds
                self._file.unlink(missing_ok=True)
                self._db = _connect(self._file)
        return self._db

    def _without(self, error: sqlite3.Error) -> bool:
        if not self._warned:
            log.warning(
                "%s cannot be kept (%s): several servers may compute the same run.",
                self._file,
                error,
            )
            self._warned = True
        return True

    # -- renewing and waiting ----------------------------------------------------------------------

    def _wake(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(
                target=self._keep_watch, name="dpmf-leases", daemon=True
            )
            self._thread.start()
        self._change.notify_all()

    def _keep_watch(self) -> None:
        last_renewal = time.monotonic()
        while True:
            with self._lock:
                while not self._held_keys and not self._waiting and not self._closed:
                    self._change.wait()
                if self._closed:
                    return
                if time.monotonic() - last_renewal >= self._length / 3:
                    self._renew()
                    last_renewal = time.monotonic()
                free = self._free()
            for waiting in free:
                waiting.again()
            with self._lock:
                if not self._closed:
                    self._change.wait(min(POLL, self._length / 3))

    def _renew(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # then another server may compute the same
            self._connection().execute(
                "UPDATE leases SET expires = ? WHERE holder = ?",
                (time.time() + self._length, self._holder),
            )

    def _free(self) -> list[_Waiting]:
        """Those who wait for a run that nobody else computes any more; they wait no longer here."""
        if not self._waiting:
            return []
        alive = "SELECT key FROM leases WHERE holder <> ? AND expires BETWEEN ? AND ?"
        other_keys: set[str] = set()
        with contextlib.suppress(sqlite3.Error):  # whoever asks again then computes
            rows = self._connection().execute(alive, (self._holder, *self._valid()))
            other_keys = {key for (key,) in rows}
        free: list[_Waiting] = []
        for key in list(self._waiting):
            if key not in other_keys:
                free += self._waiting.pop(key)
            else:
                self._waiting[key] = [one for one in self._waiting[key] if not one.over()]
                if not self._waiting[key]:
                    del self._waiting[key]
        return [one for one in free if not one.over()]


def _connect(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, timeout=5.0, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = OFF")  # a lease need not survive a power cut
        db.execute(TABLE)
    except sqlite3.Error:
        db.close()
        raise
    return db
