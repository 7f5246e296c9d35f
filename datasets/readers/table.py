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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from dpmf_core.base.errors import BadInput

HEAD = 1 << 16  # bytes from which a file is recognised
SAMPLE_ROWS = 30  # rows from which a column is judged
PREVIEW = 300  # rows from which a person sees some distinct values
MOST_COLUMNS = 2000
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
    MemoryError,
    OSError,
)
Batches = Callable[[Sequence[int]], Iterator[list[Any]]]  # arrays of pyarrow


@dataclass
class Table:
    """A table of a file, read in batches of rows.

    names: the header; empty if there is none. head: the first rows of data as text. batches: yields
    the chosen columns, some rows at a time; can be called once. unit: what `line` counts, lines or
    rows. decimal_comma: whether a comma may be a decimal sign, because it does not separate
    columns. above: lines above the first row of data. layout: how columns and header were found, in
    a sentence. assumptions: what its reading takes as public. n_rows: how many rows the file claims
    to have; 0 if unknown. Complete once `batches` is exhausted are ragged_lines, lines with another
    number of columns and their content ("" for a blank one), and what read_as returns: how the
    bytes were read, in sentences.
    """

    names: tuple[str, ...]
    head: Sequence[tuple[str, ...]]
    batches: Batches
    unit: str = "row"
    decimal_comma: bool = False
    above: int = 0
    layout: str = ""
    assumptions: tuple[str, ...] = ()
    n_rows: int = 0
    ragged_lines: list[tuple[int, str]] = field(default_factory=list)
    read_as: Callable[[], tuple[str, ...]] = tuple

    @property
    def first(self) -> tuple[str, ...]:
        """The first row of data."""
        return self.head[0] if self.head else ()

    def sample(self, column: int, most: int = SAMPLE_ROWS) -> tuple[str, ...]:
        """Return the first values of a column, at most `most`."""
        return tuple(row[column] for row in self.head[:most] if column < len(row))

    def line(self, row: int) -> int:
        """Return the place of a row in the file; right once `batches` is exhausted.

        Rows that were skipped still take a line.
        """
        line = row + 1 + self.above
        skipped_lines = [number for number, _ in self.ragged_lines]
        while (next_line := row + 1 + self.above + bisect_right(skipped_lines, line)) != line:
            line = next_line
        return line

    @property
    def shown_names(self) -> tuple[str, ...]:
        """The names of the columns, or `column 1` and so on without a header."""
        return self.names or tuple(f"column {j + 1}" for j in range(len(self.first)))


def as_texts(column: Any) -> list[str]:
    """The cells of a column as text."""
    return ["" if value is None else str(value) for value in column.to_pylist()]


def is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def file_name(file: str | Path) -> str:
    """Return the last part of a file's path, which messages use.

    The folders above may reveal something.
    """
    name = PurePosixPath(str(file).replace("\\", "/")).name or str(file)
    return (name if name.isprintable() else ascii(name)[1:-1])[:LONGEST_NAME]


def damage(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the errors of readers on damaged files; pyarrow's if it is in use."""
    arrow = sys.modules.get("pyarrow")
    return (*DAMAGE, *more, *([] if arrow is None else [arrow.ArrowException]))


@contextmanager
def report_damage(name: str | Path) -> Iterator[None]:
    """Convert errors of readers on damaged files to BadInput."""
    try:
        yield
    except damage() as error:
        raise BadInput(
            f"{file_name(name)} is damaged or cut short ({first_sentence(error)[:200]}) Download"
            " or save it again."
        ) from error


def first_sentence(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".") + "."
