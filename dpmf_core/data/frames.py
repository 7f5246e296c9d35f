"""Ratings and documents in a Python program: data frames, numpy arrays, scipy sparse matrices.

Anything wrong with them is an error. Nothing is repaired silently, because there is no report as
for a file.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.data.column_names import REQUIRED_ROLES, ROLES, by_name, chosen_columns
from dpmf_core.data.ids import keys_of_ids
from dpmf_core.data.item_features import SEVERAL, encode
from dpmf_core.data.ratings import (
    ITEMS_ARE_PUBLIC,
    USERS_ARE_PUBLIC,
    Ratings,
    checked_bounds,
    interaction_bounds,
)
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, WORDS_ARE_PUBLIC, Samples, is_sparse

Bounds = tuple[float, float]
Columns = dict[str, "pd.Series[Any]"]  # of a frame by their roles
IN_PYTHON = "Add bounds, e.g. bounds=(1, 5)."


def is_table(data: Any) -> bool:
    """Whether it is a data frame, numpy arrays or a sparse matrix."""
    return is_frame(data) or is_sparse(data) or isinstance(data, tuple | np.ndarray)


def is_frame(data: Any) -> bool:
    """Whether it is a table of pandas, polars (also a LazyFrame) or pyarrow."""
    return isinstance(data, pd.DataFrame) or any(
        hasattr(data, name) for name in ("__arrow_c_stream__", "__dataframe__", "collect_schema")
    )


def ratings_of(
    data: Any,
    bounds: Bounds | None = None,
    *,
    public: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Ratings:
    """Convert a table, arrays or a sparse matrix to ratings.

    Parameters
    ----------
    data
        A data frame with one rating per row; arrays (users, items, ratings[, times]) or one array
        with these columns; or a sparse matrix (n_users, n_items), in which every stored entry is a
        rating. A pair that is rated twice gets the mean of both in a frame and the sum in a matrix.
    bounds
        The declared lowest and highest possible rating.
    public
        Whether the data are published or simulated, so that they need no account.
    columns
        The frame's columns by role: user, item, rating and time (whole numbers or dates). By
        default they are found by common names. With "" for the rating, each row says that a user
        had an item; it counts as 1 of 0 to 1, and no bounds are declared.

    Raises
    ------
    BadInput
        If the data are not ratings within the bounds.
    """
    if is_sparse(data):
        return _of_matrix(data, bounds, public, columns)
    by_role = _by_role(_frame_of(data), columns or {})
    if "rating" in by_role:
        return _of_columns(by_role, checked_bounds(bounds, "the data frame", IN_PYTHON), public)
    ones = pd.Series(1.0, by_role["user"].index, name="rating")
    return _of_columns(by_role | {"rating": ones}, interaction_bounds(bounds), public)


def _of_matrix(
    data: Any, bounds: Bounds | None, public: bool, columns: Mapping[str, str] | None
) -> Ratings:
    bounds = checked_bounds(bounds, "the sparse matrix", IN_PYTHON)
    if columns:
        raise BadInput(
            "Columns can only be named for a data frame; a sparse matrix has users as rows and"
            " items as columns. Leave columns out."
        )
    rows = _counts(data)
    if min(rows.shape) < 1 or not rows.nnz:
        raise BadInput(f"A sparse matrix of ratings stores each rating. Got none in {rows.shape}.")
    table = rows.tocoo()
    _within(table.data, bounds, "sparse matrix")
    facts = _facts("sparse matrix", public, rows.shape, bounds)
    return Ratings.of(table.row, table.col, table.data, **facts)


def _of_columns(by_role: Columns, bounds: Bounds, public: bool) -> Ratings:
    user, item, rating = (by_role[role] for role in REQUIRED_ROLES)
    if user.nunique() < 2:
        raise BadInput(
            f"A data frame of ratings needs ratings by at least two users. Got {len(user):,} rows"
            f" by {user.nunique()}."
        )
    for column in (user, item, rating):
        _refuse(column.isna().to_numpy(), column, "a value")
    values = pd.to_numeric(rating, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    _refuse(~np.isfinite(values), rating, "a finite number")
    _within(values, bounds, "data frame")
    users, who = pd.factorize(_labels(user), sort=True)
    items, what = pd.factorize(_labels(item), sort=True)
    labels = tuple(map(str, what))
    facts = _facts("data frame", public, (len(who), len(what)), bounds)
    facts |= {"titles": labels, "labels": labels}
    order = _times(by_role["time"]) if "time" in by_role else None
    keys = None if public else keys_of_ids(who)
    return Ratings.of(users, items, values, order=order, user_keys=keys, **facts)


def _facts(name: str, public: bool, shape: tuple[int, int], bounds: Bounds) -> dict[str, Any]:
    """The facts about ratings whose users and items were counted in the data."""
    assumptions = () if public else (USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC)
    facts = {"name": name, "public": public, "assumptions": assumptions, "bounds": bounds}
    return facts | {"n_users": shape[0], "n_items": shape[1]}


def pairs_of(data: Any, ratings: npt.ArrayLike | None = None) -> pd.DataFrame:
    """The pairs of a data frame, or of an array (n, 2) of users and items.

    The result has the columns user and item, and `ratings` (n,) as the column rating. Raises
    BadInput if columns are missing, a cell is empty, or the lengths differ.
    """
    if is_frame(data):
        frame = _frame_of(data)
    else:
        pairs = np.asarray(data)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise BadInput(
                "X must be a data frame with columns for user and item, or an array (n, 2) of"
                f" them. Got the shape {pairs.shape}. Give ratings as y."
            )
        frame = pd.DataFrame({"user": _whole(pairs[:, 0]), "item": _whole(pairs[:, 1])})
    columns = _by_role(frame, {"rating": ""})
    by_role = pd.DataFrame({role: columns[role] for role in ROLES[:2]}).reset_index(drop=True)
    for role in by_role:
        _refuse(by_role[role].isna().to_numpy(), by_role[role], "a value")
    if ratings is not None:
        y = np.asarray(ratings)
        if y.shape != (len(by_role),):
            raise BadInput(
                f"y must have one rating for each of the {len(by_role):,} rows. Got {y.shape}."
            )
        by_role["rating"] = y
    return by_role


def ids_in(data: Any) -> "tuple[pd.Index[Any], pd.Index[Any]]":
    """The ids of users and items in the order in which `ratings_of` numbers them."""
    if is_sparse(data):
        return pd.RangeIndex(data.shape[0]), pd.RangeIndex(data.shape[1])
    columns = _by_role(_frame_of(data), {"rating": ""})
    return ids_of(columns["user"]), ids_of(columns["item"])


def ids_of(column: "pd.Series[Any]") -> "pd.Index[Any]":
    """The distinct ids of a column in the order in which `ratings_of` numbers them."""
    ids: pd.Index[Any] = pd.Index(pd.factorize(_labels(column), sort=True)[1])
    return ids


def ratings_column(data: Any) -> npt.NDArray[Any] | None:
    """The ratings (n,) in a data frame if a column's name identifies them; else None."""
    if not is_frame(data):
        return None
    frame = _frame_of(data)
    names = list(map(str, frame.columns))
    at = by_name(names, loosely=False).get("rating")
    return None if at is None else frame.iloc[:, at].to_numpy()


def documents_of(matrix: Any, *, public: bool = False) -> Samples:
    """The documents of a sparse matrix of counts (n_documents, n_words). Raises BadInput."""
    premises = () if public else (NUMBER_IS_PUBLIC, WORDS_ARE_PUBLIC)
    facts: Any = {"name": "sparse matrix", "public": public, "assumptions": premises}
    return Samples.of(_counts(matrix), unit="document", **facts)


def with_item_table(ratings: Any, table: pd.DataFrame) -> Ratings:
    """Add a public table of items to ratings.

    table: one row per item, with its id in the column item, itemId or id, or in the first one.
    Every other column holds numbers, a category, or words separated by |. Items without ids (a
    sparse matrix) are numbered from 0. Raises BadInput, also on a column of another kind.
    """
    if not isinstance(ratings, Ratings):
        raise BadInput(
            "An item table can be passed only with ratings in memory. For a file, name it after the"
            " path, e.g. 'ratings.csv?bounds=1,5&item_table=films.csv'."
        )
    rows = [[_cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
    labels = ratings.labels or tuple(map(str, range(ratings.n_items)))
    encoded_table = encode(list(map(str, table.columns)), rows, labels, "the item table")
    if encoded_table.left_out:
        raise BadInput(f"{encoded_table.left_out[0]} Drop it first: frame.drop(columns=...).")
    premises = ratings.assumptions if ratings.public else (*ratings.assumptions, ITEMS_ARE_PUBLIC)
    return dataclasses.replace(
        ratings, item_features=encoded_table.features, assumptions=tuple(dict.fromkeys(premises))
    )


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple | set | np.ndarray):
        return SEVERAL.join(sorted(map(str, value)))
    return "" if pd.isna(value) else str(value)


def _frame_of(data: Any) -> pd.DataFrame:
    """A table of any library, or numpy arrays, as a pandas frame. Raises BadInput."""
    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, tuple | np.ndarray):
        return _frame_of_arrays(data)
    if hasattr(data, "collect"):  # a LazyFrame
        data = data.collect()
    with extra("files"):
        import pyarrow as pa  # not needed for pandas' own frames

    try:
        if hasattr(data, "__arrow_c_stream__"):
            table = pa.RecordBatchReader.from_stream(data).read_all()
        else:
            from pyarrow.interchange import from_dataframe

            table = from_dataframe(data)
        frame: pd.DataFrame = table.to_pandas()
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        raise BadInput(
            f"The table ({type(data).__name__}) cannot be read: {error}. Pass a data frame with one"
            " rating per row, e.g. from pandas or polars."
        ) from None
    return frame


def _frame_of_arrays(data: Any) -> pd.DataFrame:
    """A frame from arrays of users, items, ratings and optional times, or one such array."""
    if isinstance(data, np.ndarray) and data.dtype.names:
        return pd.DataFrame(data)
    parts = [np.asarray(part) for part in (data.T if isinstance(data, np.ndarray) else data)]
    lengths = {part.shape for part in parts}
    if len(parts) not in (3, 4) or len(lengths) != 1 or parts[0].ndim != 1:
        shapes = " and ".join(str(part.shape) for part in parts[:4])
        raise BadInput(
            "Arrays of ratings must be (users, items, ratings) or (users, items, ratings, times),"
            f" all of the same length, or one array with these columns. Got {len(parts)} of the"
            f" shape {shapes}. Pass a users x items table as scipy.sparse.csr_array."
        )
    parts = [_whole(part) if place != 2 else part for place, part in enumerate(parts)]
    return pd.DataFrame(dict(zip(ROLES, parts, strict=False)))


def _whole(ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert ids or times that became floats next to the ratings back to whole numbers."""
    if ids.dtype.kind == "f" and np.isfinite(ids).all() and (ids == np.floor(ids)).all():
        return ids.astype(np.int64)
    return ids


def _by_role(frame: pd.DataFrame, columns: Mapping[str, str]) -> Columns:
    """The frame's column of each role, as given ("": none) or by its name. Raises BadInput."""

    def advice(names: Mapping[str, str]) -> str:
        rename = {name: role for role, name in names.items()}
        without = " Without ratings, give columns={'rating': ''}." if "rating" in names else ""
        return f"Rename columns, e.g. frame.rename(columns={rename}).{without}"

    names = [str(name) for name in frame.columns]
    exact = {role: role for role in ROLES if role in names}
    places = chosen_columns(names, {**exact, **columns}, "the data frame", advice)
    for role, place in places.items():
        if names.count(names[place]) > 1:
            raise BadInput(
                f"'{names[place]}' is the name of {names.count(names[place])} columns, one of which"
                f" would be the {role}. Rename one of them."
            )
    return {role: frame.iloc[:, place] for role, place in places.items()}


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


def _labels(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Ids that can be sorted: values that are neither numbers nor text become text."""
    return column.astype(str) if column.dtype == object else column


def _times(column: "pd.Series[Any]") -> npt.NDArray[np.int64]:
    """Times as whole numbers; dates become nanoseconds."""
    if not (
        pd.api.types.is_integer_dtype(column) or pd.api.types.is_datetime64_any_dtype(column.dtype)
    ):
        raise BadInput(
            f"The column '{column.name}' must hold whole numbers or dates. Got {column.dtype}:"
            " convert it, e.g. with pandas.to_datetime, or leave it out."
        )
    _refuse(column.isna().to_numpy(), column, "a time")
    return np.asarray(column.astype("int64"), np.int64)


def _within(values: npt.NDArray[Any], bounds: Bounds, what: str) -> None:
    """Raise BadInput if a value lies outside the bounds."""
    outside = ~((values >= bounds[0]) & (values <= bounds[1]))
    if outside.any():
        first = values[np.flatnonzero(outside)[0]]
        raise BadInput(
            f"Every rating of the {what} must lie between the declared bounds, {bounds[0]:g} and"
            f" {bounds[1]:g}. Got {first:g} ({int(outside.sum()):,} of {len(values):,} do not)."
            " Declare wider bounds, or clip the ratings first."
        )


def _refuse(bad: npt.NDArray[np.bool_], column: "pd.Series[Any]", requirement: str) -> None:
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise BadInput(
            f"Every row of the column '{column.name}' must hold {requirement}. Got"
            f" '{str(column.iloc[at])[:50]}' in row {at + 1:,} ({int(bad.sum()):,} of {len(bad):,}"
            " such rows). Correct them or leave them out, e.g. with frame.dropna()."
        )
