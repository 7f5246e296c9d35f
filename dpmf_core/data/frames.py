"""Ratings and documents in a Python program: data frames, numpy arrays, scipy sparse matrices.

A row is read by the same rules as a row of a file. What was left out or changed is in the report of
the ratings, and a warning says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from dpmf_core.base.arrays import Flags, Ints, Numbers
from dpmf_core.base.errors import BadInput, quoted, warn_of_rows
from dpmf_core.base.hashing import keys_of_texts
from dpmf_core.data.frame_columns import Columns, columns_by_role, frame_of
from dpmf_core.data.frame_columns import is_table as is_table
from dpmf_core.data.ids import Coded, spelling_note
from dpmf_core.data.item_features import SEVERAL, encode
from dpmf_core.data.rating_bounds import Bounds as Bounds
from dpmf_core.data.rating_bounds import checked_bounds, interaction_bounds
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings
from dpmf_core.data.report import Kind, Outside, Tally
from dpmf_core.data.row_rules import ReadRows, RowRules, numbers_in
from dpmf_core.data.samples import (
    NUMBER_IS_PUBLIC,
    WORDS_ARE_PUBLIC,
    Samples,
    is_sparse,
)

IN_PYTHON = "Add bounds, e.g. bounds=(1, 5)."
EXACT_FLOATS = 2.0**53  # floats below it hold every whole number
LARGEST_TIME = 2.0**62
SAMPLE_ROWS = 300  # first rows, which tell the kind of a column of objects
LONGEST_CELL = 40  # characters of a cell in a report


def ratings_of(
    data: Any,
    bounds: Bounds | None = None,
    *,
    public: bool = False,
    columns: Mapping[str, str] | None = None,
    outside: Outside | None = None,
    missing: float | Sequence[float] = (),
) -> Ratings:
    """Convert a table, arrays or a sparse matrix to ratings.

    What was left out, changed and assumed is in `Ratings.report`; if a row was left out or changed,
    a `RowsChanged` warning says so. Users and items are those of the remaining rows. An id is the
    same in every type: 1, 1.0, "1" and a category 1 are one user.

    Parameters
    ----------
    data
        A data frame with one rating per row; arrays (users, items, ratings[, times]) or one array
        with these columns; or a sparse matrix (n_users, n_items), in which every stored entry is a
        rating, and users and items are counted by its shape. A pair that is rated twice gets the
        mean of both in a frame and the sum in a matrix.
    bounds
        The declared lowest and highest possible rating.
    public
        Whether the data are published or simulated, so that they need no account.
    columns
        The frame's columns by role: user, item, rating and time (whole numbers or dates). By
        default they are found by common names. With "" for the rating, each row says that a user
        had an item; it counts as 1 of 0 to 1, and no bounds are declared. A rating whose time is
        empty counts as the earliest.
    outside
        "leave-out", "clamp" or "refuse": what to do with a rating outside the bounds. By default
        its row is left out, but more than a tenth of such ratings are refused.
    missing
        The values that mean "not rated", such as 0 or (-1, 99). Such rows are not ratings.

    Raises
    ------
    BadInput
        If the data are not ratings, more than half of the rows cannot be used, or more than a tenth
        of the ratings lie outside the bounds.
    """
    numbers = tuple(np.atleast_1d(np.asarray(missing, np.float64)).tolist())
    if is_sparse(data):
        name = "the sparse matrix"
        rules = RowRules(checked_bounds(bounds, name, IN_PYTHON), outside, numbers)
        ratings = _of_matrix(data, rules, public, columns)
    else:
        frame = frame_of(data)
        by_role = columns_by_role(frame, columns or {})
        if "rating" in by_role:
            checked = checked_bounds(bounds, "the data frame", IN_PYTHON)
        else:
            checked = interaction_bounds(bounds)
        rules = RowRules(checked, outside, numbers)
        ratings = _of_columns(by_role, rules, public, list(map(str, frame.columns)))
    if ratings.report is not None and ratings.report.problems:
        warn_of_rows(f"{ratings.report.summary} load(...).report lists them.")
    return ratings


def _of_matrix(
    data: Any, rules: RowRules, public: bool, columns: Mapping[str, str] | None
) -> Ratings:
    if columns:
        raise BadInput(
            "Columns can only be named for a data frame; a sparse matrix has users as rows and"
            " items as columns. Leave columns out."
        )
    matrix = _counts(data)
    if min(matrix.shape) < 1 or not matrix.nnz:
        raise BadInput(
            f"A sparse matrix of ratings stores each rating. Got none in {matrix.shape}."
        )
    entries = matrix.tocoo()
    values = entries.data.astype(np.float64)
    nothing = np.zeros(len(values), np.bool_)

    def example(entry: int, _: Sequence[str]) -> str:
        return f"{values[entry]:g} in row {entries.row[entry]}, column {entries.col[entry]}"

    rows = ReadRows(values, nothing, nothing, nothing, example)
    keep, tally = _rating_rows(rows, rules, "sparse matrix", "entry")
    ratings = Ratings.of(
        entries.row[keep],
        entries.col[keep],
        values[keep],
        n_users=matrix.shape[0],
        n_items=matrix.shape[1],
        bounds=rules.bounds,
        name="sparse matrix",
        public=public,
        assumptions=_assumed(public),
        own_ids=(pd.RangeIndex(matrix.shape[0]), pd.RangeIndex(matrix.shape[1])),
    )
    report = ratings.report_on(len(values), tally.problems("entry"))
    return replace(ratings, report=report)


def _rating_rows(
    rows: ReadRows, rules: RowRules, source: str, unit: str
) -> tuple[Flags, Tally]:
    """The rows (n,) that are ratings, and the problems of the others.

    Raises BadInput if too few are. Its message calls the table `source` and a row `unit`.
    """
    tally = Tally()
    keep = rows.kept_by(rules, tally)
    read = int(rows.are_read.sum())
    problems = tally.problems(unit)
    if unusable := rules.unusable(problems, read):
        count, worst = unusable
        raise BadInput(
            f"{count:,} of the {read:,} {unit}s of the {source} cannot be used, more than half. The"
            f" first with '{worst.kind.partition(',')[0]}' is {unit} {worst.lines[0]:,}:"
            f" {quoted(worst.example)}. Every {unit} needs a user, an item and a number."
        )
    if over := rules.over_bounds(problems, read):
        outside, total = over
        low, high = rules.bounds
        if rules.outside == "refuse":
            share = ""
        else:
            share = ", more than a tenth,"
        raise BadInput(
            f"{outside.count:,} of the {total:,} ratings{share} of the {source} lie outside the"
            f" declared bounds {low:g} to {high:g}. The first is {unit} {outside.lines[0]:,}:"
            f" {quoted(outside.example)}. Declare other bounds, the values that mean 'not rated'"
            " (missing=...), or what becomes of such ratings: outside='leave-out' or 'clamp'."
        )
    return keep, tally


def _of_columns(
    by_role: Columns, rules: RowRules, public: bool, names: Sequence[str]
) -> Ratings:
    user_cells = by_role["user"]
    item_cells = by_role["item"]
    users = Coded.of(user_cells)
    items = Coded.of(item_cells)
    rows = _rows(by_role, users, items)
    keep, tally = _rating_rows(rows, rules, "data frame", "row")
    user_numbers, user_ids = users.numbered(keep)
    item_numbers, item_ids = items.numbered(keep)
    if len(user_ids) < 2:
        raise BadInput(
            "A data frame of ratings needs ratings by at least two users. Got"
            f" {np.count_nonzero(keep):,} ratings by {len(user_ids)}."
        )
    labels = tuple(item_ids)
    ratings = Ratings.of(
        user_numbers,
        item_numbers,
        rows.values[keep],
        order=_times(by_role["time"], keep, tally) if "time" in by_role else None,
        n_users=len(user_ids),
        n_items=len(item_ids),
        bounds=rules.bounds,
        titles=labels,
        labels=labels,
        user_keys=None if public else keys_of_texts(user_ids),
        name="data frame",
        public=public,
        assumptions=_assumed(public),
        own_ids=(
            _own_ids(user_cells[keep], user_numbers, len(user_ids)),
            _own_ids(item_cells[keep], item_numbers, len(item_ids)),
        ),
    )
    if len(ratings) < len(user_numbers):
        pairs = pd.DataFrame({"user": user_numbers, "item": item_numbers})
        again = np.flatnonzero(keep)[pairs.duplicated().to_numpy()]
        pair = rows.example(int(again[0]), ("user", "item"))
        tally.add(Kind.DUPLICATE, again, pair)
    notes = [_float_note(by_role[role], keep) for role in ("user", "item")]
    notes += [spelling_note(user_ids, "users"), spelling_note(item_ids, "items")]
    if "rating" not in by_role:
        notes.append(
            "No column holds ratings: each row counts as 1, with bounds 0 to 1."
        )
    columns = tuple((role, str(column.name)) for role, column in by_role.items())
    used_names = {name for _, name in columns}
    n_read = int(rows.are_read.sum())
    report = replace(
        ratings.report_on(n_read, tally.problems("row")),
        columns=columns,
        assumed=tuple(filter(None, notes)),
        ignored=tuple(name for name in names if name not in used_names),
    )
    return replace(ratings, report=report)


def _rows(by_role: Columns, users: Coded, items: Coded) -> ReadRows:
    """The rows of a frame, before any is left out."""
    values = np.ones(len(users.codes))
    no_rating = np.zeros(len(values), np.bool_)
    if "rating" in by_role:
        values, no_rating = numbers_in(by_role["rating"])

    def example(row: int, roles: Sequence[str]) -> str:
        cells = [str(by_role[role].iloc[row]) for role in roles if role in by_role]
        return ", ".join(cell[:LONGEST_CELL] for cell in cells)

    no_user = by_role["user"].isna().to_numpy(np.bool_) | users.is_blank
    no_item = by_role["item"].isna().to_numpy(np.bool_) | items.is_blank
    return ReadRows(values, no_user, no_item, no_rating, example)


def _assumed(public: bool) -> tuple[str, ...]:
    """What is taken as public if users and items were counted in the data."""
    if public:
        return ()
    return (USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC)


def _own_ids(column: "pd.Series[Any]", numbers: Numbers, count: int) -> "pd.Index[Any]":
    """The first id of each number (count,), as the table has it; whole floats as whole numbers."""
    first = np.empty(count, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    cells = column.iloc[first]
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(cells.cat.categories.dtype)
    if cells.dtype.kind == "f":
        values = cells.to_numpy(np.float64)
        if (values == np.floor(values)).all() and (np.abs(values) < EXACT_FLOATS).all():
            cells = cells.astype(np.int64)
    ids: pd.Index[Any] = pd.Index(cells)
    return ids


def _float_note(column: "pd.Series[Any]", keep: Flags) -> str:
    """A note on ids that are floats too large to tell whole numbers apart; "" without any."""
    if column.dtype.kind != "f":
        return ""
    is_large = np.abs(column.to_numpy(np.float64, na_value=0)[keep]) >= EXACT_FLOATS
    if not is_large.any():
        return ""
    return (
        f"{int(is_large.sum()):,} ids in the column {quoted(column.name, 40)} are floats of 2^53 or"
        " more, in which neighbouring whole numbers are one. Read this column as whole numbers or"
        " as text."
    )


def ids_of(column: "pd.Series[Any]") -> "pd.Index[Any]":
    """The distinct ids of a column in the order in which `ratings_of` numbers them."""
    numbers, texts = Coded.of(column).numbered()
    return _own_ids(column, numbers, len(texts))


def documents_of(matrix: Any, *, public: bool = False) -> Samples:
    """The documents of a sparse matrix of counts (n_documents, n_words). Raises BadInput."""
    documents = Samples.of(
        _counts(matrix),
        unit="document",
        name="sparse matrix",
        public=public,
    )
    if public:
        return documents
    return documents.assuming(NUMBER_IS_PUBLIC, WORDS_ARE_PUBLIC)


def with_item_table(ratings: Any, table: pd.DataFrame) -> Ratings:
    """Add a public table of items to ratings.

    Parameters
    ----------
    ratings : Ratings
    table : DataFrame
        One row per item, with its id in the column item, itemId or id, or in the first one. A
        column called title or name holds the items' names. Every other column holds numbers, a
        category, or words separated by |. Items without ids (a sparse matrix) are numbered from 0.

    Raises
    ------
    BadInput
        If the ratings are not in memory or the table cannot be used, also on a column of another
        kind.
    """
    if not isinstance(ratings, Ratings):
        raise BadInput(
            "An item table can be passed only with ratings in memory. For a file, name it after the"
            " path, e.g. 'ratings.csv?bounds=1,5&item_table=films.csv'."
        )
    rows = [
        [_cell(value) for value in row]
        for row in table.itertuples(index=False, name=None)
    ]
    names = list(map(str, table.columns))
    encoded_table = encode(names, rows, ratings.item_ids, "the item table")
    if encoded_table.left_out:
        raise BadInput(
            f"{encoded_table.left_out[0]} Drop it first: frame.drop(columns=...)."
        )
    return ratings.with_items(encoded_table)


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple | set | np.ndarray):
        return SEVERAL.join(sorted(map(str, value)))
    if pd.isna(value):
        return ""
    return str(value)


def _counts(matrix: Any) -> Any:
    """The entries of a matrix in a new csr_array, sorted, each cell once."""
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2:
        raise BadInput(
            f"A sparse matrix must hold numbers in two dimensions. Got {matrix.dtype} of the shape"
            f" {tuple(matrix.shape)}."
        )
    rows = csr_array(matrix, copy=True)
    rows.sum_duplicates()
    return rows


def _times(column: "pd.Series[Any]", keep: Flags, tally: Tally) -> Ints:
    """The times of the kept rows as whole numbers; dates become units of their type.

    A time that is empty or not a whole number counts as 0, the earliest, and is counted. Raises
    BadInput on a column of another type, or if most of its times are such.
    """
    cells = column[keep]
    if cells.dtype == object:
        cells = _typed_times(cells)
    is_date = pd.api.types.is_datetime64_any_dtype(cells.dtype)
    if not (is_date or pd.api.types.is_numeric_dtype(cells.dtype)):
        _refuse_times(column)
    is_unread = np.array(cells.isna(), np.bool_)
    if not is_date:
        numbers = cells.to_numpy(np.float64, na_value=np.nan)
        is_unread |= ~(
            (numbers == np.floor(numbers)) & (np.abs(numbers) < LARGEST_TIME)
        )
    if 2 * np.count_nonzero(is_unread) > len(cells):
        _refuse_times(column)
    times = np.zeros(len(cells), np.int64)
    times[~is_unread] = cells[~is_unread].astype("int64")
    tally.add(Kind.NO_TIME, np.flatnonzero(keep)[is_unread])
    return times


def _typed_times(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    """Whole numbers, or dates in microseconds; any other cell becomes empty by itself.

    The first cells tell which of the two the column holds.
    """
    sample = cells.iloc[:SAMPLE_ROWS]
    as_dates = [cell for cell in map(_microseconds, sample) if cell is not None]
    as_numbers = [cell for cell in map(_whole, sample) if cell is not None]
    if len(as_dates) > len(as_numbers):
        read = _microseconds
    else:
        read = _whole
    return pd.Series(list(map(read, cells)), cells.index, dtype="Int64")


def _microseconds(cell: object) -> int | None:
    if not isinstance(cell, date | np.datetime64) or pd.isna(cell):
        return None
    moment = pd.Timestamp(cell)
    return (moment if moment.tz else moment.tz_localize("UTC")).as_unit("us").value


def _whole(cell: object) -> int | None:
    if isinstance(cell, np.number):
        cell = cell.item()
    if not isinstance(cell, int | float) or isinstance(cell, bool):
        return None
    if not abs(cell) < LARGEST_TIME or cell != int(cell):
        return None
    return int(cell)


def _refuse_times(column: "pd.Series[Any]") -> NoReturn:
    raise BadInput(
        f"The column {quoted(column.name, 40)} must hold whole numbers or dates. Got"
        f" {column.dtype}: convert it, e.g. with pandas.to_datetime, or leave it out."
    )
