"""Tables of text: separator, header and encoding are recognised, and rows arrive in batches."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv

from dpmf_core.base.errors import BadInput
from dpmf_datasets.readers.encodings import Reader, usual_name
from dpmf_datasets.readers.table import (
    HEAD,
    MOST_COLUMNS,
    PREVIEW,
    SAMPLE_ROWS,
    Table,
    first_sentence,
    is_number,
)

BATCH = 8 << 20  # bytes of text that are read together
SEPARATORS = {
    "::": "two colons",
    "\t": "tabs",
    ",": "commas",
    ";": "semicolons",
    "|": "vertical bars",
    " ": "blanks",
}


def text_table(stream: BinaryIO, name: str, encoding: str | None = None) -> Table:
    """Open a text file. encoding: if declared. Raises BadInput."""
    return _TextFile(stream, name, encoding).table


class _TextFile:
    def __init__(self, stream: BinaryIO, name: str, encoding: str | None) -> None:
        self._name, self._reader = name, Reader(encoding)
        self._ragged_lines: list[tuple[int, str]] = []
        head = stream.read(HEAD)
        stream.seek(0)
        whole_lines = head[: head.rfind(b"\n") + 1 or None] if len(head) == HEAD else head
        self._stream, self._encoding = self._reader.opened(stream, whole_lines)
        self.table = self._read_head(head)

    def _read_head(self, head: bytes) -> Table:
        """Find separator and header in the complete lines of the head."""
        every = head.decode(self._encoding, errors="ignore").removeprefix("\ufeff").splitlines()
        every = every[:-1] if len(head) == HEAD and len(every) > 1 else every
        lines = [line for line in every if line.strip()]
        if not lines:
            raise BadInput(
                f"{self._name} is empty. A ratings table has one row per rating: user, item,"
                " rating."
            )
        self._separator = separator_of(lines)
        self._has_quotes = any('"' in line for line in lines)
        lines = _table_lines(lines, self._separator)
        rows = _rows_of(lines[: PREVIEW + 1], self._separator)
        if (columns := len(rows[0])) > MOST_COLUMNS:
            raise BadInput(
                f"{self._name} has {columns:,} columns or more. A ratings table has three to"
                f" {MOST_COLUMNS:,} columns and one row per rating: user, item, rating."
            )
        header = not any(is_number(value) for value in rows[0])
        if header:
            _check_widths(rows, self._name)
        start = every.index(lines[0])  # lines before the header, or the first row
        blank = takewhile(lambda line: not line.strip(), every[start + 1 :])
        self._above = start + header * (1 + len(list(blank)))
        where = f"a header on line {start + 1:,}" if header else "no header"
        note = f" Lines above line {start + 1:,} were skipped." if start else ""
        has_long_cells = len(rows) < min(len(lines), PREVIEW + 1)
        return Table(
            _without_types(rows[0]) if header else (),
            rows[int(header) :],
            self._batches,
            # a cell reaches over several lines, which spreadsheets count as one row
            unit="row" if has_long_cells else "line",
            decimal_comma=self._separator != ",",
            above=self._above,
            layout=(
                f"{columns:,} columns separated by {SEPARATORS[self._separator]}, {where},"
                f" {usual_name(self._encoding)}.{note}"
            ),
            assumptions=self._reader.assumptions,
            ragged_lines=self._ragged_lines,
            read_as=self._read_as,
        )

    def _batches(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        # The reader knows one-character separators only: with "::" every second column is empty.
        field_names = [f"f{j * len(self._separator)}" for j in columns]
        reading = pa.csv.ReadOptions(
            use_threads=False,
            autogenerate_column_names=True,
            skip_rows=self._above,
            encoding=self._encoding.removesuffix("-sig"),
            block_size=BATCH,
        )
        parsing = pa.csv.ParseOptions(
            delimiter=self._separator[0],
            invalid_row_handler=self._skip,
            ignore_empty_lines=False,
            newlines_in_values=self._has_quotes,
        )
        text = pa.csv.ConvertOptions(
            column_types=dict.fromkeys(field_names, pa.string()),
            include_columns=list(dict.fromkeys(field_names)),
        )
        try:
            for batch in pa.csv.open_csv(self._stream, reading, parsing, text):
                yield [batch.column(column) for column in field_names]
        except pa.ArrowInvalid as error:
            if "Empty CSV file" not in str(error):
                raise BadInput(
                    f"{self._name} cannot be read as a table: {first_sentence(error)} Save it as"
                    " UTF-8 text with one row per rating."
                ) from error

    def _skip(self, row: pa.csv.InvalidRow) -> str:
        self._ragged_lines.append((row.number, row.text.strip()[:80]))
        return "skip"

    def _read_as(self) -> tuple[str, ...]:
        damage = f"{self._reader.n_damaged:,} damaged characters were replaced."
        return (*self._reader.words, *([damage] if self._reader.n_damaged else []))


def _without_types(header: tuple[str, ...]) -> tuple[str, ...]:
    """A header without RecBole's types of columns, as in user_id:token."""
    names = tuple(re.sub(r":(token|float)(_seq)?$", "", name) for name in header)
    return names if all(map(str.__ne__, names, header)) else header


# ---- how lines are cut into cells ----------------------------------------------------------------


def separator_of(lines: Sequence[str]) -> str:
    """The separator with which most of the first lines have one number of columns.

    Three or more columns are preferred to two.
    """
    votes = {}
    for separator in SEPARATORS:
        widths = Counter(_width(line, separator) for line in lines[:SAMPLE_ROWS])
        columns, times = widths.most_common(1)[0]
        votes[separator] = (columns > 2, times) if columns > 1 else (False, 0)
    best = max(votes, key=votes.__getitem__)
    return best if votes[best][1] else ","


def _rows_of(lines: Sequence[str], separator: str) -> list[tuple[str, ...]]:
    """The cells of some lines; a quoted cell may reach over several."""
    rows: Iterable[Sequence[str]] = (
        (line.split(separator) for line in lines)
        if len(separator) > 1
        else csv.reader((f"{line}\n" for line in lines), delimiter=separator)
    )
    return [tuple(map(str.strip, row)) for row in rows]


def _check_widths(rows: Sequence[tuple[str, ...]], name: str) -> None:
    """Refuse a header that names fewer columns than its rows have.

    Every name would stand above the wrong column. A separator at the end of each row makes no
    column.
    """
    columns, more = len(rows[0]), [row for row in rows[1:] if len(row) > len(rows[0])]
    if 2 * len(more) > len(rows) - 1 and any("".join(row[columns:]) for row in more):
        raise BadInput(
            f"The header of {name} names {columns} columns, but its rows have {len(more[0])}. Name"
            " the missing column in the header; it is often the first, with row numbers."
        )


def _table_lines(lines: list[str], separator: str) -> list[str]:
    """The lines from the first one with several columns.

    A title or `sep=;` above, an instruction for a spreadsheet program, is no part of the table.
    """
    columns = [_width(line, separator) for line in lines[:SAMPLE_ROWS]]
    first = next((place for place, count in enumerate(columns) if count > 2), 0)
    is_above = all(
        columns[place] == 1 or lines[place].strip().strip('"').lower()[:-1] == "sep="
        for place in range(first)
    )
    return lines[first:] if is_above else lines


def _width(line: str, separator: str) -> int:
    return len(_rows_of([line], separator)[0])
