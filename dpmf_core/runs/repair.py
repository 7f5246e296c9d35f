"""A run store that may be damaged, made whole again: its index built from the runs' files, what
cannot be read moved aside.
"""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from dpmf_core.errors import BadInput
from dpmf_core.paths import create_folder, data_folder
from dpmf_core.runs.run_folder import INDEX
from dpmf_core.runs.store import Store


def repair_store(folder: Path | None = None) -> list[str]:
    """What was done, in sentences; nothing where the store was whole.

    No other process may have the store open: one that does would go on with the old index.
    Raises BadInput where the folder cannot be read or written.
    """
    folder = folder if folder is not None else data_folder() / "runs"
    sentences = [] if _sound(folder / INDEX) else [_index_aside(folder)]
    store = Store(folder)
    try:
        return sentences + store.repair()
    finally:
        store.close()


def _sound(index: Path) -> bool:
    """Whether SQLite can read all of the index, or there is none."""
    if not index.exists():
        return True
    db = sqlite3.connect(index, timeout=30.0)
    try:
        return bool(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
    except sqlite3.OperationalError as error:  # locked, or the disk refuses
        raise BadInput(
            f"{index} cannot be read now ({error}). Stop the servers, then try again."
        ) from error
    except sqlite3.DatabaseError:
        return False
    finally:
        db.close()


def _index_aside(folder: Path) -> str:
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = folder / "aside"
    try:
        create_folder(aside)
        for ending in ("-wal", "-shm", ""):  # the index last: a cut repair begins again
            path = folder / f"{INDEX}{ending}"
            if path.exists():
                path.replace(aside / f"index.{now}.sqlite{ending}")
    except OSError as error:
        raise BadInput(f"The damaged index of {folder} cannot be moved aside ({error}).") from error
    return (
        "The index was damaged and is built again from the runs' files; the old one lies in"
        f" {aside}."
    )
