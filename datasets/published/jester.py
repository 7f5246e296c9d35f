"""Jester jokes (Goldberg et al. 2001): tables of 100 jokes per row, as spreadsheets or CSV.

A row is a person: first a count, then 100 ratings in [-10, 10], 99 for none. Ratings are rescaled
to 0 ... 5 as in Jain, Thakkar & Thakurta 2018.
"""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Kind, Report, Tally
from dpmf_datasets.published.movielens import published_or_private
from dpmf_datasets.readers.archives import ArchiveMembers, members_of
from dpmf_datasets.readers.spreadsheets import first_sheet
from dpmf_datasets.readers.table import file_name

JOKES = 100
NOT_RATED = 99.0
LIMIT = 10.0
SUFFIXES = (".xls", ".csv", ".txt")
NOBODY = [0, *[NOT_RATED] * JOKES]


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """Read one table, or all tables of a folder or zip, one below another in order of names."""
    with members_of(path) as members:
        names = sorted(
            name for name in members.names if name.lower().endswith(SUFFIXES)
        )
        if not names:
            raise BadInput(
                f"{file_name(path)} has no table of jokes ({', '.join(SUFFIXES)}) with a count and"
                f" {JOKES} ratings per row. Found: {members.some}."
            )
        rows = [row for name in names for row in _rows(members, name)]
    return _ratings(entry, rows)


def _rows(members: ArchiveMembers, name: str) -> list[list[Any]]:
    """The cells of a table."""
    with members.open(name) as stream:
        content = stream.read()
    if name.lower().endswith(".xls"):
        return first_sheet(io.BytesIO(content), name)
    text = content.decode("latin-1")
    separator = max(",;\t", key=text[:5000].count)
    return [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row]


def _ratings(entry: Entry, rows: list[list[Any]]) -> tuple[Ratings, Report]:
    """Convert rows to ratings.

    Rows of another width become people without ratings, so that the others keep their numbers;
    cells of text become no rating.
    """
    import pandas as pd

    is_right = np.array([len(row) == 1 + JOKES for row in rows], bool)
    cells = pd.DataFrame([row if len(row) == 1 + JOKES else NOBODY for row in rows])
    table = cells.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    counts = table[:, 0]
    values = table[:, 1:]
    is_rated = values != NOT_RATED
    is_number = np.isfinite(values)
    tally = Tally()
    for kind, where in (
        (Kind.RAGGED_LINE, ~is_right),
        (Kind.NOT_A_NUMBER, (is_rated & ~is_number).any(axis=1)),
        (Kind.CLAMPED_VALUE, (is_rated & (np.abs(values) > LIMIT)).any(axis=1)),
        (Kind.WRONG_COUNT, counts != is_rated.sum(axis=1)),
    ):
        tally.add(kind, np.flatnonzero(where))
    users, items = np.nonzero(is_rated & is_number)
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
    report = ratings.report_on(int(is_rated.sum()), tally.problems())
    return published_or_private(entry, ratings, report)
