"""The table in a file of any kind, recognised by the file's first bytes."""

import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO, FileIO
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from dpmf_core.base.errors import BadInput, listing, quoted, shortened
from dpmf_core.data.facts import Facts
from dpmf_core.data.item_features import EncodedTable, encode, has_header
from dpmf_datasets.readers import arrow_tables, databases, matlab, matrix_market
from dpmf_datasets.readers.archives import ZIP, ArchiveMembers, members_of, unpacked
from dpmf_datasets.readers.json_tables import json_table, looks_like_json
from dpmf_datasets.readers.spreadsheets import sheet_names, spreadsheet
from dpmf_datasets.readers.table import (
    HEAD,
    RaggedLines,
    Table,
    as_texts,
    damage,
    file_name,
    has_ratings,
    report_damage,
)
from dpmf_datasets.readers.text_tables import text_table

BEGINNING = 512  # bytes that tell the kind of a file
# by the first bytes of a binary table: its reader
BINARY: dict[bytes, Callable[[BinaryIO, str], Table]] = {
    b"PAR1": arrow_tables.parquet,
    b"ARRO": arrow_tables.feather,
    b"FEA1": arrow_tables.feather,
}
EXPORT = "Save its table as CSV or Parquet."
# by the first bytes of other files: what they are and what to do
NO_TABLES = {
    rb"\0{8}": "full of zeros, as if it had not been saved to its end. Fetch or save it again.",
    rb"\x89HDF": f"an HDF5 file, which is not read. {EXPORT}",
    rb"SQLite format 3": "an SQLite database. Give its path, with table=NAME.",
    rb"\x80[\x02-\x05]": f"a pickle. Reading it could run a program. {EXPORT}",
    rb"%PDF": f"a PDF, which is not read. {EXPORT}",
    rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*": "a picture, not a table.",
    rb"7z\xbc\xaf|Rar!|\x28\xb5\x2f\xfd": "packed in a way that is not read. Unpack it first.",
    rb"RD[AX][23]\n": f"a file of R. {EXPORT}",
    rb"(\xef\xbb\xbf)?\s*<(!|\?|html|head|body|table|div|meta|style)": (
        "a web page or XML, whatever its ending says. Open it in a spreadsheet program and save it"
        " as .xlsx or CSV."
    ),
}
TABLE = re.compile(
    r"\.(csv|tsv|dat|data|txt|inter|jsonl|ndjson|json|parquet|feather|xlsx|xlsb|xls|ods|npz|npy|mat"
    r"|mtx)(\.(gz|bz2|xz))?$",
    re.I,
)
PART = re.compile(r"(.*/)?part-[^/]*$")  # a part of a table that Spark wrote
MOST_TABLES = 50  # that are checked
RATINGS_IN = (".csv", ".tsv", ".dat", ".data", ".txt")
OFFICIAL = ("ratings.dat", "u.data")  # tables of MovieLens, which have no header
LARGEST_ITEM_TABLE = 500_000_000  # bytes, unpacked: the table is read whole


def open_table(path: Path, name: str, facts: Facts) -> Table:
    """Open the table in a file, in a folder or archive, or in an SQLite database.

    Parameters
    ----------
    path : Path
        The file or folder.
    name : str
        What messages call the table.
    facts : mapping of str to str
        The facts as after a path. `encoding`, `sheet`, `header`, `multiline`, `member` and `key`
        say how to read the table.

    Returns
    -------
    Table
        The table, with its rows still to be read.

    Raises
    ------
    BadInput
        If the table cannot be read.
    """
    if is_archive(path):
        return _table_within(path, name, facts)
    if "member" in facts:
        raise BadInput(
            f"'member' names a table in a folder or archive; {name} is one file. Leave it out."
        )
    if databases.is_sqlite(path):
        return databases.read(f"sqlite:///{path}", {}, facts.get("table"))
    if "table" in facts:
        raise BadInput(
            f"'table' names a table of a database; {name} is not a database. Leave it out."
        )
    is_small = path.stat().st_size < HEAD
    stream = BytesIO(path.read_bytes()) if is_small else path.open("rb")
    return table_in(stream, name, facts)


def table_in(stream: BinaryIO, name: str, facts: Facts | None = None) -> Table:
    """The table in one open file that allows rewinding, by its first bytes.

    For parameters, the result and errors see `open_table`.
    """
    facts = facts or {}
    stream = unpacked(stream)
    magic = stream.read(BEGINNING)
    stream.seek(0)
    for kind, advice in NO_TABLES.items():
        if re.match(kind, magic, re.I):
            raise BadInput(f"{name} is {advice}")
    for kind, read in BINARY.items():
        if magic.startswith(kind):
            return read(_whole(stream), name)
    if magic.startswith(b"\x93NUMPY"):
        return arrow_tables.saved_array(_whole(stream), name, facts)
    if magic.startswith((ZIP, arrow_tables.OLE)):
        return _packed_table(_whole(stream), name, facts)
    if magic.startswith(matrix_market.MAGIC):
        return matrix_market.matrix_market(stream, name)
    if magic.startswith(b"MATLAB") or name.lower().endswith(".mat"):
        matrix, key = matlab.table(stream, name, facts.get("key"))
        table = arrow_tables.matrix_table(matrix, f"'{key}' of {name}", facts)
        table.layout += f" The variable '{key}' was read."
        return table
    if looks_like_json(magic):
        return json_table(stream, name, magic, facts.get("encoding"))
    return text_table(stream, name, facts)


def _whole(stream: BinaryIO) -> BinaryIO:
    """A stream in which any place can be read at once; in a packed one that takes long."""
    is_plain = isinstance(stream, BytesIO) or isinstance(
        getattr(stream, "raw", None), FileIO
    )
    if is_plain:
        return stream
    return BytesIO(stream.read())


def _packed_table(stream: BinaryIO, name: str, facts: Facts) -> Table:
    kind = arrow_tables.kind_of(stream)
    if kind == "arrays":
        return arrow_tables.arrays(stream, name)
    if kind == "spreadsheet":
        return spreadsheet(stream, name, facts)
    raise BadInput(
        f"{name} is a zip file inside another file, not a table. Unpack a table from it, or import"
        " an official archive with `import ID PATH`."
    )


# ---- a table in a folder or archive --------------------------------------------------------------


def is_archive(path: Path) -> bool:
    """Whether a path is a folder or an archive, rather than one table."""
    return _kind_of(path) == "files"


def _kind_of(path: Path) -> str:
    """What a path holds: "files", a "spreadsheet", "arrays" or "" for anything else."""
    if path.is_dir():
        return "files"
    try:
        with path.open("rb") as stream:
            # tarfile takes zeros for an empty archive
            is_blank = stream.read(1) == b"\0"
            stream.seek(0)
            if not is_blank and tarfile.is_tarfile(path):
                return "files"
            return arrow_tables.kind_of(stream)
    except BadInput:
        raise
    except damage(ValueError):
        return "files"  # reading it reports the damage


def parts_of(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tables in a folder or archive, and the sheets in a spreadsheet, for a person to choose.

    They are the values of `member` and `sheet`. This process opens the file. Raises BadInput.
    """
    kind = _kind_of(path)
    if kind == "spreadsheet":
        return (), sheet_names(str(path), file_name(path))
    if kind != "files":
        return (), ()
    with members_of(path) as members:
        tables = tuple(_tables_in(members))
    return () if _are_parts(tables) else tables, ()


def ratings_tables(path: Path) -> tuple[str, ...]:
    """The tables in a folder, archive or file with a header that names user, item and rating.

    They are given by their names in it.
    """
    with members_of(path) as members:
        tables = [
            name
            for name in _tables_in(members)
            if _plain_name(name).suffix in RATINGS_IN
        ]
        return tuple(
            name for name in tables[:MOST_TABLES] if _is_ratings(members, name, {})
        )


def _table_within(path: Path, name: str, facts: Facts) -> Table:
    """The table of a member, or of all parts that Spark wrote, in a folder or archive."""
    opened = ExitStack()
    members = opened.enter_context(members_of(path))
    chosen_names = _chosen_members(members, name, facts)

    def open_part(part: str) -> Table:
        stream = members.open(part)
        if first.open_part:
            return first.open_part(unpacked(stream), file_name(part))
        return table_in(stream, file_name(part), facts)

    first = table = table_in(
        members.open(chosen_names[0]), file_name(chosen_names[0]), facts
    )
    if len(chosen_names) > 1:
        table = _joined(table, chosen_names, open_part)
    batches = table.batches

    def read(columns: Sequence[int]) -> Iterator[list[Any]]:
        with opened:
            yield from batches(columns)

    table.batches = read
    return table


def _is_ratings(members: ArchiveMembers, name: str, facts: Facts) -> bool:
    if _plain_name(name).name in OFFICIAL:
        return True
    if _plain_name(name).suffix not in RATINGS_IN:
        return False
    try:
        with members.open(name) as stream:
            head = BytesIO(unpacked(stream).read(HEAD - 1))
        return has_ratings(table_in(head, name).names, facts)
    except damage(BadInput):
        return False


def _chosen_members(members: ArchiveMembers, name: str, facts: Facts) -> list[str]:
    """The declared table, the only one, all parts of one, or the only one of ratings.

    Raises BadInput if the choice is not clear.
    """
    declared = facts.get("member")
    tables = _tables_in(members)
    if declared and declared in members.names:
        tables = [declared]
    elif declared:
        tables = [table for table in members.names if _is_called(table, declared)]
    is_in_parts = _are_parts(tables)
    if is_in_parts:
        tables = [table for table in tables if members.open(table).read(1)]
    elif len(tables) > 1:
        some = tables[:MOST_TABLES]
        tables = [
            table for table in some if _is_ratings(members, table, facts)
        ] or tables
    if len(tables) == 1 or (tables and is_in_parts):
        return tables
    if not members.names or not (tables or declared):
        raise BadInput(f"{name} holds no table. Its files: {members.some}.")
    if declared:
        which = f"no single table {quoted(declared)}"
    else:
        which = f"{len(tables):,} tables"
    files = tables or members.names
    raise BadInput(
        f"{name} holds {which}. Its files: {listing(files)}. Name a table after the path, e.g."
        f" member={shortened(files[0])}."
    )


def _joined(
    first: Table, names: Sequence[str], open_part: Callable[[str], Table]
) -> Table:
    """The tables of several parts, one below another. Raises BadInput if their columns differ."""
    ragged_lines: RaggedLines = []

    def read(columns: Sequence[int]) -> Iterator[list[Any]]:
        above = 0
        for name in names:
            part = first if name == names[0] else open_part(name)
            if sorted(part.names) != sorted(first.names):
                raise BadInput(
                    f"The part {file_name(name)} has other columns than {file_name(names[0])}:"
                    f" {listing(part.shown_names)}. Name one part with member=."
                )
            places = columns
            if part.names:
                places = [part.names.index(first.names[column]) for column in columns]
            n_rows = 0
            for batch in part.batches(places):
                n_rows += len(batch[0])
                yield batch
            ragged_lines.extend(
                (above + line - part.above, text) for line, text in part.ragged_lines
            )
            above += n_rows + len(part.ragged_lines)

    return replace(
        first,
        batches=read,
        unit="row",
        above=0,
        layout=f"{first.layout} It is in {len(names):,} parts.",
        ragged_lines=ragged_lines,
    )


def _tables_in(members: ArchiveMembers) -> list[str]:
    """The members that may be tables; of several files, no text without `rating` in its name."""
    names = [
        name
        for name in sorted(members.names)
        if TABLE.search(name) or PART.match(name)
        if not any(part.startswith(("_", ".")) for part in PurePosixPath(name).parts)
    ]
    if len(members.names) == 1:
        return names
    return [
        name
        for name in names
        if _plain_name(name).suffix != ".txt" or "rating" in name.lower()
    ]


def _are_parts(tables: Sequence[str]) -> bool:
    """Whether all are parts of one table."""
    folders = {PurePosixPath(table).parent for table in tables}
    return len(folders) == 1 and all(PART.match(table) for table in tables)


def _is_called(name: str, declared: str) -> bool:
    """Whether a member, or a folder with it, has the declared name."""
    parts = PurePosixPath(name).parts
    return declared in parts and not parts[-1].startswith("_")


def _plain_name(name: str) -> PurePosixPath:
    """A file's name in lower case, without the ending of a packed file."""
    return PurePosixPath(re.sub(r"\.(gz|bz2|xz)$", "", name.lower()))


# ---- a public table of items next to ratings: one row per item -----------------------------------


def read_item_table(
    path: Path, items: Sequence[str], name: str = "", encoding: str | None = None
) -> EncodedTable:
    """Read the features of `items`, given by their ids in the ratings, from a table of any kind.

    Its first row is a header or an item.

    Parameters
    ----------
    path : Path
        The table.
    items : sequence of str
        The ids of the items.
    name : str
        What messages call the table.
    encoding : str or None
        The declared encoding of a text.

    Returns
    -------
    EncodedTable
        The features.

    Raises
    ------
    BadInput
        If the file is missing or is not a table of these items.
    """
    name = name or file_name(path)
    if not path.is_file():
        raise BadInput(
            f"There is no file {name} for item_table. Give the path of a table (CSV, TSV or"
            " Parquet) with one row per item, e.g. item_table=films.csv."
        )
    facts = {"encoding": encoding} if encoding else {}
    with report_damage(name):
        try:
            table, rows = _every_row(path, name, facts)
        except BadInput as error:
            try:  # the table is public: one row may decide where another ends
                table, rows = _every_row(path, name, {**facts, "multiline": "true"})
            except BadInput:
                raise error from None
    names: tuple[str, ...] = ()
    if has_header(rows[0], items, is_text=bool(table.names)):
        names = rows.pop(0)
    return encode(names, rows, items, name, decimal_comma=table.decimal_comma)


def _every_row(
    path: Path, name: str, facts: Facts
) -> tuple[Table, list[tuple[str, ...]]]:
    """A table and all its cells as text, with its header and without blank rows.

    Raises BadInput.
    """
    table = open_table(path, name, facts)
    width = len(table.shown_names)
    rows = [table.names] if table.names else []
    size = 0
    for batch in table.batches(range(width)):
        size += sum(column.nbytes for column in batch)
        if size > LARGEST_ITEM_TABLE:
            raise BadInput(
                f"{name} is larger than {LARGEST_ITEM_TABLE / 1e6:.0f} MB. Leave out columns or"
                " rows."
            )
        rows += filter(any, zip(*map(as_texts, batch), strict=True))
    for problem in table.problems:
        raise BadInput(
            f"{table.unit.capitalize()} {problem.lines[0]:,} of {name} does not have the {width}"
            " columns of the header. Quote each cell that contains the separator."
        )
    return table, rows
