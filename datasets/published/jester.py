"""Jester jokes (Goldberg et al. 2001): tables of 100 jokes a row, in the spreadsheets they are
published in or exported to CSV.

A row is a person: first a count, then 100 ratings in [-10, 10], 99 where she gave none. Ratings are
rescaled to 0 ... 5 as in Jain, Thakkar & Thakurta 2018.
"""

import csv
import io
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from dpmf_core.data.catalogue import Entry
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_datasets.published.movielens import published_or_private
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.arrow_tables import first_sheet
from dpmf_datasets.readers.report import (
    CLAMPED_VALUE,
    NOT_A_NUMBER,
    RAGGED_LINE,
    WRONG_COUNT,
    Report,
    Tally,
)
from dpmf_datasets.readers.table import file_name

JOKES, NOT_RATED, LIMIT = 100, 99.0, 10.0
SUFFIXES = (".xls", ".csv", ".txt")


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """One table, or all tables of a folder or zip in the order of their names, people one below
    the other.
    """
    with members_of(path) as members:
        names = sorted(
            name
            for name in members.names
            if name.lower().endswith(SUFFIXES) and not Path(name).name.startswith((".", "__"))
        )
        if not names:
            examples = ", ".join(map(file_name, members.names[:5])) or "nothing"
            raise BadInput(
                f"{file_name(path)} has no table of jokes: {', '.join(SUFFIXES)} with a count and"
                f" {JOKES} ratings a row. Found: {examples}."
            )
        tally = Tally()
        tables: list[npt.NDArray[np.float64]] = []
        for name in names:
            tables.append(_table(members, name, tally, first=sum(map(len, tables))))
    return _ratings(entry, np.concatenate(tables), tally)


def _table(members: Members, name: str, tally: Tally, first: int) -> npt.NDArray[np.float64]:
    """Rows of 1 + 100 numbers, NaN where text stands; rows of another width become empty
    people, so that the others keep their numbers.
    """
    import pandas as pd

    with members.open(name) as stream:
        is_sheet = name.lower().endswith(".xls")
        cells = first_sheet(stream.read(), name) if is_sheet else _text(stream)
    right = [len(row) == 1 + JOKES for row in cells]
    tally.add(
        RAGGED_LINE,
        first + np.flatnonzero(~np.array(right, bool)),
        next((len(row) for row in cells if len(row) != 1 + JOKES), ""),
    )
    table = np.full((len(cells), 1 + JOKES), NOT_RATED)
    table[:, 0] = 0
    numbers = pd.DataFrame([row for row, fits in zip(cells, right, strict=True) if fits]).apply(
        pd.to_numeric, errors="coerce"
    )
    if len(numbers):
        table[right] = numbers.to_numpy(np.float64)
    return table


def _text(stream: BinaryIO) -> list[list[Any]]:
    text = stream.read().decode("latin-1")
    separator = max(",;\t", key=text[:5000].count)
    return [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row]


def _ratings(entry: Entry, table: npt.NDArray[np.float64], tally: Tally) -> tuple[Ratings, Report]:
    counts, values = table[:, 0], table[:, 1:]
    is_rated = values != NOT_RATED
    unread, outside = is_rated & ~np.isfinite(values), is_rated & (np.abs(values) > LIMIT)
    for kind, where in (
        (NOT_A_NUMBER, unread),
        (CLAMPED_VALUE, outside),
        (WRONG_COUNT, (counts != is_rated.sum(axis=1))[:, None]),
    ):
        rows = np.flatnonzero(where.any(axis=1))
        tally.add(
            kind,
            rows,
            (
                float(counts[rows[0]])
                if kind == WRONG_COUNT and len(rows)
                else values[where][0]
                if len(rows) and kind == CLAMPED_VALUE
                else ""
            ),
        )
    users, items = np.nonzero(is_rated & np.isfinite(values))
    scores = (values[users, items].clip(-LIMIT, LIMIT) + LIMIT) / 4
    ratings = Ratings.of(
        users,
        items,
        scores,
        n_users=len(table),
        n_items=JOKES,
        bounds=entry.bounds,
        name=entry.id,
        titles=tuple(f"Joke {j + 1}" for j in range(JOKES)),
    )
    problems = tuple(tally.problems(lambda row: row + 1))
    report = Report(
        name=entry.id,
        read=int(is_rated.sum()),
        kept=len(ratings),
        n_users=len(table),
        n_items=JOKES,
        problems=problems,
    )
    return published_or_private(entry, ratings, report)
