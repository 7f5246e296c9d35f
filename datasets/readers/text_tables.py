"""Tables of text: separator, header and encoding are recognised, and rows arrive in batches."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import BinaryIO

import pyarrow as pa

from dpmf_core.base.errors import BadInput
from dpmf_core.data.facts import Facts, value
from dpmf_datasets.readers.encodings import Reader, usual_name
from dpmf_datasets.readers.lines import (
    BLANKS,
    DRAWN_TABLE,
    SEPARATORS,
    UNIT_SEPARATOR,
    Cutter,
    is_frame,
)
from dpmf_datasets.readers.table import (
    MOST_COLUMNS,
    PREVIEW,
    RAGGED_SHOWN,
    SAMPLE_ROWS,
    EmptyTable,
    RaggedLines,
    Table,
    is_number,
)

COMMENT_MARKS = "# "
BATCH = 8 << 20  # bytes of text that are read together
ROWS = 1 << 16  # rows of a table with cells of several lines that are read together
LONGEST_CELL = 10_000_000  # characters
QUOTING_IS_PUBLIC = (
    "that quotation marks are used correctly in the whole file is public"
)
MULTILINE = (
    "If cells of this file may contain line breaks, declare multiline=true: the guarantee then"
    " depends on correct quotation marks in everybody's rows."
)


def text_table(stream: BinaryIO, name: str, facts: Facts) -> Table:
    """Open a text file.

    Parameters
    ----------
    stream
        It can be rewound.
    name
        What messages call the file.
    facts
        As after a path. `encoding`; otherwise it follows from the first bytes. `header`, the line
        that names the columns, from 1, 0 if there is none; by default the first line of the table
        is a header if it has no number. `multiline`, whether a quoted cell may span lines. `text`,
        a column that is the only one if its name is the whole header; then nothing separates
        columns.

    Raises
    ------
    BadInput
        If the file is empty, has too many columns, or its header does not fit its rows.
    """
    reader = Reader(value(facts, "encoding"))
    return _TextFile(stream, name, facts, reader).table(value(facts, "header"))


@dataclass
class _TextFile:
    """A text file that is read once from its beginning to its end.

    Attributes
    ----------
    of_first : Cutter or None
        Cuts the first part of the table, if this is a later one.
    header : int
        The line of the header, 0 if there is none.
    above : int
        The number of lines above the first row of data.
    n_open : int
        The number of quotation marks in ragged lines that do not close.
    """

    stream: BinaryIO
    name: str
    facts: Facts
    reader: Reader
    of_first: Cutter | None = None
    cutter: Cutter = field(init=False)
    header: int = 0
    above: int = 0
    n_open: int = 0
    ragged_lines: RaggedLines = field(default_factory=list)

    @cached_property
    def multiline(self) -> bool:
        """Whether a quoted cell may span lines."""
        return bool(value(self.facts, "multiline"))

    def table(self, header: int | None) -> Table:
        """Recognise the layout in the first lines."""
        block = next(self.reader.blocks(self.stream, BATCH), b"")
        encoding = next(iter(self.reader.encodings))
        self.stream.seek(0)
        every = block.decode().split("\n")[: 2 * PREVIEW + (header or 0)]
        start = self._start_of_table(every, header)
        lines = [line for line in every[start:] if line.strip()]
        if not lines and header:
            raise BadInput(
                f"{self.name} has no line {header:,} that could name its columns: header= must be"
                " a line of the file, or 0 for none."
            )
        if not lines:
            raise EmptyTable(
                f"{self.name} is empty. A ratings table has one row per rating: user, item,"
                " rating."
            )
        if lines[0].startswith("#"):
            lines[0] = lines[0].lstrip(COMMENT_MARKS)
        rows = self._rows_of(lines[: PREVIEW + 1])
        if header is None:
            # the first line of a wide table names the items
            is_wide = self.facts.get("layout") == "wide"
            has_header = is_wide or _is_header(rows[0])
        else:
            has_header = header > 0
        is_numbering = header is None and not has_header and _is_numbering(rows)
        names = rows[0] if has_header else ()
        n_first = 1 if has_header or is_numbering else 0
        self.header = start + 1 if has_header else 0
        width = self._width_of(names, rows[n_first:])
        self.cutter = Cutter(self.cutter.separator, width)
        self.above = start + n_first
        head = [row for row in self._rows_of(lines[n_first:]) if len(row) == width]
        if has_header:
            where = f"a header on line {start + 1:,}"
        else:
            where = "no header"
        note = ""
        if start:
            note = f" Lines above line {start + 1:,} were skipped."
        if is_numbering:
            note += f" Line {start + 1:,} numbers the columns from 0 and was skipped."
        return Table(
            _without_types(names, width),
            head[:PREVIEW],
            self._batches_of_records if self.multiline else self._batches,
            unit="row" if self.multiline else "line",
            decimal_comma=self.cutter.separator != ",",
            above=self.above,
            layout=(
                f"{width:,} columns separated by {SEPARATORS[self.cutter.separator]}, {where},"
                f" {usual_name(encoding)}.{note}"
            ),
            assumptions=(QUOTING_IS_PUBLIC,) if self.multiline else (),
            ragged_lines=self.ragged_lines,
            read_as=self._read_as,
            open_part=self._part,
        )

    def _part(self, stream: BinaryIO, name: str) -> Table:
        """Open a further part of the table with the layout of this one."""
        part = _TextFile(stream, name, self.facts, self.reader, self.cutter)
        return part.table(self.header)

    # ---- layout ------------------------------------------------------------------------------

    def _start_of_table(self, every: Sequence[str], header: int | None) -> int:
        """The place of the table's first line; sets the separator.

        Above the table may stand a title, `sep=;` or comments.
        """
        start = header - 1 if header else _after_comments(every)
        lines = [line for line in every[start:] if line.strip()]
        self.cutter = Cutter(
            self.of_first.separator if self.of_first else separator_of(lines)
        )
        only_column = self.facts.get("text", "").lower()
        if only_column and lines and _word(lines[0]) == only_column:
            self.cutter = Cutter(UNIT_SEPARATOR)
        if header is not None or not lines:
            return start
        if start and self._is_marked_header(every[start - 1], lines[0]):
            return start - 1
        widths = [len(self.cutter.cells(line)) for line in lines[:SAMPLE_ROWS]]
        first = next((place for place, width in enumerate(widths) if width > 2), 0)
        is_above = all(
            widths[place] <= 1 or _word(lines[place])[:-1] == "sep="
            for place in range(first)
        )
        return every.index(lines[first if is_above else 0], start)

    def _is_marked_header(self, comment: str, first: str) -> bool:
        """Whether the comment above the first row is a header, such as `# user item rating`."""
        names = self.cutter.cells(comment.lstrip(COMMENT_MARKS))
        return len(names) == len(self.cutter.cells(first)) > 2 and _is_header(names)

    def _rows_of(self, lines: Sequence[str]) -> list[tuple[str, ...]]:
        if self.multiline:
            rows = self._records(f"{line}\n" for line in lines)
        else:
            rows = map(self.cutter.cells, lines)
        return [tuple(row) for row in rows if any(row)]

    def _width_of(self, names: Sequence[str], rows: Sequence[tuple[str, ...]]) -> int:
        """The number of columns. Raises BadInput if header and rows do not agree on it.

        A separator at the end of each row makes no column.
        """
        if self.of_first:
            return self.of_first.width
        widths = Counter(map(len, rows))
        width = widths.most_common(1)[0][0] if rows else len(names)
        if width > MOST_COLUMNS:
            raise BadInput(
                f"{self.name} has {width:,} columns or more. A ratings table has three to"
                f" {MOST_COLUMNS:,} columns and one row per rating: user, item, rating."
            )
        if not names or width == len(names):
            return width
        is_open = any("".join(row).count('"') % 2 for row in rows)
        if is_open and not self.multiline:
            raise BadInput(
                f"The header of {self.name} names {len(names)} columns, but most of its first"
                f" lines have another number of cells, and some quotation marks do not close."
                f" {MULTILINE}"
            )
        beyond = any("".join(row[len(names) :]) for row in rows) or any(names[width:])
        if beyond:
            raise BadInput(
                f"The header of {self.name} names {len(names)} columns, but its rows have"
                f" {width}. Name the missing column in the header; it is often the first, with row"
                " numbers."
            )
        return width

    # ---- rows --------------------------------------------------------------------------------

    def _blocks(self) -> Iterator[bytes]:
        """The lines below the header, many at a time."""
        n_above = self.above
        for block in self.reader.blocks(self.stream, BATCH):
            start = 0
            while n_above and start < len(block):
                start = block.index(b"\n", start) + 1
                n_above -= 1
            yield block[start:]

    def _batches(self, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        n_lines = self.above
        for block in self._blocks():
            columns, ragged = self.cutter.columns(block, places)
            for place, text in ragged:
                self._note_ragged(n_lines + place + 1, text)
            n_lines += len(columns[0]) + len(ragged)
            yield columns

    def _note_ragged(self, line: int, text: str) -> None:
        self.n_open += text.count('"') % 2
        is_example = len(self.ragged_lines) < SAMPLE_ROWS
        self.ragged_lines.append(
            (line, text[:RAGGED_SHOWN] if is_example else text[:1])
        )

    def _records(self, lines: Iterable[str]) -> Iterator[list[str]]:
        csv.field_size_limit(LONGEST_CELL)
        separator = self.cutter.separator
        if len(separator) > 1:
            raise BadInput(
                f"Cells of {self.name} cannot span lines, because its columns are separated by"
                f" {SEPARATORS[separator]}. Leave multiline out."
            )
        return csv.reader(lines, delimiter=separator)

    def _batches_of_records(self, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        lines = (
            f"{line}\n"
            for block in self._blocks()
            for line in block.decode().split("\n")[:-1]
        )
        records = self._records(lines)
        n_records = self.above
        while some := list(islice(records, ROWS)):
            rows = []
            for record in some:
                n_records += 1
                if not record or len(record) == self.cutter.width:
                    rows.append(record or [""] * self.cutter.width)
                else:
                    self._note_ragged(n_records, ",".join(record))
            yield [
                pa.array([row[place] for row in rows], pa.string()) for place in places
            ]

    def _read_as(self) -> tuple[str, ...]:
        sentences = list(self.reader.words)
        if self.reader.n_damaged:
            sentences.append(
                f"{self.reader.n_damaged:,} damaged characters were replaced."
            )
        if self.n_open and not self.multiline:
            sentences.append(
                f"{self.n_open:,} of the lines with another number of columns have a quotation"
                f" mark that does not close, like the inside of a quoted cell. {MULTILINE}"
            )
        return tuple(sentences)


def _after_comments(every: Sequence[str]) -> int:
    """The number of lines with comments above a table."""
    rows = (line.strip() and not line.startswith(("#", "%")) for line in every)
    return next((place for place, is_row in enumerate(rows) if is_row), 0)


def separator_of(lines: Sequence[str]) -> str:
    """The separator with which most of the first lines have one number of columns.

    Three or more columns count more than two. Agreement counts more than in proportion, because
    blanks in sentences cut many lines into the same number of words, but not all.
    """
    votes: dict[str, float] = {}
    some = [line for line in lines[:SAMPLE_ROWS] if not is_frame(line)]
    is_drawn = len(some) < len(lines[:SAMPLE_ROWS])
    # a line with an open quotation mark may be a part of a record
    some = [line for line in some if line.count('"') % 2 == 0] or some
    for separator in SEPARATORS if some else ():
        if separator == DRAWN_TABLE and not is_drawn:
            continue
        widths = [len(Cutter(separator).cells(line)) for line in some]
        columns, times = Counter(widths).most_common(1)[0]
        if separator == BLANKS and votes and columns != widths[0]:
            continue  # blanks between the words of a text
        if columns > 1:
            votes[separator] = (times / len(some)) ** 1.5 * min(columns, 3)
    return max(votes, key=votes.__getitem__, default=",")


def _word(line: str) -> str:
    """A line without blanks and quotation marks around it, in lower case."""
    return line.strip().strip('"').lower()


def _is_header(row: Sequence[str]) -> bool:
    return not any(is_number(cell) for cell in row)


def _is_numbering(rows: Sequence[tuple[str, ...]]) -> bool:
    """Whether the first row is 0, 1, 2 ..., the header of a data frame without names."""
    numbering = tuple(str(place) for place in range(len(rows[0])))
    return len(rows) > 1 and len(numbering) > 2 and rows[0] == numbering


def _without_types(header: tuple[str, ...], width: int) -> tuple[str, ...]:
    """A header of this many columns, without RecBole's types as in user_id:token."""
    names = [re.sub(r":(token|float)(_seq)?$", "", name) for name in header]
    if not all(map(str.__ne__, names, header)):
        names = list(header)
    unnamed = [""] * (width - len(names)) if names else []
    return (*names[:width], *unnamed)
