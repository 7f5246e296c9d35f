"""What the Retention page asks for, and its frames."""

from typing import Any

import pandas as pd

from dpmf_core.data import SplitSpec
from dpmf_core.experiment import Run, RunSpec
from pages.kit.frames import ANY, Columns, framed
from pages.kit.sidebar import Choice

VARIANTS = ("rated", "new", "online", "static")
SHARES = (0.15, 0.3, 0.5, 0.7, 0.9)
MIDDLE, BY_ACTIVITY = 0.5, 0.3
FIRST = ("baseline", f"rated {MIDDLE:g}")  # what the first sentence needs
WINDOWS, START = 6, 2
TINTS = {"rated": "spectral", "new": "dpfw", "online": "dpals", "static": "user-mean", "baseline": "als", "slope one": "private-svd"}
TIMES = SplitSpec(kind="time")


def by_share(choice: Choice, arrival: str, epochs: int) -> dict[str, RunSpec]:
    """Every variant at every share; the baseline and Slope One know no share."""
    held = {"split": TIMES if arrival == "time" else SplitSpec()}
    specs = {"baseline": _one(choice, "baseline", 0.5, arrival, epochs), "slope one": choice.spec("slope-one", {}).canonical()}
    specs |= {f"{variant} {share:g}": _one(choice, variant, share, arrival, epochs) for share in SHARES for variant in VARIANTS}
    return {name: spec.model_copy(update=held) for name, spec in specs.items()}


def by_window(choice: Choice, epochs: int) -> dict[str, RunSpec]:
    """Stretch after stretch of time, each predicted from those before it: what was learnt at the start has share START / stretch."""
    specs = {}
    for window in range(START, WINDOWS):
        held = {"split": SplitSpec(kind="window", windows=WINDOWS, window=window)}
        for variant in ("baseline", "rated", "online", "static"):
            specs[f"{variant} {window}"] = _one(choice, variant, START / window, "time", epochs).model_copy(update=held)
    return specs


def _one(choice: Choice, variant: str, share: float, arrival: str, epochs: int) -> RunSpec:
    return choice.spec("no-retention", {"variant": variant, "static_share": share, "arrival": arrival, "steps": epochs}).canonical()


def _rmse(run: Run) -> float:
    return float(run.record["metrics"]["rmse"])


def shares(done: dict[str, Run]) -> pd.DataFrame:
    """RMSE and excess over the baseline of every finished run: variant, share (None for a level), rmse, excess."""
    base = _rmse(done["baseline"])
    columns: Columns = {"variant": str, "share": float, "rmse": float, "excess": float}
    rows = []
    for name, run in done.items():
        variant, _, share = name.rpartition(" ") if name[-1].isdigit() else (name, "", "")
        rows.append({"variant": variant, "share": float(share) if share else None, "rmse": _rmse(run), "excess": _rmse(run) / base - 1})
    return framed(rows, columns)


def activity(done: dict[str, Run]) -> pd.DataFrame:
    """Excess over the baseline by how many ratings a user has, at one share: variant, group, excess."""
    rows: list[dict[str, Any]] = []
    for variant in VARIANTS:
        run = done.get(f"{variant} {BY_ACTIVITY:g}")
        if run is None:
            continue
        for place, (own, base) in enumerate(zip(run.record["buckets"]["activity"], done["baseline"].record["buckets"]["activity"], strict=False)):
            rows.append({"variant": variant, "place": place, "group": f"{base['from']:,.0f} to {base['to']:,.0f}", "excess": own["rmse"] / base["rmse"] - 1})
    return framed(rows, {"variant": str, "place": int, "group": str, "excess": float})


def windows(done: dict[str, Run]) -> pd.DataFrame:
    """RMSE of each stretch and excess over a baseline trained anew before it: variant, window, rmse, excess."""
    rows = []
    for name, run in done.items():
        variant, window = name.rsplit(" ", 1)
        base = done.get(f"baseline {window}")
        if base is not None:
            rows.append({"variant": variant, "window": int(window) + 1, "rmse": _rmse(run), "excess": _rmse(run) / _rmse(base) - 1})
    return framed(rows, {"variant": str, "window": int, "rmse": float, "excess": float})


def points(table: pd.DataFrame, x: str) -> pd.DataFrame:
    """A frame of excesses as lines, in percent."""
    rows = [{"name": row["variant"], "id": TINTS[row["variant"]], "source": False, "value": 100 * row["excess"], x: row[x]} for row in table.to_dict("records")]
    return framed(rows, {"name": str, "id": str, "source": bool, "value": float, x: ANY})
