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
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Report
from dpmf_datasets.published.movielens import published_or_private
from dpmf_datasets.readers.archives import ArchiveMembers, members_of
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import in_header, read_table
from dpmf_datasets.readers.table import RaggedLines, Table, file_name

BLOCK = 16 << 20  # bytes of text that are read together
LAYOUT = re.compile(r"combined_data_\d+\.txt(\.gz)?$")
UNUSED = "\x1f"  # a separator that no line has, so that a line is one cell
COLUMNS = ("user", "rating", "time", "item")
FIRST_ROW = ("1488844", "3", "2005-09-06", "1")  # of the published files: dates are ISO


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """Read the combined files of a folder or zip, or one file in their layout.

    Titles come from movie_titles next to them. Films keep the catalogue's numbers.
    """
    with members_of(path) as members:
        names = sorted(filter(LAYOUT.search, members.names))
        if not names and path.is_file() and len(members.names) == 1:
            names = list(members.names)
        if not names:
            raise BadInput(
                f"{file_name(path)} has no combined_data_1.txt to _4.txt. Found: {members.some}."
            )
        table = _combined(members, names, entry.n_items)
        ratings, report = read_table(
            table,
            name=entry.id,
            declared=Declared(entry.bounds),
            advice=in_header,
        )
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


def _combined(members: ArchiveMembers, names: Sequence[str], n_films: int) -> Table:
    """The files as one table with a column of films; lines that name a film are not rows.

    A row has no film before the first, and none if the catalogue lacks its film.
    """
    ragged_lines: RaggedLines = []

    def batches(columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        lines_before = 0
        for name in names:
            film = 0
            for lines in _lines(members, name):
                cells = pc.split_pattern(lines, ",")
                is_row = pc.equal(pc.list_value_length(cells), 3)
                films = np.full(len(lines), film, np.int32)
                for at in pc.indices_nonzero(pc.invert(is_row)).to_pylist():
                    text = lines[at].as_py().strip()
                    if is_film := text.endswith(":"):
                        number = int(text[:-1]) if text[:-1].isdecimal() else 0
                        film = number if number <= n_films else 0
                        films[at:] = film
                    ragged_lines.append(
                        (lines_before + at + 1, "" if is_film else text[:80])
                    )
                lines_before += len(lines)
                rows = cells.filter(is_row)
                every = [pc.list_element(rows, place) for place in range(3)]
                every.append(pa.array(films, mask=films == 0).filter(is_row))
                yield [every[j] for j in columns]

    return Table(COLUMNS, (FIRST_ROW,), batches, unit="line", ragged_lines=ragged_lines)


def _lines(members: ArchiveMembers, name: str) -> Iterator[pa.Array]:
    """The lines of a file as text, many at a time."""
    reading = pa.csv.ReadOptions(
        use_threads=False,
        column_names=["line"],
        block_size=BLOCK,
        encoding="latin-1",
    )
    parsing = pa.csv.ParseOptions(
        delimiter=UNUSED,
        quote_char=False,
        ignore_empty_lines=False,
    )
    text = pa.csv.ConvertOptions(column_types={"line": pa.string()})
    with members.open(name) as raw:
        if name.endswith(".gz"):
            stream: Any = gzip.GzipFile(fileobj=raw)
        else:
            stream = raw
        try:
            for batch in pa.csv.open_csv(stream, reading, parsing, text):
                yield batch.column(0)
        except pa.ArrowInvalid as error:
            if "Empty CSV file" not in str(error):
                raise


def _titles(members: ArchiveMembers) -> dict[int, str]:
    """Titles may hold commas: only the first two separate columns."""
    member = members.find("movie_titles.csv") or members.find("movie_titles.txt")
    if member is None:
        return {}
    with members.open(member) as stream:
        rows = (
            line.split(",", 2) for line in stream.read().decode("latin-1").splitlines()
        )
        return {
            int(row[0]) - 1: f"{row[2]} ({row[1]})"
            for row in rows
            if len(row) == 3 and row[0].isdecimal()
        }
