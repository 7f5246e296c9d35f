"""Excess in RMSE over keeping everything, in percent, by share, by time and by users' activity."""

import functools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dpmf_core.evaluation.metrics import rmse
from dpmf_core.papers.clauses import MissingResult, Results, line, of_label
from dpmf_core.papers.figures import grouped
from dpmf_core.runs.data_access import open_ratings, open_split
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.record import Run, Runs

BASELINE = "Baseline"
LEAST_PAIRS = 8  # with fewer a two-sided signed rank test cannot reach .01
QUARTERS = (
    "least active quarter",
    "second quarter",
    "third quarter",
    "most active quarter",
)


def by_share(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The excess over the baseline of the same draw at each static share."""
    return _over_baseline(points, runs, lambda run: {"": run.record.metric(metric)})


def by_stretch(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The excess over the baseline of the same draw, retrained before each period."""
    predicted = [
        replace(point, grid={"stretch": point.spec.split.window + 1})
        for point in points
    ]
    return by_share(predicted, runs, metric)


def by_activity(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The excess over the baseline of the same draw by quarter of users and place.

    The baseline knows every rating.
    """
    return _over_baseline(points, runs, quarter_errors)


def _over_baseline(
    points: Sequence[Point], runs: Runs, errors_of: Callable[[Run], dict[str, float]]
) -> list[Measured]:
    """Excesses in percent, from the errors of a run by the ending of their label."""

    def draw(point: Point) -> tuple[int, str]:
        return point.spec.seed, point.spec.split.model_dump_json()

    point_errors = [
        (point, errors_of(runs[point.key])) for point in points if point.key in runs
    ]
    base = {
        draw(result): errors
        for result, errors in point_errors
        if result.label == BASELINE
    }
    return grouped(
        (
            result.label + ending,
            result.spec.algorithm,
            None,
            result.grid,
            100 * (error / of_base - 1),
        )
        for result, errors in point_errors
        if result.label != BASELINE and draw(result) in base
        for (ending, error), of_base in zip(
            errors.items(), base[draw(result)].values(), strict=True
        )
    )


def quarter_errors(run: Run) -> dict[str, float]:
    """Held-out RMSE of four equal groups of users, by their number of ratings."""
    parts = open_split(run.spec)
    model = run.model
    activity = open_ratings(run.spec.data).user_counts
    edges = np.quantile(activity[activity > 0], (0.25, 0.5, 0.75))
    group = np.searchsorted(edges, activity[parts.test.users])
    personal = model.personal(parts.history)
    predictions = model.predict(personal, parts.test.users, parts.test.items)
    return {
        f", {quarter}": rmse(
            predictions[group == number], parts.test.values[group == number]
        )
        for number, quarter in enumerate(QUARTERS)
    }


# ---- quantities of clauses -----------------------------------------------------------------------


def by_draw(results: Results, label: str) -> np.ndarray:
    """A method's mean excess in each draw, (n_draws,). Raises MissingResult."""
    lines = [result.draws for result in of_label(results, label)]
    if len({len(draws) for draws in lines}) != 1:
        raise MissingResult(f"{label} lacks draws")
    return np.mean(lines, axis=0)  # type: ignore[no-any-return]


@functools.lru_cache(256)
def signed_rank(differences: tuple[float, ...]) -> float:
    """The two-sided p of Wilcoxon's signed rank test; 1 if nothing differs.

    Raises MissingResult for too few pairs to reach p < .01.
    """
    if len(differences) < LEAST_PAIRS:
        raise MissingResult(
            f"{len(differences)} draws are too few for a signed rank test"
        )
    if min(differences) > 0 or max(differences) < 0:
        return 2.0 ** (1 - len(differences))  # the smallest, without ranking
    from scipy import stats  # half a second, of every start

    if any(differences):
        return float(stats.wilcoxon(differences).pvalue)
    return 1.0


def quarters(results: Results, label: str = "Rated") -> list[dict[float, float]]:
    """The excess of each quarter of the users, by the share that has arrived."""
    return [
        line(results, f"{label}, {quarter}", "arrived_share") for quarter in QUARTERS
    ]


def mean_line(results: Results, label: str = "Rated") -> dict[float, float]:
    """The mean over the quarters of users, by the share that has arrived."""
    lines = quarters(results, label)
    return {
        at: statistics.fmean(line_values[at] for line_values in lines)
        for at in lines[0]
    }
