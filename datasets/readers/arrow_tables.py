"""Tables that are read at once: Feather, lines of JSON, numpy archives, spreadsheets, and what is
made of another table.
"""

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet

from dpmf_core.data.column_names import ROLES, by_name
from dpmf_core.errors import BadInput, closest
from dpmf_datasets.readers.text_layout import SAMPLE_ROWS

LARGEST = 500_000_000  # bytes that a packed file may claim to unpack to
INTERACTION = "interaction"  # the column of ones of a table without ratings
SPREADSHEET = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")  # members of xlsx, xlsb, ods
OLE = b"\xd0\xcf\x11\xe0"  # how a spreadsheet of before 2007 begins


class ArrowTable:
    """A `readers.tables.Table` of columns in memory. words: how it was found, in a sentence."""

    unit = "row"
    decimal_comma = False

    def __init__(self, table: pa.Table, words: str, assumptions: tuple[str, ...] = ()) -> None:
        flat = [it.name for it in table.schema if not pa.types.is_nested(it.type)]
        self._table = table.select(flat)
        self.names: tuple[str, ...] = tuple(flat)
        self.first: tuple[str, ...] = ()
        self.ragged_lines: list[tuple[int, str]] = []
        self.assumptions = assumptions
        self._words = words

    def batches(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        for batch in self._table.to_batches():
            yield [batch.column(j) for j in columns]

    def sample(self, column: int, most: int = SAMPLE_ROWS) -> tuple[str, ...]:
        values = self._table.column(column).slice(0, most).to_pylist()
        return tuple("" if value is None else str(value) for value in values)

    def line(self, row: int) -> int:
        return row + 1

    def read_as(self) -> tuple[str, ...]:
        return ()

    @property
    def layout(self) -> str:
        return f"{len(self.names):,} columns {self._words}."


def feather(stream: BinaryIO, name: str) -> ArrowTable:
    """A Feather or Arrow file. Raises BadInput."""
    try:
        return ArrowTable(pyarrow.feather.read_table(stream), "of a Feather file")
    except pa.ArrowException as error:
        raise BadInput(f"{name} cannot be read as Feather: {error} Save it again.") from error


def json_lines(content: bytes, name: str) -> ArrowTable:
    """Lines of JSON, an object each; or one list of objects. Raises BadInput."""
    try:
        if content.lstrip()[:1] == b"[":
            rows = json.loads(content)
            return ArrowTable(pa.Table.from_pylist(rows), "of a list in JSON")
        block = pa.json.ReadOptions(block_size=max(len(content), 1))
        return ArrowTable(pa.json.read_json(BytesIO(content), block), "of lines of JSON")
    except (pa.ArrowException, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(
            f"{name} cannot be read as lines of JSON: {str(error).splitlines()[0][:200]} Each line"
            ' holds one object with the same keys, e.g. {"user": 1, "item": 7, "rating": 4.5}.'
        ) from error


def looks_like_json(head: bytes) -> bool:
    """Whether a file begins with an object, or with a list of objects."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] == b"{" or bool(re.match(rb"\[\s*\{", text))


# ---- archives ------------------------------------------------------------------------------------


def of_zip(stream: BinaryIO, name: str, sheet: str | None) -> ArrowTable | None:
    """The table of a numpy archive or of a spreadsheet, which are zip files; None of others.
    Raises BadInput.
    """
    with zipfile.ZipFile(stream) as archive:
        members, size = archive.namelist(), sum(it.file_size for it in archive.infolist())
    stream.seek(0)
    is_arrays = _holds_arrays(members)
    if not is_arrays and not set(members) & set(SPREADSHEET):
        return None
    if size > LARGEST:
        raise BadInput(
            f"{name} unpacks to {size / 1e6:,.0f} MB, more than {LARGEST / 1e6:.0f} MB. Save it as"
            " CSV or Parquet."
        )
    return arrays(stream, name) if is_arrays else spreadsheet(stream, name, sheet)


def is_packed_table(content: bytes) -> bool:
    """Whether a zip file is itself one table: a numpy archive or a spreadsheet."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False  # what is wrong with it is said where it is read
    return _holds_arrays(members) or bool(set(members) & set(SPREADSHEET))


def _holds_arrays(members: Sequence[str]) -> bool:
    return bool(members) and all(name.endswith(".npy") for name in members)


def arrays(stream: BinaryIO, name: str) -> ArrowTable:
    """Arrays of one length by name, or a sparse matrix of scipy. No pickles. Raises BadInput."""
    try:
        with np.load(stream, allow_pickle=False) as file:
            columns = {each: file[each] for each in file.files}
        if {"format", "shape", "data"} <= set(columns):
            stream.seek(0)
            return ArrowTable(_of_matrix(stream), "of a sparse matrix, users by items")
        return ArrowTable(
            pa.table({each: pa.array(it) for each, it in columns.items()}), "of numpy"
        )
    except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise BadInput(
            f"{name} cannot be read as arrays: {error}. It holds one-dimensional arrays of numbers"
            " or texts, all of one length, e.g. numpy.savez(file, user=..., item=...,"
            " rating=...), or a matrix by scipy.sparse.save_npz."
        ) from error


def _of_matrix(stream: BinaryIO) -> pa.Table:
    from scipy.sparse import load_npz  # which reads no pickles

    cells: Any = load_npz(stream)
    cells = cells.tocoo()
    return pa.table({"user": cells.row, "item": cells.col, "rating": cells.data})


def spreadsheet(stream: BinaryIO, name: str, sheet: str | None = None) -> ArrowTable:
    """A sheet of a spreadsheet (.xlsx, .xlsb, .xls, .ods) whose first row names the columns: the
    first one, or the one of this name. Raises BadInput.
    """
    book = _workbook(stream.read(), name)
    sheets = book.sheet_names
    if sheet is not None and sheet not in sheets:
        raise BadInput(
            f"{name} has no sheet '{sheet[:60]}'.{closest(sheet, sheets)} Its sheets:"
            f" {', '.join(sheets[:20])}. Name one after the path: sheet={sheets[0]}."
        )
    sheet_name = sheet or sheets[0]
    rows = cells_of(book, sheet_name, name)
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if len(rows) < 2:
        raise BadInput(
            f"The sheet '{sheet_name}' of {name} has no row below its header. The first row names"
            f" the columns: user, item, rating. Its sheets: {', '.join(sheets[:20])}."
        )
    texts = [[_as_text(cell) for cell in row] for row in rows]
    header = [it or f"column {j + 1}" for j, it in enumerate(texts[0])]
    columns = [list(it) for it in zip(*texts[1:], strict=True)]
    return ArrowTable(
        pa.Table.from_arrays([pa.array(it, pa.string()) for it in columns], names=header),
        f"of the sheet '{sheet_name}'",
    )


def _workbook(content: bytes, name: str) -> Any:
    """Raises BadInput on what is no spreadsheet."""
    import python_calamine  # loaded for spreadsheets alone

    return _call_reader(
        lambda: python_calamine.CalamineWorkbook.from_filelike(BytesIO(content)), name
    )


def cells_of(book: Any, sheet: str, name: str) -> list[list[Any]]:
    """All rows of a sheet, of one width. Raises BadInput on a damaged one."""
    rows: list[list[Any]] = _call_reader(
        lambda: book.get_sheet_by_name(sheet).to_python(skip_empty_area=False), name
    )
    return rows


def first_sheet(content: bytes, name: str) -> list[list[Any]]:
    """All rows of the first sheet of a spreadsheet. Raises BadInput."""
    book = _workbook(content, name)
    return cells_of(book, book.sheet_names[0], name)


def _call_reader(read: Callable[[], Any], name: str) -> Any:
    """What a reader of spreadsheets returns; it raises whatever a damaged file leads it to, also
    what is no `Exception`.
    """
    try:
        return read()
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise BadInput(
            f"{name} cannot be read as a spreadsheet: {str(error)[:200]}. Export it as CSV."
        ) from None


def _as_text(cell: Any) -> str:
    """A cell as text: whole numbers without a point, dates as ISO has them."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    return str(cell)


# ---- tables made of others -----------------------------------------------------------------------


def melted(table: Any, user: str | None, name: str) -> ArrowTable:
    """A wide table, a row for each user and a column for each item, as a row for each rating; empty
    cells are no ratings. user: the column of users' ids; the first one unless it is said.

    Raises BadInput.
    """
    names = list(table.names or table.first)  # where items are numbers, a header looks like data
    if len(names) < 2:
        raise BadInput(
            f"{name} has {len(names)} columns. A wide table has a row for each user and a column"
            " for each item, and its first line names the items."
        )
    if user and user not in names:
        raise BadInput(
            f"{name} has no column '{user[:40]}' of users.{closest(user, names)} Its columns:"
            f" {', '.join(names[:12])}."
        )
    place = names.index(user) if user else 0
    others = [j for j in range(len(names)) if j != place]
    above = 0 if table.names else 1  # rows that are the header
    parts: list[pa.Table] = []
    for batch in table.batches([place, *others]):
        users, *ratings = (column.slice(above).cast(pa.string()) for column in batch)
        above = 0
        parts += [
            _ratings_of_item(names[j], users, column)
            for j, column in zip(others, ratings, strict=True)
        ]
    words = f"for {len(others):,} items, a row for each user"
    return ArrowTable(pa.concat_tables(parts), words, table.assumptions)


def _ratings_of_item(item: str, users: pa.Array, column: pa.Array) -> pa.Table:
    """A column of a wide table as ratings; both columns are texts."""
    is_rated = pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(column), ""), False)
    raters = users.filter(is_rated)
    ids = pa.array([item] * len(raters), pa.string())
    return pa.table([raters, ids, column.filter(is_rated)], names=list(ROLES[:3]))


class Interactions:
    """A table without ratings as a table that has a column of ones besides: whoever is in a row
    with an item has it. Of a table without a header the first two columns are user and item.
    """

    def __init__(self, table: Any) -> None:
        self._table = table
        width = len(table.names or table.first)
        plain = tuple(f"column {j + 1}" for j in range(width))
        header = table.names or (*ROLES[:2], *plain[2:])
        self.names: tuple[str, ...] = (*header, INTERACTION)
        self.first: tuple[str, ...] = (*table.first, "1") if table.first else ()
        self.unit: str = table.unit
        self.decimal_comma: bool = table.decimal_comma
        self.ragged_lines: list[tuple[int, str]] = table.ragged_lines  # filled as rows are read
        self.assumptions: tuple[str, ...] = table.assumptions

    def batches(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        last = len(self.names) - 1
        for batch in self._table.batches([j for j in columns if j != last]):
            ones = pa.array(np.ones(len(batch[0])))
            arrays = iter(batch)
            yield [ones if j == last else next(arrays) for j in columns]

    def sample(self, column: int, most: int = SAMPLE_ROWS) -> tuple[str, ...]:
        if column < len(self.names) - 1:
            values: tuple[str, ...] = self._table.sample(column, most)
            return values
        return ("1",)

    def line(self, row: int) -> int:
        place: int = self._table.line(row)
        return place

    def read_as(self) -> tuple[str, ...]:
        sentences: tuple[str, ...] = self._table.read_as()
        return (*sentences, "No column holds ratings: each row counts as 1, of 0 to 1.")

    @property
    def layout(self) -> str:
        text: str = self._table.layout
        return text


# ---- data sets of LensKit ------------------------------------------------------------------------

SCHEMA = "schema.json"


def is_lenskit(members: Sequence[str]) -> bool:
    """Whether files lie as LensKit saves a data set: a schema beside tables of Parquet."""
    return SCHEMA in members and "user.parquet" in members and "item.parquet" in members


def lenskit(read: Callable[[str], bytes], members: Sequence[str], name: str) -> ArrowTable:
    """The table of who rated what of a data set that LensKit saved, with the users' and items' own
    ids. Raises BadInput.
    """
    tables = {it for it in members if it.endswith(".parquet")} - {"user.parquet", "item.parquet"}
    relations = {it: pa.parquet.read_table(BytesIO(read(it))) for it in sorted(tables)}
    fitting = {
        it: table
        for it, table in relations.items()
        if {"user_num", "item_num"} <= set(table.column_names)
    }
    with_ratings = [
        it
        for it, table in fitting.items()
        if "rating" in by_name(table.column_names, loosely=False)
    ]
    table_names = (with_ratings or list(fitting))[:1]
    if not table_names:
        raise BadInput(
            f"{name} is a data set of LensKit without a table of users and items. Save one that has"
            " ratings or interactions."
        )
    table = fitting[table_names[0]]
    return ArrowTable(
        _with_ids(table, read), f"of the table {table_names[0]} of a LensKit data set"
    )


def _with_ids(table: pa.Table, read: Callable[[str], bytes]) -> pa.Table:
    """The table with ids in place of the numbers that LensKit gives to users and items."""
    id_columns: Mapping[str, Any] = {}
    for entity in ROLES[:2]:
        ids = pa.parquet.read_table(BytesIO(read(f"{entity}.parquet")))[f"{entity}_id"]
        numbers = table[f"{entity}_num"].combine_chunks()
        id_columns = {**id_columns, entity: ids.combine_chunks().take(numbers)}
    rest = [it for it in table.column_names if it not in ("user_num", "item_num")]
    return pa.table({**id_columns, **{it: table[it] for it in rest}})
