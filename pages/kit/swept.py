"""A sweep's finished runs as frames for figures and as tables. The sentences are in `findings`."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from dpmf_core import algorithms
from dpmf_core.experiment import Run
from dpmf_core.sweeps import Point, Summary, reaches, summaries
from pages.kit.frames import ANY, Columns, framed
from pages.kit.guarantee import loss, shown

METRICS = {"rmse": "RMSE", "mae": "MAE", "recall_at_20": "Recall@20", "ndcg_at_20": "NDCG@20", "validation_rmse": "Validation RMSE"}
LARGER_IS_BETTER = ("recall_at_20", "ndcg_at_20")
TRIVIAL = ("global-mean", "user-mean", "popularity")
SOURCED = ", source's noise"  # ends the label of a method whose noise is set by its source's rule
DIGITS = 3  # of a figure in sentences and tables
PROVED = ("PROVEN", "CONDITIONAL")
PLACE: Columns = {"name": str, "id": str, "source": bool, "epsilon": float, "seed": int, "value": float}
GROUP: Columns = {"by": str, "place": int, "group": str, "name": str, "id": str, "rmse": float}
STEP: Columns = {"name": str, "id": str, "draw": int, "part": str, "step": int, "rmse": float}
PROMISE: Columns = {"method": str, "guarantee": str, "protects one": str, "true ε": str, "seconds to train": float, "runs": int}
NEEDED: Columns = {"method": str, "epsilon": float, "low": float, "high": float, "its best": str}
Finished = dict[str, Run]


def sign(metric: str) -> float:
    """Times this, smaller is better."""
    return -1.0 if metric in LARGER_IS_BETTER else 1.0


def best(found: Iterable[Summary], metric: str) -> Summary:
    return min(found, key=lambda it: sign(metric) * it.median)


def parameter(name: str, ids: Iterable[str]) -> str:
    """A parameter's title as the first of these algorithms declares it."""
    for ident in ids:
        info = algorithms.find(ident).model_fields.get(name)
        if info is not None and info.title:
            return info.title
    return name.replace("_", " ")


def place(grid: dict[str, Any], ids: Sequence[str] = ()) -> str:
    """A point of the grid in words: rank r 4, steps T 2."""
    return ", ".join(f"{value:,} users" if name == "users" else f"{parameter(name, ids)} {level(value)}" for name, value in grid.items())


def level(value: Any) -> str:
    """One value of a parameter."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def said(label: str) -> str:
    """A method's label inside a list of several."""
    return label.replace(SOURCED, " with its source's noise")


# ---- what may be compared ---------------------------------------------------------------------------------------------


def caution(record: dict[str, Any], unit: str = "user") -> str:
    """Why a private method's epsilon is not like the others': it protects less than a person, or nothing is proved. '' for the rest."""
    guarantee = record["guarantee"]
    if not record["spec"]["budget"]:
        return ""
    if guarantee["status"] not in PROVED:
        return "no proof"
    return "" if guarantee["unit"] == unit else f"protects one {guarantee['unit']}"


def cautions(points: Sequence[Point], finished: Finished) -> dict[str, str]:
    """By label, for the methods that have one."""
    found = {point.label: caution(finished[point.key].record) for point in points if point.key in finished}
    return {label: reason for label, reason in found.items() if reason}


def at_best(points: Sequence[Point], finished: Finished, metric: str) -> list[Point]:
    """What stands for each method at each epsilon: the best place of its grid; of data sets of several sizes the largest."""
    chosen: dict[tuple[str, float | None], Summary] = {}
    for it in summaries(points, finished, metric):
        was = chosen.get((it.label, it.epsilon))
        if was is None or _stands_before(it, was, metric):
            chosen[it.label, it.epsilon] = it
    return [point for point in points if (best := chosen.get((point.label, point.epsilon))) and dict(point.grid) == dict(best.grid)]


def _stands_before(it: Summary, was: Summary, metric: str) -> bool:
    if "users" in it.grid:
        return int(it.grid["users"]) > int(was.grid["users"])
    return best((was, it), metric) is it


def complete(points: Sequence[Point], finished: Finished) -> list[Point]:
    """The points of every method and epsilon all of whose runs, over seeds and grid, have finished: what may be spoken of."""
    open_ = {(point.label, point.epsilon) for point in points if point.key not in finished}
    return [point for point in points if (point.label, point.epsilon) not in open_]


def middle(epsilons: Iterable[float]) -> float:
    """The one that the first sentence is about."""
    ordered = sorted(epsilons)
    return ordered[(len(ordered) - 1) // 2]


# ---- frames -----------------------------------------------------------------------------------------------------------


def frame(points: Sequence[Point], finished: Finished, metric: str) -> pd.DataFrame:
    """Every draw as a row: name, id, source (whether by the source's noise), epsilon, seed, value, and every parameter of the grid."""
    notes = cautions(points, finished)
    out = []
    for point in points:
        run = finished.get(point.key)
        value = run.record["metrics"].get(metric) if run else None
        if run and value is not None:
            name = f"{point.label} ({notes[point.label]})" if point.label in notes else point.label
            sourced = run.record["calibration"] == "source"
            where = {"name": name, "id": point.spec.algorithm, "source": sourced, "epsilon": point.epsilon, "seed": point.spec.seed}
            out.append(where | {"value": float(value)} | dict(point.grid))
    return framed(out, {**PLACE, **{name: ANY for point in points for name in point.grid}})


def whole_frame(points: Sequence[Point], finished: Finished, metric: str) -> pd.DataFrame:
    """The same, of `complete` points alone."""
    return frame(points, {point.key: finished[point.key] for point in complete(points, finished)}, metric)


def best_of_second(table: pd.DataFrame, axis: str, metric: str) -> pd.DataFrame:
    """Of a grid of two parameters, against the first: for every method, epsilon and value of the first the best value of the second."""
    names = [name for name in table.columns if name not in PLACE and name != axis]
    if not names or axis not in table:
        return table
    where = ["name", "epsilon", axis]
    medians = table.groupby([*where, *names], dropna=False, as_index=False)[["value"]].median()
    order = medians.sort_values("value", ascending=metric not in LARGER_IS_BETTER, kind="stable")
    chosen = order.drop_duplicates(where)[[*where, *names]]
    return table.merge(chosen, on=[*where, *names])


def bucket_rows(points: Sequence[Point], finished: Finished, epsilon: float, labels: Sequence[str]) -> pd.DataFrame:
    """RMSE by quarter of activity and of popularity, mean over draws: by, place, group, name, id, rmse."""
    out: list[dict[str, Any]] = []
    for point in points:
        if point.key in finished and point.epsilon in (None, epsilon) and point.label in labels:
            for by, groups in finished[point.key].record["buckets"].items():
                for quarter, group in enumerate(groups):
                    text = f"{group['from']:,.0f} to {group['to']:,.0f}"
                    out.append({"by": by, "place": quarter, "group": text, "name": point.label, "id": point.spec.algorithm, "rmse": group["rmse"]})
    table = framed(out, GROUP)
    table["group"] = table.groupby(["by", "place"])["group"].transform("first")  # quarters of other draws end a little elsewhere
    return table.groupby(["by", "place", "name", "id"], sort=False, as_index=False).agg(group=("group", "first"), rmse=("rmse", "mean"))


def curve_rows(points: Sequence[Point], finished: Finished) -> pd.DataFrame:
    """Held-out RMSE by step of every run: name, id, draw, step, part, rmse."""
    out = []
    for point in points:
        if point.key in finished:
            name = point.label if point.epsilon is None else f"{point.label}, ε = {loss(point.epsilon)}"
            common = {"name": name, "id": point.spec.algorithm, "draw": point.spec.seed, "part": "held-out"}
            out += [common | {"step": int(at["step"]), "rmse": at["test_rmse"]} for at in finished[point.key].record["curves"]]
    return framed(out, STEP)


# ---- tables -----------------------------------------------------------------------------------------------------------


def which_epsilon(points: Sequence[Point], finished: Finished, metric: str, value: float) -> pd.DataFrame:
    """For every private method that has finished the smallest epsilon whose median reads as good as `value`, None where none does: method, epsilon, low,
    high, its best."""
    notes = cautions(points, finished)
    lines: dict[str, list[Summary]] = {}
    missing = {point.label for point in points if point.key not in finished}
    for it in summaries(at_best(points, finished, metric), finished, metric):
        if it.epsilon is not None and notes.get(it.label) != "no proof" and it.label not in missing:
            lines.setdefault(it.label, []).append(it)
    out: list[dict[str, Any]] = []
    for label, line in lines.items():
        top, epsilons = best(line, metric), [it.epsilon for it in line if it.epsilon is not None]
        needed = reaches(line, value, larger_is_better=metric in LARGER_IS_BETTER, digits=DIGITS)
        name = f"{label} ({notes[label]})" if label in notes else label
        out.append(
            {"method": said(name), "epsilon": needed, "low": min(epsilons), "high": max(epsilons),
             "its best": f"{top.median:.3f} at ε = {loss(top.epsilon or 0)}"}
        )  # fmt: skip
    return framed(out, NEEDED)


def methods_table(points: Sequence[Point], finished: Finished) -> pd.DataFrame:
    """Status, unit, true epsilon at the largest nominal one, seconds of training: one row a method."""
    out = []
    for label in dict.fromkeys(point.label for point in points):
        runs = [finished[point.key].record for point in points if point.label == label and point.key in finished]
        if not runs:
            continue
        record = max(runs, key=lambda it: (it["spec"]["budget"] or {}).get("epsilon", 0))
        nominal, guarantee = float((record["spec"]["budget"] or {}).get("epsilon", 0)), record["guarantee"]
        none = record["epsilon"]["exact"] is None or not nominal or guarantee["status"] not in PROVED
        out.append({
            "method": label, "guarantee": guarantee["status"], "protects one": guarantee["unit"] if nominal else "-",
            "true ε": "-" if none else f"{shown(record['epsilon']['exact'])} at nominal {loss(nominal)}",
            "seconds to train": float(pd.Series([it["seconds"]["fit"] for it in runs]).median()), "runs": len(runs),
        })  # fmt: skip
    return framed(out, PROMISE)


def promises(points: Sequence[Point], finished: Finished) -> dict[str, str]:
    """What each status rests on, in words: one entry for each distinct promise."""
    records = [finished[point.key].record for point in points if point.key in finished]
    return {record["guarantee"]["words"]: record["guarantee"]["status"] for record in records}
