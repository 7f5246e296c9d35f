"""Ratings from any table: columns are recognised, bad rows left out, and everything counted."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keys_of_ids
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings
from dpmf_datasets.readers.cleaning import Rows, collect
from dpmf_datasets.readers.columns import PYTHON, Way, chosen_columns, other_columns
from dpmf_datasets.readers.dates import looks_like_times
from dpmf_datasets.readers.report import UNUSABLE, Kind, Order, Outside, Problem, Report, outside_of
from dpmf_datasets.readers.table import PREVIEW, Table, report_damage
from dpmf_datasets.readers.tables import open_table

Source = str | Path | bytes | BinaryIO | Table

VALUES_SHOWN = 3  # values of each chosen column
MOST_OUTSIDE = 10  # at most one rating in this many may lie outside the declared bounds
# sizes that may be declared: each takes memory, an item also for its name
MOST = {"users": 20_000_000, "items": 1_000_000}


class AmbiguousDates(BadInput):
    """All dates of a column can be read in two ways, and the order was not declared."""


def read_table(
    source: Source,
    *,
    name: str,
    bounds: tuple[float, float] | None = None,
    columns: Mapping[str, str] | None = None,
    n_users: int | None = None,
    n_items: int | None = None,
    dates: Order | None = None,
    encoding: str | None = None,
    outside: Outside = "clamp",
    way: Way = PYTHON,
) -> tuple[Ratings, Report]:
    """Read ratings from a table, and report what was repaired or left out.

    Parameters
    ----------
    source : path, bytes, binary file or Table
        CSV, TSV, Parquet, Feather, lines of JSON, a spreadsheet, arrays of numpy; texts also .gz.
    name : str
        The table's name in messages.
    bounds : (float, float)
        The lowest and highest possible rating: declared and public, not read from the data.
    columns : mapping, optional
        {"user" | "item" | "rating" | "time" | "title": column name} if the detection would choose
        others.
    n_users, n_items : int, optional
        Declared sizes; by default the file's own counts, which the ratings then assume public.
    dates : {"dmy", "mdy"}, optional
        Whether dates such as 03/04/2021 have the day or the month first; by default the column
        tells, and the ratings assume it public.
    encoding : str, optional
        The declared encoding of a text.
    outside : {"clamp", "leave-out"}
        Whether a rating outside the bounds is set to the nearest one, or its row is left out.
        Either looks at that row and the bounds alone, so proved sensitivities hold.
    way : Way
        How the reader can declare more.

    Raises
    ------
    BadInput
        If the table is no ratings table, holds one user only, more than half of its rows cannot be
        used, or more than a tenth of its ratings lie outside the bounds.
    """
    low, high = require_bounds(bounds, name, way)
    with report_damage(name):
        table = open_table(source, name, encoding)
        places = chosen_columns(table, dict(columns or {}), name, way)
        rows = collect(table, places, (low, high), dates, outside)
    require_usable(rows.read, rows.problems, table, places, name)
    if rows.dates_are_ambiguous and way.dates:
        raise AmbiguousDates(
            f"Every date in the column '{table.shown_names[places['time']]}' of {name} can be read"
            f" in two ways, such as 03/04/2021. {way.dates}"
        )
    require_within(len(rows.values), rows.problems, table, places, (low, high), name, way)
    _of_several(rows, name)
    users, items = len(rows.user_labels), len(rows.item_labels)
    size = (
        declared_size(n_users, users, "users", name),
        declared_size(n_items, items, "items", name),
    )
    ratings = _ratings(rows, size, (low, high), name, assumed_sizes(n_users))
    report = Report(
        name=name,
        read=rows.read,
        kept=len(ratings),
        n_users=size[0],
        n_items=size[1],
        problems=(*rows.problems, *_empty_users(rows)),
        **column_facts(table, places),
        assumed=rows.reading_notes,
    )
    return ratings, report


def _ratings(
    rows: Rows,
    size: tuple[int, int],
    bounds: tuple[float, float],
    name: str,
    assumptions: tuple[str, ...],
) -> Ratings:
    """Usable rows as ratings; declared items that are not in the file get names too."""
    titles, labels = (
        (*names, *(f"item {j}" for j in range(len(rows.item_labels), size[1])))
        for names in (rows.titles, rows.item_labels)
    )
    return Ratings.of(
        rows.users,
        rows.items,
        rows.values,
        n_users=size[0],
        n_items=size[1],
        bounds=bounds,
        order=rows.order,
        titles=titles,
        labels=labels,
        user_keys=np.append(
            keys_of_ids(rows.user_labels), np.zeros(size[0] - len(rows.user_labels), np.uint64)
        ),
        name=name,
        assumptions=(*assumptions, *rows.assumptions),
    )


def _empty_users(rows: Rows) -> list[Problem]:
    """Users of the file without a usable row."""
    empty = int((np.bincount(rows.users, minlength=len(rows.user_labels)) == 0).sum())
    return [Problem(Kind.EMPTY_USER, empty)] if empty else []


def require_bounds(bounds: tuple[float, float] | None, name: str, way: Way) -> tuple[float, float]:
    """The declared bounds. Raises BadInput if they are missing or invalid."""
    if bounds is None:
        raise BadInput(
            f"The lowest and highest rating of {name} are not declared, and reading them from"
            " private data would leak information. " + way.bounds
        )
    if len(bounds) != 2 or not (
        math.isfinite(bounds[0]) and math.isfinite(bounds[1]) and bounds[0] < bounds[1]
    ):
        raise BadInput(
            f"The declared rating bounds of {name} must be two finite numbers, lowest first, e.g."
            f" (1, 5). Got {tuple(bounds)}."
        )
    return float(bounds[0]), float(bounds[1])


def column_facts(table: Table, places: Mapping[str, int]) -> dict[str, Any]:
    """The report's facts about columns: their roles, some distinct values, and unused ones."""
    names = table.shown_names
    samples = [[it.strip()[:40] for it in table.sample(j, PREVIEW)] for j in places.values()]
    return {
        "columns": tuple((role, names[j]) for role, j in places.items()),
        "values": tuple(tuple(dict.fromkeys(filter(None, it)))[:VALUES_SHOWN] for it in samples),
        "ignored": tuple(it for j, it in enumerate(names) if j not in places.values()),
    }


def require_usable(
    read: int, problems: Sequence[Problem], table: Table, places: dict[str, int], name: str
) -> None:
    """Raise BadInput on a table that no algorithm could use. read: rows that are not blank."""
    if not read:
        raise BadInput(
            f"{name} has no rows below its header. A ratings table has one row per rating: user,"
            " item, rating."
        )
    unusable = [problem for problem in problems if problem.kind in UNUSABLE]
    count = sum(problem.count for problem in unusable)
    if 2 * count > read:
        worst = max(unusable, key=lambda problem: problem.count)
        raise BadInput(
            f"{count:,} of the {read:,} rows of {name} cannot be used, more than half. The"
            f" first with '{worst.kind}' is {table.unit} {worst.lines[0]:,}: '{worst.example}' (the"
            f" rating is read from the column '{table.shown_names[places['rating']]}'). Every row"
            " needs a user, an item and a number."
        )


def _of_several(rows: Rows, name: str) -> None:
    """Refuse ratings of one person."""
    if not len(rows.users) or rows.users[0] == rows.users[-1]:  # they are sorted
        raise BadInput(
            f"{name} holds usable ratings by one user only. At least 2 users are needed."
        )


def require_within(
    usable: int,
    problems: Sequence[Problem],
    table: Table,
    places: dict[str, int],
    bounds: tuple[float, float],
    name: str,
    way: Way,
) -> None:
    """Raise BadInput if too many ratings lie outside the bounds.

    Then the column or the bounds are wrong. usable: usable ratings.
    """
    beyond = outside_of(problems)
    if beyond is None:
        return
    total = usable + (beyond.count if beyond.kind == Kind.OUTSIDE else 0)
    if MOST_OUTSIDE * beyond.count <= total:
        return
    rating = table.shown_names[places["rating"]]
    times = " They look like times." if looks_like_times((beyond.example,)) else ""
    others = other_columns(table, places["rating"])
    raise BadInput(
        f"{beyond.count:,} of the {total:,} ratings of {name}, more than a tenth, lie outside the"
        f" declared bounds {bounds[0]:g} to {bounds[1]:g}. The first is {table.unit}"
        f" {beyond.lines[0]:,}: '{beyond.example[:40]}', in the column '{rating}'.{times} If"
        f" another column holds the rating: {_inside(way.columns({'rating': others[-1]}))} If this"
        f" column does: {_inside(way.other_bounds)}"
    )


def _inside(sentence: str) -> str:
    """A sentence after a colon."""
    return sentence[0].lower() + sentence[1:]


def declared_size(size: int | None, count: int, what: str, name: str) -> int:
    """The declared number of users or items, or the count. Raises BadInput."""
    if size is not None and size < count:
        raise BadInput(
            f"{name} was declared to have {size:,} {what}. It has {count:,}: declare at least"
            " as many."
        )
    if size is not None and size > max(count, MOST[what]):
        raise BadInput(
            f"{name} was declared to have {size:,} {what}. At most {MOST[what]:,} can be"
            f" declared; it has {count:,}."
        )
    return count if size is None else size


def assumed_sizes(n_users: int | None) -> tuple[str, ...]:
    """What is taken as public: the set of items, and the number of users if not declared."""
    return (USERS_ARE_PUBLIC,) * (n_users is None) + (ITEMS_ARE_PUBLIC,)
