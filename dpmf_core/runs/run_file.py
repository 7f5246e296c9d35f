"""One SQLite file of finished runs: its layout, how it is opened, and what is read from it.

A row holds everything of its run: the record, the model's arrays as npz, and people's notes. A
digest covers what was computed, so changed bytes are found and never served.
"""

import functools
import hashlib
import io
import json
import sqlite3
import threading
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import ValidationError

from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput
from dpmf_core.runs.record import Run, RunRecord, Summary, summarise

SCHEMA = 4  # 1 to 3 were folders of files with an index, which are no longer read
TABLE = """CREATE TABLE runs (
    key TEXT PRIMARY KEY NOT NULL,
    created TEXT NOT NULL,    -- when the run was kept: ISO 8601, UTC
    note TEXT NOT NULL,
    tags TEXT NOT NULL,       -- comma-separated
    owner TEXT NOT NULL,      -- '' if unnamed
    pinned INTEGER NOT NULL,  -- 1: never removed to make room
    digest TEXT NOT NULL,     -- SHA-256 of all that follows, with the key
    summary TEXT NOT NULL,    -- JSON: what a list of runs shows
    record TEXT NOT NULL,     -- JSON
    views TEXT NOT NULL,      -- JSON: what pages show of a model that is not kept; else ''
    model BLOB NOT NULL       -- npz
)"""
COLUMNS = (
    "key, created, note, tags, owner, pinned, digest, summary, record, views, model"
)
PATIENCE = 60.0  # seconds to wait for another process that writes


class DamagedRun(BadInput):
    """A stored run differs from what was written; holds the reason."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(
            f"The stored run {key} cannot be used: {reason}. Delete it and run it again."
        )
        self.reason = reason


@dataclass(frozen=True)
class Label:
    """Notes about a run by people and by the store, in the columns of these names."""

    created: str
    note: str = ""
    tags: str = ""
    owner: str = ""
    pinned: bool = False


class RunFile:
    """Finished runs in an open SQLite file. Safe to use from several threads."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._lock = threading.RLock()

    @classmethod
    def read_only(cls, path: Path) -> Self:
        """Open a file that no process changes."""
        return cls(path, _connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1"))

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def get(self, key: str) -> Run | None:
        """Read a run, its record marked as cached; None if there is none.

        Raises DamagedRun when its bytes have changed.
        """
        row = self._row(key)
        if row is None:
            return None
        return Run(_record(key, row[1]), _Arrays(key, row[3]))

    def views(self, key: str) -> dict[str, Any]:
        """The views of a model that is not stored, by name."""
        row = self._row(key)
        views: dict[str, Any] = {}
        if row and row[2]:
            views = json.loads(row[2])
        return views

    def _row(self, key: str) -> tuple[str, str, str, bytes] | None:
        """Summary, record, views and model, checked against the digest."""
        try:
            rows = self._all(
                "SELECT digest, summary, record, views, model FROM runs WHERE key = ?",
                key,
            )
        except BadInput as error:
            raise DamagedRun(key, str(error.__cause__)) from error
        if not rows:
            return None
        digest, *parts = rows[0]
        if digest != _digest(key, *parts):
            raise DamagedRun(key, "its bytes were changed after it was written")
        return parts[0], parts[1], parts[2], parts[3]

    def has(self, key: str) -> bool:
        return bool(self._all("SELECT 1 FROM runs WHERE key = ?", key))

    def count(self) -> int:
        """Count all runs, including unreadable ones."""
        return int(self._all("SELECT COUNT(*) FROM runs")[0][0])

    def run_keys(self) -> list[str]:
        """List the keys of all runs, oldest first, including unreadable ones."""
        return [
            key for (key,) in self._all("SELECT key FROM runs ORDER BY created, rowid")
        ]

    def rows(self) -> list[dict[str, Any]]:
        """List all runs, newest first: summary, time, note, tags, owner, pin.

        Runs with an unreadable summary are left out; `check` names them.
        """
        rows = self._all(
            "SELECT key, summary, created, pinned, note, tags, owner FROM runs"
            " ORDER BY created DESC, rowid DESC"
        )
        notes = ("note", "tags", "owner")
        return [
            {**summary, "created": created, "pinned": bool(pinned)}
            | dict(zip(notes, values, strict=True))
            for key, text, created, pinned, *values in rows
            if (summary := _summary(key, text)) is not None
        ]

    def summaries(self, keys: Iterable[str]) -> dict[str, Summary]:
        """The readable summaries of these runs, by key."""
        query = "SELECT key, summary FROM runs WHERE key IN (SELECT value FROM json_each(?))"
        by_key = {
            key: _summary(key, text)
            for key, text in self._all(query, json.dumps([*keys]))
        }
        return {key: summary for key, summary in by_key.items() if summary is not None}

    def epsilons(self, dataset: str, algorithm: str) -> list[float]:
        """The nominal epsilons, ascending, of the runs of an algorithm on a data set."""
        query = (
            "SELECT DISTINCT json_extract(summary, '$.nominal_epsilon') FROM runs WHERE"
            " json_valid(summary) AND json_extract(summary, '$.dataset') = ? AND"
            " json_extract(summary, '$.algorithm') = ?"
        )
        epsilons = (epsilon for (epsilon,) in self._all(query, dataset, algorithm))
        return sorted(float(epsilon) for epsilon in epsilons if epsilon is not None)

    def specifications(self) -> list[tuple[str, str, int]]:
        """Key, specification as JSON, and version of the algorithm of every run."""
        fields = "json_extract(record, '$.spec'), json_extract(record, '$.version')"
        return self._all(f"SELECT key, {fields} FROM runs")

    def owner(self, key: str) -> str:
        """The owner of a run; '' if unnamed. Raises BadInput when there is no such run."""
        rows = self._all("SELECT owner FROM runs WHERE key = ?", key)
        if not rows:
            raise unknown(key)
        return str(rows[0][0])

    def sizes(self) -> dict[str, int]:
        """Bytes of each run, by key."""
        return dict(self._all("SELECT key, length(record) + length(model) FROM runs"))

    def check(self) -> list[str]:
        """All problems of the file, as sentences; empty if there is none."""
        try:
            lines = [
                line for (line,) in self._all("PRAGMA quick_check") if line != "ok"
            ]
            problems = [f"The file is damaged: {line}." for line in lines]
            keys = self.run_keys()
        except BadInput as error:
            return [str(error)]
        for key in keys:
            try:
                self.get(key)
            except DamagedRun as error:
                problems.append(str(error))
        return problems

    def _all(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise BadInput(
                    f"The run store {self.path} cannot be read ({error}). Restore a copy, or move"
                    " the file away and start a new one."
                ) from error

    def _insert(
        self, run: Run, label: Label, views: dict[str, Any] | None = None
    ) -> None:
        """Insert or replace a run. Raises TypeError, sqlite3.Error."""
        parts = (
            to_json(summarise(run.record)),
            to_json(run.record.model_copy(update={"cached": False}).to_dict()),
            to_json(views) if views else "",
            _npz(run),
        )
        row = (run.key, *astuple(label), _digest(run.key, *parts), *parts)
        marks = ", ".join("?" * len(row))
        self._db.execute(
            f"INSERT OR REPLACE INTO runs ({COLUMNS}) VALUES ({marks})", row
        )


def write_file(path: Path, runs: Iterable[tuple[Run, Label, dict[str, Any]]]) -> None:
    """Write a new file of runs, each with its label and views; equal runs make equal bytes."""
    path.unlink(missing_ok=True)
    db = _connect(path.absolute().as_uri())
    db.execute(TABLE)
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.execute("BEGIN")
    file = RunFile(path, db)
    for run, label, views in runs:
        file._insert(run, label, views)
    db.execute("COMMIT")
    file.close()


def open_shared(path: Path) -> sqlite3.Connection:
    """Open a file that several processes may write and only its user can read.

    Raises OSError, sqlite3.Error.
    """
    if not path.exists():
        path.touch(mode=0o600)
    db = _connect(path.absolute().as_uri())
    try:
        _keep_log(db)
        # a run reported as kept is on disk and survives a power cut
        db.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _connect(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        uri,
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    # invalid text must not hide the other rows
    db.text_factory = lambda text: text.decode("utf-8", "replace")
    return db


def _keep_log(db: sqlite3.Connection) -> None:
    """Switch to a write-ahead log, so that readers and a writer do not wait for each other.

    SQLite does not wait when several processes switch a new file: it reports a locked file, so this
    tries again.
    """
    for attempt in range(int(PATIENCE * 100)):
        try:
            if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                # only has an effect without tables
                db.execute("PRAGMA auto_vacuum = FULL")
                db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt + 1 == int(PATIENCE * 100):
                raise
            time.sleep(0.01)


def unknown(key: str) -> BadInput:
    return BadInput(f"No stored run has the key {key!r}. `runs` lists them.")


def _summary(key: str, text: Any) -> Summary | None:
    """The summary in a text; None if it cannot be read."""
    try:
        summary = json.loads(text)
    except (ValueError, TypeError):
        return None
    if isinstance(summary, dict) and summary.get("key") == key:
        return summary
    return None


def _digest(key: str, *parts: Any) -> str:
    """The hash of the parts of a row, which may have any type if the file is damaged."""
    digest = hashlib.sha256(key.encode())
    for part in parts:
        if isinstance(part, bytes):
            content = part
        else:
            content = str(part).encode("utf-8", "replace")
        digest.update(b"\0%d\0" % len(content))
        digest.update(content)
    return digest.hexdigest()


def _record(key: str, text: str) -> RunRecord:
    """The record of a row, marked as cached. Raises DamagedRun."""
    try:
        return RunRecord.model_validate({**json.loads(text), "cached": True})
    except (ValidationError, ValueError, TypeError) as error:
        raise DamagedRun(key, f"its record cannot be read ({error})"[:300]) from error


def _npz(run: Run) -> bytes:
    """The arrays of a run. Raises TypeError on arrays of Python objects."""
    arrays: dict[str, Any] = dict(sorted(run.arrays.items()))
    if objects := [name for name, array in arrays.items() if array.dtype.hasobject]:
        raise TypeError(
            f"Arrays of Python objects are not stored: {', '.join(objects)}."
        )
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


class _Arrays(Mapping[str, Any]):
    """The arrays of a stored model, read when first used: most runs need only the record."""

    def __init__(self, key: str, content: bytes) -> None:
        self._key = key
        self._content = content

    @functools.cached_property
    def _by_name(self) -> dict[str, Any]:
        try:
            with np.load(io.BytesIO(self._content), allow_pickle=False) as file:
                return dict(file)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            reason = f"its arrays cannot be read ({error})"
            raise DamagedRun(self._key, reason) from error

    def __getitem__(self, name: str) -> Any:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)
