"""A sweep's finished runs as sentences, frames for figures, and tables."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpmf_core.experiment import Run
from dpmf_core.sweeps import Point, Summary, reaches, summaries
from pages.kit.guarantee import shown

METRICS = {"rmse": "RMSE", "mae": "MAE", "recall_at_20": "Recall@20", "ndcg_at_20": "NDCG@20", "validation_rmse": "RMSE, validation"}
LARGER_IS_BETTER = ("recall_at_20", "ndcg_at_20")
TRIVIAL = ("global-mean", "popularity")
Finished = dict[str, Run]


def frame(points: Sequence[Point], finished: Finished, metric: str) -> pd.DataFrame:
    """Every draw as a row: name, id, source (whether by the source's noise), epsilon, seed, value, and the grid's parameters."""
    out = []
    for point in points:
        run = finished.get(point.key)
        value = run.record["metrics"].get(metric) if run else None
        if run and value is not None:
            sourced = run.record["calibration"] == "source"
            place = {"name": point.label, "id": point.spec.algorithm, "source": sourced, "epsilon": point.epsilon, "seed": point.spec.seed}
            out.append(place | {"value": float(value)} | dict(point.grid))
    return pd.DataFrame(out, columns=["name", "id", "source", "epsilon", "seed", "value"] if not out else None)


def _best(found: Sequence[Summary], metric: str) -> Summary:
    return (max if metric in LARGER_IS_BETTER else min)(found, key=lambda it: it.median)


def finding(points: Sequence[Point], finished: Finished, metric: str) -> tuple[str, str]:
    """Title and sentence: which private method is best at the middle epsilon, and what it keeps."""
    found = summaries(points, finished, metric)
    private = [it for it in found if it.epsilon is not None]
    if not private:
        return "Which method, at which ε?", "Runs appear here as they finish."
    epsilons = sorted({it.epsilon for it in private if it.epsilon is not None})
    epsilon = epsilons[(len(epsilons) - 1) // 2]
    at = [it for it in private if it.epsilon == epsilon]
    best = _best(at, metric)
    grid = "" if not best.grid else " with " + ", ".join(f"{value:,} users" if name == "users" else f"{name} {value}" for name, value in best.grid.items())
    title = f"At ε = {epsilon:g}, {best.label} is best{grid}"
    parts = [f"{METRICS[metric]} **{best.median:.3f}**"]
    twin = [it for it in found if it.algorithm in ("als", "fw", "pgd")]
    trivial = [it for it in found if it.algorithm in TRIVIAL]
    if twin and trivial:
        free, guess = _best(twin, metric), _best(trivial, metric)
        if free.median != guess.median:
            kept = (guess.median - best.median) / (guess.median - free.median)
            parts.append(f"{kept:.0%} of the gain over guessing kept ({free.label} {free.median:.3f}, {guess.label} {guess.median:.3f})")
    later = [f"{label} gets there at ε = {shown(needed)}" for label, needed in _needed(private, best, metric).items() if needed]
    return title, "; ".join(parts + later[:2]) + "."


def _needed(private: Sequence[Summary], best: Summary, metric: str) -> dict[str, float | None]:
    if best.grid:
        return {}
    others = dict.fromkeys(it.label for it in private if it.label != best.label)
    larger = metric in LARGER_IS_BETTER
    return {label: reaches([it for it in private if it.label == label], best.median, larger_is_better=larger) for label in others}


def which_epsilon(points: Sequence[Point], finished: Finished, metric: str, value: float) -> pd.DataFrame:
    """For every private method the smallest measured-between epsilon whose median is as good as `value`."""
    private = [it for it in summaries(points, finished, metric) if it.epsilon is not None]
    rows = []
    for label in dict.fromkeys(it.label for it in private):
        line = [it for it in private if it.label == label]
        needed = reaches(line, value, larger_is_better=metric in LARGER_IS_BETTER)
        best = _best(line, metric)
        answer = "not within the measured range" if needed is None else f"ε = {shown(needed)}"
        rows.append({"method": label, f"reaches {value:.3f} at": answer, "its best": f"{best.median:.3f} at ε = {best.epsilon:g}"})
    return pd.DataFrame(rows)


def worse_than_guessing(points: Sequence[Point], finished: Finished, metric: str) -> list[str]:
    """A sentence for every method that does worse than the trivial predictor somewhere."""
    found = summaries(points, finished, metric)
    trivial = [it for it in found if it.algorithm in TRIVIAL]
    if not trivial:
        return []
    guess, sign = _best(trivial, metric), -1.0 if metric in LARGER_IS_BETTER else 1.0
    worse: dict[str, list[str]] = {}
    for it in found:
        if it.epsilon is not None and sign * it.median > sign * guess.median:
            worse.setdefault(it.label, []).append(f"{it.epsilon:g}")
    return [f"{label} does worse than {guess.label} at ε = {', '.join(dict.fromkeys(at))}." for label, at in worse.items()]


def rule_alone(points: Sequence[Point], finished: Finished, metric: str) -> list[str]:
    """How much the source's rule for the noise costs, where a method was run by both."""
    found = {(it.label, it.epsilon): it for it in summaries(points, finished, metric) if it.epsilon is not None and not it.grid}
    exact = {point.label.removesuffix(", source's noise"): finished[point.key].record["epsilon"]["exact"] for point in points
             if point.key in finished and point.label.endswith(", source's noise")}  # fmt: skip
    out = []
    for label in exact:
        shared = sorted(epsilon for name, epsilon in found if name == label and (f"{label}, source's noise", epsilon) in found and epsilon is not None)
        if shared:
            epsilon = shared[len(shared) // 2]
            ours, theirs = found[label, epsilon].median, found[f"{label}, source's noise", epsilon].median
            truly = true_epsilon(points, finished, f"{label}, source's noise", epsilon)
            both = f"{METRICS[metric]} {ours:.3f} with exact accounting, {theirs:.3f} with its source's noise"
            out.append(f"{label} at ε = {epsilon:g}: {both}, which truly costs ε = {truly}.")
    return out


def true_epsilon(points: Sequence[Point], finished: Finished, label: str, epsilon: float | None) -> str:
    """The exact epsilon of a method's runs at a nominal one; '-' where none is proven."""
    for point in points:
        if point.label == label and point.epsilon == epsilon and point.key in finished:
            exact = finished[point.key].record["epsilon"]["exact"]
            return "-" if exact is None or epsilon is None else shown(exact)
    return "-"


def methods_table(points: Sequence[Point], finished: Finished) -> pd.DataFrame:
    """Status, unit, true epsilon at the largest nominal one, seconds of training: one row a method."""
    rows = []
    for label in dict.fromkeys(point.label for point in points):
        runs = [finished[point.key].record for point in points if point.label == label and point.key in finished]
        if not runs:
            continue
        record = max(runs, key=lambda it: (it["spec"]["budget"] or {}).get("epsilon", 0))
        nominal = (record["spec"]["budget"] or {}).get("epsilon")
        rows.append({
            "method": label, "guarantee": record["guarantee"]["status"], "protects one": record["guarantee"]["unit"] if nominal else "-",
            "true ε": "-" if record["epsilon"]["exact"] is None or not nominal else f"{shown(record['epsilon']['exact'])} at nominal {nominal:g}",
            "seconds to train": round(pd.Series([it["seconds"]["fit"] for it in runs]).median(), 2), "in words": record["guarantee"]["words"],
        })  # fmt: skip
    return pd.DataFrame(rows)


def bucket_rows(points: Sequence[Point], finished: Finished, epsilon: float) -> pd.DataFrame:
    """RMSE by quarter of activity and of popularity, mean over draws: by, group, name, id, rmse."""
    out: list[dict[str, Any]] = []
    for point in points:
        if point.key in finished and point.epsilon in (None, epsilon):
            for by, groups in finished[point.key].record["buckets"].items():
                for place, group in enumerate(groups):
                    text = f"{place + 1}. {group['from']:g} to {group['to']:g}"
                    out.append({"by": by, "place": place, "group": text, "name": point.label, "id": point.spec.algorithm, "rmse": group["rmse"]})
    if not out:
        return pd.DataFrame()
    table = pd.DataFrame(out)
    return table.groupby(["by", "place", "name", "id"], sort=False, as_index=False).agg(group=("group", "first"), rmse=("rmse", "mean"))


def curve_rows(points: Sequence[Point], finished: Finished) -> pd.DataFrame:
    """Held-out RMSE by step of every run: name, id, draw, step, part, rmse."""
    out = []
    for point in points:
        if point.key in finished:
            name = point.label if point.epsilon is None else f"{point.label}, ε = {point.epsilon:g}"
            common = {"name": name, "id": point.spec.algorithm, "draw": point.spec.seed, "part": "held-out"}
            out += [common | {"step": int(at["step"]), "rmse": at["test_rmse"]} for at in finished[point.key].record["curves"]]
    return pd.DataFrame(out)
