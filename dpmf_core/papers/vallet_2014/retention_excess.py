"""Excess in RMSE over keeping everything, in percent, by share, by time and by users' activity."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from dpmf_core.evaluation.metrics import rmse
from dpmf_core.papers.figures import Runs
from dpmf_core.runs.data_access import open_ratings, open_split
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import Value
from dpmf_core.runs.sweep import Point, Summary

BASELINE = "Baseline"
AXIS_TITLE = "RMSE above keeping everything, %"
QUARTERS = ("least active quarter", "second quarter", "third quarter", "most active quarter")
Place = dict[str, Value]
Excess = tuple[str, str, Place, float]  # label, algorithm, place, percent


def by_share(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """Return the excess over the baseline of the same draw at each static share."""
    return _over_baseline(points, runs, metric, lambda point: dict(point.grid))


def by_stretch(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """Return the excess over the baseline of the same draw, retrained before each period."""
    return _over_baseline(
        points, runs, metric, lambda point: {"stretch": point.spec.split.window + 1}
    )


def _draw(point: Point) -> tuple[int, str]:
    return point.spec.seed, point.spec.split.model_dump_json()


def _over_baseline(
    points: Sequence[Point], runs: Runs, metric: str, place: Callable[[Point], Place]
) -> list[Summary]:
    point_errors = [(it, runs[it.key].record.metric(metric)) for it in points if it.key in runs]
    base = {_draw(it): error for it, error in point_errors if it.label == BASELINE}
    return _summaries(
        (it.label, it.spec.algorithm, place(it), 100 * (error / base[_draw(it)] - 1))
        for it, error in point_errors
        if it.label != BASELINE and _draw(it) in base
    )


def by_activity(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """Return the excess over the baseline of the same draw by quarter of users and place.

    The baseline knows every rating.
    """
    point_errors = [(it, quarter_errors(runs[it.key])) for it in points if it.key in runs]
    base = {_draw(it): errors for it, errors in point_errors if it.label == BASELINE}
    return _summaries(
        (f"{it.label}, {quarter}", it.spec.algorithm, dict(it.grid), float(excess))
        for it, errors in point_errors
        if it.label != BASELINE and _draw(it) in base
        for quarter, excess in zip(QUARTERS, 100 * (errors / base[_draw(it)] - 1), strict=True)
    )


def quarter_errors(run: Run) -> np.ndarray:
    """Return held-out RMSE (4,) of four equal groups of users, by their number of ratings."""
    parts, model = open_split(run.spec), run.model
    activity = np.diff(open_ratings(run.spec.data).by_user)
    edges = np.quantile(activity[activity > 0], (0.25, 0.5, 0.75))
    group = np.searchsorted(edges, activity[parts.test.users])
    personal = model.personal(parts.history)
    predictions = model.predict(personal, parts.test.users, parts.test.items)
    return np.array(
        [rmse(predictions[group == it], parts.test.values[group == it]) for it in range(4)]
    )


def _summaries(excesses: Iterable[Excess]) -> list[Summary]:
    groups: dict[tuple[str, str, tuple[tuple[str, Value], ...]], list[float]] = {}
    for label, algorithm, place, value in excesses:
        groups.setdefault((label, algorithm, tuple(place.items())), []).append(value)
    return [
        Summary(label, algorithm, None, dict(place), tuple(draws))
        for (label, algorithm, place), draws in groups.items()
    ]
