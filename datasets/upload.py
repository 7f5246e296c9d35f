"""Ratings from any table a person has: columns recognised, bad rows left out, everything repaired or refused counted in a report."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from datasets.cleaning import Rows, collect
from datasets.report import DROPPED, EMPTY_USER, Problem, Report
from datasets.tables import Table, damage_told, is_number, open_table
from dpmf_core.data import ITEM_SET_IS_PUBLIC, Ratings
from dpmf_core.errors import BadInput

Source = str | Path | bytes | BinaryIO

# Names of columns, without case and punctuation, as ratings files use them; the earlier the surer.
KNOWN = {
    "user": "user userid uid users username customer customerid member memberid reviewer reviewerid viewer viewerid person personid student account "
    "accountid profile profileid u",
    "item": "item itemid iid movie movieid film filmid product productid asin book bookid isbn song songid track trackid artist artistid anime animeid "
    "game gameid business businessid joke jokeid article articleid title movietitle name i",
    "rating": "rating ratings score scores stars star value overall grade vote rate bookrating r",
    "time": "timestamp time unixtime unixreviewtime datetime date rank order position ts",
    "title": "title movietitle filmtitle booktitle itemtitle itemname productname name",
}
ROLES = ("user", "item", "rating", "time")
BEGINNINGS: dict[str, tuple[str, ...]] = {"user": ("client", "buyer", "subject"), "item": (), "rating": ("points", "mark"), "time": ("when",), "title": ()}
USERS_ARE_PUBLIC = "the number of users is public"
BOTH_ARE_PUBLIC = "the number of users and the item set are public"


def read_table(
    path_or_buffer: Source, *, name: str, bounds: tuple[float, float] | None = None, columns: Mapping[str, str] | None = None,
    n_users: int | None = None, n_items: int | None = None,
) -> tuple[Ratings, Report]:  # fmt: skip
    """The ratings of a CSV, TSV or Parquet table (also .gz), and a report of what was repaired or left out.

    bounds: the lowest and highest rating that can be given, public, so declared and not read off the data.
    columns: {"user" | "item" | "rating" | "time" | "title": column name} where the detection would choose others.
    n_users, n_items: declared sizes; where None, the file's own count is used and the ratings say that it is assumed public.
    Raises BadInput when the table is no ratings table, holds one user only, or more than half of its rows cannot be used.
    """
    ratings, report, _ = read_labelled(path_or_buffer, name=name, bounds=bounds, columns=columns, n_users=n_users, n_items=n_items)
    return ratings, report


def read_labelled(
    source: Source, *, name: str, bounds: tuple[float, float] | None, columns: Mapping[str, str] | None = None,
    n_users: int | None = None, n_items: int | None = None,
) -> tuple[Ratings, Report, tuple[str, ...]]:  # fmt: skip
    """As `read_table`, and the id that each item has in the file."""
    low, high = _declared(bounds, name)
    with damage_told(name):
        table = open_table(source, name)
        chosen = _columns(table, dict(columns or {}), name)
        rows = collect(table, chosen, (low, high))
    _usable(rows, table, chosen, name)
    users, items = len(rows.user_labels), len(rows.item_labels)
    size = (_size(n_users, users, "users", name), _size(n_items, items, "items", name))
    empty = np.bincount(rows.users, minlength=users) == 0
    titles = (*rows.titles, *(f"item {j}" for j in range(items, size[1])))
    ratings = Ratings.of(
        rows.users, rows.items, rows.values, n_users=size[0], n_items=size[1], bounds=(low, high), order=rows.order,
        titles=titles, name=name, assumptions=_assumptions(n_users, n_items),
    )  # fmt: skip
    problems = rows.problems + ((Problem(EMPTY_USER, int(empty.sum())),) if empty.any() else ())
    report = Report(
        name=name, read=rows.read, kept=len(ratings), n_users=size[0], n_items=size[1],
        problems=problems, columns=tuple((role, _called(table, j)) for role, j in chosen.items()),
    )  # fmt: skip
    return ratings, report, rows.item_labels


def _declared(bounds: tuple[float, float] | None, name: str) -> tuple[float, float]:
    if bounds is None:
        raise BadInput(
            f"The lowest and highest rating of {name} are not declared, and reading them off private data would tell something about it. "
            "Declare them, e.g. bounds=(1, 5), or on the command line ratings.csv?bounds=1,5."
        )
    if len(bounds) != 2 or not (math.isfinite(bounds[0]) and math.isfinite(bounds[1]) and bounds[0] < bounds[1]):
        raise BadInput(f"The declared rating bounds of {name} must be two finite numbers, lowest first, e.g. (1, 5). Got {tuple(bounds)}.")
    return float(bounds[0]), float(bounds[1])


def _columns(table: Table, asked: dict[str, str], name: str) -> dict[str, int]:
    """Which column plays which role: as asked for, by its name, or by place where there is no header."""
    if unknown := set(asked) - set(KNOWN):
        raise BadInput(f"Columns can be named for {', '.join(KNOWN)}. Got {', '.join(sorted(unknown))}.")
    if not table.names:
        return _by_place(table, asked, name)
    chosen: dict[str, int] = {}
    for role, column in asked.items():
        if column not in table.names:
            raise BadInput(f"{name} has no column '{column}'. Its columns: {_few(table.names)}.")
        chosen[role] = table.names.index(column)
    plain = [re.sub(r"[^a-z0-9]", "", column.lower()) for column in table.names]
    for role in (role for role in KNOWN if role not in chosen):
        free = [known for known in KNOWN[role].split() if known in plain and plain.index(known) not in chosen.values()]
        if free:
            chosen[role] = plain.index(free[0])
    if missing := [role for role in ("user", "item", "rating") if role not in chosen]:
        raise BadInput(
            f"No column of {name} is recognised as the {' or the '.join(missing)}. Its columns: {_few(table.names)}. "
            f"Name it, e.g. columns={{'{missing[0]}': '{_few(table.names[-1:])}'}}, or rename the column to {missing[0]}."
        )
    return chosen


def _few(names: Sequence[str]) -> str:
    """The first names of a header, shortened, without what cannot be printed."""
    plain = ["".join(letter for letter in name if letter.isprintable())[:40] for name in names[:20]]
    return ", ".join(plain) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")


def detected(table: Table) -> dict[str, str]:
    """The column of each role as far as names or places tell; a role that is not recognised is left out."""
    if not table.names:
        return {role: f"column {j + 1}" for role, j in zip(ROLES, range(len(table.first)), strict=False)}
    plain = {column: re.sub(r"[^a-z0-9]", "", column.lower()) for column in table.names}
    chosen: dict[str, str] = {}
    for whole in (True, False):  # a column's whole name first, then what it begins with
        for role in (role for role in KNOWN if role not in chosen):
            known = [word for word in (*KNOWN[role].split(), *BEGINNINGS[role]) if whole or len(word) > 3]
            fits = [column for word in known for column, text in plain.items() if (text == word if whole else text.startswith(word))]
            if free := [column for column in fits if column not in chosen.values()]:
                chosen[role] = free[0]
    return chosen


def _by_place(table: Table, asked: dict[str, str], name: str) -> dict[str, int]:
    if asked:
        raise BadInput(f"{name} has no header, so its columns have no names: they are user, item, rating and, if there, time, in this order.")
    if len(table.first) < 3 or not is_number(table.first[2]):
        raise BadInput(f"{name} has no header and its first row is not user, item, rating: {', '.join(table.first)[:80]}. Add a header: user,item,rating.")
    return {role: j for j, role in enumerate(ROLES[: len(table.first)])}


def _called(table: Table, column: int) -> str:
    return table.names[column] if table.names else f"column {column + 1}"


def _usable(rows: Rows, table: Table, chosen: dict[str, int], name: str) -> None:
    """Refuses what no algorithm could use."""
    if not rows.read:
        raise BadInput(f"{name} has no rows below its header. A ratings table has a row per rating: user, item, rating.")
    lost = [problem for problem in rows.problems if problem.kind in DROPPED]
    count = sum(problem.count for problem in lost)
    if 2 * count > rows.read:
        worst = max(lost, key=lambda problem: problem.count)
        raise BadInput(
            f"{count:,} of the {rows.read:,} rows of {name} cannot be used, more than half. The first with '{worst.kind}' is {table.unit} {worst.lines[0]:,}: "
            f"'{worst.example}' (the rating is read from the column '{_called(table, chosen['rating'])}'). Every row needs a user, an item and a number."
        )
    if len(np.unique(rows.users)) < 2:
        raise BadInput(f"{name} holds usable ratings of one user only. What one user shares with others cannot be learned from one: at least 2 are needed.")


def _size(declared: int | None, found: int, what: str, name: str) -> int:
    if declared is not None and declared < found:
        raise BadInput(f"{name} was declared to have {declared:,} {what}. It has {found:,}: declare at least as many.")
    return found if declared is None else declared


def _assumptions(n_users: int | None, n_items: int | None) -> tuple[str, ...]:
    if n_users is None and n_items is None:
        return (BOTH_ARE_PUBLIC,)
    return (USERS_ARE_PUBLIC,) * (n_users is None) + (ITEM_SET_IS_PUBLIC,) * (n_items is None)
