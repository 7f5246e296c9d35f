"""Tables of pyarrow and numpy: Parquet, Feather, arrays; and tables made of rows."""

import itertools
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet

from dpmf_core.base.errors import BadInput, shortened
from dpmf_core.data.column_names import by_name
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
ROWS = 1 << 16  # read together
TRIPLETS = (3, 4)  # columns of a matrix with a row for each rating
UNCLEAR = (5, 6)  # columns that are items, or the rating and more about it
NUMBERING = (
    "The rows of the matrix are users and its columns items, both counted from {}."
)
# most of the years 1 to 9999, in seconds since 1970; a time zone may add some hours
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
OF_SPARSE = {"format", "shape", "data"}  # arrays of a matrix saved by scipy


def arrow_table(
    schema: pa.Schema,
    batches: Callable[[list[int], int], Iterable[pa.RecordBatch]],
    layout: str,
) -> Table:
    """The rows that pyarrow reads, of columns with readable types.

    Readable are numbers, texts, times and lists of these. batches: reads columns by their places,
    so many rows at a time. layout: follows the number of columns in the report.
    """
    places = [place for place, field in enumerate(schema) if _is_readable(field.type)]

    def read(columns: Sequence[int], rows: int = ROWS) -> Iterator[list[pa.Array]]:
        for batch in batches([places[column] for column in columns], rows):
            yield [_plain(column) for column in batch.columns]

    if places:
        first = next(read(range(len(places)), PREVIEW), [])
    else:
        first = []
    head = list(
        zip(*(as_texts(column.slice(0, PREVIEW)) for column in first), strict=True)
    )
    names = tuple(schema.names[place] for place in places)
    return Table(names, head, read, layout=f"{len(names):,} columns {layout}.")


def in_memory(table: pa.Table, layout: str) -> Table:
    """The rows of a pyarrow table."""
    return arrow_table(
        table.schema, lambda places, rows: table.select(places).to_batches(rows), layout
    )


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_readable(kind: pa.DataType) -> bool:
    return not pa.types.is_nested(kind.value_type if _is_list(kind) else kind)


def _plain(column: pa.Array) -> pa.Array:
    """A column of numbers, times or text, each cell of which follows from that cell alone."""
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
        return _plain(
            pc.binary_join(column.cast(pa.list_(pa.binary())), BETWEEN.encode())
        )
    if _is_text(kind):
        return _decoded(column.cast(pa.binary()))
    return column


def _is_text(kind: pa.DataType) -> bool:
    return any(is_type(kind) for is_type in TEXT_TYPES)


def _decoded(column: pa.Array) -> pa.Array:
    """Bytes as text; with escapes for those that are no UTF-8."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(map(cell_text, column.to_pylist()), pa.string())


def _in_calendar(column: pa.Array) -> pa.Array:
    """The times of a column in the years 1 to 9999; others, which have no date, become null."""
    seconds = column.cast(
        pa.timestamp("s", getattr(column.type, "tz", None)), safe=False
    )
    seconds = seconds.cast(pa.int64())
    is_late = pc.greater(seconds, LAST_SECOND)
    return pc.if_else(pc.or_(is_late, pc.less(seconds, FIRST_SECOND)), None, column)


def table_of_rows(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    layout: str,
    unit: str = "row",
    ragged_lines: RaggedLines | None = None,
) -> Table:
    """A table of rows whose cells are of any type, each of which becomes text by itself.

    layout: follows the number of columns in the report. rows: may add to `ragged_lines` while they
    are read.
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
    except (
        Exception
    ) as error:  # a damaged file makes pyarrow and numpy raise almost anything
        why = shortened(first_sentence(error), 200)
        raise BadInput(f"{name} cannot be read as {kind}: {why} {advice}") from error


def parquet(stream: BinaryIO, name: str) -> Table:
    """Open a Parquet file. Raises BadInput."""
    with refusals(name, "Parquet", "It may be cut short: fetch or save it again."):
        file = pa.parquet.ParquetFile(stream)
    schema = file.schema_arrow

    def batches(places: list[int], rows: int) -> Iterator[pa.RecordBatch]:
        names = list(dict.fromkeys(schema.names[place] for place in places))
        # several columns may have one name: all of them are read
        every = [
            place for name in names for place in schema.get_all_field_indices(name)
        ]
        for batch in file.iter_batches(rows, columns=names):
            yield batch.select([every.index(place) for place in places])

    return arrow_table(schema, batches, "of a Parquet file")


def feather(stream: BinaryIO, name: str) -> Table:
    """Read a Feather or Arrow file. Raises BadInput."""
    with refusals(name, "Feather", "Save it again."):
        return in_memory(pyarrow.feather.read_table(stream), "of a Feather file")


# ---- arrays and matrices -------------------------------------------------------------------------


def kind_of(stream: BinaryIO) -> str:
    """What a zip file holds: "arrays" of numpy, a "spreadsheet" or "files"; "" if it is no zip.

    A file of a spreadsheet program from before 2007 is a spreadsheet too.
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
    """Read arrays of one length by name, or a sparse matrix of scipy; no pickles.

    Raises BadInput.
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
        from scipy.sparse import load_npz  # reads no pickles

        stream.seek(0)
        return matrix_table(load_npz(stream), name, {})


def _of_arrays(columns: Mapping[str, npt.NDArray[Any]]) -> Table:
    """The table of the one-dimensional arrays; if one holds ratings, of those as long as it."""
    names = [name for name, values in columns.items() if values.ndim == 1]
    rating = by_name(names, loosely=False).get("rating")
    if rating is not None:
        length = len(columns[names[rating]])
        names = [name for name in names if len(columns[name]) == length]
    return in_memory(
        pa.table({name: pa.array(columns[name]) for name in names}), "of numpy"
    )


def saved_array(stream: BinaryIO, name: str, facts: Mapping[str, str]) -> Table:
    """Read an array saved by numpy.save: see `matrix_table`; no pickles. Raises BadInput."""
    advice = "It must hold numbers: one row per rating with user, item and rating."
    with refusals(name, "an array", advice):
        values = np.load(stream, allow_pickle=False)
        if values.dtype.names and values.ndim == 1:
            return _of_arrays({column: values[column] for column in values.dtype.names})
        return matrix_table(values, name, facts)


def matrix_table(matrix: Any, name: str, facts: Mapping[str, str]) -> Table:
    """The ratings in a matrix (m, n), dense or sparse.

    Three or four dense columns are user, item, rating and time; of others, facts as after a path
    may tell which column holds ratings, and five or six must be told apart so. Other matrices have
    a row for each user and a column for each item, counted from 0: each stored entry, or each
    number of a dense matrix, is a rating. Raises BadInput.
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
    table.names = ()
    return table


def _of_entries(users: Any, items: Any, ratings: Any) -> Table:
    table = in_memory(
        pa.table({"user": users, "item": items, "rating": ratings}), "of a matrix"
    )
    table.read_as = lambda: (NUMBERING.format(0),)
    return table
