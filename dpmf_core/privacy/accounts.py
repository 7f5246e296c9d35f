"""The account of each private data set, on disk.

A run is charged before the first draw of noise and settled to what it drew. An account is found by
its data's fingerprint in `accounts.sqlite` of the data folder, or in a ledger file of its own.
Joined accounts share all their entries and budgets. Every change is one SQLite transaction, so
several processes may use the file; a process that is killed leaves its whole plan charged. The file
holds what was released and when, and only the fingerprint of the data. Only its owner can read it.
"""

import contextlib
import json
import multiprocessing
import os
import secrets
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np

from dpmf_core.base.documents import html_table
from dpmf_core.base.errors import BadInput, Cancelled, checked
from dpmf_core.base.hashing import OWNED_BY
from dpmf_core.privacy import (
    Event,
    Guarantee,
    Ledger,
    Noise,
    Relation,
    normal_form,
    sequence,
)
from dpmf_core.privacy.account_files import (
    JOINED,
    accounts_file,
    charge_of_plain,
    open_file,
    plain_charge,
)
from dpmf_core.privacy.account_texts import NOT_COVERED as NOT_COVERED
from dpmf_core.privacy.account_texts import account_text
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.events import event_of
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.odometer import (
    AccountEntry,
    AccountLine,
    Charge,
    Total,
    check,
    lines,
    total,
)
from dpmf_core.privacy.receipts import Private

LEDGER = "DPMF_LEDGER"  # the environment variable that names the default ledger file
# the key to which data in hand are joined; set at import, because workers that a search starts
# before the first charge inherit it from the environment
PROCESS_KEY = "DPMF_ACCOUNT"
if multiprocessing.parent_process() is None:
    os.environ.setdefault(PROCESS_KEY, secrets.token_hex(16))
OWN_FILE_KEY = "this ledger"  # the only account in a ledger file
ChargeState = Literal["finished", "cancelled", "failed"]
LedgerFile = str | Path | None  # of an account; None for the default


class NoisePermit:
    """Permission to draw noise: the cost is charged already, or the data are public.

    It is the only way to get a `Noise`.

    Parameters
    ----------
    private : bool
        Whether the noise comes from a secret stream, whatever seed is given.
    entry : str
        The random name of the charge, on private data.

    Attributes
    ----------
    guarantee : Guarantee or None
        Set once the work's guarantee is known. The account takes its status from it.
    """

    guarantee: Guarantee | None = None

    def __init__(self, private: bool, entry: str = "") -> None:
        self.entry = entry
        self._private = private
        self._noises: list[Noise] = []

    def noise(
        self,
        plan: Event,
        seed: np.random.SeedSequence | None = None,
        whole_triangle: bool = False,
    ) -> Noise:
        """The noise of one plan, which must be part of the charge."""
        made_noise = Noise(plan, None if self._private else seed, whole_triangle)
        self._noises.append(made_noise)
        return made_noise

    @property
    def ledger(self) -> Ledger:
        """Everything released so far."""
        return normal_form(
            sequence(*(event_of(noise.ledger) for noise in self._noises))
        )


@dataclass(frozen=True)
class Account:
    """The account of one private data set.

    Attributes
    ----------
    file : Path
        Where it is kept.
    key : str
        The data's fingerprint.
    lasting : bool
        Whether it outlives the uploads of the data.
    together : tuple of str
        Keys of accounts that a charge or a budget joins this one to.
    """

    file: Path
    key: str = OWN_FILE_KEY
    lasting: bool = True
    together: tuple[str, ...] = ()

    # -- reading -----------------------------------------------------------------------------------

    @property
    def _keys(self) -> dict[str, str]:
        """The parameters of the `JOINED` query."""
        return {"keys": json.dumps([self.key, *self.together])}

    @property
    def entries(self) -> tuple[AccountEntry, ...]:
        """All charges, oldest first."""
        if not self.file.exists():
            return ()
        with open_file(self.file) as db:
            return self._entries(db)

    def _entries(self, db: sqlite3.Connection) -> tuple[AccountEntry, ...]:
        rows = db.execute(
            f"SELECT charge, made, state FROM entries WHERE account IN ({JOINED}) ORDER BY id",
            self._keys,
        )
        return tuple(
            AccountEntry(charge_of_plain(json.loads(charge)), when, state)
            for charge, when, state in rows
        )

    @property
    def budget(self) -> AccountBudget | None:
        """The budget, or None; of joined accounts the smallest."""
        if not self.file.exists():
            return None
        with open_file(self.file) as db:
            return min(self._budgets(db), key=lambda budget: budget.mu, default=None)

    def _budgets(self, db: sqlite3.Connection) -> list[AccountBudget]:
        rows = db.execute(
            f"SELECT DISTINCT budget FROM accounts WHERE key IN ({JOINED}) AND budget IS NOT NULL",
            self._keys,
        )
        return [AccountBudget.model_validate_json(budget) for (budget,) in rows]

    @property
    def total(self) -> Total:
        """The composed cost of all charges."""
        return self.after(())

    def after(self, more: Sequence[Charge]) -> Total:
        """The composed cost of all charges and further ones."""
        return total([*(entry.charge for entry in self.entries), *more], self.budget)

    def _repr_html_(self) -> str:
        rows = [
            (
                line.title,
                line.times,
                epsilon_text(line.each),
                epsilon_text(line.together),
                line.state,
                line.first,
                line.last,
            )
            for line in self.lines
        ]
        head = [
            "what",
            "times",
            "ε each",
            "ε together",
            "state",
            "first (UTC)",
            "last (UTC)",
        ]
        return html_table(head, rows, f"{self.total.words}. {NOT_COVERED}")

    def __repr__(self) -> str:
        return f"<Account: {self.total.words}>"

    def __str__(self) -> str:
        return account_text(self.total, self.budget, self.lines, self.n_raw_errors)

    @property
    def lines(self) -> list[AccountLine]:
        """The total's parts, equal charges together, oldest first."""
        return lines(self.entries, self.budget)

    @property
    def n_raw_errors(self) -> int:
        """The number of charges of runs whose errors on the raw data are shown."""
        return sum(entry.charge.shows_raw_errors for entry in self.entries)

    # -- charging ----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def reserve(self, charge: Charge) -> Iterator[NoisePermit]:
        """Charge in full, permit drawing, and settle to what was drawn.

        Raises
        ------
        BadInput
            If the budget does not allow the charge or the account cannot be written. Then nothing
            is drawn.
        """
        name = secrets.token_hex(16)
        entry = self.enter(charge, name)
        permit = NoisePermit(private=True, entry=name)
        state: ChargeState = "failed"
        try:
            yield permit
            state = "finished"
        except (Cancelled, KeyboardInterrupt):
            state = "cancelled"
            raise
        finally:
            # the full charge stays, which is never too little
            with contextlib.suppress(BadInput):
                self.settle(entry, charge.under(permit.guarantee), permit.ledger, state)

    def enter(self, charge: Charge, name: str | None = None) -> int:
        """Add a charge.

        Parameters
        ----------
        charge : Charge
        name : str, optional
            The name of the entry; by default a random one.

        Returns
        -------
        int
            The number of the entry.

        Raises
        ------
        BadInput
            If a budget does not allow the charge. Then nothing is added.
        """
        with open_file(self.file) as db:
            return self._enter(
                db, charge, name or secrets.token_hex(16), "running", _now()
            )

    def enter_stored(self, charge: Charge, name: str, drawn_at: str) -> None:
        """Add the charge of a stored result, unless the account holds an entry of this name.

        Parameters
        ----------
        charge : Charge
        name : str
        drawn_at : str
            ISO 8601, UTC; '' if unknown.

        Raises
        ------
        BadInput
            If a budget does not allow the charge. Then nothing is added.
        """
        holds = f"SELECT 1 FROM entries WHERE uid = :name AND account IN ({JOINED})"
        with open_file(self.file) as db:
            if db.execute(holds, {**self._keys, "name": name}).fetchone() is None:
                self._enter(db, charge, name, "finished", drawn_at or _now())

    def _enter(
        self,
        db: sqlite3.Connection,
        charge: Charge,
        name: str,
        state: str,
        drawn_at: str,
    ) -> int:
        self._there(db)
        before = [entry.charge for entry in self._entries(db)]
        for budget in self._budgets(db):
            check(before, [charge], budget)
        query = "INSERT INTO entries (account, made, state, charge, uid) VALUES (?, ?, ?, ?, ?)"
        row = (self.key, drawn_at, state, json.dumps(plain_charge(charge)), name)
        return int(db.execute(query, row).lastrowid or 0)

    def settle(
        self, entry: int, charge: Charge, ledger: Ledger | None, state: ChargeState
    ) -> None:
        """Settle an entry to what was drawn.

        Work that failed before its first release leaves no entry.

        Parameters
        ----------
        entry : int
            The number of the entry.
        charge : Charge
        ledger : Ledger or None
            What was drawn. If it is None, which means unknown, the whole charge stays.
        state : ChargeState
        """
        with open_file(self.file) as db:
            if state == "failed" and ledger == ():
                db.execute("DELETE FROM entries WHERE id = ?", (entry,))
                return
            row = (json.dumps(plain_charge(charge.settled(ledger))), state, entry)
            db.execute("UPDATE entries SET charge = ?, state = ? WHERE id = ?", row)

    def _there(self, db: sqlite3.Connection) -> None:
        for key in (self.key, *self.together):
            db.execute(
                "INSERT INTO accounts (key, lasting) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET"
                " lasting = max(lasting, excluded.lasting)",
                (key, int(self.lasting)),
            )
        if self.together:
            keys = db.execute(JOINED, self._keys).fetchall()
            join = "UPDATE accounts SET joined = ? WHERE key = ?"
            db.executemany(join, [(self.together[0], key) for (key,) in keys])

    def set_budget(
        self,
        epsilon: float | None,
        delta: float | None = None,
        relation: Relation | str = Relation.ADD_REMOVE,
        *,
        allow_unprotected: bool = False,
    ) -> None:
        """Limit the composed cost of everything drawn from the data, past releases included.

        Parameters
        ----------
        epsilon : float or None
            Above 0; None removes the budget.
        delta : float
            Above 0 and below 1.
        relation
            Which data sets are neighbours.
        allow_unprotected
            Whether to allow work that has no epsilon for a row of the data.

        Raises
        ------
        BadInput
            If the budget is invalid, already exceeded, or does not cover what was drawn.
        """
        budget = None
        if epsilon is not None:
            parts = {
                "epsilon": epsilon,
                "delta": delta,
                "relation": relation,
                "allow_unprotected": allow_unprotected,
            }
            budget = checked(AccountBudget, "the budget", parts)
        with open_file(self.file) as db:
            if budget is not None:
                check([entry.charge for entry in self._entries(db)], (), budget)
            self._there(db)
            db.execute(
                f"UPDATE accounts SET budget = :budget WHERE key IN ({JOINED})",
                self._keys | {"budget": budget.model_dump_json() if budget else None},
            )

    def forget(self) -> None:
        """Remove the account and those that it is joined to. Past releases stay public."""
        if self.file.exists():
            with open_file(self.file) as db:
                _remove(db, _joined(db, self.key))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def account_of(
    data: Private,
    ledger: LedgerFile = None,
    lasting: bool = True,
    *,
    in_hand: bool = False,
) -> Account | None:
    """The account of a run on these data; None if the data are public.

    A charge also joins the accounts of data with the same rows, such as a file and a frame, or two
    files. On a server only those of one session or login are joined.

    Parameters
    ----------
    data
        The data of the run.
    ledger
        The file of the account. None takes the one that DPMF_LEDGER names, else the data folder's.
    lasting
        See `Account`.
    in_hand
        Whether the data came as a frame or as arrays. Parts of one frame, such as folds, hold the
        same people's rows, and nothing identifies them as such. So a charge joins the accounts of
        all data that this process, and those it starts, hold in hand.

    Raises
    ------
    BadInput
        For data in hand, if this is a worker process that does not know which account it shares.
    """
    if data.public:
        return None
    ledger = ledger or os.environ.get(LEDGER)
    if ledger is not None:
        return Account(Path(ledger).expanduser())
    process = (_process_key(),) if in_hand else ()
    return Account(
        accounts_file(), data.account, lasting, (*process, *_key_of_rows(data))
    )


def _key_of_rows(data: Private) -> tuple[str, ...]:
    """The key that joins the accounts of one owner on data with the same rows."""
    if not data.row_digest:
        return ()
    _, separator, owner = data.account.partition(OWNED_BY)
    return (f"rows {data.row_digest}{separator}{owner}",)


def _process_key() -> str:
    key = os.environ.get(PROCESS_KEY)
    if key is None:
        raise BadInput(
            "This worker process started before dpmf_core was imported, so its releases could not"
            " be added to those of other workers. Nothing was drawn. Name an account"
            " (ledger='search.ledger'), or fit in one process (n_jobs=1)."
        )
    return key


def charging(
    data: Private,
    charge: Charge,
    ledger: LedgerFile = None,
    lasting: bool = True,
    *,
    in_hand: bool = False,
) -> contextlib.AbstractContextManager[NoisePermit]:
    """Permit drawing from these data: `Account.reserve`, or at once if they are public."""
    account = account_of(data, ledger, lasting, in_hand=in_hand)
    if account is None:
        return contextlib.nullcontext(NoisePermit(private=False))
    return account.reserve(charge)


def sweep(uploads: Callable[[], Collection[str]]) -> None:
    """Delete the accounts of removed uploads; an account stays as long as any that it is joined to.

    Parameters
    ----------
    uploads : callable
        Gives the fingerprints of existing uploads. It is called while no account can be charged, so
        a new upload keeps its account.
    """
    file = accounts_file()
    if file.exists():
        with open_file(file) as db:
            present = uploads()
            lasting = {
                key for (key,) in db.execute("SELECT key FROM accounts WHERE lasting")
            }
            keys = [
                key
                for (key,) in db.execute("SELECT key FROM accounts WHERE NOT lasting")
            ]
            groups = {key: _joined(db, key) for key in keys}
            _remove(
                db,
                [
                    key
                    for key in keys
                    if not {*lasting, *present}.intersection(groups[key])
                ],
            )


@dataclass(frozen=True)
class SharedFile:
    """What several sessions or logins drew from copies of one file.

    Attributes
    ----------
    fingerprint : str
        The fingerprint of the file.
    n_accounts : int
        The number of sessions or logins with an account of it.
    total : Total
        All their releases composed. Each account's own total is smaller.
    """

    fingerprint: str
    n_accounts: int
    total: Total


def shared_files() -> list[SharedFile]:
    """The files from which more than one session or login has drawn, for the operator."""
    file = accounts_file()
    if not file.exists():
        return []
    with open_file(file) as db:
        query = "SELECT account, charge FROM entries WHERE account LIKE ? ORDER BY id"
        rows = db.execute(query, (f"%{OWNED_BY}%",)).fetchall()
    charges: dict[str, dict[str, list[Charge]]] = {}
    for key, charge in rows:
        fingerprint = key.partition(OWNED_BY)[0]
        plain = charge_of_plain(json.loads(charge))
        charges.setdefault(fingerprint, {}).setdefault(key, []).append(plain)
    return [
        SharedFile(
            name,
            len(accounts),
            total([charge for part in accounts.values() for charge in part]),
        )
        for name, accounts in charges.items()
        if len(accounts) > 1
    ]


def _joined(db: sqlite3.Connection, key: str) -> list[str]:
    """The keys of an account and of all that are joined to it."""
    keys = {"keys": json.dumps([key])}
    return [joined_key for (joined_key,) in db.execute(JOINED, keys)]


def _remove(db: sqlite3.Connection, keys: list[str]) -> None:
    for key in keys:
        db.execute("DELETE FROM entries WHERE account = ?", (key,))
        db.execute("DELETE FROM accounts WHERE key = ?", (key,))
