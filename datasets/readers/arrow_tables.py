"""Tables read by pyarrow, numpy and calamine: Parquet, Feather, JSON, arrays, spreadsheets."""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet

from dpmf_core.base.errors import BadInput, closest
from dpmf_core.base.extras import extra
from dpmf_core.data.column_names import ROLES
from dpmf_datasets.readers.table import PREVIEW, Table, as_texts, first_sentence

LARGEST = 500_000_000  # bytes that a packed file may claim to unpack to
SPREADSHEET = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")  # members of xlsx, xlsb, ods
OLE = b"\xd0\xcf\x11\xe0"  # the first bytes of a spreadsheet before 2007
ROWS = 1 << 16  # read together
BETWEEN = "|"  # separates the values of a cell that holds a list


def arrow_table(
    schema: pa.Schema,
    batches: Callable[[list[str], int], Iterable[pa.RecordBatch]],
    layout: str,
    **facts: Any,
) -> Table:
    """The rows that pyarrow reads, of columns with unique names and readable types.

    Readable are numbers, texts, times and lists of these. batches: reads columns by name, so many
    rows at a time. layout: follows the number of columns in the report.
    """
    times = Counter(schema.names)
    kinds = {it.name: it.type.value_type if _is_list(it.type) else it.type for it in schema}
    names = [it for it in kinds if times[it] == 1 and not pa.types.is_nested(kinds[it])]

    def read(columns: Sequence[int], rows: int = ROWS) -> Iterator[list[pa.Array]]:
        chosen_names = [names[j] for j in columns]
        for batch in batches(list(dict.fromkeys(chosen_names)), rows):
            yield [_flat(batch.column(name)) for name in chosen_names]

    first = next(read(range(len(names)), PREVIEW), []) if names else []
    head = list(zip(*(as_texts(column.slice(0, PREVIEW)) for column in first), strict=True))
    return Table(tuple(names), head, read, layout=f"{len(names):,} columns {layout}.", **facts)


def in_memory(table: pa.Table, layout: str, assumptions: tuple[str, ...] = ()) -> Table:
    """The rows of a pyarrow table."""
    return arrow_table(
        table.schema,
        lambda names, _: table.select(names).to_batches(),
        layout,
        assumptions=assumptions,
        n_rows=len(table),
    )


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _flat(column: pa.Array) -> pa.Array:
    """A column of lists as text with | between the values; others unchanged."""
    if not _is_list(column.type):
        return column
    return pc.binary_join(column.cast(pa.list_(pa.string())), BETWEEN)


@contextmanager
def _refusals(name: str, kind: str, advice: str) -> Iterator[None]:
    """Convert errors of readers to BadInput."""
    try:
        yield
    except (
        pa.ArrowException,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as e:
        raise BadInput(
            f"{name} cannot be read as {kind}: {first_sentence(e)[:200]} {advice}"
        ) from e


def parquet(stream: BinaryIO, name: str) -> Table:
    """Open a Parquet file. Raises BadInput."""
    with _refusals(name, "Parquet", "It may be cut short: fetch or save it again."):
        file = pa.parquet.ParquetFile(stream)
    return arrow_table(
        file.schema_arrow,
        lambda names, rows: file.iter_batches(rows, columns=names),
        "of a Parquet file",
        n_rows=file.metadata.num_rows,
    )


def feather(stream: BinaryIO, name: str) -> Table:
    """Read a Feather or Arrow file. Raises BadInput."""
    with _refusals(name, "Feather", "Save it again."):
        return in_memory(pyarrow.feather.read_table(stream), "of a Feather file")


def json_lines(content: bytes, name: str) -> Table:
    """Read lines of JSON objects, or one list of objects. Raises BadInput."""
    keys = (
        'Each line holds one object with the same keys, e.g. {"user": 1, "item": 7, "rating": 4.5}.'
    )
    with _refusals(name, "lines of JSON", keys):
        if content.lstrip()[:1] == b"[":
            return in_memory(pa.Table.from_pylist(json.loads(content)), "of a list in JSON")
        block = pa.json.ReadOptions(block_size=max(len(content), 1))
        return in_memory(pa.json.read_json(BytesIO(content), block), "of lines of JSON")


def looks_like_json(head: bytes) -> bool:
    """Whether a file begins with an object, or with a list of objects."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] == b"{" or bool(re.match(rb"\[\s*\{", text))


# ---- zip files that are one table ----------------------------------------------------------------


def kind_of_zip(stream: BinaryIO) -> str:
    """Return "arrays" for a numpy archive, "spreadsheet" for a spreadsheet, else ""."""
    with zipfile.ZipFile(stream) as archive:
        members, size = archive.namelist(), sum(it.file_size for it in archive.infolist())
    stream.seek(0)
    is_arrays = bool(members) and all(name.endswith(".npy") for name in members)
    if not is_arrays and not set(members) & set(SPREADSHEET):
        return ""
    if size > LARGEST:
        raise BadInput(
            f"The file unpacks to {size / 1e6:,.0f} MB, more than {LARGEST / 1e6:.0f} MB. Save it"
            " as CSV or Parquet."
        )
    return "arrays" if is_arrays else "spreadsheet"


def arrays(stream: BinaryIO, name: str) -> Table:
    """Read arrays of one length by name, or a sparse matrix of scipy; no pickles.

    Raises BadInput.
    """
    advice = (
        "It must hold one-dimensional arrays of numbers or texts, all of the same length, e.g."
        " numpy.savez(file, user=..., item=..., rating=...), or a matrix saved by"
        " scipy.sparse.save_npz."
    )
    with _refusals(name, "arrays", advice):
        with np.load(stream, allow_pickle=False) as file:
            columns = {each: file[each] for each in file.files}
        if not {"format", "shape", "data"} <= set(columns):
            table = pa.table({each: pa.array(it) for each, it in columns.items()})
            return in_memory(table, "of numpy")
        from scipy.sparse import load_npz  # reads no pickles

        stream.seek(0)
        cells: Any = load_npz(stream)
        cells = cells.tocoo()
        table = pa.table({"user": cells.row, "item": cells.col, "rating": cells.data})
        return in_memory(table, "of a sparse matrix, users by items")


def spreadsheet(stream: BinaryIO, name: str, sheet: str | None = None) -> Table:
    """Read a sheet of a spreadsheet (.xlsx, .xlsb, .xls, .ods) whose first row names the columns.

    sheet: its name; by default the first one. Raises BadInput.
    """
    rows, sheets = sheet_rows(stream, name, sheet)
    sheet_name = sheet or sheets[0]
    rows = rows[(rows != "").any(axis=1)]
    if len(rows) < 2:
        raise BadInput(
            f"The sheet '{sheet_name}' of {name} has no row below its header. The first row names"
            f" the columns: user, item, rating. Its sheets: {', '.join(sheets[:20])}."
        )
    header = [it or f"column {j + 1}" for j, it in enumerate(rows.iloc[0])]
    columns = [pa.array(rows.iloc[1:, j], pa.string()) for j in range(len(header))]
    table = pa.Table.from_arrays(columns, names=header)
    return in_memory(table, f"of the sheet '{sheet_name}'")


def sheet_rows(
    stream: BinaryIO, name: str, sheet: str | None = None, kind: type = str
) -> tuple[pd.DataFrame, list[str]]:
    """All cells of a sheet as text, or as objects, and the names of all sheets. Raises BadInput.

    A damaged file may make the reader raise anything, even what is not an `Exception`.
    """
    options: Any = {"header": None, "dtype": kind, "keep_default_na": False, "na_values": []}
    try:
        with extra("files"), pd.ExcelFile(stream, engine="calamine") as book:
            sheets = [str(it) for it in book.sheet_names]
            if sheet is None or sheet in sheets:
                return pd.read_excel(book, sheet_name=sheet or sheets[0], **options), sheets
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{name} cannot be read as a spreadsheet: {str(error)[:200]}. Export it as CSV."
        ) from None
    raise BadInput(
        f"{name} has no sheet '{sheet[:60]}'.{closest(sheet, sheets)} Its sheets:"
        f" {', '.join(sheets[:20])}. Name one after the path: sheet={sheets[0]}."
    )


# ---- tables made from other tables ---------------------------------------------------------------


def melted(table: Table, user: str | None, name: str) -> Table:
    """Convert a wide table, one row per user and one column per item, to one row per rating.

    Its empty cells are no ratings. user: the column of the users' ids; by default the first. name:
    of the file in messages. Raises BadInput if it has too few columns, or no such column.
    """
    names = list(table.names or table.first)  # if items are numbers, a header looks like data
    if len(names) < 2:
        raise BadInput(
            f"{name} has {len(names)} columns. A wide table has one row per user and one column per"
            " item, and its first line names the items."
        )
    if user and user not in names:
        raise BadInput(
            f"{name} has no column '{user[:40]}' of users.{closest(user, names)} Its columns:"
            f" {', '.join(names[:12])}."
        )
    place = str(names.index(user)) if user else "0"
    columns = [str(j) for j in range(len(names))]
    parts = [
        pa.table([column.cast(pa.string()) for column in batch], columns)
        for batch in table.batches(range(len(names)))
    ]
    cells = pa.concat_tables(parts).slice(0 if table.names else 1).to_pandas()
    ratings = cells.melt(place).dropna()
    ratings = ratings[ratings["value"].str.strip() != ""]
    ratings["variable"] = ratings["variable"].map(dict(zip(columns, names, strict=True)))
    rows = pa.Table.from_arrays([pa.array(ratings[it], pa.string()) for it in ratings], ROLES[:3])
    words = f"for {len(names) - 1:,} items, a row for each user"
    return in_memory(rows, words, table.assumptions)
