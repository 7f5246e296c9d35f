"""The table in a file of any kind, recognised by the file's first bytes."""

import gzip
import shutil
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import REQUIRED_ROLES, by_name
from dpmf_datasets import sandbox
from dpmf_datasets.readers import arrow_tables
from dpmf_datasets.readers.archives import GZIP, Members, members_of
from dpmf_datasets.readers.bounded_tables import read_bounded, write_bounded
from dpmf_datasets.readers.table import HEAD, Table, damage, file_name, report_damage
from dpmf_datasets.readers.text_tables import text_table

BEGINNING = 64  # bytes that tell the kind of a file
ZIP = b"PK\x03\x04"
RATINGS_IN = (".csv", ".tsv", ".dat", ".data", ".txt")
OFFICIAL = ("ratings.dat", "u.data")  # tables of MovieLens, which have no header
MOST = 50  # files that are checked
Source = str | Path | bytes | BinaryIO | Table


def open_table(
    source: Source, name: str, encoding: str | None = None, sheet: str | None = None
) -> Table:
    """Open the table in a file, in bytes or in an open binary file that can be rewound.

    Parameters
    ----------
    source : path, bytes, binary file or Table
    name : str
        What messages call the file.
    encoding : str, optional
        The declared encoding of a text.
    sheet : str, optional
        The sheet of a spreadsheet; by default the first.

    Raises
    ------
    BadInput
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
            write_sheet, name, str(book), name, sheet, str(target), limits=sandbox.OWN_MACHINE
        )
        return read_bounded(BytesIO(target.read_bytes()))


def write_sheet(book: str, name: str, sheet: str | None, target: str) -> None:
    """Write a sheet as a Parquet file."""
    with report_damage(name), Path(book).open("rb") as stream:
        write_bounded(arrow_tables.spreadsheet(stream, name, sheet), name, Path(target))


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
