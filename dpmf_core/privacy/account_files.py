"""The SQLite file of accounts: its tables, how it is opened, and what its rows hold."""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from dpmf_core.base import sqlite_files
from dpmf_core.base.paths import cache_folder, data_folder
from dpmf_core.privacy import Relation, Status, normal_form
from dpmf_core.privacy.events import event_of_rows, ledger_rows
from dpmf_core.privacy.odometer import Charge

FILE = "accounts.sqlite"
PATIENCE = 30.0  # seconds to wait for another process that writes
# 2: each entry has a random name, by which copies of an account are merged
# 3: accounts can be joined
# 4: the charge of a private selection may hold a Gaussian release that costs at least as much
SCHEMA = 4
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
# the merge skips entries that are there; an older process may have added others since
TAKE_OVER = (
    "INSERT INTO main.accounts (key, lasting, budget, joined)"
    " SELECT key, lasting, budget, joined FROM old.accounts"
    " WHERE true ON CONFLICT (key) DO UPDATE SET lasting = max(lasting, excluded.lasting),"
    " budget = coalesce(budget, excluded.budget), joined = coalesce(joined, excluded.joined)",
    "INSERT INTO main.entries (account, made, state, charge, uid)"
    " SELECT account, made, state, charge, uid FROM old.entries"
    " WHERE (account, uid) NOT IN (SELECT account, uid FROM main.entries) ORDER BY id",
    "DELETE FROM old.entries",
    "DELETE FROM old.accounts",
)
# the keys of all accounts that are joined to one of a JSON list of keys
JOINED = (
    "SELECT key FROM accounts WHERE key IN (SELECT value FROM json_each(:keys)) OR joined IN"
    " (SELECT joined FROM accounts WHERE key IN (SELECT value FROM json_each(:keys)))"
)
LEDGERS = ("ledger", "release")  # parts of a charge that are stored as rows
NAMED_AT_RANDOM = "lower(hex(randomblob(16)))"


def accounts_file() -> Path:
    """The accounts' file in the data folder; moves what an earlier version kept in the cache."""
    file, old = data_folder() / FILE, cache_folder() / FILE
    if old != file and old.is_file():
        with open_file(old):
            """Whether the file has the present layout."""
        with open_file(file, old) as db:
            for statement in TAKE_OVER:
                db.execute(statement)
    return file


@contextlib.contextmanager
def open_file(file: Path, old: Path | None = None) -> Iterator[sqlite3.Connection]:
    """Open a file under SQLite's write lock and commit at the end.

    old: another file, attached as "old". Raises BadInput if the file cannot be opened or written.
    """

    def refusal(reason: str) -> str:
        return (
            f"The account of private data in {file} cannot be written ({reason}), so nothing was"
            " drawn. Free some space, repair the file, or set DPMF_DATA to another folder."
        )

    def prepare(db: sqlite3.Connection) -> None:
        _with_tables(db, file)

    with sqlite_files.open_file(file, prepare, refusal, PATIENCE, old) as db:
        yield db


def _with_tables(db: sqlite3.Connection, file: Path) -> None:
    version = sqlite_files.layout(db, file, SCHEMA)
    if version == SCHEMA:
        return
    for table in TABLES:
        db.execute(table)
    if version == 1:
        db.execute("ALTER TABLE entries ADD COLUMN uid TEXT")
        db.execute(f"UPDATE entries SET uid = {NAMED_AT_RANDOM}")
    if version in (1, 2):
        db.execute("ALTER TABLE accounts ADD COLUMN joined TEXT")
    db.execute(f"PRAGMA user_version = {SCHEMA}")


def plain_charge(charge: Charge) -> dict[str, Any]:
    plain = {field.name: getattr(charge, field.name) for field in fields(charge)}
    return plain | {name: ledger_rows(plain[name]) for name in LEDGERS}


def charge_of_plain(plain: dict[str, Any]) -> Charge:
    read: dict[str, Any] = {
        **{name: normal_form(event_of_rows(plain.get(name, ()))) for name in LEDGERS},
        "price": tuple(plain["price"]) if plain["price"] else None,
        **{"status": Status(plain["status"]), "relation": Relation(plain["relation"])},
    }
    return Charge(**(plain | read))
