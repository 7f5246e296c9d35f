"""The Netflix Prize ratings (Bennett and Lanning 2007), streamed from `combined_data_*.txt`.

A line `MOVIE:` starts a film; lines `user,rating,date` follow.
"""

import gzip
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.ratings import Ratings
from dpmf_datasets.published.movielens import published_or_private
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.columns import in_header
from dpmf_datasets.readers.ratings_tables import read_table
from dpmf_datasets.readers.report import Report
from dpmf_datasets.readers.table import Table, file_name

BLOCK = 16 << 20  # bytes of text that are read together
LAYOUT = re.compile(r"combined_data_\d+\.txt(\.gz)?$")
COLUMNS = ("user", "rating", "time", "item")


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """Read the combined files of a folder or zip, or one file in their layout.

    Titles come from movie_titles next to them. Films keep the catalogue's numbers.
    """
    with members_of(path) as members:
        names = sorted(name for name in members.names if LAYOUT.search(name)) or (
            [members.names[0]] if path.is_file() and len(members.names) == 1 else []
        )
        if not names:
            raise BadInput(
                f"{file_name(path)} has no combined_data_1.txt to _4.txt. Found:"
                f" {', '.join(map(file_name, members.names[:5])) or 'nothing'}."
            )
        table = _combined(members, names, entry.n_items)
        ratings, report = read_table(table, name=entry.id, bounds=entry.bounds, advice=in_header)
        titles = _titles(members)
    films = np.array(ratings.labels, np.int32) - 1
    ratings = replace(
        ratings,
        items=films[ratings.items],
        n_items=entry.n_items,
        labels=None,
        titles=tuple(titles.get(j, f"Film {j + 1}") for j in range(entry.n_items)),
    )
    return published_or_private(entry, ratings, replace(report, n_items=entry.n_items))


def _combined(members: Members, names: Sequence[str], n_films: int) -> Table:
    """The files as one table with a column of films; lines that name a film are not rows."""
    ragged_lines: list[tuple[int, str]] = []

    def batches(columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        lines_before = 0
        for name in names:
            file, n_rows = _Lines(), 0
            for batch in _batches_of(members, name, file):
                films = file.films(np.arange(n_rows, n_rows + len(batch)), n_films)
                n_rows += len(batch)
                every = [*batch.columns, films]
                yield [every[j] for j in columns]
            ragged_lines.extend([(lines_before + at, text) for at, text in file.others])
            lines_before += n_rows + len(file.others)

    return Table(COLUMNS, (), batches, unit="line", ragged_lines=ragged_lines)


class _Lines:
    """The lines of a file that are not ratings.

    others: their numbers and content ("" for a film).
    """

    def __init__(self) -> None:
        self.others: list[tuple[int, str]] = []
        self._film_at: list[float] = []  # the film from each of these lines on

    def take(self, row: pa.csv.InvalidRow) -> str:
        text = row.text.strip()
        is_film = text.endswith(":")
        self.others.append((row.number, "" if is_film else text[:80]))
        before = self._film_at[-1] if self._film_at else 0
        number = text[:-1]
        self._film_at.append(before if not is_film else float(number) if number.isdecimal() else 0)
        return "skip"

    def films(self, rows: npt.NDArray[Any], n_films: int) -> pa.Array:
        """The film of each row; none before the first, or if the catalogue lacks it."""
        lines = np.array([number for number, _ in self.others], np.int64)
        first_rows = lines - np.arange(len(lines)) - 1  # the row that follows each of these lines
        place = np.searchsorted(first_rows, rows, "right")
        films = np.array([0, *self._film_at])[place]
        return pa.array(films.astype(np.int32), mask=~((films >= 1) & (films <= n_films)))


def _batches_of(members: Members, name: str, lines: _Lines) -> Iterator[pa.RecordBatch]:
    reading = pa.csv.ReadOptions(
        use_threads=False, column_names=COLUMNS[:3], block_size=BLOCK, encoding="latin-1"
    )
    parsing = pa.csv.ParseOptions(
        quote_char=False, invalid_row_handler=lines.take, ignore_empty_lines=False
    )
    text = pa.csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS[:3], pa.string()))
    with members.open(name) as raw:
        stream: Any = gzip.GzipFile(fileobj=raw) if name.endswith(".gz") else raw
        try:
            yield from pa.csv.open_csv(stream, reading, parsing, text)
        except pa.ArrowInvalid as error:
            if "Empty CSV file" not in str(error):
                raise


def _titles(members: Members) -> dict[int, str]:
    """Titles may hold commas: only the first two separate columns."""
    member = members.find("movie_titles.csv") or members.find("movie_titles.txt")
    if member is None:
        return {}
    with members.open(member) as stream:
        rows = (line.split(",", 2) for line in stream.read().decode("latin-1").splitlines())
        return {
            int(row[0]) - 1: f"{row[2]} ({row[1]})"
            for row in rows
            if len(row) == 3 and row[0].isdecimal()
        }
