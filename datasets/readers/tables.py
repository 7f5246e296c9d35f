"""Tables of text as they come: separator, header and encoding are recognised; rows arrive in
batches, with the line each stands on.
"""

import csv
import gzip
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from dpmf_core.errors import BadInput
from dpmf_datasets.readers import arrow_tables, encodings
from dpmf_datasets.readers.dates import FORMAT_IS_PUBLIC, READING_IS_PUBLIC
from dpmf_datasets.readers.text_layout import (
    HEAD,
    SAMPLE_ROWS,
    SEPARATOR_NAMES,
    check_widths,
    complete_lines,
    is_number,
    rows_of,
    separator_of,
    table_lines,
    whole_lines,
)

BATCH = 8 << 20  # bytes of text read at once
NOTES_KEY = b"dpmf.assumptions"  # in the metadata of a Parquet file
KNOWN_ASSUMPTIONS = (encodings.ENCODING_IS_PUBLIC, FORMAT_IS_PUBLIC, READING_IS_PUBLIC)
PREVIEW = 300  # rows from which a person is shown some different values
MOST_COLUMNS = 2000
BEGINNING = 64  # bytes that tell what kind a file is
LONGEST_NAME = 80  # characters of a file's name in a message
DAMAGE = (  # what readers raise on damaged files, whatever these lead them to
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    gzip.BadGzipFile,
    tarfile.TarError,
    lzma.LZMAError,
    pa.ArrowException,
    csv.Error,
    struct.error,
    NotImplementedError,
    UnicodeError,
    IndexError,
    OverflowError,
    MemoryError,
    OSError,
)


def file_name(file: str | Path) -> str:
    """A file, folder or member of an archive as a message names it: its last part, for the
    folders above may tell something.
    """
    name = PurePosixPath(str(file).replace("\\", "/")).name or str(file)
    return (name if name.isprintable() else ascii(name)[1:-1])[:LONGEST_NAME]


@contextmanager
def report_damage(name: str | Path) -> Iterator[None]:
    """Turns what readers raise on damaged files into words for a person."""
    try:
        yield
    except DAMAGE as error:
        raise BadInput(
            f"{file_name(name)} is damaged or cut short ({_first_sentence(error)[:200]}) Download"
            " or save it again."
        ) from error


@runtime_checkable
class Table(Protocol):
    """names: the header, or () where there is none. first: the first row of data. unit: what
    `line` counts.
    """

    names: tuple[str, ...]
    first: tuple[str, ...]
    unit: str
    decimal_comma: bool
    # lines with another number of columns, and what they hold ("" for a blank one)
    ragged_lines: list[tuple[int, str]]
    assumptions: tuple[str, ...]  # what its reading takes as public

    def batches(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        """The chosen columns, some rows at a time. Can be called once."""

    def sample(self, column: int, most: int = SAMPLE_ROWS) -> tuple[str, ...]:
        """What a column holds in the first rows, `most` at most, as text."""

    def line(self, row: int) -> int:
        """Where the row at a position among all batches stands in the file; right once
        `batches` is exhausted.
        """

    def read_as(self) -> tuple[str, ...]:
        """How its bytes were read, in sentences; right once `batches` is exhausted."""

    @property
    def layout(self) -> str:
        """How columns and header were found, in a sentence."""


class TextTable:
    """The rows of a text file."""

    unit: str = "line"

    def __init__(self, stream: BinaryIO, name: str, encoding: str | None = None) -> None:
        self._stream: Any = stream
        self._name = name
        head = stream.read(HEAD)
        stream.seek(0)
        self._encoding, uncertain = (
            (encodings.require_encoding(encoding), False)
            if encoding
            else encodings.detect_encoding(whole_lines(head))
        )
        self._names_encoding = uncertain or bool(encoding)
        self.assumptions: tuple[str, ...] = (encodings.ENCODING_IS_PUBLIC,) if uncertain else ()
        if self._encoding in (encodings.UTF8, "utf-8-sig") and not _sound(whole_lines(head)):
            self._stream = encodings.RepairedStream(stream)
        every = complete_lines(head, self._encoding)
        lines = [line for line in every if line.strip()]
        if not lines:
            raise BadInput(
                f"{name} is empty. A ratings table has a row per rating: user, item, rating."
            )
        self._separator = separator_of(lines)
        lines = table_lines(lines, self._separator)
        rows = rows_of(lines[: PREVIEW + 1], self._separator)
        if (columns := len(rows[0])) > MOST_COLUMNS:
            raise BadInput(
                f"{name} has {columns:,} columns or more. A ratings table has three to"
                f" {MOST_COLUMNS:,}: user, item, rating, with a row for each."
            )
        header = not any(is_number(value) for value in rows[0])
        if header:
            check_widths(rows, name)
        if len(rows) < min(len(lines), PREVIEW + 1):
            self.unit = "row"  # a cell reaches over several lines; spreadsheets count like this
        self.names: tuple[str, ...] = without_types(rows[0]) if header else ()
        self.first: tuple[str, ...] = rows[int(header)] if len(rows) > header else ()
        self._head = rows[int(header) :]
        self._start = every.index(lines[0])  # lines before the header, or the first row
        # lines before the first row of data
        self._above = self._start + header * (
            1 + len(list(takewhile(_is_blank, every[self._start + 1 :])))
        )
        self.decimal_comma = self._separator != ","
        self.ragged_lines: list[tuple[int, str]] = []

    def batches(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        # The reader knows one-character separators only: under "::" every second column is empty.
        field_names = [f"f{j * len(self._separator)}" for j in columns]
        reading = pa.csv.ReadOptions(
            use_threads=False,
            autogenerate_column_names=True,
            skip_rows=self._above,
            encoding=self._encoding.removesuffix("-sig"),
            block_size=BATCH,
        )
        parsing = pa.csv.ParseOptions(
            delimiter=self._separator[0], invalid_row_handler=self._skip, ignore_empty_lines=False
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
                    f"{self._name} cannot be read as a table: {_first_sentence(error)} Save it as"
                    " UTF-8 text with a row per rating."
                ) from error

    def sample(self, column: int, most: int = SAMPLE_ROWS) -> tuple[str, ...]:
        return tuple(row[column] for row in self._head[:most] if column < len(row))

    def read_as(self) -> tuple[str, ...]:
        n_damaged = (
            self._stream.n_damaged if isinstance(self._stream, encodings.RepairedStream) else 0
        )
        sentences = (
            [
                f"The text was read as {encodings.usual_name(self._encoding)}"
                + (", the likeliest encoding." if self.assumptions else ".")
            ]
            if self._names_encoding
            else []
        )
        return (
            *sentences,
            *([f"{n_damaged:,} damaged characters were replaced."] if n_damaged else []),
        )

    @property
    def layout(self) -> str:
        first = self._start + 1
        header = f"a header on line {first:,}" if self.names else "no header"
        note = f" What stands above line {first:,} was left out." if self._start else ""
        return (
            f"{len(self.names or self.first):,} columns with"
            f" {SEPARATOR_NAMES[self._separator]} between, {header},"
            f" {encodings.usual_name(self._encoding)}.{note}"
        )

    def _skip(self, row: pa.csv.InvalidRow) -> str:
        self.ragged_lines.append((row.number, row.text.strip()[:80]))
        return "skip"

    def line(self, row: int) -> int:
        """Rows that were skipped still take a line."""
        line = row + 1 + self._above
        skipped_lines = [number for number, _ in self.ragged_lines]
        while (next_line := row + 1 + self._above + bisect_right(skipped_lines, line)) != line:
            line = next_line
        return line


class ParquetTable:
    """The rows of a Parquet file."""

    unit = "row"
    decimal_comma = False

    def __init__(self, stream: BinaryIO, name: str) -> None:
        try:
            self._file = pa.parquet.ParquetFile(stream)
        except pa.ArrowException as error:
            raise BadInput(
                f"{name} cannot be read as Parquet: {_first_sentence(error)} It may be cut short:"
                " fetch or save it again."
            ) from error
        self.names = tuple(self._file.schema_arrow.names)
        self.first: tuple[str, ...] = ()
        self.ragged_lines: list[tuple[int, str]] = []
        notes = (
            (self._file.schema_arrow.metadata or {})
            .get(NOTES_KEY, b"")
            .decode(errors="replace")
            .split("\n")
        )
        self.assumptions = tuple(one for one in KNOWN_ASSUMPTIONS if one in notes)

    def batches(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        names = [self.names[j] for j in columns]
        for batch in self._file.iter_batches(columns=list(dict.fromkeys(names))):
            yield [batch.column(name) for name in names]

    def sample(self, column: int, most: int = SAMPLE_ROWS) -> tuple[str, ...]:
        rows = next(self._file.iter_batches(most, columns=[self.names[column]]), None)
        return (
            ()
            if rows is None
            else tuple("" if value is None else str(value) for value in rows.column(0).to_pylist())
        )

    def line(self, row: int) -> int:
        return row + 1

    def read_as(self) -> tuple[str, ...]:
        return ()

    @property
    def layout(self) -> str:
        return f"{len(self.names):,} columns of a Parquet file."


def without_types(header: tuple[str, ...]) -> tuple[str, ...]:
    """A header as RecBole writes it, user_id:token and the like, without the kinds of columns."""
    names = tuple(re.sub(r":(token|float)(_seq)?$", "", name) for name in header)
    return names if all(map(str.__ne__, names, header)) else header


def _is_blank(line: str) -> bool:
    return not line.strip()


def open_table(
    source: str | Path | bytes | BinaryIO | Table,
    name: str,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Table:
    """The table in a file, in bytes or in an open binary file that can be rewound. encoding: of
    a text, where it is declared. sheet: of a spreadsheet; its first one unless it is said.
    """
    if isinstance(source, Table):
        return source
    stream = _stream(source)
    magic = stream.read(BEGINNING)
    stream.seek(0)
    if magic[:2] == b"\x1f\x8b":
        # read and seek are all that is used
        stream = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]
        magic = stream.read(BEGINNING)
        stream.seek(0)
    if magic[:4] == b"PAR1":
        return ParquetTable(stream, name)
    if magic[:4] in (b"ARRO", b"FEA1"):
        return arrow_tables.feather(stream, name)
    if magic[:4] == arrow_tables.OLE:
        return arrow_tables.spreadsheet(stream, name, sheet)
    if magic[:4] == b"PK\x03\x04":
        table = arrow_tables.of_zip(stream, name, sheet)
        if table is None:
            raise BadInput(
                f"{name} is a zip file, not a table. Take a table out of it, or an official archive"
                " with `import ID PATH`."
            )
        return table
    if arrow_tables.looks_like_json(magic):
        return arrow_tables.json_lines(stream.read(), name)
    return TextTable(stream, name, encoding)


def _stream(source: str | Path | bytes | BinaryIO) -> BinaryIO:
    if isinstance(source, bytes):
        return BytesIO(source)
    if not isinstance(source, str | Path):
        return source
    path = Path(source).expanduser()
    if not path.is_file():
        raise BadInput(
            f"There is no file {file_name(path)}. Give the path of a ratings table (CSV, TSV or"
            " Parquet)."
        )
    return BytesIO(path.read_bytes()) if path.stat().st_size < HEAD else path.open("rb")


def _sound(head: bytes) -> bool:
    try:
        head.decode(encodings.UTF8)
    except UnicodeDecodeError:
        return False
    return True


def _first_sentence(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".") + "."
