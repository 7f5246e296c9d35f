"""Ratings and documents that a Python program holds: a pandas data frame, a scipy sparse matrix.

What is wrong with them is an error. Nothing is repaired in silence, as it would be for a file that
comes with a report.
"""

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from dpmf_core.data.item_tables import SEVERAL, encode
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, WORDS_ARE_PUBLIC, Samples, is_sparse
from dpmf_core.errors import BadInput

NEEDED, TIME = ("user", "item", "rating"), "time"
Bounds = tuple[float, float]


def is_table(data: Any) -> bool:
    """Whether it is a data frame or a sparse matrix."""
    return isinstance(data, pd.DataFrame) or is_sparse(data)


def ratings_of(data: Any, bounds: Bounds | None, *, public: bool = False) -> Ratings:
    """The ratings of a data frame or of a sparse matrix (n_users, n_items), of which every stored
    entry is a rating.

    A frame has the columns user, item, rating and, if there are times, time (whole numbers or
    dates). A pair that is rated twice has the mean of both in a frame, as in a file, and the sum in
    a matrix, as for scipy. bounds: the lowest and the highest rating that can be given, declared.
    public: published or simulated data, which need no account. Raises BadInput.
    """
    low, high = _declared(bounds)
    if isinstance(data, pd.DataFrame):
        return _of_frame(data, (low, high), public)
    rows = _counts(data)
    if min(rows.shape) < 1 or not rows.nnz:
        raise BadInput(f"A sparse matrix of ratings stores each rating. Got none in {rows.shape}.")
    table = rows.tocoo()
    _within(table.data, (low, high), "sparse matrix")
    return Ratings.of(
        table.row,
        table.col,
        table.data,
        n_users=rows.shape[0],
        n_items=rows.shape[1],
        bounds=(low, high),
        **_facts("sparse matrix", public),
    )


def documents_of(matrix: Any, *, public: bool = False) -> Samples:
    """The documents of a sparse matrix of counts (n_documents, n_words). Raises BadInput."""
    return Samples.of(
        _counts(matrix),
        unit="document",
        name="sparse matrix",
        public=public,
        assumptions=() if public else (NUMBER_IS_PUBLIC, WORDS_ARE_PUBLIC),
    )


def with_item_table(ratings: Any, table: pd.DataFrame) -> Ratings:
    """The ratings with a public table of their items: a row for each, its id in the column item, or
    in the first one; every other column is a number, a category, or words with | between them.

    Without ids of their own (a sparse matrix) items are numbered from 0. Raises BadInput, also on a
    column that is none of these.
    """
    if not isinstance(ratings, Ratings):
        raise BadInput(
            "A table of items is for ratings that a program holds. Of a file name it after the"
            " path, e.g. 'ratings.csv?bounds=1,5&item_table=films.csv'."
        )
    names = list(map(str, table.columns))
    if len(names) < 2 or len(set(names)) < len(names):
        raise BadInput(
            "A table of items has a column of ids and others, each with a name of its own. Got"
            f" {', '.join(names[:12]) or 'no column'}."
        )
    cells = {name: [_cell(value) for value in table.iloc[:, j]] for j, name in enumerate(names)}
    ids = cells.pop("item" if "item" in cells else names[0])
    labels = ratings.labels or tuple(map(str, range(ratings.n_items)))
    found = encode(ids, cells, labels, "the item table")
    if found.left_out:
        raise BadInput(f"{found.left_out[0]} Do so yourself: frame.drop(columns=...).")
    return dataclasses.replace(ratings, item_features=found.features)


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple | set | np.ndarray):
        return SEVERAL.join(sorted(map(str, value)))
    return "" if pd.isna(value) else str(value)


def _of_frame(frame: pd.DataFrame, bounds: Bounds, public: bool) -> Ratings:
    missing = [name for name in NEEDED if list(frame.columns).count(name) != 1]
    if missing:
        raise BadInput(
            "A data frame of ratings has one column each called user, item and rating (and time,"
            f" if there are times). '{missing[0]}' is not there once; the columns are"
            f" {', '.join(map(str, frame.columns[:12]))}. Rename yours, e.g."
            " frame.rename(columns={'userId': 'user'})."
        )
    if frame["user"].nunique() < 2:
        raise BadInput(
            f"A data frame of ratings needs ratings of two users at least. Got {len(frame):,} rows"
            f" of {frame['user'].nunique()}."
        )
    for name in NEEDED:
        _refuse(frame[name].isna().to_numpy(), frame[name], "a value")
    values = _numbers(frame["rating"])
    _within(values, bounds, "data frame")
    users, who = pd.factorize(_labels(frame["user"]), sort=True)
    items, what = pd.factorize(_labels(frame["item"]), sort=True)
    labels = tuple(map(str, what))
    return Ratings.of(
        users,
        items,
        values,
        n_users=len(who),
        n_items=len(what),
        bounds=bounds,
        order=_times(frame[TIME]) if TIME in frame else None,
        titles=labels,
        labels=labels,
        **_facts("data frame", public),
    )


def _facts(name: str, public: bool) -> dict[str, Any]:
    """What is known of ratings whose users and items were counted in themselves."""
    assumed = () if public else (USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC)
    return {"name": name, "public": public, "assumptions": assumed}


def _declared(bounds: Bounds | None) -> Bounds:
    if bounds is None:
        raise BadInput(
            "The lowest and highest rating are not declared, and reading them off private data"
            " would tell something about it. Add bounds, e.g. bounds=(1, 5)."
        )
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadInput(f"bounds are two finite numbers, lowest first: (1, 5). Got {bounds!r}.")
    return low, high


def _counts(matrix: Any) -> Any:
    """Its entries in a new csr_array, in order, each cell once."""
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2:
        raise BadInput(
            f"A sparse matrix holds numbers in rows and columns. Got {matrix.dtype} of the shape"
            f" {tuple(matrix.shape)}."
        )
    rows = csr_array(matrix, copy=True)
    rows.sum_duplicates()
    return rows


def _labels(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Ids that can be sorted: what is neither number nor text is taken as text."""
    return column.astype(str) if column.dtype == object else column


def _numbers(column: "pd.Series[Any]") -> npt.NDArray[np.float64]:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    _refuse(~np.isfinite(numbers), column, "a finite number")
    return np.asarray(numbers, np.float64)


def _times(column: "pd.Series[Any]") -> npt.NDArray[np.int64]:
    """Times as whole numbers: as they are, or nanoseconds of dates."""
    if not (
        pd.api.types.is_integer_dtype(column) or pd.api.types.is_datetime64_any_dtype(column.dtype)
    ):
        raise BadInput(
            f"The column 'time' holds whole numbers or dates. Got {column.dtype}: convert it, e.g."
            " with pandas.to_datetime, or leave it out."
        )
    _refuse(column.isna().to_numpy(), column, "a time")
    return np.asarray(column.astype("int64"), np.int64)


def _within(values: npt.NDArray[Any], bounds: Bounds, what: str) -> None:
    """Raises BadInput where a value lies outside the bounds."""
    outside = ~((values >= bounds[0]) & (values <= bounds[1]))
    if outside.any():
        first = values[np.flatnonzero(outside)[0]]
        raise BadInput(
            f"Every rating of the {what} lies between the declared bounds, {bounds[0]:g} and"
            f" {bounds[1]:g}. Got {first:g} ({int(outside.sum()):,} of {len(values):,} do not)."
            " Declare wider bounds, or clip the ratings first."
        )


def _refuse(bad: npt.NDArray[np.bool_], column: "pd.Series[Any]", allowed: str) -> None:
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise BadInput(
            f"Every row of the column '{column.name}' holds {allowed}. Got"
            f" '{str(column.iloc[at])[:50]}' in row {at + 1:,} ({int(bad.sum()):,} of {len(bad):,}"
            " such rows). Correct them or leave them out, e.g. with frame.dropna()."
        )
