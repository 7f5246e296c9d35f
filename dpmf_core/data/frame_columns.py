"""The columns of a data frame or of numpy arrays, by their roles."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput, brief
from dpmf_core.base.extras import extra
from dpmf_core.data.column_names import ROLES, by_name, chosen_columns
from dpmf_core.data.samples import is_sparse

Columns = dict[str, "pd.Series[Any]"]  # of a frame by their roles


def is_table(data: Any) -> bool:
    """Whether it is a data frame, numpy arrays or a sparse matrix."""
    return is_frame(data) or is_sparse(data) or isinstance(data, tuple | np.ndarray)


def is_frame(data: Any) -> bool:
    """Whether it is a table of pandas, polars (also a LazyFrame) or pyarrow."""
    return isinstance(data, pd.DataFrame) or any(
        hasattr(data, name)
        for name in ("__arrow_c_stream__", "__dataframe__", "collect_schema")
    )


def frame_of(data: Any) -> pd.DataFrame:
    """A table of any library, or numpy arrays, as a pandas frame.

    Raises
    ------
    BadInput
        If the table cannot be read.
    """
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
        # one empty cell would otherwise make floats of all whole numbers of its column
        frame: pd.DataFrame = table.to_pandas(integer_object_nulls=True)
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
    columns = data.T if isinstance(data, np.ndarray) else data
    # numpy would convert all values of a list to one type
    parts = [
        np.asarray(part, object if isinstance(part, list) else None) for part in columns
    ]
    lengths = {part.shape for part in parts}
    if len(parts) not in (3, 4) or len(lengths) != 1 or parts[0].ndim != 1:
        shapes = " and ".join(str(part.shape) for part in parts[:4])
        raise BadInput(
            "Arrays of ratings must be (users, items, ratings) or (users, items, ratings, times),"
            f" all of the same length, or one array with these columns. Got {len(parts)} of the"
            f" shape {shapes}. Pass a users x items table as scipy.sparse.csr_array."
        )
    return pd.DataFrame(dict(zip(ROLES, parts, strict=False)))


def columns_by_role(frame: pd.DataFrame, columns: Mapping[str, str]) -> Columns:
    """The frame's column of each role, as given ("": none) or by its name.

    Raises
    ------
    BadInput
        As `chosen_columns`, and if several columns have the name of a role's column.
    """

    def advice(names: Mapping[str, str]) -> str:
        rename = {brief(name): role for role, name in names.items()}
        if "rating" in names:
            without = " Without ratings, give columns={'rating': ''}."
        else:
            without = ""
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
    return {role: _readable(frame.iloc[:, place]) for role, place in places.items()}


def _readable(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """A column without signaling NaNs. They cannot be compared, so they become empty cells."""
    if (
        column.dtype != object
        or pd.api.types.infer_dtype(column, skipna=False) == "string"
    ):
        return column
    cells = [
        None if isinstance(cell, Decimal) and cell.is_snan() else cell
        for cell in column
    ]
    return pd.Series(cells, column.index, dtype=object, name=column.name)


def pairs_of(data: Any, ratings: npt.ArrayLike | None = None) -> pd.DataFrame:
    """The pairs of a data frame, or of an array (n, 2) of users and items.

    The result has the columns user and item, and `ratings` (n,) as the column rating.

    Raises
    ------
    BadInput
        If columns are missing or the lengths differ.
    """
    if is_frame(data):
        frame = frame_of(data)
    else:
        pairs = np.asarray(data, object if isinstance(data, list) else None)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise BadInput(
                "X must be a data frame with columns for user and item, or an array (n, 2) of"
                f" them. Got the shape {pairs.shape}. Give ratings as y."
            )
        frame = pd.DataFrame({"user": pairs[:, 0], "item": pairs[:, 1]})
    columns = columns_by_role(frame, {"rating": ""})
    by_role = pd.DataFrame({role: columns[role] for role in ROLES[:2]}).reset_index(
        drop=True
    )
    if ratings is not None:
        y = np.asarray(ratings)
        if y.shape != (len(by_role),):
            raise BadInput(
                f"y must have one rating for each of the {len(by_role):,} rows. Got {y.shape}."
            )
        by_role["rating"] = y
    return by_role


def whole_pairs_of(data: Any, ratings: npt.ArrayLike | None = None) -> pd.DataFrame:
    """The pairs of `pairs_of`.

    Raises
    ------
    BadInput
        As `pairs_of`, and if a cell of a user or an item is empty.
    """
    pairs = pairs_of(data, ratings)
    for role in ROLES[:2]:
        column = pairs[role]
        is_empty = column.isna().to_numpy()
        if is_empty.any():
            row = int(np.flatnonzero(is_empty)[0])
            raise BadInput(
                f"Every row must have a user and an item. Row {row + 1:,} has no {role}"
                f" ({int(is_empty.sum()):,} of {len(column):,} such rows). Correct them or leave"
                " them out, e.g. with frame.dropna()."
            )
    return pairs


def ratings_column(data: Any) -> Array | None:
    """The ratings (n,) in a data frame if a column's name identifies them; else None."""
    if not is_frame(data):
        return None
    frame = frame_of(data)
    names = list(map(str, frame.columns))
    at = by_name(names, loosely=False).get("rating")
    if at is None:
        return None
    return frame.iloc[:, at].to_numpy()
