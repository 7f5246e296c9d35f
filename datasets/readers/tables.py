"""The table in a file of any kind, recognised by the file's first bytes."""

import gzip
import itertools
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from dpmf_core.base.errors import BadInput
from dpmf_core.base.program import program
from dpmf_core.data.column_names import REQUIRED_ROLES, by_name
from dpmf_core.data.item_features import EncodedTable, encode
from dpmf_datasets import sandbox
from dpmf_datasets.readers import arrow_tables
from dpmf_datasets.readers.archives import GZIP, Members, members_of
from dpmf_datasets.readers.table import (
    HEAD,
    MOST_COLUMNS,
    Table,
    as_texts,
    damage,
    file_name,
    report_damage,
)
from dpmf_datasets.readers.text_tables import text_table

BEGINNING = 64  # bytes that tell the kind of a file
ZIP = b"PK\x03\x04"
RATINGS_IN = (".csv", ".tsv", ".dat", ".data", ".txt")
OFFICIAL = ("ratings.dat", "u.data")  # tables of MovieLens, which have no header
MOST = 50  # files that are checked
LARGEST_ITEM_TABLE = 500_000_000  # bytes, unpacked: the table is read whole
FACTS = b"dpmf.table"  # the key in the metadata of the Parquet file
MOST_CELLS = 50_000_000
MOST_RAGGED = 1_000_000
LONGEST_COLUMN_NAME = 200  # characters
KEPT_FACTS = ("unit", "decimal_comma", "above", "layout", "assumptions", "ragged_lines")
ROWS = 1 << 16  # in a group of the file
KINDS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal)
Source = str | Path | bytes | BinaryIO | Table


def open_table(
    source: Source, name: str, encoding: str | None = None, sheet: str | None = None
) -> Table:
    """Open the table in a file, in bytes or in an open binary file that can be rewound.

    name: what messages call the file. encoding: the declared one of a text. sheet: of a
    spreadsheet; by default the first. Raises BadInput.
    """
    if isinstance(source, Table):
        return source
    stream, magic = _unpacked(_stream(source))
    if magic[:4] == b"PAR1":
        return arrow_tables.parquet(stream, name)
    if magic[:4] in (b"ARRO", b"FEA1"):
        return arrow_tables.feather(stream, name)
    if arrow_tables.looks_like_json(magic):
        return arrow_tables.json_lines(stream.read(), name)
    kind = arrow_tables.kind_of_zip(stream) if magic[:4] == ZIP else ""
    if kind == "arrays":
        return arrow_tables.arrays(stream, name)
    if kind == "spreadsheet" or magic[:4] == arrow_tables.OLE:
        return _spreadsheet(stream, name, sheet)
    if magic[:4] == ZIP:
        raise BadInput(
            f"{name} is a zip file, not a table. Unpack a table from it, or import an official"
            " archive with `import ID PATH`."
        )
    return text_table(stream, name, encoding)


def _unpacked(stream: BinaryIO) -> tuple[BinaryIO, bytes]:
    """Return the stream, unpacked if it is gzip; and its first bytes."""
    magic = stream.read(BEGINNING)
    stream.seek(0)
    if magic[:2] != GZIP:
        return stream, magic
    inside: BinaryIO = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]
    magic = inside.read(BEGINNING)
    inside.seek(0)
    return inside, magic


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


def _spreadsheet(stream: BinaryIO, name: str, sheet: str | None) -> Table:
    """A sheet, read in a child process, because a kilobyte may claim a table of terabytes."""
    if sandbox.is_inside:
        return arrow_tables.spreadsheet(stream, name, sheet)
    with tempfile.TemporaryDirectory() as folder:
        book, target = Path(folder, "book"), Path(folder, "table.parquet")
        with book.open("wb") as file:
            shutil.copyfileobj(stream, file)
        sandbox.read(
            write_parquet, name, str(book), name, sheet, str(target), limits=sandbox.OWN_MACHINE
        )
        return read_bounded(BytesIO(target.read_bytes()))


def write_parquet(path: str, name: str, sheet: str | None, target: str) -> None:
    """Write the table in a file as Parquet, within bounds. Raises BadInput."""
    with report_damage(name), Path(path).open("rb") as stream:
        write_bounded(open_table(stream, name, sheet=sheet), name, Path(target))


def is_packed_table(file: Path) -> bool:
    """Whether a zip file is itself one table: a numpy archive or a spreadsheet."""
    try:
        with file.open("rb") as stream:
            return bool(arrow_tables.kind_of_zip(stream))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False  # reading it reports the damage


# ---- tables among files that could be documents --------------------------------------------------


def ratings_tables(path: Path) -> tuple[str, ...]:
    """The tables in a folder, archive or file whose header names user, item and rating.

    They are given by their names in it.
    """
    with members_of(path) as members:
        tables = [name for name in members.names if _plain(name).suffix in RATINGS_IN]
        if len(members.names) > 1:
            tables = [
                name for name in tables if _plain(name).suffix != ".txt" or "rating" in name.lower()
            ]
        return tuple(sorted(name for name in tables[:MOST] if _is_ratings(members, name)))


def _plain(name: str) -> PurePosixPath:
    """A file's name in lower case, without `.gz`."""
    return PurePosixPath(name.lower().removesuffix(".gz"))


def _is_ratings(members: Members, name: str) -> bool:
    if _plain(name).name in OFFICIAL:
        return True
    try:
        with members.open(name) as stream:
            head = (
                gzip.GzipFile(fileobj=stream).read(HEAD - 1)
                if name.lower().endswith(".gz")
                else stream.read(HEAD - 1)
            )
        roles = by_name(open_table(head, name).names, loosely=False)
    except damage(BadInput):
        return False
    return set(REQUIRED_ROLES) <= set(roles)


# ---- a public table of items next to ratings: one row per item -----------------------------------


def read_item_table(path: Path, items: Sequence[str], name: str = "") -> EncodedTable:
    """Read the features of `items`, given by their ids in the ratings, from a table of any kind.

    Raises BadInput if the file is missing, has no header, or is not a table of these items.
    """
    name = name or file_name(path)
    if not path.is_file():
        raise BadInput(
            f"There is no file {name} for item_table. Give the path of a table (CSV, TSV or"
            " Parquet) with one row per item, e.g. item_table=films.csv."
        )
    with path.open("rb") as stream, report_damage(name):
        table = open_table(stream, name)
        names = table.names or table.first  # the first row, even if it looks like numbers
        rows = _rows(table, len(names), name)[not table.names :]
    return encode(names, rows, items, name, decimal_comma=table.decimal_comma)


def _rows(table: Table, width: int, name: str) -> list[tuple[str, ...]]:
    """All cells as text, without blank rows. Raises BadInput."""
    rows: list[tuple[str, ...]] = []
    size = 0
    for batch in table.batches(range(width)):
        size += sum(column.nbytes for column in batch)
        if size > LARGEST_ITEM_TABLE:
            raise BadInput(
                f"{name} is larger than {LARGEST_ITEM_TABLE / 1e6:.0f} MB. Leave out columns or"
                " rows."
            )
        rows += filter(any, zip(*map(as_texts, batch), strict=True))
    if ragged := [line for line, text in table.ragged_lines if text]:
        raise BadInput(
            f"{table.unit.capitalize()} {ragged[0]:,} of {name} does not have the {width} columns"
            " of the header. Quote each cell that contains the separator."
        )
    return rows


# ---- tables within bounds, as a child process leaves them ----------------------------------------


def write_bounded(table: Table, name: str, target: Path) -> None:
    """Write a table as Parquet, with columns of numbers, times or texts.

    Raises BadInput if it has more columns, cells or ragged lines than the bounds allow.
    """
    width = len(table.shown_names)
    if width > MOST_COLUMNS:
        raise BadInput(
            f"{name} has {width:,} columns. The limit is {MOST_COLUMNS:,}: leave some out."
        )
    _check_cells(table.n_rows * width, name)
    parts = _parts(table, width, name)
    first = next(parts, pa.table({str(j): pa.array([], pa.string()) for j in range(width)}))
    with pa.parquet.ParquetWriter(target, first.schema, compression="zstd") as writer:
        for part in itertools.chain([first], parts):
            writer.write_table(part, row_group_size=ROWS)
        if len(table.ragged_lines) > MOST_RAGGED:
            raise BadInput(
                f"More than {MOST_RAGGED:,} lines of {name} have a different number of columns. A"
                " table has the same columns in each line."
            )
        facts: dict[str, Any] = {fact: getattr(table, fact) for fact in KEPT_FACTS}
        facts["names"] = [column[:LONGEST_COLUMN_NAME] for column in table.names]
        content = json.dumps({**facts, "read_as": table.read_as()})
        writer.add_key_value_metadata({FACTS: content})


def _parts(table: Table, width: int, name: str) -> Iterator[pa.Table]:
    """The batches, with numbers and times unchanged and anything else as text."""
    rows = 0
    for batch in table.batches(range(width)):
        columns = [
            column if any(is_kind(column.type) for is_kind in KINDS) else column.cast(pa.string())
            for column in batch
        ]
        rows += len(columns[0]) if columns else 0
        _check_cells(rows * width, name)
        yield pa.Table.from_arrays(columns, names=[str(j) for j in range(width)])


def _check_cells(count: int, name: str) -> None:
    if count > MOST_CELLS:
        raise BadInput(
            f"{name} has more than {MOST_CELLS:,} cells. Use a part of it, or use `{program()}` for"
            " large files."
        )


def read_bounded(stream: BinaryIO) -> Table:
    """Open a file from `write_bounded`, in this process or in a child."""
    table = arrow_tables.parquet(stream, "The table")
    facts = json.loads(pa.parquet.read_metadata(stream).metadata[FACTS])
    read_as = tuple(facts.pop("read_as"))
    for name, value in facts.items():
        setattr(table, name, tuple(value) if name in ("names", "assumptions") else value)
    table.ragged_lines = [(number, text) for number, text in table.ragged_lines]
    table.read_as = lambda: read_as
    return table


@dataclass(frozen=True)
class OwnTable:
    """An uploaded table, as the child process left it.

    name, fingerprint: of the file. parquet: its cells, within bounds.
    """

    name: str
    parquet: bytes
    fingerprint: str

    @cached_property
    def table(self) -> Table:
        return read_bounded(BytesIO(self.parquet))

    @property
    def rows(self) -> pd.DataFrame:
        """The first rows as text."""
        return pd.DataFrame(self.table.head, columns=list(self.table.shown_names))
