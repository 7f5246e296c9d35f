"""Copies of the accounts: made, checked, merged."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpmf_core.privacy import Budget
from dpmf_core.privacy.account_files import as_text, charge_of_plain, open_file


def account_copies(file: Path) -> list[dict[str, Any]]:
    """Every account of a file with all its entries, as plain values for JSON."""
    if not file.exists():
        return []
    with open_file(file) as db:
        return [
            {
                "key": key,
                "lasting": bool(lasting),
                "budget": budget,
                "entries": _copied_entries(db, key),
            }
            for key, lasting, budget in db.execute(
                "SELECT key, lasting, budget FROM accounts ORDER BY key"
            ).fetchall()
        ]


def _copied_entries(db: sqlite3.Connection, key: str) -> list[dict[str, str]]:
    rows = db.execute(
        "SELECT uid, made, state, charge FROM entries WHERE account = ? ORDER BY id", (key,)
    )
    return [dict(zip(("uid", "made", "state", "charge"), row, strict=True)) for row in rows]


def check_copy(copy: Sequence[Any]) -> None:
    """Raises ValueError, KeyError or TypeError where these are not accounts as `account_copies`
    gives them.
    """
    for account in copy:
        as_text(account["key"])
        bool(account["lasting"])
        if account["budget"] is not None:
            Budget.model_validate_json(account["budget"])
        for entry in account["entries"]:
            charge_of_plain(json.loads(entry["charge"]))
            for name in ("uid", "made", "state"):
                as_text(entry[name])


def merge(file: Path, copy: Sequence[Any]) -> list[str]:
    """Add what a copy knows and the file does not: accounts, charges, budgets; what was done, in
    sentences.

    Nothing that the file holds is removed or made smaller: what was drawn since the copy was made
    stays charged.
    Raises BadInput where the file cannot be written.
    """
    if not copy:
        return []
    with open_file(file) as db:
        n_added = {account["key"]: _merge_one(db, account) for account in copy}
        since = _since(db, copy)
    charges = sum(n_added.values())
    sentences = (
        [
            f"{charges} charges of {sum(map(bool, n_added.values()))} accounts of private data were"
            " added."
        ]
        if charges
        else []
    )
    if since:
        sentences.append(
            f"{since} charges that were made after the backup were kept: what was drawn stays"
            " drawn, so accounts are larger than in the backup."
        )
    return sentences


def _merge_one(db: sqlite3.Connection, account: dict[str, Any]) -> int:
    """How many charges were added. A budget of the copy counts only where the file has none."""
    db.execute(
        "INSERT INTO accounts (key, lasting, budget) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE"
        " SET lasting = max(lasting, excluded.lasting), budget = coalesce(budget, excluded.budget)",
        (account["key"], int(account["lasting"]), account["budget"]),
    )
    known_ids = {
        uid for (uid,) in db.execute("SELECT uid FROM entries WHERE account = ?", (account["key"],))
    }
    new = [entry for entry in account["entries"] if entry["uid"] not in known_ids]
    for entry in new:
        row = (account["key"], entry["made"], entry["state"], entry["charge"], entry["uid"])
        db.execute(
            "INSERT INTO entries (account, made, state, charge, uid) VALUES (?, ?, ?, ?, ?)", row
        )
    return len(new)


def _since(db: sqlite3.Connection, copy: Sequence[Any]) -> int:
    """How many charges of the file the copy does not know."""
    known_ids = {entry["uid"] for account in copy for entry in account["entries"]}
    return sum(uid not in known_ids for (uid,) in db.execute("SELECT uid FROM entries"))


def _remove(db: sqlite3.Connection, keys: list[str]) -> None:
    for key in keys:
        db.execute("DELETE FROM entries WHERE account = ?", (key,))
        db.execute("DELETE FROM accounts WHERE key = ?", (key,))
