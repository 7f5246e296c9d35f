"""Tables of a sweep's finished runs: what stands for each method, and what may be compared."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy import Status
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.privacy_record import GuaranteeRecord
from dpmf_core.runs.record import RunRecord
from dpmf_core.runs.sweep import Point, Summary, summaries
from pages.kit.frames import Columns, Curve, curve_frame, to_frame
from pages.kit.sweep_frames import (
    NO_PROOF,
    PLACE,
    SOURCE_SUFFIX,
    Runs,
    cautions,
    first_epsilon,
    frame,
    method,
)

GROUP: Columns = {"by": str, "place": int, "group": str, "name": str, "id": str, "rmse": float}
PROMISE: Columns = {
    "method": str,
    "guarantee": str,
    "true ε": str,
    "seconds to train": str,
}
WHICH_EPSILON: Columns = {
    "method": str,
    "epsilon": float,
    "low": float,
    "high": float,
    "its best": str,
}


def best_summary(results: Iterable[Summary], metric: str) -> Summary:
    return min(results, key=lambda it: METRICS[metric].sign * it.median)


def label_in_list(label: str, note: str = "") -> str:
    """A method's label inside a list of several. note: stands behind it."""
    name = label
    if label.endswith(SOURCE_SUFFIX):
        own = label.removesuffix(SOURCE_SUFFIX)
        name = f"{own} with its source's noise"
    return f"{name} ({note})" if note else name


def best_points(points: Sequence[Point], runs: Runs, metric: str) -> list[Point]:
    """What stands for each method at each epsilon: the best place of its grid; of data sets of
    several sizes the largest.
    """
    best_places: dict[tuple[str, float | None], Summary] = {}
    for it in summaries(points, runs, metric):
        was = best_places.get((it.label, it.epsilon))
        if was is None or _comes_before(it, was, metric):
            best_places[it.label, it.epsilon] = it
    return [
        point
        for point in points
        if (best := best_places.get((point.label, point.epsilon)))
        and dict(point.grid) == dict(best.grid)
    ]


def _comes_before(it: Summary, was: Summary, metric: str) -> bool:
    if "users" in it.grid:
        return int(it.grid["users"]) > int(was.grid["users"])
    return best_summary((was, it), metric) is it


def complete_points(points: Sequence[Point], runs: Runs) -> list[Point]:
    """The points of every method and epsilon all of whose runs, over seeds and grid, have
    runs: what may be spoken of.
    """
    open_ = {(point.label, point.epsilon) for point in points if point.key not in runs}
    return [point for point in points if (point.label, point.epsilon) not in open_]


def middle_epsilon(epsilons: Iterable[float]) -> float:
    """The one that the first sentence is about."""
    ascending = sorted(epsilons)
    return ascending[(len(ascending) - 1) // 2]


def whole_frame(points: Sequence[Point], runs: Runs, metric: str) -> pd.DataFrame:
    """The same, of `complete` points alone."""
    return frame(
        points,
        {point.key: runs[point.key] for point in complete_points(points, runs)},
        metric,
    )


def best_of_second(table: pd.DataFrame, axis: str, metric: str) -> pd.DataFrame:
    """Of a grid of two parameters, against the first: for every method, epsilon and value of
    the first the best value of the second.
    """
    names = [name for name in table.columns if name not in PLACE and name != axis]
    if not names or axis not in table:
        return table
    where = ["name", "epsilon", axis]
    medians = table.groupby([*where, *names], dropna=False, as_index=False)[["value"]].median()
    order = medians.sort_values(
        "value", ascending=not METRICS[metric].larger_is_better, kind="stable"
    )
    best = order.drop_duplicates(where)[[*where, *names]]
    return table.merge(best, on=[*where, *names])


def bucket_rows(
    points: Sequence[Point], runs: Runs, epsilon: float, labels: Sequence[str]
) -> pd.DataFrame:
    """RMSE by quarter of activity and of popularity, mean over draws: by, place, group, name,
    id, rmse.
    """
    out: list[dict[str, Any]] = []
    for point in points:
        if point.key in runs and point.epsilon in (None, epsilon) and point.label in labels:
            for by, groups in runs[point.key].record.buckets.items():
                for quarter, group in enumerate(groups):
                    text = f"{group['from']:,.0f} to {group['to']:,.0f}"
                    out.append(
                        {
                            "by": by,
                            "place": quarter,
                            "group": text,
                            "name": method(point.label),
                            "id": point.spec.algorithm,
                            "rmse": group["rmse"],
                        }
                    )
    table = to_frame(out, GROUP)
    # quarters of other draws end a little elsewhere
    table["group"] = table.groupby(["by", "place"])["group"].transform("first")
    return table.groupby(["by", "place", "name", "id"], sort=False, as_index=False).agg(
        group=("group", "first"), rmse=("rmse", "mean")
    )


def curve_rows(points: Sequence[Point], runs: Runs) -> pd.DataFrame:
    """Held-out RMSE by step of every run: name, id, draw, step, part, rmse."""
    held_out = {"test_rmse": "held-out"}
    lines = []
    for point in points:
        if point.key in runs:
            name = method(point.label)
            if point.epsilon is not None:
                epsilon = budget_text(point.epsilon)
                name = f"{name}, ε = {epsilon}"
            run, spec = runs[point.key], point.spec
            lines.append(Curve(name, spec.algorithm, spec.seed, run, held_out))
    return curve_frame(lines)


def which_epsilon(points: Sequence[Point], runs: Runs, metric: str, value: float) -> pd.DataFrame:
    """For every private method that has finished the smallest epsilon whose median reads as good as
    `value`, None where none does: method, epsilon, low, high, its best.
    """
    notes = cautions(points, runs)
    lines: dict[str, list[Summary]] = {}
    missing = {point.label for point in points if point.key not in runs}
    for it in summaries(best_points(points, runs, metric), runs, metric):
        if it.epsilon is not None and notes.get(it.label) != NO_PROOF and it.label not in missing:
            lines.setdefault(it.label, []).append(it)
    out: list[dict[str, Any]] = []
    for label, line in lines.items():
        top, epsilons = (
            best_summary(line, metric),
            [it.epsilon for it in line if it.epsilon is not None],
        )
        smallest = first_epsilon(line, value, metric)
        out.append(
            {
                "method": label_in_list(label, notes.get(label, "")),
                "epsilon": smallest,
                "low": min(epsilons),
                "high": max(epsilons),
                "its best": (
                    f"{METRICS[metric].text(top.median)} at ε = {budget_text(top.epsilon or 0)}"
                ),
            }
        )
    return to_frame(out, WHICH_EPSILON)


def methods_table(points: Sequence[Point], runs: Runs) -> pd.DataFrame:
    """Status and unit, true epsilon at the largest nominal one, seconds of training: one row a
    method, in as few columns as a phone has room for.
    """
    out = []
    for label in dict.fromkeys(point.label for point in points):
        records = [
            runs[point.key].record for point in points if point.label == label and point.key in runs
        ]
        if not records:
            continue
        record = max(records, key=_nominal)
        nominal, guarantee = _nominal(record), record.guarantee
        none = record.epsilon.exact is None or not nominal or not guarantee.has_epsilon
        out.append(
            {
                "method": method(label),
                "guarantee": _promise(guarantee, is_private=bool(nominal)),
                "true ε": "-"
                if none
                else f"{epsilon_text(record.epsilon.exact)} at nominal {budget_text(nominal)}",
                "seconds to train": _seconds([it.seconds["fit"] for it in records]),
            }
        )
    return to_frame(out, PROMISE)


def _promise(guarantee: GuaranteeRecord, is_private: bool) -> str:
    """Its status, and what is protected."""
    status = guarantee.status
    if not is_private:
        return status
    return f"{status}, one {guarantee.unit}"


def _seconds(took: Sequence[float | None]) -> str:
    """The median of what is known, and of how many runs."""
    values = [it for it in took if it is not None]
    median = f"{statistics.median(values):.2f}" if values else "-"
    if len(took) == 1:
        return f"{median} (1 run)"
    return f"{median} ({len(took)} runs)"


def _nominal(record: RunRecord) -> float:
    """The epsilon that was asked for; 0 without a budget."""
    return record.spec.budget.epsilon if record.spec.budget else 0.0


def promise_words(points: Sequence[Point], runs: Runs) -> dict[str, Status]:
    """What each status rests on, in words: one entry for each distinct promise."""
    records = [runs[point.key].record for point in points if point.key in runs]
    return {it.guarantee.words: it.guarantee.status for it in records}
