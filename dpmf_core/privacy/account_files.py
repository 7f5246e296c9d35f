"""The SQLite file of accounts: its tables, how it is opened, and what its rows hold."""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from dpmf_core.base import sqlite_files
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import cache_folder, data_folder
from dpmf_core.privacy import Relation, Status, normal_form
from dpmf_core.privacy.events import event_of_rows, ledger_rows
from dpmf_core.privacy.odometer import Charge

FILE = "accounts.sqlite"
PATIENCE = 30.0  # seconds to wait for another process that writes
SCHEMA = 4  # the only layout that is read
TABLES = (
    """CREATE TABLE IF NOT EXISTS accounts (
    key TEXT PRIMARY KEY,       -- the data's fingerprint
    lasting INTEGER NOT NULL,   -- 0: forgotten with the uploads that it is about
    budget TEXT,                -- JSON, or nothing
    joined TEXT                 -- accounts that have this in common are one
)""",
    """CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    made TEXT NOT NULL,
    state TEXT NOT NULL,
    charge TEXT NOT NULL,       -- JSON
    uid TEXT                    -- random
)""",
)
# the keys of all accounts that are joined to one of a JSON list of keys
JOINED = (
    "SELECT key FROM accounts WHERE key IN (SELECT value FROM json_each(:keys)) OR joined IN"
    " (SELECT joined FROM accounts WHERE key IN (SELECT value FROM json_each(:keys)))"
)
LEDGERS = ("ledger", "release")  # parts of a charge that are stored as rows


def accounts_file() -> Path:
    """The accounts' file in the data folder.

    Raises
    ------
    BadInput
        If an earlier version left an accounts' file in the cache folder.
    """
    file = data_folder() / FILE
    old_file = cache_folder() / FILE
    if old_file != file and old_file.is_file():
        raise _of_an_earlier_version(old_file)
    return file


@contextlib.contextmanager
def open_file(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a file under SQLite's write lock and commit at the end.

    Raises
    ------
    BadInput
        If the file cannot be opened, read by this version, or written.
    """

    def refusal(reason: str) -> str:
        return (
            f"The account of private data in {file} cannot be written ({reason}), so nothing was"
            " drawn. Free some space, repair the file, or set DPMF_DATA to another folder."
        )

    def prepare(db: sqlite3.Connection) -> None:
        _with_tables(db, file)

    with sqlite_files.open_file(file, prepare, refusal, PATIENCE) as db:
        yield db


def _with_tables(db: sqlite3.Connection, file: Path) -> None:
    version = sqlite_files.layout(db, file, SCHEMA)
    if version == SCHEMA:
        return
    if version > 0:
        raise _of_an_earlier_version(file)
    for table in TABLES:
        db.execute(table)
    db.execute(f"PRAGMA user_version = {SCHEMA}")


def _of_an_earlier_version(file: Path) -> BadInput:
    return BadInput(
        f"An earlier version of dpmf wrote the account in {file}, and this version cannot read it."
        " A total without its releases would be too low, so none is computed and nothing is drawn."
        " Move the file away to begin a new account, which does not know these releases."
    )


def plain_charge(charge: Charge) -> dict[str, Any]:
    plain = {field.name: getattr(charge, field.name) for field in fields(charge)}
    return plain | {name: ledger_rows(plain[name]) for name in LEDGERS}


def charge_of_plain(plain: dict[str, Any]) -> Charge:
    read: dict[str, Any] = {
        **{name: normal_form(event_of_rows(plain[name])) for name in LEDGERS},
        "price": tuple(plain["price"]) if plain["price"] else None,
        **{"status": Status(plain["status"]), "relation": Relation(plain["relation"])},
    }
    return Charge(**(plain | read))
