"""SQLite files that several processes write: opened for one transaction, or a sentence why not."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import create_folder


@contextlib.contextmanager
def open_file(
    file: Path,
    prepare: Callable[[sqlite3.Connection], None],
    refusal: Callable[[str], str],
    seconds: float,
) -> Iterator[sqlite3.Connection]:
    """Open a file under SQLite's write lock and commit at the end.

    Parameters
    ----------
    prepare
        Creates missing tables.
    refusal
        Returns what to tell a person, given the reason why the file cannot be opened or written.
    seconds
        To wait for another process that reads or writes.

    Raises
    ------
    BadInput
        If the file cannot be opened or written.
    """
    try:
        create_folder(file.absolute().parent)
        # created here, because SQLite would make it readable by other users
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise BadInput(refusal(error.strerror or type(error).__name__)) from error
    try:
        with contextlib.closing(
            sqlite3.connect(file, seconds, isolation_level=None)
        ) as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("BEGIN IMMEDIATE")
            prepare(db)
            yield db
            db.execute("COMMIT")  # an error before this line leaves the file as it was
    except sqlite3.Error as error:
        raise BadInput(refusal(str(error))) from error


def layout(db: sqlite3.Connection, file: Path, newest: int) -> int:
    """The layout of a file.

    Raises
    ------
    BadInput
        If a newer version wrote the file.
    """
    number = int(db.execute("PRAGMA user_version").fetchone()[0])
    if number > newest:
        raise BadInput(
            f"{file} was written by a newer version (layout {number}; this version reads {newest})."
            " Update dpmf, or name another file."
        )
    return number
