"""Finished runs on disk: an SQLite index beside artefacts named by the hash of their bytes.

Whatever moment a process is killed at, the index stays whole: a row is inserted after its artefact exists, an artefact is removed after its
last row. All writing happens under SQLite's write lock, so several processes may share one folder; what a killed one left aside is swept
away at the next start.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run
from dpmf_core.home import data_folder, made

SCHEMA = 2  # 2: notes and tags
TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    created TEXT NOT NULL,
    summary TEXT NOT NULL,   -- JSON: what a list of runs shows
    record TEXT NOT NULL,    -- JSON: Run.record
    artefact TEXT NOT NULL,  -- sha256 of the npz file that holds Run.arrays
    note TEXT NOT NULL DEFAULT '',
    tags TEXT NOT NULL DEFAULT ''  -- comma-separated
)"""
NOTE, TAGS = 2000, 200  # characters


class Damaged(RuntimeError):
    """A stored run is not what was written."""


def to_json(value: Any, indent: int | None = None) -> str:
    """JSON as the standard has it: what is not finite becomes null, numpy numbers plain ones."""
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def summarise(record: dict[str, Any]) -> dict[str, Any]:
    """One line of a list of runs. `epsilon` is the exact one, null where nothing is proved."""
    spec = record["spec"]
    return {
        "key": record["key"], "title": record["title"], "dataset": spec["data"]["id"], "algorithm": spec["algorithm"],
        "parameters": spec["parameters"], "epsilon": record["epsilon"].get("exact"), "nominal_epsilon": (spec["budget"] or {}).get("epsilon"),
        "delta": record["delta"], "seed": spec["seed"], "guarantee": record["guarantee"]["status"], "public": record["public"],
        "rmse": record["metrics"].get("rmse"), "metrics": record["metrics"], "fit_seconds": record["seconds"]["fit"],
    }  # fmt: skip


class Store:
    """All finished runs in a folder; the data directory's `runs` unless another is given."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else data_folder() / "runs"
        self._artefacts = self.folder / "artefacts"
        self._lock = threading.RLock()
        try:
            made(self._artefacts)
            self._db = sqlite3.connect(self.folder / "index.sqlite", timeout=30.0, isolation_level=None, check_same_thread=False)
            self._prepare()
        except (OSError, sqlite3.DatabaseError) as error:
            raise BadInput(f"The run store in {self.folder} cannot be opened ({error}). Repair or move that folder, or set DPMF_DATA to another.") from error

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        with self._writing() as db:
            found = db.execute("PRAGMA user_version").fetchone()[0]
            if found > SCHEMA:
                raise BadInput(
                    f"The run store in {self.folder} was written by a newer version (layout {found}; this one knows {SCHEMA}). "
                    "Update dpmf, or set DPMF_DATA to another folder."
                )
            db.execute(TABLE)
            if found == 1:
                for column in ("note", "tags"):
                    db.execute(f"ALTER TABLE runs ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
            db.execute(f"PRAGMA user_version = {SCHEMA}")
        self._sweep()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The index under its write lock: no other process is writing meanwhile, in the index or among the artefacts."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def _sweep(self) -> None:
        """Remove files that no row refers to: deleted runs, and what a killed process had written aside."""
        with self._writing() as db:
            wanted = {f"{artefact}.npz" for (artefact,) in db.execute("SELECT artefact FROM runs")}
            for path in self._artefacts.iterdir():
                if path.name not in wanted:
                    path.unlink()

    def _path(self, artefact: str) -> Path:
        return self._artefacts / f"{artefact}.npz"

    def put(self, run: Run) -> None:
        """Keep a finished run; one with the same key is replaced."""
        content = _npz(run.arrays)
        artefact = hashlib.sha256(content).hexdigest()
        record = {**run.record, "cached": False}
        row = (run.key, datetime.now(UTC).isoformat(), to_json(summarise(record)), to_json(record), artefact)
        with self._writing() as db:
            _write(self._path(artefact), content)
            db.execute(
                "INSERT INTO runs (key, created, summary, record, artefact) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "created = excluded.created, summary = excluded.summary, record = excluded.record, artefact = excluded.artefact",
                row,
            )

    def get(self, key: str) -> Run | None:
        """The stored run, its record marked as cached; None where there is none. Raises Damaged when its bytes have changed."""
        found = self._all("SELECT record, artefact FROM runs WHERE key = ?", key)
        if not found:
            return None
        record, artefact = found[0]
        try:
            return Run({**json.loads(record), "cached": True}, self._load(artefact))
        except (OSError, ValueError) as error:
            raise Damaged(f"The stored run {key} cannot be used: {error}. Delete it and run it again.") from error

    def record(self, key: str) -> dict[str, Any] | None:
        """A stored run's record, marked as cached, without its arrays; None where there is none."""
        found = self._all("SELECT record FROM runs WHERE key = ?", key)
        return {**json.loads(found[0][0]), "cached": True} if found else None

    def _load(self, artefact: str) -> dict[str, npt.NDArray[Any]]:
        content = self._path(artefact).read_bytes()
        if hashlib.sha256(content).hexdigest() != artefact:
            raise ValueError("its arrays are not those that were written")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def has(self, key: str) -> bool:
        return bool(self._all("SELECT 1 FROM runs WHERE key = ?", key))

    def rows(self) -> list[dict[str, Any]]:
        """A line for every run, newest first: what `summarise` says, when it was made, note and tags."""
        found = self._all("SELECT created, summary, note, tags FROM runs ORDER BY created DESC, rowid DESC")
        return [{"created": created, **json.loads(summary), "note": note, "tags": tags} for created, summary, note, tags in found]

    def annotate(self, key: str, note: str, tags: str) -> None:
        """Set a run's note and its tags, which commas separate. Raises BadInput where they are too long or there is no such run."""
        if len(note) > NOTE or len(tags) > TAGS:
            raise BadInput(f"A note holds at most {NOTE:,} characters and all tags {TAGS}. Got {len(note):,} and {len(tags):,}.")
        plain = ", ".join(dict.fromkeys(tag.strip() for tag in tags.split(",") if tag.strip()))
        with self._writing() as db:
            if not db.execute("UPDATE runs SET note = ?, tags = ? WHERE key = ?", (note, plain, key)).rowcount:
                raise BadInput(f"There is no stored run {key!r}. `runs` lists them.")

    def sizes(self) -> dict[str, int]:
        """Bytes on disk of each run's arrays, by key."""
        return {key: path.stat().st_size for key, artefact in self._all("SELECT key, artefact FROM runs") if (path := self._path(artefact)).exists()}

    def delete(self, key: str) -> None:
        """Forget a run. Raises BadInput when there is none of that key."""
        with self._writing() as db:
            if not db.execute("DELETE FROM runs WHERE key = ?", (key,)).rowcount:
                raise BadInput(f"There is no stored run {key!r}. `runs` lists them.")
        self._sweep()

    def check(self) -> list[str]:
        """Everything that is wrong in the store, in sentences; nothing when it is whole."""
        problems = [f"The index is damaged: {line}." for (line,) in self._all("PRAGMA integrity_check") if line != "ok"]
        for (key,) in self._all("SELECT key FROM runs"):
            try:
                run = self.get(key)
                if run is not None and run.key != key:
                    problems.append(f"The record of run {key} carries another key, {run.key}.")
            except (Damaged, KeyError) as error:
                problems.append(str(error))
        return problems

    def close(self) -> None:
        with self._lock:
            self._db.close()


def _npz(arrays: dict[str, npt.NDArray[Any]]) -> bytes:
    """The arrays as one npz file; equal arrays give equal bytes."""
    if objects := [name for name, array in arrays.items() if array.dtype.hasobject]:
        raise TypeError(f"Arrays of Python objects are not stored: {', '.join(objects)}.")
    out = io.BytesIO()
    parts: dict[str, Any] = dict(sorted(arrays.items()))
    np.savez(out, **parts)
    return out.getvalue()


def _write(path: Path, content: bytes) -> None:
    """The whole file or none of it: written aside, flushed to disk, renamed."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
