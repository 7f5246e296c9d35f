"""What a table is to the readers, and how a damaged one is reported."""

import csv
import gzip
import lzma
import struct
import sys
import tarfile
import zipfile
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import REQUIRED_ROLES, ROLE_NAMES, by_name
from dpmf_core.data.report import LINES_SHOWN, Kind, Problem
from dpmf_datasets.sandbox import in_parts

HEAD = 1 << 16  # bytes from which a file is recognised
SAMPLE_ROWS = 30  # rows from which a column is judged
PREVIEW = 300  # rows from which a person sees some distinct values
MOST_COLUMNS = 2000
BETWEEN = "|"  # separates the values of a cell that holds a list
LONGEST_NAME = 80  # characters of a file's name in a message
DAMAGE = (  # errors of readers on damaged files
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    gzip.BadGzipFile,
    tarfile.TarError,
    lzma.LZMAError,
    csv.Error,
    struct.error,
    NotImplementedError,
    UnicodeError,
    IndexError,
    OverflowError,
    OSError,
)
RaggedLines = list[tuple[int, str]]  # places and contents
RAGGED_SHOWN = 80  # letters of the content that are kept
Batches = Callable[[Sequence[int]], Iterator[list[Any]]]  # arrays of pyarrow


class EmptyTable(BadInput):
    """A file without any row, not even a header."""


@dataclass
class Table:
    """A table of a file, read in batches of rows.

    Attributes
    ----------
    names
        The header; empty if there is none. If several columns have one name, their places are
        added to it, so that none of them gets a role by its name.
    head
        The first rows of data as text.
    batches
        Yields the chosen columns, some rows at a time. It can be called once.
    unit
        What `line` counts: lines or rows.
    decimal_comma
        Whether a comma may be a decimal sign, because it does not separate columns.
    above
        The number of lines above the first row of data.
    layout
        How columns and header were found, in a sentence.
    assumptions
        What reading the table takes as public.
    ragged_lines
        Lines with another number of columns, and their content ("" for a blank line). Complete when
        `batches` is exhausted.
    read_as
        Says in sentences how the bytes were read, when `batches` is exhausted.
    n_wide
        The number of rows here that one line of a wide table holds; 0 for other tables.
    open_part
        Opens another file of the same table with this layout, if the layout was found in the rows.
    """

    names: tuple[str, ...]
    head: Sequence[tuple[str, ...]]
    batches: Batches
    unit: str = "row"
    decimal_comma: bool = False
    above: int = 0
    layout: str = ""
    assumptions: tuple[str, ...] = ()
    ragged_lines: RaggedLines = field(default_factory=list)
    read_as: Callable[[], tuple[str, ...]] = tuple
    n_wide: int = 0
    open_part: Callable[[BinaryIO, str], "Table"] | None = None

    def __post_init__(self) -> None:
        times = Counter(self.names)
        self.names = tuple(
            f"{name} (column {place})" if times[name] > 1 else name
            for place, name in enumerate(self.names, 1)
        )

    @property
    def first(self) -> tuple[str, ...]:
        """The first row of data."""
        if self.head:
            return self.head[0]
        return ()

    def sample(self, column: int, most: int = SAMPLE_ROWS) -> tuple[str, ...]:
        """The first values of a column, at most `most`."""
        return tuple(row[column] for row in self.head[:most] if column < len(row))

    def line(self, row: int) -> int:
        """The place of a row in the file; right once `batches` is exhausted.

        Rows that were skipped still take a line.
        """
        if self.n_wide:
            row //= self.n_wide
        line = row + 1 + self.above
        skipped_lines = [number for number, _ in self.ragged_lines]
        while (
            next_line := row + 1 + self.above + bisect_right(skipped_lines, line)
        ) != line:
            line = next_line
        return line

    @property
    def problems(self) -> list[Problem]:
        """The lines with another number of columns, as a problem; nothing without such lines."""
        ragged = [(line, content) for line, content in self.ragged_lines if content]
        if not ragged:
            return []
        lines = tuple(line for line, _ in ragged[:LINES_SHOWN])
        return [Problem(Kind.RAGGED_LINE, len(ragged), lines, ragged[0][1], self.unit)]

    def place_of(self, column: str) -> int | None:
        """The place of a column by its name, without regard to case, or by its number.

        Numbers are written as in `column 3`, or 3.
        """
        names = self.shown_names
        numbers = [f"column {place}" for place in range(1, len(names) + 1)]
        plain = column.lower()
        for candidates, label in (
            (names, column),
            ([name.lower() for name in names], plain),
            (numbers, plain),
            (numbers, f"column {plain}"),
        ):
            if label in candidates:
                return candidates.index(label)
        return None

    @property
    def shown_names(self) -> tuple[str, ...]:
        """The names of the columns, or `column 1` and so on without a header."""
        return self.names or tuple(f"column {j + 1}" for j in range(len(self.first)))


def as_texts(column: Any) -> list[str]:
    """The cells of a column as text."""
    import pyarrow as pa  # reading other files does not need it

    if pa.types.is_temporal(column.type):  # Python's calendar ends in the year 9999
        column = column.cast(pa.string())
    return ["" if value is None else str(value) for value in column.to_pylist()]


def cell_text(value: Any, exact: float = 2.0**53) -> str | None:
    """The text of one cell; it follows from the cell alone.

    Whole numbers have no decimal point, whatever their type. One of at least `exact` in floating
    point may have lost its last digits, so it is written as 7.656119800000000e+16.
    """
    if isinstance(value, str | bytes):
        return _decoded(value)
    if value is None or isinstance(value, dict) or value != value:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) >= exact:
        return f"{value:.15e}"
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        parts = [
            cell_text(part) for part in value if not isinstance(part, list | tuple)
        ]
        return BETWEEN.join(filter(None, parts))
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    return str(value)


def _decoded(cell: str | bytes) -> str:
    """The text of a cell; what has no characters, or no bytes, is written as an escape."""
    if isinstance(cell, bytes):
        return cell.decode(errors="backslashreplace")
    if cell.isascii():
        return cell
    return cell.encode(errors="backslashreplace").decode()  # half of a surrogate pair


def has_ratings(names: Sequence[str], facts: Mapping[str, str]) -> bool:
    """Whether a header has the declared columns, and columns for the roles that are not declared.

    Parameters
    ----------
    names : sequence of str
        The header.
    facts : mapping of str to str
        The facts as after a path. With `text` no column of ratings is needed.

    Returns
    -------
    bool
        Whether all these columns exist.
    """
    declared = {
        facts[fact] for fact in (*ROLE_NAMES, "text", "group") if facts.get(fact)
    }
    roles = set(REQUIRED_ROLES) - set(facts)
    if facts.get("layout") == "wide":
        roles &= {"user"}
    if "text" in facts:
        roles = set()
    others = ["" if name in declared else name for name in names]
    return declared <= set(names) and roles <= set(by_name(others, loosely=False))


def is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def file_name(file: str | Path) -> str:
    """The last part of a file's path, which messages use.

    The folders above may reveal something.
    """
    name = PurePosixPath(str(file).replace("\\", "/")).name or str(file)
    return (name if name.isprintable() else ascii(name)[1:-1])[:LONGEST_NAME]


def damage(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """The errors of readers on damaged files; pyarrow's if it is in use."""
    arrow = sys.modules.get("pyarrow")
    return (*DAMAGE, *more, *([] if arrow is None else [arrow.ArrowException]))


@contextmanager
def report_damage(name: str | Path) -> Iterator[None]:
    """Convert errors of readers on damaged or too large files to BadInput."""
    try:
        with report_size(name):
            yield
    except damage() as error:
        raise BadInput(
            f"{file_name(name)} is damaged or cut short ({first_sentence(error)[:200]}) Download"
            " or save it again."
        ) from error


@contextmanager
def report_size(name: str | Path) -> Iterator[None]:
    """Convert the error of a file that does not fit in memory to BadInput."""
    try:
        yield
    except MemoryError as error:
        place = file_name(name)
        raise BadInput(f"{place} does not fit in memory. {in_parts(place)}") from error


def first_sentence(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".") + "."
