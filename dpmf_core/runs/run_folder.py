"""The folder of the run store: a file for each finished run (`artefacts`), and an SQLite index that
finds them.

The files are the truth; the index can be built again from them, and is, wherever it does not know
one. Whatever moment a process is killed at, and whichever write fails, no finished run is lost: a
row is inserted after its file exists, and a file is removed only where the index says that its run
was deleted or replaced. All writing happens under SQLite's write lock, so that several processes
may share one folder. What cannot be read is moved to the folder `aside` and never deleted.
"""

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpmf_core.errors import BadInput
from dpmf_core.paths import create_folder
from dpmf_core.runs import artefacts
from dpmf_core.runs.artefacts import ENDING, NAME, Label, Unreadable

log = logging.getLogger("dpmf.store")
SCHEMA = 3  # 2: notes and tags; 3: each file holds its record; owners and pins
TABLES = (
    """CREATE TABLE IF NOT EXISTS stored (
    key TEXT PRIMARY KEY NOT NULL,
    created TEXT NOT NULL,
    summary TEXT NOT NULL,   -- JSON: what a list of runs shows
    artefact TEXT NOT NULL,  -- SHA-256 of the file that holds the run
    note TEXT NOT NULL,
    tags TEXT NOT NULL,      -- comma-separated
    owner TEXT NOT NULL,
    pinned INTEGER NOT NULL  -- 1: never removed to make room
)""",
    # files of deleted or replaced runs, which go next
    "CREATE TABLE IF NOT EXISTS doomed (artefact TEXT PRIMARY KEY NOT NULL)",
)
INDEX = "index.sqlite"
REBUILD = f"Stop the servers and delete {INDEX}*: it is built again from the runs' files."


class RunFolder:
    """Index and files of one folder, made whole when it is opened.

    Raises BadInput when the folder or its index cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._artefacts, self._aside = folder / "artefacts", folder / "aside"
        self._lock = threading.RLock()
        try:
            create_folder(self._artefacts)
            self._db = _connect(folder / INDEX)
        except (OSError, sqlite3.Error) as error:
            raise self._cannot_open(error) from error
        try:
            self._prepare()
        except BaseException as error:
            self._db.close()
            if isinstance(error, OSError | sqlite3.Error):
                raise self._cannot_open(error) from error
            raise

    def _cannot_open(self, error: Exception) -> BadInput:
        return BadInput(
            f"The run store in {self.folder} cannot be opened ({error}). "
            f"Where its index is damaged: {REBUILD} Otherwise repair or move that folder, or set"
            " DPMF_DATA to another."
        )

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -- recovery ----------------------------------------------------------------------------------

    def _prepare(self) -> None:
        with self._writing() as db:
            layout = db.execute("PRAGMA user_version").fetchone()[0]
            if layout > SCHEMA:
                raise BadInput(
                    f"The run store in {self.folder} was written by a newer version "
                    f"(layout {layout}; this one knows {SCHEMA}). "
                    "Update dpmf, or set DPMF_DATA to another folder."
                )
            for table in TABLES:
                db.execute(table)
            if not layout:
                db.execute(f"PRAGMA user_version = {SCHEMA}")
            for path in self._artefacts.glob("*.part"):
                with contextlib.suppress(OSError):  # it harms nobody, and goes the next time
                    path.unlink()  # whoever writes one holds the write lock: it is nobody's
        if 0 < layout < SCHEMA:
            while self._moved_one(layout):
                pass
        self._purge()
        self._adopt()
        self._purge()

    def _moved_one(self, layout: int) -> bool:
        """Whether there was another run of an older layout, whose record was in the index alone.

        A migration that is cut goes on at the next start.
        """
        label = "note, tags" if layout == 2 else "'', ''"
        with self._writing() as db:
            there = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchone()
            row = (
                there
                and db.execute(
                    f"SELECT rowid, key, record, artefact, created, {label} FROM runs ORDER BY"
                    " rowid"
                ).fetchone()
            )
            if not row:
                db.execute("DROP TABLE IF EXISTS runs")
                db.execute(f"PRAGMA user_version = {SCHEMA}")
                return False
            self._move(db, *row[1:])
            db.execute("DELETE FROM runs WHERE rowid = ?", row[:1])
            return True

    def _move(
        self,
        db: sqlite3.Connection,
        key: str,
        record: str,
        artefact: str,
        created: str,
        note: str,
        tags: str,
    ) -> None:
        """One run of an older layout: with its arrays into a file of its own, or aside."""
        from dpmf_core.runs.record import Run, RunRecord

        try:
            arrays = artefacts.arrays_of(artefacts.read(self._path(artefact)))
            content = artefacts.pack(
                Run(RunRecord.model_validate_json(record), arrays), Label(created, note, tags)
            )
            artefacts.index_row(content)  # raises where the record is not whole
        except (FileNotFoundError, ValueError, TypeError) as error:
            name = artefacts.name_of(key.encode())[:16]
            artefacts.write(create_folder(self._aside) / f"{name}.record.json", record.encode())
            with contextlib.suppress(Unreadable):
                self._set_aside(self._path(artefact))
            log.warning(
                "The stored run %s of an older layout cannot be read (%s). What is left lies"
                " in %s.",
                key,
                error,
                self._aside,
            )
        else:
            self._insert(db, content)
            db.execute("INSERT OR IGNORE INTO doomed VALUES (?)", (artefact,))

    def _purge(self) -> None:
        """Remove the files of deleted and replaced runs. One that will not go stays for later."""
        with self._writing() as db:
            for number, artefact in db.execute("SELECT rowid, artefact FROM doomed").fetchall():
                with contextlib.suppress(OSError):
                    with contextlib.suppress(Unreadable):
                        self._path(artefact).unlink(missing_ok=True)
                    db.execute("DELETE FROM doomed WHERE rowid = ?", (number,))

    def _adopt(self) -> None:
        """Take in every file that the index does not know.

        The index was lost, or a process was killed between a file and its row.
        """
        count = sum(self._adopt_file(path) for path in self._strangers())
        if count:
            log.warning(
                "Stored runs that the index of %s had lost: %d. It has them again.",
                self.folder,
                count,
            )

    def _strangers(self) -> list[Path]:
        with self._lock:
            rows = self._db.execute("SELECT artefact FROM stored UNION SELECT artefact FROM doomed")
            known_names = {f"{artefact}{ENDING}" for (artefact,) in rows}
        paths = sorted(self._artefacts.iterdir())
        return [path for path in paths if path.name not in known_names and path.suffix != ".part"]

    def _adopt_file(self, path: Path) -> bool:
        """Whether a file that the index did not know is a run that it lacked.

        What is no run is moved aside. Raises OSError where it cannot be read for now.
        """
        with self._writing() as db:
            query = (
                "SELECT 1 FROM stored WHERE artefact = ?1 UNION SELECT 1 FROM doomed WHERE artefact"
                " = ?1"
            )
            if db.execute(query, (path.stem,)).fetchone() or not path.exists():
                return False  # another process was faster
            try:
                content = artefacts.read(path)
                artefacts.arrays_of(content)
                row = artefacts.index_row(content)
            except (Unreadable, IsADirectoryError) as error:
                self._set_aside(path)
                log.warning(
                    "%s is no stored run (%s). It now lies in %s.", path.name, error, self._aside
                )
                return False
            return self._better(db, row)

    def _better(self, db: sqlite3.Connection, row: tuple[Any, ...]) -> bool:
        """Whether the index lacked this run; of two files with one key the one that was written
        later stays.
        """
        stored_row = db.execute("SELECT artefact FROM stored WHERE key = ?", row[:1]).fetchone()
        if stored_row is not None and self._change_time(stored_row[0]) >= self._change_time(row[3]):
            db.execute("INSERT OR IGNORE INTO doomed VALUES (?)", (row[3],))
            return False
        self._enter(db, row)
        return stored_row is None

    def _change_time(self, artefact: str) -> str:
        """When a file was written, as its label says; '' of one that cannot be read."""
        try:
            return artefacts.unpack(artefacts.read(self._path(artefact))).label.changed
        except (FileNotFoundError, Unreadable):
            return ""

    def _set_aside(self, path: Path) -> None:
        """Move a file to where nothing reads or deletes it."""
        if path.exists():
            path.replace(create_folder(self._aside) / path.name)
            artefacts.flush_folder(self._aside)

    def aside(self) -> list[Path]:
        """Files that could not be read as runs, and old indexes. Nothing here deletes them."""
        return sorted(self._aside.iterdir()) if self._aside.is_dir() else []

    # -- reading and writing -----------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The index under its write lock: no other process writes in this folder meanwhile."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite may have rolled back by itself
                    self._db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """As `_writing`, for what a person asks for. Raises BadInput where the disk refuses."""
        try:
            with self._writing() as db:
                yield db
        except (OSError, sqlite3.Error) as error:
            raise BadInput(
                f"{self.folder} cannot be changed ({error}), so nothing was. Make room or repair"
                " that folder, then try again."
            ) from error

    def _all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise BadInput(
                    f"The index of the run store in {self.folder} cannot be read ({error})."
                    f" {REBUILD}"
                ) from error

    def _path(self, artefact: Any) -> Path:
        """Raises Unreadable on what is no artefact's name."""
        if not isinstance(artefact, str) or not NAME.fullmatch(artefact):
            raise Unreadable("the index names no file for it")
        return self._artefacts / f"{artefact}{ENDING}"

    def _insert(self, db: sqlite3.Connection, content: bytes) -> None:
        """The run's file, then its row."""
        row = artefacts.index_row(content)
        artefacts.write(self._path(row[3]), content)
        self._enter(db, row)

    def _enter(self, db: sqlite3.Connection, row: tuple[Any, ...]) -> None:
        """A row in the place of what its key had; the file of that goes after the commit."""
        db.execute(
            "INSERT OR IGNORE INTO doomed SELECT artefact FROM stored WHERE key = ?", row[:1]
        )
        db.execute("DELETE FROM doomed WHERE artefact = ?", (row[3],))
        db.execute(
            "INSERT OR REPLACE INTO stored (key, created, summary, artefact, note, tags, owner,"
            " pinned) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
    # a text that is none must not hide the others
    db.text_factory = lambda text: text.decode("utf-8", "replace")
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error:
        db.close()
        raise
    return db
