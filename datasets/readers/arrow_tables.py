"""Tables from Parquet, Feather and numpy files, and tables made of rows in Python."""

import itertools
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput, shortened
from dpmf_core.data.column_names import by_name
from dpmf_core.data.facts import Facts
from dpmf_core.data.samples import is_sparse
from dpmf_datasets.readers.archives import ZIP
from dpmf_datasets.readers.table import (
    BETWEEN,
    PREVIEW,
    RaggedLines,
    Table,
    as_texts,
    cell_text,
    first_sentence,
)

LARGEST = 500_000_000  # bytes that a packed file may claim to unpack to
OLE = b"\xd0\xcf\x11\xe0"  # the first bytes of a spreadsheet before 2007
# members of xlsx, xlsb, ods
SPREADSHEET = (
    "xl/workbook.xml",
    "xl/workbook.bin",
    "content.xml",
)
ROWS = 1 << 16  # rows read at a time
# numbers of columns of a matrix that has a row for each rating: user, item, rating, time
TRIPLETS = (3, 4)
# numbers of columns of a matrix that may be either items or one rating and more about it
UNCLEAR = (5, 6)
NUMBERING = (
    "The rows of the matrix are users and its columns items, both counted from {}."
)
# the years 1 to 9999 in seconds since 1970, less some days: a time zone may shift a time
FIRST_SECOND = -62_135_000_000
LAST_SECOND = 253_402_000_000
TEXT_TYPES = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
OF_SPARSE = {"format", "shape", "data"}  # arrays in a file of `scipy.sparse.save_npz`


def arrow_table(
    schema: pa.Schema,
    batches: Callable[[list[int], int], Iterable[pa.RecordBatch]],
    layout: str,
) -> Table:
    """The table of those columns that can be read: numbers, texts, times and lists of these.

    Parameters
    ----------
    schema
        All columns of the file.
    batches
        Called with places of columns and a number of rows: yields these columns in batches of at
        most that many rows.
    layout
        What the columns belong to. The report says "3 columns {layout}.".
    """
    places = [place for place, field in enumerate(schema) if _is_readable(field.type)]

    def read(columns: Sequence[int], rows: int = ROWS) -> Iterator[list[pa.Array]]:
        for batch in batches([places[column] for column in columns], rows):
            yield [_plain(column) for column in batch.columns]

    if places:
        first = next(read(range(len(places)), PREVIEW), [])
    else:
        first = []
    first_texts = [as_texts(column.slice(0, PREVIEW)) for column in first]
    head = list(zip(*first_texts, strict=True))
    names = tuple(schema.names[place] for place in places)
    return Table(names, head, read, layout=f"{len(names):,} columns {layout}.")


def in_memory(table: pa.Table, layout: str) -> Table:
    """The rows of a pyarrow table."""

    def batches(places: list[int], rows: int) -> Iterator[pa.RecordBatch]:
        yield from table.select(places).to_batches(rows)

    return arrow_table(table.schema, batches, layout)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_readable(kind: pa.DataType) -> bool:
    if _is_list(kind):
        kind = kind.value_type
    return not pa.types.is_nested(kind)


def _plain(column: pa.Array) -> pa.Array:
    """The column as numbers, times or text. Each cell is converted without looking at others."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.uint8())
    if pa.types.is_duration(kind):
        return column.cast(pa.int64())
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _in_calendar(column)
    if pa.types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if _is_list(kind):
        if not _is_text(kind.value_type):
            column = column.cast(pa.list_(pa.string()))
        # joined as bytes, because texts may be invalid UTF-8, which only `_decoded` accepts
        lists_of_bytes = column.cast(pa.list_(pa.binary()))
        return _plain(pc.binary_join(lists_of_bytes, BETWEEN.encode()))
    if _is_text(kind):
        return _decoded(column.cast(pa.binary()))
    return column


def _is_text(kind: pa.DataType) -> bool:
    return any(is_type(kind) for is_type in TEXT_TYPES)


def _decoded(column: pa.Array) -> pa.Array:
    """Bytes as text. Bytes that are not valid UTF-8 become escapes."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(map(cell_text, column.to_pylist()), pa.string())


def _in_calendar(column: pa.Array) -> pa.Array:
    """The column with null for times outside the years 1 to 9999, which Python cannot hold."""
    zone = getattr(column.type, "tz", None)
    # unsafe, so that fractions of a second are dropped without an error
    whole_seconds = column.cast(pa.timestamp("s", zone), safe=False)
    seconds = whole_seconds.cast(pa.int64())
    is_late = pc.greater(seconds, LAST_SECOND)
    is_early = pc.less(seconds, FIRST_SECOND)
    return pc.if_else(pc.or_(is_late, is_early), None, column)


def table_of_rows(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    layout: str,
    unit: str = "row",
    ragged_lines: RaggedLines | None = None,
) -> Table:
    """The table of rows with cells of any type. Each cell becomes text.

    Parameters
    ----------
    names
        The header.
    rows
        Rows with a cell for each name. They are read once.
    layout
        What the columns belong to. The report says "3 columns {layout}.".
    unit
        What one row is in the file, for messages.
    ragged_lines
        A list that the iterator of rows may extend while it is read.
    """
    rest = iter(rows)
    beginning = list(itertools.islice(rest, PREVIEW))

    def read(columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        every_row = itertools.chain(beginning, rest)
        while part := list(itertools.islice(every_row, ROWS)):
            yield [
                pa.array([cell_text(row[column]) for row in part], pa.string())
                for column in columns
            ]

    return Table(
        tuple(names),
        [tuple(cell_text(value) or "" for value in row) for row in beginning],
        read,
        unit=unit,
        layout=f"{len(names):,} columns {layout}.",
        ragged_lines=[] if ragged_lines is None else ragged_lines,
    )


@contextmanager
def refusals(name: str, kind: str, advice: str) -> Iterator[None]:
    """Convert errors of readers to BadInput."""
    try:
        yield
    except (BadInput, MemoryError):
        raise
    except Exception as error:
        # a damaged file makes pyarrow and numpy raise almost anything
        why = shortened(first_sentence(error), 200)
        raise BadInput(f"{name} cannot be read as {kind}: {why} {advice}") from error


def parquet(stream: BinaryIO, name: str) -> Table:
    """Open a Parquet file. Raises BadInput."""
    with refusals(name, "Parquet", "It may be cut short: fetch or save it again."):
        file = pa.parquet.ParquetFile(stream)
    schema = file.schema_arrow

    def batches(places: list[int], rows: int) -> Iterator[pa.RecordBatch]:
        names = list(dict.fromkeys(schema.names[place] for place in places))
        # pyarrow selects by name: if several columns have that name, it reads all of them
        read_places = [
            place for name in names for place in schema.get_all_field_indices(name)
        ]
        columns = [read_places.index(place) for place in places]
        for batch in file.iter_batches(rows, columns=names):
            yield batch.select(columns)

    return arrow_table(schema, batches, "of a Parquet file")


def feather(stream: BinaryIO, name: str) -> Table:
    """Read a Feather or Arrow file. Raises BadInput."""
    with refusals(name, "Feather", "Save it again."):
        return in_memory(pyarrow.feather.read_table(stream), "of a Feather file")


# ---- arrays and matrices -------------------------------------------------------------------------


def kind_of(stream: BinaryIO) -> str:
    """The content of a zip file: "arrays" (of numpy), "spreadsheet" or "files".

    "spreadsheet" also for a spreadsheet in the format from before 2007; "" for any other file that
    is not a zip file. Raises BadInput if arrays or a spreadsheet would unpack to too many bytes.
    """
    magic = stream.read(len(ZIP))
    stream.seek(0)
    if magic != ZIP:
        if magic == OLE:
            return "spreadsheet"
        return ""
    with zipfile.ZipFile(stream) as archive:
        members = archive.namelist()
        size = sum(member.file_size for member in archive.infolist())
    stream.seek(0)
    is_arrays = bool(members) and all(name.endswith(".npy") for name in members)
    if not is_arrays and not set(members) & set(SPREADSHEET):
        return "files"
    if size > LARGEST:
        raise BadInput(
            f"The file unpacks to {size / 1e6:,.0f} MB, more than {LARGEST / 1e6:.0f} MB. Save it"
            " as CSV or Parquet."
        )
    if is_arrays:
        return "arrays"
    return "spreadsheet"


def arrays(stream: BinaryIO, name: str) -> Table:
    """Read a file of `numpy.savez` or `scipy.sparse.save_npz`. Raises BadInput.

    The arrays of `numpy.savez` become columns. Pickles are refused, because they can run code.
    """
    advice = (
        "It must hold one-dimensional arrays of numbers or texts, all of the same length, e.g."
        " numpy.savez(file, user=..., item=..., rating=...), or a matrix saved by"
        " scipy.sparse.save_npz."
    )
    with refusals(name, "arrays", advice):
        with np.load(stream, allow_pickle=False) as file:
            columns = dict(file.items())
        if not set(columns) >= OF_SPARSE:
            return _of_arrays(columns)
        from scipy.sparse import load_npz  # refuses pickles

        stream.seek(0)
        return matrix_table(load_npz(stream), name, {})


def _of_arrays(columns: Mapping[str, Array]) -> Table:
    """The table with the one-dimensional arrays as its columns.

    If one of them has the name of a rating column, arrays of another length are left out.
    """
    names = [name for name, values in columns.items() if values.ndim == 1]
    rating = by_name(names, loosely=False).get("rating")
    if rating is not None:
        length = len(columns[names[rating]])
        names = [name for name in names if len(columns[name]) == length]
    return in_memory(
        pa.table({name: pa.array(columns[name]) for name in names}), "of numpy"
    )


def saved_array(stream: BinaryIO, name: str, facts: Facts) -> Table:
    """Read a file of `numpy.save`: a matrix or an array of records. Pickles are refused.

    Parameters
    ----------
    stream : binary file
        The file.
    name : str
        What messages call it.
    facts : mapping of str to str
        The facts declared after the path; see `matrix_table`.

    Returns
    -------
    Table
        The table.

    Raises
    ------
    BadInput
        If the file is not such an array.
    """
    advice = "It must hold numbers: one row per rating with user, item and rating."
    with refusals(name, "an array", advice):
        values = np.load(stream, allow_pickle=False)
        if values.dtype.names and values.ndim == 1:
            return _of_arrays({column: values[column] for column in values.dtype.names})
        return matrix_table(values, name, facts)


def matrix_table(matrix: Any, name: str, facts: Facts) -> Table:
    """The table of ratings in a dense or sparse matrix.

    A sparse matrix has a row for each user and a column for each item: each stored entry is a
    rating. A dense matrix is read by its number of columns:

    - 3 or 4: each row is one rating, with user, item, rating and time;
    - 5 or 6: ambiguous, so `facts` must name the column of ratings;
    - otherwise: a row for each user and a column for each item, with NaN where there is no rating.

    If `facts` names the column of ratings, each row of a dense matrix is one rating.

    Parameters
    ----------
    matrix
        (m, n) of numbers.
    name
        The file's name, for messages.
    facts
        Facts declared after the path.

    Raises
    ------
    BadInput
        If the matrix is not one of numbers, or is ambiguous.
    """
    if matrix.ndim != 2 or matrix.dtype.kind not in "buif":
        raise BadInput(
            f"{name} does not hold a matrix of numbers. Give one row per rating with user, item and"
            " rating, or one row per user and one column per item."
        )
    if is_sparse(matrix):
        cells = matrix.tocoo()
        return _of_entries(cells.row, cells.col, cells.data)
    n_columns = matrix.shape[1]
    if n_columns in UNCLEAR and "rating" not in facts:
        raise BadInput(
            f"{name} has {n_columns} columns. If each row holds one rating, declare the columns"
            " after the path, e.g. user=1&item=2&rating=4. If each column is an item, save the"
            " matrix as a sparse one."
        )
    if n_columns not in TRIPLETS and "rating" not in facts:
        users, items = np.nonzero(~np.isnan(matrix))
        return _of_entries(users, items, matrix[users, items])
    columns = {str(place): pa.array(column) for place, column in enumerate(matrix.T)}
    table = in_memory(pa.table(columns), "of a matrix, a row for each rating")
    table.names = ()  # without a header, columns get their roles by place
    return table


def _of_entries(users: Any, items: Any, ratings: Any) -> Table:
    table = in_memory(
        pa.table({"user": users, "item": items, "rating": ratings}), "of a matrix"
    )
    table.read_as = lambda: (NUMBERING.format(0),)
    return table
