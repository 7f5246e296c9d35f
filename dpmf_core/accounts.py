"""The account of each private data set, on disk: charged before the first draw of noise, settled to what was drawn.

An account is found by its data's fingerprint in `accounts.sqlite` of the data folder, or lies alone in a ledger file that somebody names. Every change is
one SQLite transaction, so that several processes may share it; a process that is killed leaves its whole plan charged. It holds what was released and when,
and nothing of the data but the fingerprint; the file can be read by its user alone.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from dpmf_core.errors import BadInput, Cancelled, explain
from dpmf_core.home import data_folder, made
from dpmf_core.privacy import Budget, Event, Ledger, Noise, Relation, Repeat, Status, normal_form, sequence
from dpmf_core.privacy.events import event_of_rows, ledger_rows
from dpmf_core.privacy.odometer import Charge, Entry, Line, Total, check, lines, settled, total

FILE = "accounts.sqlite"
LEDGER = "DPMF_LEDGER"  # names the ledger file where none is given
NAMED = "this ledger"  # the one account in a file that somebody names
SCHEMA = 2  # 2: entries have a name of their own, by which copies of an account are merged
TABLES = (
    """CREATE TABLE IF NOT EXISTS accounts (
    key TEXT PRIMARY KEY,       -- the data's fingerprint
    lasting INTEGER NOT NULL,   -- 0: forgotten with the uploads that it is about
    budget TEXT                 -- JSON, or nothing
)""",
    """CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    made TEXT NOT NULL,
    state TEXT NOT NULL,
    charge TEXT NOT NULL,       -- JSON
    uid TEXT                    -- random, the same in every copy
)""",
)
NAMED_AT_RANDOM = "lower(hex(randomblob(16)))"
State = Literal["finished", "cancelled", "failed"]


class Private(Protocol):
    """Data that an account may be about. account: the fingerprint of what they were read from, before anything was left out."""

    @property
    def public(self) -> bool: ...

    @property
    def account(self) -> str: ...


class Paid:
    """Leave to draw noise: what it may cost was charged before, or the data are public. The only way to a `Noise`.

    private: the noise comes from a secret stream, whatever seed is given.
    """

    def __init__(self, private: bool) -> None:
        self._private, self._opened = private, list[Noise]()

    def noise(self, plan: Event, seed: np.random.SeedSequence | None = None, threads: int = 1) -> Noise:
        """The noise of one plan, which is part of what was paid for."""
        opened = Noise(plan, None if self._private else seed, threads)
        self._opened.append(opened)
        return opened

    @property
    def drawn(self) -> Ledger:
        """What was released so far."""
        return normal_form(sequence(*(Repeat(leaf, count) for noise in self._opened for leaf, count in noise.spent)))


@dataclass(frozen=True)
class Account:
    """One private data set's account. file: where it is kept. lasting: whether it outlives the uploads of the data."""

    file: Path
    key: str = NAMED
    lasting: bool = True

    # -- reading ----------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything that was charged, first things first."""
        if not self.file.exists():
            return ()
        with _open(self.file) as db:
            return self._entries(db)

    def _entries(self, db: sqlite3.Connection) -> tuple[Entry, ...]:
        found = db.execute("SELECT charge, made, state FROM entries WHERE account = ? ORDER BY id", (self.key,))
        return tuple(Entry(_charge(json.loads(charge)), when, state) for charge, when, state in found)

    @property
    def budget(self) -> Budget | None:
        """What may be drawn in all, where that was set."""
        if not self.file.exists():
            return None
        with _open(self.file) as db:
            return self._budget(db)

    def _budget(self, db: sqlite3.Connection) -> Budget | None:
        found = db.execute("SELECT budget FROM accounts WHERE key = ?", (self.key,)).fetchone()
        return Budget.model_validate_json(found[0]) if found and found[0] else None

    @property
    def total(self) -> Total:
        """The one figure."""
        return self.after(())

    def after(self, more: Sequence[Charge]) -> Total:
        """The figure as it would be with further charges."""
        return total([*(entry.charge for entry in self.entries), *more], self.budget)

    @property
    def lines(self) -> list[Line]:
        """What the figure is made of."""
        return lines(self.entries, self.budget)

    # -- charging ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def charged(self, charge: Charge) -> Iterator[Paid]:
        """Leave to draw what `charge` says, entered whole before; in the end the entry becomes what was drawn.

        Raises BadInput where the budget does not allow it, or where the account cannot be written: then nothing is drawn.
        """
        number = self._enter(charge)
        paid, state = Paid(private=True), "failed"
        try:
            yield paid
            state = "finished"
        except (Cancelled, KeyboardInterrupt):
            state = "cancelled"
            raise
        finally:
            with contextlib.suppress(BadInput):  # what was entered stays, which is never too little
                self._settle(number, charge, paid.drawn, state)

    def _enter(self, charge: Charge) -> int:
        with _open(self.file) as db:
            if (budget := self._budget(db)) is not None:
                check([entry.charge for entry in self._entries(db)], [charge], budget)
            self._there(db)
            row = (self.key, datetime.now(UTC).isoformat(timespec="seconds"), "running", json.dumps(_plain(charge)))
            return int(db.execute(f"INSERT INTO entries (account, made, state, charge, uid) VALUES (?, ?, ?, ?, {NAMED_AT_RANDOM})", row).lastrowid or 0)

    def _settle(self, number: int, charge: Charge, drawn: Ledger, state: str) -> None:
        with _open(self.file) as db:
            if state == "failed" and not drawn:
                db.execute("DELETE FROM entries WHERE id = ?", (number,))
            else:
                row = (json.dumps(_plain(settled(charge, drawn))), state, number)
                db.execute("UPDATE entries SET charge = ?, state = ? WHERE id = ?", row)

    def _there(self, db: sqlite3.Connection) -> None:
        db.execute(
            "INSERT INTO accounts (key, lasting) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET lasting = max(lasting, excluded.lasting)",
            (self.key, int(self.lasting)),
        )

    def set_budget(self, epsilon: float | None, delta: float | None = None, relation: Relation | str = Relation.ADD_REMOVE) -> None:
        """What may be drawn from now on, with all that was drawn before; None takes the budget away.

        Raises BadInput on a budget that cannot be, that what was drawn exceeds, or that does not cover it.
        """
        budget = None
        if epsilon is not None:
            try:
                budget = Budget.model_validate({"epsilon": epsilon, "delta": delta, "relation": relation})
            except ValueError as error:
                raise explain(error, "the budget", Budget.model_json_schema()["properties"]) from None  # type: ignore[arg-type]
        with _open(self.file) as db:
            if budget is not None:
                check([entry.charge for entry in self._entries(db)], (), budget)
            self._there(db)
            db.execute("UPDATE accounts SET budget = ? WHERE key = ?", (budget.model_dump_json() if budget else None, self.key))

    def forget(self) -> None:
        """Remove the account. What was released stays released."""
        if self.file.exists():
            with _open(self.file) as db:
                _remove(db, [self.key])


def account_of(data: Private, ledger: str | Path | None = None, lasting: bool = True) -> Account | None:
    """The account that a run on these data enters: the ledger file's (DPMF_LEDGER's), else the data folder's; None where the data are public."""
    if data.public:
        return None
    ledger = ledger or os.environ.get(LEDGER)
    return Account(Path(ledger).expanduser()) if ledger is not None else Account(data_folder() / FILE, data.account, lasting)


def charging(data: Private, charge: Charge, ledger: str | Path | None = None, lasting: bool = True) -> contextlib.AbstractContextManager[Paid]:
    """Leave to draw on these data: `Account.charged`, or at once where they are public."""
    account = account_of(data, ledger, lasting)
    return contextlib.nullcontext(Paid(private=False)) if account is None else account.charged(charge)


def sweep(there: Collection[str]) -> None:
    """Forget the accounts of uploads that are gone. there: fingerprints of those that are not."""
    file = data_folder() / FILE
    if file.exists():
        with _open(file) as db:
            _remove(db, [key for (key,) in db.execute("SELECT key FROM accounts WHERE NOT lasting") if key not in there])


# ---- copies -----------------------------------------------------------------------------------------------------------


def copied(file: Path) -> list[dict[str, Any]]:
    """Every account of a file with all its entries, as plain values for JSON."""
    if not file.exists():
        return []
    with _open(file) as db:
        return [
            {"key": key, "lasting": bool(lasting), "budget": budget, "entries": _copied_entries(db, key)}
            for key, lasting, budget in db.execute("SELECT key, lasting, budget FROM accounts ORDER BY key").fetchall()
        ]


def _copied_entries(db: sqlite3.Connection, key: str) -> list[dict[str, str]]:
    found = db.execute("SELECT uid, made, state, charge FROM entries WHERE account = ? ORDER BY id", (key,))
    return [dict(zip(("uid", "made", "state", "charge"), row, strict=True)) for row in found]


def check_copy(copy: Sequence[Any]) -> None:
    """Raises ValueError, KeyError or TypeError where these are not accounts as `copied` gives them."""
    for account in copy:
        _text(account["key"])
        bool(account["lasting"])
        if account["budget"] is not None:
            Budget.model_validate_json(account["budget"])
        for entry in account["entries"]:
            _charge(json.loads(entry["charge"]))
            for name in ("uid", "made", "state"):
                _text(entry[name])


def _text(value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"a text is missing where {value!r} stands")


def merge(file: Path, copy: Sequence[Any]) -> list[str]:
    """Add what a copy knows and the file does not: accounts, charges, budgets; what was done, in sentences.

    Nothing that the file holds is removed or made smaller: what was drawn since the copy was made stays charged.
    Raises BadInput where the file cannot be written.
    """
    if not copy:
        return []
    with _open(file) as db:
        added = {account["key"]: _merge_one(db, account) for account in copy}
        since = _since(db, copy)
    charges = sum(added.values())
    said = [f"{charges} charges of {sum(map(bool, added.values()))} accounts of private data were added."] if charges else []
    if since:
        said.append(f"{since} charges that were made after the backup were kept: what was drawn stays drawn, so accounts are larger than in the backup.")
    return said


def _merge_one(db: sqlite3.Connection, account: dict[str, Any]) -> int:
    """How many charges were added. A budget of the copy counts only where the file has none."""
    db.execute(
        "INSERT INTO accounts (key, lasting, budget) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
        "lasting = max(lasting, excluded.lasting), budget = coalesce(budget, excluded.budget)",
        (account["key"], int(account["lasting"]), account["budget"]),
    )
    known = {uid for (uid,) in db.execute("SELECT uid FROM entries WHERE account = ?", (account["key"],))}
    new = [entry for entry in account["entries"] if entry["uid"] not in known]
    for entry in new:
        row = (account["key"], entry["made"], entry["state"], entry["charge"], entry["uid"])
        db.execute("INSERT INTO entries (account, made, state, charge, uid) VALUES (?, ?, ?, ?, ?)", row)
    return len(new)


def _since(db: sqlite3.Connection, copy: Sequence[Any]) -> int:
    """How many charges of the file the copy does not know."""
    known = {entry["uid"] for account in copy for entry in account["entries"]}
    return sum(uid not in known for (uid,) in db.execute("SELECT uid FROM entries"))


def _remove(db: sqlite3.Connection, keys: list[str]) -> None:
    for key in keys:
        db.execute("DELETE FROM entries WHERE account = ?", (key,))
        db.execute("DELETE FROM accounts WHERE key = ?", (key,))


@contextlib.contextmanager
def _open(file: Path) -> Iterator[sqlite3.Connection]:
    """The file under SQLite's write lock, committed in the end. Raises BadInput where it cannot be opened or written."""
    try:
        made(file.absolute().parent)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite would make it readable by others
        with contextlib.closing(sqlite3.connect(file, timeout=30.0, isolation_level=None)) as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("BEGIN IMMEDIATE")
            _laid_out(db, file)
            yield db
            db.execute("COMMIT")  # what goes wrong before leaves the file as it was
    except (OSError, sqlite3.Error) as error:
        raise BadInput(
            f"The account of private data in {file} cannot be kept ({error}), so nothing is drawn. Make room or repair that file, or set DPMF_DATA to "
            "another folder."
        ) from error


def _laid_out(db: sqlite3.Connection, file: Path) -> None:
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found > SCHEMA:
        raise BadInput(f"{file} was written by a newer version (layout {found}; this one knows {SCHEMA}). Update dpmf, or name another file.")
    if found == SCHEMA:
        return
    for table in TABLES:
        db.execute(table)
    if found == 1:
        db.execute("ALTER TABLE entries ADD COLUMN uid TEXT")
        db.execute(f"UPDATE entries SET uid = {NAMED_AT_RANDOM}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")


# ---- as JSON ----------------------------------------------------------------------------------------------------------


def _plain(charge: Charge) -> dict[str, Any]:
    return {
        "title": charge.title, "ledger": ledger_rows(charge.ledger), "status": str(charge.status), "unit": charge.unit, "delta": charge.delta,
        "relation": str(charge.relation), "price": charge.price,
    }  # fmt: skip


def _charge(plain: dict[str, Any]) -> Charge:
    ledger = normal_form(event_of_rows(plain["ledger"]))
    price = tuple(plain["price"]) if plain["price"] else None
    return Charge(plain["title"], ledger, Status(plain["status"]), plain["unit"], plain["delta"], Relation(plain["relation"]), price)
