"""Frames for figures and tables of finished runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from dpmf_core import algorithms
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.sweep import Point

# ends the label of a method with its source's noise
SOURCE_SUFFIX = ", source's noise"
NO_PROOF = "no proof"
PLACE = ("name", "id", "source", "epsilon", "seed", "value")  # columns of every frame of draws
Runs = dict[str, Run]
# one run's curves: its line's name, the method of its colour, draw, run, and names by key of a step
Curves = tuple[str, str, int, Run, Mapping[str, str]]


def parameter(name: str, ids: Iterable[str]) -> str:
    """Return a parameter's title, from the first of these algorithms that declares it."""
    for ident in ids:
        info = algorithms.find(ident).model_fields.get(name)
        if info is not None and info.title:
            return info.title
    return name.replace("_", " ")


def place(grid: dict[str, Any], ids: Sequence[str] = ()) -> str:
    """Return a point of the grid in words, such as "rank r 4, steps T 2"."""
    return ", ".join(
        f"{value:,} users" if name == "users" else f"{parameter(name, ids)} {level(value)}"
        for name, value in grid.items()
    )


def level(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def method(label: str, note: str = "") -> str:
    """Return a label with a note on the meaning of its epsilon."""
    return f"{label} ({note})" if note else label


def caution(record: RunRecord, unit: str = "user") -> str:
    """Return why a private method's epsilon means something else; '' if it does not."""
    guarantee = record.guarantee
    if record.spec.budget is None:
        return ""
    if not guarantee.has_epsilon:
        return NO_PROOF
    if guarantee.unit == unit:
        return ""
    return f"protects one {guarantee.unit}"


def cautions(points: Sequence[Point], runs: Runs) -> dict[str, str]:
    """Return cautions by label, for methods that have one."""
    reasons = {
        point.label: caution(runs[point.key].record) for point in points if point.key in runs
    }
    return {label: reason for label, reason in reasons.items() if reason}


def frame(
    points: Sequence[Point], runs: Runs, metric: str, notes: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return every draw as a row: name, id, source, epsilon, seed, value and the grid's parameters.

    source: whether the noise is set by the source's rule. notes: by label; by default the cautions.
    """
    notes = cautions(points, runs) if notes is None else notes
    rows = []
    for point in points:
        run = runs.get(point.key)
        value = run.record.metrics.get(metric) if run else None
        if run and value is not None:
            where = {
                "name": method(point.label, notes.get(point.label, "")),
                "id": point.spec.algorithm,
                "source": run.record.calibration == "source",
                "epsilon": point.epsilon,
                "seed": point.spec.seed,
            }
            rows.append(where | {"value": float(value)} | dict(point.grid))
    return draws_frame(rows, (name for point in points for name in point.grid))


def draws_frame(rows: Sequence[Mapping[str, Any]], grid: Iterable[str]) -> pd.DataFrame:
    """Return draws as a frame with the columns of `PLACE` and of the grid, also without rows."""
    frame = pd.DataFrame(rows, columns=list(dict.fromkeys((*PLACE, *grid))))
    return frame.astype({"epsilon": float, "value": float})


def curve_frame(curves: Iterable[Curves], metric: str = "rmse") -> pd.DataFrame:
    """Return a row for every step: name, id, draw, step, part and the metric."""
    rows = [
        (name, method_id, draw, int(step), part, point[key])
        for name, method_id, draw, run, parts in curves
        for key, part in parts.items()
        for point in run.record.curves
        if point.get(key) is not None and (step := point.get("step")) is not None
    ]
    return pd.DataFrame(rows, columns=["name", "id", "draw", "step", "part", metric])
