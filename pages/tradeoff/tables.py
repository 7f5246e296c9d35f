"""Tables of a sweep's finished runs: what stands for each method, and what may be compared."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.language import phrase
from dpmf_core.privacy import Status
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.privacy_record import GuaranteeRecord
from dpmf_core.runs.record import RunRecord
from dpmf_core.runs.sweep import Point, Summary, summaries
from pages.kit.frames import Columns, Curve, curve_frame, framed
from pages.kit.language import say
from pages.kit.sweep_frames import (
    NO_PROOF,
    PLACE,
    SOURCED,
    Finished,
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
NEEDED: Columns = {"method": str, "epsilon": float, "low": float, "high": float, "its best": str}


def best_summary(found: Iterable[Summary], metric: str) -> Summary:
    return min(found, key=lambda it: METRICS[metric].sign * it.median)


def label_in_list(label: str, note: str = "") -> str:
    """A method's label inside a list of several, as a phrase. note: stands behind it."""
    name = phrase(label)
    if label.endswith(SOURCED):
        own = phrase(label.removesuffix(SOURCED))
        name = phrase("{method} with its source's noise", method=own)
    return phrase("{name} ({note})", name=name, note=note) if note else name


def best_points(points: Sequence[Point], finished: Finished, metric: str) -> list[Point]:
    """What stands for each method at each epsilon: the best place of its grid; of data sets of
    several sizes the largest.
    """
    chosen: dict[tuple[str, float | None], Summary] = {}
    for it in summaries(points, finished, metric):
        was = chosen.get((it.label, it.epsilon))
        if was is None or _comes_before(it, was, metric):
            chosen[it.label, it.epsilon] = it
    return [
        point
        for point in points
        if (best := chosen.get((point.label, point.epsilon)))
        and dict(point.grid) == dict(best.grid)
    ]


def _comes_before(it: Summary, was: Summary, metric: str) -> bool:
    if "users" in it.grid:
        return int(it.grid["users"]) > int(was.grid["users"])
    return best_summary((was, it), metric) is it


def complete_points(points: Sequence[Point], finished: Finished) -> list[Point]:
    """The points of every method and epsilon all of whose runs, over seeds and grid, have
    finished: what may be spoken of.
    """
    open_ = {(point.label, point.epsilon) for point in points if point.key not in finished}
    return [point for point in points if (point.label, point.epsilon) not in open_]


def middle_epsilon(epsilons: Iterable[float]) -> float:
    """The one that the first sentence is about."""
    ordered = sorted(epsilons)
    return ordered[(len(ordered) - 1) // 2]


def whole_frame(points: Sequence[Point], finished: Finished, metric: str) -> pd.DataFrame:
    """The same, of `complete` points alone."""
    return frame(
        points,
        {point.key: finished[point.key] for point in complete_points(points, finished)},
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
    chosen = order.drop_duplicates(where)[[*where, *names]]
    return table.merge(chosen, on=[*where, *names])


def bucket_rows(
    points: Sequence[Point], finished: Finished, epsilon: float, labels: Sequence[str]
) -> pd.DataFrame:
    """RMSE by quarter of activity and of popularity, mean over draws: by, place, group, name,
    id, rmse.
    """
    out: list[dict[str, Any]] = []
    for point in points:
        if point.key in finished and point.epsilon in (None, epsilon) and point.label in labels:
            for by, groups in finished[point.key].record.buckets.items():
                for quarter, group in enumerate(groups):
                    text = say("{low:,.0f} to {high:,.0f}", low=group["from"], high=group["to"])
                    out.append(
                        {
                            "by": by,
                            "place": quarter,
                            "group": text,
                            "name": say(method(point.label)),
                            "id": point.spec.algorithm,
                            "rmse": group["rmse"],
                        }
                    )
    table = framed(out, GROUP)
    # quarters of other draws end a little elsewhere
    table["group"] = table.groupby(["by", "place"])["group"].transform("first")
    return table.groupby(["by", "place", "name", "id"], sort=False, as_index=False).agg(
        group=("group", "first"), rmse=("rmse", "mean")
    )


def curve_rows(points: Sequence[Point], finished: Finished) -> pd.DataFrame:
    """Held-out RMSE by step of every run: name, id, draw, step, part, rmse."""
    held_out = {"test_rmse": phrase("held-out")}
    lines = []
    for point in points:
        if point.key in finished:
            name = method(point.label)
            if point.epsilon is not None:
                epsilon = budget_text(point.epsilon)
                name = phrase("{method}, ε = {epsilon}", method=name, epsilon=epsilon)
            run, spec = finished[point.key], point.spec
            lines.append(Curve(say(name), spec.algorithm, spec.seed, run, held_out))
    return curve_frame(lines)


def which_epsilon(
    points: Sequence[Point], finished: Finished, metric: str, value: float
) -> pd.DataFrame:
    """For every private method that has finished the smallest epsilon whose median reads as good as
    `value`, None where none does: method, epsilon, low, high, its best."""
    notes = cautions(points, finished)
    lines: dict[str, list[Summary]] = {}
    missing = {point.label for point in points if point.key not in finished}
    for it in summaries(best_points(points, finished, metric), finished, metric):
        if it.epsilon is not None and notes.get(it.label) != NO_PROOF and it.label not in missing:
            lines.setdefault(it.label, []).append(it)
    out: list[dict[str, Any]] = []
    for label, line in lines.items():
        top, epsilons = (
            best_summary(line, metric),
            [it.epsilon for it in line if it.epsilon is not None],
        )
        needed = first_epsilon(line, value, metric)
        out.append(
            {
                "method": say(label_in_list(label, notes.get(label, ""))),
                "epsilon": needed,
                "low": min(epsilons),
                "high": max(epsilons),
                "its best": say(
                    "{figure} at ε = {epsilon}",
                    figure=METRICS[metric].text(top.median),
                    epsilon=budget_text(top.epsilon or 0),
                ),
            }
        )
    return framed(out, NEEDED)


def methods_table(points: Sequence[Point], finished: Finished) -> pd.DataFrame:
    """Status and unit, true epsilon at the largest nominal one, seconds of training: one row a
    method, in as few columns as a phone has room for.
    """
    out = []
    for label in dict.fromkeys(point.label for point in points):
        runs = [
            finished[point.key].record
            for point in points
            if point.label == label and point.key in finished
        ]
        if not runs:
            continue
        record = max(runs, key=_nominal)
        nominal, guarantee = _nominal(record), record.guarantee
        none = record.epsilon.exact is None or not nominal or not guarantee.has_epsilon
        out.append(
            {
                "method": say(method(label)),
                "guarantee": _promise(guarantee, is_private=bool(nominal)),
                "true ε": "-"
                if none
                else say(
                    "{epsilon} at nominal {nominal}",
                    epsilon=epsilon_text(record.epsilon.exact),
                    nominal=budget_text(nominal),
                ),
                "seconds to train": _seconds([it.seconds["fit"] for it in runs]),
            }
        )
    return framed(out, PROMISE)


def _promise(guarantee: GuaranteeRecord, is_private: bool) -> str:
    """Its status, and what is protected."""
    status = phrase(guarantee.status)
    if not is_private:
        return say(status)
    return say("{status}, one {unit}", status=status, unit=phrase(guarantee.unit))


def _seconds(took: Sequence[float | None]) -> str:
    """The median of what is known, and of how many runs."""
    known = [it for it in took if it is not None]
    median = f"{statistics.median(known):.2f}" if known else "-"
    if len(took) == 1:
        return say("{seconds} (1 run)", seconds=median)
    return say("{seconds} ({count} runs)", seconds=median, count=len(took))


def _nominal(record: RunRecord) -> float:
    """The epsilon that was asked for; 0 without a budget."""
    return record.spec.budget.epsilon if record.spec.budget else 0.0


def promise_words(points: Sequence[Point], finished: Finished) -> dict[str, Status]:
    """What each status rests on, in words: one entry for each distinct promise."""
    records = [finished[point.key].record for point in points if point.key in finished]
    return {it.guarantee.translatable_words: it.guarantee.status for it in records}
