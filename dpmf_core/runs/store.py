"""Finished runs: kept, found, annotated, deleted.

All are in one SQLite file (`run_file`) that several processes may use. Every change is a
transaction: no finished run is lost if a process is killed or a write fails.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import create_folder, data_folder, usable
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.data_access import identified_data, known_identity
from dpmf_core.runs.record import Run, Summary
from dpmf_core.runs.run_file import (
    PATIENCE,
    SCHEMA,
    TABLE,
    DamagedRun,
    Label,
    RunFile,
    open_shared,
    unknown,
)
from dpmf_core.runs.specification import RunSpec, run_key

FILE = "runs.sqlite"
# characters
NOTE = 2000
TAGS = 200
CHECKPOINT_PATIENCE = 1_000  # milliseconds to wait for other processes at the end


class Store(RunFile):
    """Stored finished runs, in the file `runs.sqlite` that several processes may use.

    Parameters
    ----------
    folder
        The folder of that file, which is created if it is missing. None for the data folder.

    Raises
    ------
    BadInput
        If the file cannot be opened, or if a newer version wrote it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or usable(data_folder())
        path = self.folder / FILE
        try:
            create_folder(self.folder)
            super().__init__(path, open_shared(path))
            with contextlib.ExitStack() as unless_ready:
                unless_ready.callback(self.close)
                self._prepare()
                unless_ready.pop_all()
        except (OSError, sqlite3.Error) as error:
            raise BadInput(
                f"The run store {path} cannot be opened ({error}). Repair or move that file, or set"
                " DPMF_DATA to another folder."
            ) from error

    def _prepare(self) -> None:
        """Make the table of a new file."""
        if self._layout() == SCHEMA:
            return
        with self._writing() as db:
            layout = self._layout()  # another process may have made it meanwhile
            if layout > SCHEMA:
                raise BadInput(
                    f"The run store {self.path} was written by a newer version (layout {layout};"
                    f" this version reads {SCHEMA}). Update dpmf, or set DPMF_DATA to another"
                    " folder."
                )
            if layout < SCHEMA:
                db.execute(TABLE)
                db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _layout(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def checkpoint(self) -> None:
        """Write the log into the file, so that a copy of that one file has all runs.

        Where another process reads the file just now, its log stays next to it.
        """
        # the log holds the runs, too
        with (
            self._lock,
            contextlib.suppress(sqlite3.Error),
        ):
            self._db.execute(f"PRAGMA busy_timeout = {CHECKPOINT_PATIENCE}")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute(f"PRAGMA busy_timeout = {int(PATIENCE * 1_000)}")

    # -- finding -----------------------------------------------------------------------------------

    def find_runs(self, specs: Sequence[RunSpec]) -> list[Run | None]:
        """Each run from the store, or from the package without its model; None if neither has it.

        It opens no data. The store identifies a run by its data's bytes, so it finds nothing for
        data that this process has not opened yet. Raises BadInput if the data cannot be opened.
        """
        keys = _known_keys(specs)
        return [self._find(spec, key) for spec, key in zip(specs, keys, strict=True)]

    def _find(self, spec: RunSpec, key: str) -> Run | None:
        with contextlib.suppress(DamagedRun):
            if (run := self.get(key)) is not None:
                return run
        record = shipped_runs.record(spec)
        if record is None:
            return None
        return Run(record)

    def find_all(self, specs: Sequence[RunSpec]) -> list[Summary | None]:
        """`find_runs`, as summaries."""
        keys = _known_keys(specs)
        here = self.summaries(keys)
        return [
            here.get(key) or shipped_runs.summary(spec)
            for key, spec in zip(keys, specs, strict=True)
        ]

    def lacking(self, specs: Sequence[RunSpec]) -> list[RunSpec]:
        """The runs that the store itself does not have, as far as their data are open."""
        keys = _known_keys(specs)
        here = self.summaries(keys)
        return [spec for spec, key in zip(specs, keys, strict=True) if key not in here]

    def whole(self, spec: RunSpec) -> Run | None:
        """A run with its model; None if it is not in the store or is damaged.

        It opens the data. Raises BadInput if they cannot be opened.
        """
        try:
            return self.get(run_key(spec, identified_data(spec.data)))
        except DamagedRun:
            return None

    # -- changing ----------------------------------------------------------------------------------

    def put(self, run: Run, owner: str = "") -> None:
        """Store a finished run, with arrays of numbers only.

        It replaces a run with the same key. The note, tags, pin and owner of that run stay.

        Parameters
        ----------
        run
            The run.
        owner
            The owner of the run; '' if unnamed.

        Raises
        ------
        BadInput
            If the disk refuses.
        """
        select = "SELECT note, tags, owner, pinned FROM runs WHERE key = ?"
        try:
            with self._writing() as db:
                row = db.execute(select, (run.key,)).fetchone() or ("", "", owner, 0)
                self._insert(run, Label(datetime.now(UTC).isoformat(), *row))
        except (OSError, sqlite3.Error) as error:
            raise BadInput(
                f"The run is finished, but {self.path} cannot store it ({error}). Free some space"
                " or set DPMF_DATA to another folder, then run it again."
            ) from error

    def annotate(self, key: str, note: str, tags: str) -> None:
        """Set a run's note and its tags, which commas separate.

        Raises BadInput if they are too long, or there is no such run.
        """
        if len(note) > NOTE or len(tags) > TAGS:
            raise BadInput(
                f"A note may have at most {NOTE:,} characters and all tags together {TAGS}. Got"
                f" {len(note):,} and {len(tags):,}."
            )
        plain = ", ".join(
            dict.fromkeys(tag.strip() for tag in tags.split(",") if tag.strip())
        )
        self._change(
            "UPDATE runs SET note = ?, tags = ? WHERE key = ?", note, plain, key
        )

    def pin(self, key: str, pinned: bool = True) -> None:
        """Set whether a run stays when older ones are deleted. Raises BadInput as `annotate`."""
        self._change("UPDATE runs SET pinned = ? WHERE key = ?", int(pinned), key)

    def delete(self, key: str) -> None:
        """Delete a run, which may be damaged. Raises BadInput when there is no such run."""
        self._change("DELETE FROM runs WHERE key = ?", key)

    def keep_at_most(self, most: int, besides: str = "") -> int:
        """Delete the oldest runs beyond a number, except pinned ones.

        Parameters
        ----------
        most
            The number of runs to keep.
        besides
            The key of another run that stays.

        Returns
        -------
        int
            The number of deleted runs.

        Raises
        ------
        BadInput
            If the disk refuses.
        """
        oldest = (
            "DELETE FROM runs WHERE key IN (SELECT key FROM runs WHERE NOT pinned AND key <> ?"
            " ORDER BY created, rowid LIMIT ?)"
        )
        with self._changing() as db:
            excess = db.execute("SELECT COUNT(*) FROM runs").fetchone()[0] - most
            return db.execute(oldest, (besides, max(0, excess))).rowcount

    def _change(self, statement: str, *values: Any) -> None:
        """Change the run with the last value as its key. Raises BadInput without such a run."""
        with self._changing() as db:
            if not db.execute(statement, values).rowcount:
                raise unknown(values[-1])

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, during which no other process writes."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite may have rolled back already
                    self._db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """`_writing`. Raises BadInput if the disk refuses."""
        try:
            with self._writing() as db:
                yield db
        except (OSError, sqlite3.Error) as error:
            raise BadInput(
                f"{self.path} cannot be changed ({error}). Nothing was changed. Free some space or"
                " repair that folder, then try again."
            ) from error


def _known_keys(specs: Sequence[RunSpec]) -> list[str]:
    """The runs' keys, "" while their data are not open. Raises BadInput on unusable data.

    The files of each data set are looked at once.
    """
    identities = {data: known_identity(data) for data in {spec.data for spec in specs}}
    keys = []
    for spec in specs:
        data = identities[spec.data]
        keys.append("" if data is None else run_key(spec, data))
    return keys
