"""Finished runs: kept, found, listed, annotated, deleted, checked.

How they lie on disk is in `run_folder`.
"""

import contextlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpmf_core.errors import BadInput
from dpmf_core.paths import data_folder, usable
from dpmf_core.runs import artefacts
from dpmf_core.runs.artefacts import SUMMARY, Label, StoredRun, Unreadable, summarise, to_json
from dpmf_core.runs.run_folder import REBUILD, SCHEMA, RunFolder

if TYPE_CHECKING:
    from dpmf_core.runs.record import Run, RunRecord

__all__ = ["SCHEMA", "DamagedRun", "Store", "summarise", "to_json"]

NOTE, TAGS = 2000, 200  # characters


class DamagedRun(BadInput):
    """A stored run is not what was written, for a reason."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(
            f"The stored run {key} cannot be used: {reason}. Delete it and run it again."
        )
        self.reason = reason


class Store(RunFolder):
    """All finished runs in a folder; the data directory's `runs` unless another is given.

    Raises BadInput when the folder or its index cannot be opened.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(usable(data_folder() / "runs") if folder is None else folder)

    # -- reading -----------------------------------------------------------------------------------

    def get(self, key: str) -> "Run | None":
        """The stored run, its record marked as cached; None where there is none.

        Raises Damaged when its bytes have changed.
        """
        stored_run = self.stored_run(key)
        return stored_run.run if stored_run else None

    def stored_run(self, key: str) -> StoredRun | None:
        """As `get`, with the run's label."""
        for last in (False, False, True):  # one that is replaced while it is read is read again
            rows = self._all("SELECT artefact FROM stored WHERE key = ?", key)
            if not rows:
                return None
            try:
                stored_run = artefacts.unpack(artefacts.read(self._path(rows[0][0])))
            except (OSError, Unreadable) as error:
                if isinstance(error, FileNotFoundError) and not last:
                    continue
                missing = isinstance(error, FileNotFoundError)
                raise DamagedRun(key, "its file is missing" if missing else str(error)) from error
            if stored_run.run.key != key:
                raise DamagedRun(key, f"its file is that of another run, {stored_run.run.key}")
            return stored_run
        raise AssertionError("the last attempt returns or raises")

    def has(self, key: str) -> bool:
        return bool(self._all("SELECT 1 FROM stored WHERE key = ?", key))

    def run_keys(self) -> list[str]:
        """Of all runs, those too that cannot be read; oldest first."""
        return [key for (key,) in self._all("SELECT key FROM stored ORDER BY created, rowid")]

    def record(self, key: str) -> "RunRecord | None":
        """A stored run's record, marked as cached, without its arrays; None where there is none.

        Raises Damaged.
        """
        rows = self._all("SELECT artefact FROM stored WHERE key = ?", key)
        if not rows:
            return None
        try:
            return artefacts.record_of(self._path(rows[0][0]))
        except (OSError, Unreadable):
            stored_run = self.stored_run(
                key
            )  # says what is wrong, or finds what has just been replaced
            return stored_run.run.record if stored_run else None

    def rows(self) -> list[dict[str, Any]]:
        """A line for every run, newest first: its summary, when it was made, note, tags, owner,
        whether it is pinned.

        A run that cannot be described is left out; `check` names it.
        """
        index_rows = self._all(
            "SELECT key, summary, created, note, tags, owner, pinned FROM stored ORDER BY created"
            " DESC, rowid DESC"
        )
        lines = [
            (self._summary(key, text), created, note, tags, owner, pinned)
            for key, text, created, note, tags, owner, pinned in index_rows
        ]
        return [
            {
                "created": created,
                **summary,
                "note": note,
                "tags": tags,
                "owner": owner,
                "pinned": bool(pinned),
            }
            for summary, created, note, tags, owner, pinned in lines
            if summary is not None
        ]

    def summaries(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The summary of each of these runs that is stored and can be described, by key; read
        from the index alone, at once.
        """
        keys_json = json.dumps(list(keys))
        rows = self._all(
            "SELECT key, summary FROM stored WHERE key IN (SELECT value FROM json_each(?))",
            keys_json,
        )
        by_key = {key: self._summary(key, text) for key, text in rows}
        return {key: summary for key, summary in by_key.items() if summary is not None}

    def epsilons(self, dataset: str, algorithm: str) -> list[float]:
        """The nominal epsilons, ascending, of the runs of an algorithm on a data set."""
        rows = self._all(
            "SELECT DISTINCT json_extract(summary, '$.nominal_epsilon') FROM stored WHERE"
            " json_valid(summary) AND json_extract(summary, '$.dataset') = ? AND"
            " json_extract(summary, '$.algorithm') = ?",
            dataset,
            algorithm,
        )
        return sorted(float(epsilon) for (epsilon,) in rows if epsilon is not None)

    def count(self) -> int:
        """Of all runs, those too that cannot be read."""
        return int(self._all("SELECT COUNT(*) FROM stored")[0][0])

    def owner(self, key: str) -> str:
        """Whose a run is; '' where nobody is named.

        Raises BadInput when there is none of that key.
        """
        rows = self._all("SELECT owner FROM stored WHERE key = ?", key)
        if not rows:
            raise _unknown(key)
        return str(rows[0][0])

    def _summary(self, key: str, text: Any) -> dict[str, Any] | None:
        """As the index has it, else from the run's file; None where neither can be read."""
        with contextlib.suppress(ValueError, TypeError):
            summary = json.loads(text)
            if isinstance(summary, dict) and summary.keys() >= SUMMARY and summary["key"] == key:
                return summary
        with contextlib.suppress(DamagedRun):
            stored_run = self.stored_run(key)
            return summarise(stored_run.run.record) if stored_run else None
        return None

    def sizes(self) -> dict[str, int]:
        """Bytes on disk of each run, by key."""
        sizes: dict[str, int] = {}
        for key, artefact in self._all("SELECT key, artefact FROM stored"):
            with contextlib.suppress(OSError, Unreadable):  # `check` names those
                sizes[key] = self._path(artefact).stat().st_size
        return sizes

    # -- changing ----------------------------------------------------------------------------------

    def put(self, run: "Run", owner: str = "") -> None:
        """Keep a finished run; one with the same key is replaced, its note, tags, pin and owner
        stay.

        Raises OSError, sqlite3.Error.
        """
        now = _now()
        with self._writing() as db:
            select = "SELECT note, tags, owner, pinned FROM stored WHERE key = ?"
            row = db.execute(select, (run.key,)).fetchone()
            note, tags, owner, pinned = row or ("", "", owner, 0)
            label = Label(now, note, tags, owner, bool(pinned), changed=now)
            self._insert(db, artefacts.pack(run, label))
        if row:
            self._tidy()

    def take(self, stored_run: StoredRun) -> bool:
        """Keep a run with its label unless it is here, whole; whether it was not.

        Raises OSError, sqlite3.Error.
        """
        with self._writing() as db:
            with contextlib.suppress(DamagedRun):  # which is replaced
                if self.stored_run(stored_run.run.key) is not None:
                    return False
            self._insert(db, artefacts.pack(stored_run.run, stored_run.label))
        return True

    def annotate(self, key: str, note: str, tags: str) -> None:
        """Set a run's note and its tags, which commas separate.

        Raises BadInput where they are too long, where there is no such run, or it is damaged.
        """
        if len(note) > NOTE or len(tags) > TAGS:
            raise BadInput(
                f"A note holds at most {NOTE:,} characters and all tags {TAGS}. Got {len(note):,}"
                f" and {len(tags):,}."
            )
        plain = ", ".join(dict.fromkeys(tag.strip() for tag in tags.split(",") if tag.strip()))
        self._relabel(key, note=note, tags=plain)

    def pin(self, key: str, pinned: bool = True) -> None:
        """Whether a run stays when older ones go to make room. Raises BadInput as `annotate`."""
        self._relabel(key, pinned=pinned)

    def _relabel(self, key: str, **changes: Any) -> None:
        with self._changing() as db:
            stored_run = self.stored_run(key)
            if stored_run is None:
                raise _unknown(key)
            label = replace(stored_run.label, changed=_now(), **changes)
            self._insert(db, artefacts.pack(stored_run.run, label))
        self._tidy()

    def delete(self, key: str) -> None:
        """Forget a run. Raises BadInput when there is none of that key."""
        with self._changing() as db:
            doom = "INSERT OR IGNORE INTO doomed SELECT artefact FROM stored WHERE key = ?"
            db.execute(doom, (key,))
            if not db.execute("DELETE FROM stored WHERE key = ?", (key,)).rowcount:
                raise _unknown(key)
        self._tidy()

    def keep_at_most(self, most: int, besides: str = "") -> int:
        """Of more than `most` runs the oldest go that are not pinned, nor of the key `besides`; how
        many went.

        Raises OSError, sqlite3.Error.
        """
        oldest = (
            "SELECT key FROM stored WHERE NOT pinned AND key <> ? ORDER BY created, rowid LIMIT ?"
        )
        with self._writing() as db:
            excess = db.execute("SELECT COUNT(*) FROM stored").fetchone()[0] - most
            gone = db.execute(oldest, (besides, max(0, excess))).fetchall()
            for key in gone:
                db.execute(
                    "INSERT OR IGNORE INTO doomed SELECT artefact FROM stored WHERE key = ?", key
                )
                db.execute("DELETE FROM stored WHERE key = ?", key)
        if gone:
            self._tidy()
        return len(gone)

    def _tidy(self) -> None:
        """Remove files that are no longer wanted.

        What was asked for is done already: where this fails, the next start does it.
        """
        with contextlib.suppress(OSError, sqlite3.Error):
            self._purge()

    # -- looking after it --------------------------------------------------------------------------

    def check(self) -> list[str]:
        """Everything that is wrong in the store, in sentences; nothing when it is whole."""
        lines = self._all("PRAGMA integrity_check")
        problems = [f"The index is damaged: {line}." for (line,) in lines if line != "ok"]
        for key, summary in self._all("SELECT key, summary FROM stored"):
            try:
                stored_run = self.stored_run(key)
            except DamagedRun as error:
                problems.append(str(error))
            else:
                if stored_run is not None and summary != _description(stored_run):
                    problems.append(f"The index describes the stored run {key} wrongly. {REBUILD}")
        return problems


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _description(stored_run: StoredRun) -> str:
    return to_json(summarise(stored_run.run.record))


def _unknown(key: str) -> BadInput:
    return BadInput(f"There is no stored run {key!r}. `runs` lists them.")
