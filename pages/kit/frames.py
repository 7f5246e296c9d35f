"""Frames of finished runs with declared columns, whatever has finished."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpmf_core.runs.record import Run

Columns = Mapping[str, type]
ANY = object  # numbers or words


def to_frame(rows: Iterable[Mapping[str, Any]], columns: Columns) -> pd.DataFrame:
    """Return rows as a frame with exactly these columns; raise KeyError for undeclared ones.

    columns: type by name. Missing cells are empty; numeric columns with missing cells are floats.
    """
    records = list(rows)
    if unknown := {name for row in records for name in row if name not in columns}:
        raise KeyError(f"not declared: {', '.join(sorted(unknown))}")
    frame = pd.DataFrame(records, columns=list(columns))
    return frame.astype(
        {
            name: float
            for name, kind in columns.items()
            if kind is float or (kind is int and bool(frame[name].isna().any()))
        }
    )


@dataclass(frozen=True)
class Curve:
    """The curves of one run: its line's name, and the method that gives its colour.

    parts: names by key of a step's record.
    """

    name: str
    method: str
    draw: int
    run: Run
    parts: Mapping[str, str]

    def rows(self, metric: str) -> Iterable[dict[str, Any]]:
        for key, part in self.parts.items():
            for point in self.run.record.curves:
                value, step = point.get(key), point.get("step")
                if value is not None and step is not None:
                    yield {
                        "name": self.name,
                        "id": self.method,
                        "draw": self.draw,
                        "step": int(step),
                        "part": part,
                        metric: value,
                    }


def curve_frame(curves: Iterable[Curve], metric: str = "rmse") -> pd.DataFrame:
    """Return a row for every step: name, id, draw, step, part and the metric."""
    columns = {"name": str, "id": str, "draw": int, "step": int, "part": str, metric: float}
    return to_frame((row for curve in curves for row in curve.rows(metric)), columns)
