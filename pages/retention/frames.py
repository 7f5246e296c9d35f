"""What the Retention page asks for, and its frames."""

from collections.abc import Collection

import pandas as pd

from dpmf_core import first_views
from dpmf_core.data.splits import SplitSpec
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.kit.choice import Choice
from pages.kit.frames import ANY, Columns, to_frame

MIDDLE = 0.5
FIRST = ("baseline", f"rated {MIDDLE:g}")  # what the first sentence needs
TINTS = {
    "rated": "spectral",
    "new": "dpfw",
    "online": "dpals",
    "static": "user-mean",
    "baseline": "als",
    "slope one": "private-svd",
}
# what lines are called: the variants as commands and links have them
NAMES = {
    "rated": "rated",
    "new": "new",
    "online": "online",
    "static": "static",
    "baseline": "baseline",
    "slope one": "slope one",
}
TIMES = SplitSpec(kind="time")


def by_share(choice: Choice, arrival: str, epochs: int) -> dict[str, RunSpec]:
    """Every variant at every share; the baseline and Slope One know no share."""
    changes = {"split": TIMES if arrival == "time" else SplitSpec()}
    specs = first_views.retention(choice.spec(), arrival, epochs)
    return {name: spec.model_copy(update=changes) for name, spec in specs.items()}


def missing(names: Collection[str], finished_names: Collection[str]) -> str:
    """The names of wanted runs that are not done, a variant's shares together: "new (at 0.3, 0.5),
    slope one".
    """
    shares_of: dict[str, list[str]] = {}
    for name in names:
        if name not in finished_names:
            variant, share = _variant_and_share(name)
            shares_of.setdefault(variant, []).extend(share)
    return ", ".join(
        f"{NAMES[variant]} (at {', '.join(its)})" if its else NAMES[variant]
        for variant, its in shares_of.items()
    )


def _variant_and_share(name: str) -> tuple[str, list[str]]:
    """A run's variant, and its share where it has one."""
    variant, _, share = name.rpartition(" ")
    return (variant, [share]) if share[0].isdigit() else (name, [])


def shares(runs: dict[str, Run]) -> pd.DataFrame:
    """RMSE and excess over the baseline of every finished run: variant, share (None for a
    level), rmse, excess.
    """
    base = runs["baseline"].record.metric("rmse")
    columns: Columns = {"variant": str, "share": float, "rmse": float, "excess": float}
    rows = []
    for name, run in runs.items():
        variant, share = _variant_and_share(name)
        rows.append(
            {
                "variant": variant,
                "share": float(share[0]) if share else None,
                "rmse": run.record.metric("rmse"),
                "excess": run.record.metric("rmse") / base - 1,
            }
        )
    return to_frame(rows, columns)


def points(table: pd.DataFrame, x: str) -> pd.DataFrame:
    """A frame of excesses as lines, in percent."""
    rows = [
        {
            "name": NAMES[row["variant"]],
            "id": TINTS[row["variant"]],
            "source": False,
            "value": 100 * row["excess"],
            x: row[x],
        }
        for row in table.to_dict("records")
    ]
    return to_frame(rows, {"name": str, "id": str, "source": bool, "value": float, x: ANY})
