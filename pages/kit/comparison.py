"""A comparison's runs (dpmf_core.compare) as rows of figures."""

from dpmf_core.experiment import Run

NAMES = {"dpals-plain": "DPALS without biases"}


def rmse(run: Run) -> float:
    return float(run.record["metrics"]["rmse"])


def curve_rows(done: dict[str, Run], name: str) -> list[dict[str, object]]:
    """A run's curves, long; further draws with their held-out part only."""
    record, draw = done[name].record, int(name.removeprefix("draw ")) if name.startswith("draw") else 0
    parts = (("held-out", "test_rmse"),) if draw else (("held-out", "test_rmse"), ("train", "train_rmse"))
    common = {"name": record["title"], "id": record["spec"]["algorithm"], "draw": draw}
    return [common | {"step": int(point["step"]), "part": part, "rmse": point[key]} for point in record["curves"] for part, key in parts]


def ladder_rows(done: dict[str, Run]) -> list[dict[str, object]]:
    """Held-out RMSE of every method; the chosen one with its further draws."""
    record = done["main"].record
    same = next((name for name in done if name not in ("main", "twin") and done[name].key == done["main"].key), None)
    chosen = NAMES.get(str(same), record["title"] + (", your parameters" if record["spec"]["parameters"] else ""))
    rows = []
    for name, run in done.items():
        mine = name == "main" or name.startswith("draw")
        if not mine and name != same:
            rows.append({"name": NAMES.get(name, run.record["title"]), "id": name, "draw": 0, "rmse": rmse(run)})
        elif mine:
            rows.append({"name": chosen, "id": record["spec"]["algorithm"], "draw": 0 if name == "main" else int(name[5:]), "rmse": rmse(run)})
    return rows
