"""Frames of finished runs. Their columns are declared, so that a figure finds them whichever runs have finished."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

Columns = Mapping[str, type]
ANY = object  # numbers or words, as the rows have it


def framed(rows: Iterable[Mapping[str, Any]], columns: Columns) -> pd.DataFrame:
    """Rows as a frame with exactly these columns, in their order.

    columns: name to type. A cell that a row lacks is empty; a column of numbers is one of floats where cells are missing, also without any row.
    Raises KeyError where a row holds what is not declared.
    """
    held = list(rows)
    if unknown := {name for row in held for name in row if name not in columns}:
        raise KeyError(f"not declared: {', '.join(sorted(unknown))}")
    frame = pd.DataFrame(held, columns=list(columns))
    return frame.astype({name: float for name, kind in columns.items() if kind is float or (kind is int and bool(frame[name].isna().any()))})
