"""Who pays for privacy: errors in quarters of people and of items."""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.measurements import is_trivial
from dpmf_core.runs.record import Run
from pages.kit.figures import charts, colours

# title of the axis, and names of the quarters in the figure
GROUPS = {
    "activity": ("people, by how much they rated", ("fewest", "few", "many", "most")),
    "popularity": (
        "items, by how often they were rated",
        ("rarest", "rare", "common", "most rated"),
    ),
}
# names of the quarters in a sentence
QUARTERS = {
    "activity": (
        "people with the fewest ratings",
        "people with few ratings",
        "people with many ratings",
        "people with the most ratings",
    ),
    "popularity": (
        "the rarest items",
        "rarely rated items",
        "often rated items",
        "the most rated items",
    ),
}
DrawsByMethod = Mapping[str, Sequence[Run]]


def errors_by_quarter(runs: DrawsByMethod, by: str) -> pd.DataFrame:
    """Group, name, id, rmse: mean held-out RMSE of each method in each quarter."""
    columns = ["group", "name", "id"]
    rows = [
        (group, name, run.spec.algorithm, quarter.get("rmse"))
        for name, draws in runs.items()
        for run in draws
        # a run may lack quarters
        for group, quarter in zip(
            GROUPS[by][1], run.record.buckets.get(by, ()), strict=False
        )
    ]
    every_draw = pd.DataFrame(rows, columns=[*columns, "rmse"]).dropna()
    means = every_draw.groupby(columns, sort=False)["rmse"].mean()
    return means.astype(float).reset_index()


def draw_payers(key: str, runs: DrawsByMethod, leaves: bool | None = None) -> None:
    every = [(name, run) for name, draws in runs.items() for run in draws]
    for tab, by in zip(st.tabs(["People", "Items"]), GROUPS, strict=True):
        figure = charts.of_runs(by, every, partial(_quarters_figure, runs, by))
        if len(figure.table):
            with tab:
                charts.show_ready(figure, f"{key}.{by}", leaves)


def _quarters_figure(runs: DrawsByMethod, by: str) -> charts.Ready:
    title = GROUPS[by][0]
    rows = errors_by_quarter(runs, by)
    fig = charts.figure(title, "RMSE", height=260)
    for (name, ident), line in rows.groupby(["name", "id"], sort=False):
        dash = "dash" if is_trivial(str(ident)) else "solid"
        fig.add_scatter(
            x=line["group"],
            y=line["rmse"],
            name=name,
            mode="lines+markers",
            marker={"symbol": colours.marker(str(ident))},
            line={"color": colours.of(str(ident)), "dash": dash},
            hovertemplate=f"{name}<br>%{{x}}: %{{y:.3f}}<extra></extra>",
        )
    return charts.ready(fig, f"Held-out RMSE by quarter of {title}.", rows)


def costs(runs: DrawsByMethod, private: str, plain: str, by: str) -> list[float]:
    """A private method's mean increase in RMSE in each quarter, from fewest to most ratings.

    Empty if a quarter of either method is missing.
    """
    errors = errors_by_quarter(runs, by).set_index(["name", "group"])["rmse"].to_dict()
    increases = []
    for group in GROUPS[by][1]:
        if (private, group) not in errors or (plain, group) not in errors:
            return []
        increase = errors[private, group] - errors[plain, group]
        increases.append(round(increase, METRICS["rmse"].digits) + 0.0)  # no -0.0
    return increases


def finding(runs: DrawsByMethod, private: str, plain: str) -> tuple[str, str]:
    """A heading, and who pays most and least, of people and of items; '' if unknown.

    Parameters
    ----------
    runs
        The draws by method.
    private, plain
        The names of a private method and of the method it is compared with.
    """
    every = {by: costs(runs, private, plain, by) for by in QUARTERS}
    known = {by: increases for by, increases in every.items() if increases}
    if not known:
        return "Errors by quarter", ""
    if max(map(max, known.values())) <= 0:
        return (
            "Nobody pays for privacy here",
            f"In every quarter the RMSE of {private} is at most that of {plain}.",
        )
    parts = []
    for by, increases in known.items():
        most = max(increases)
        least = min(increases)
        most_paying = QUARTERS[by][increases.index(most)]
        least_paying = QUARTERS[by][increases.index(least)]
        parts.append(
            f"**{most_paying}** pay most ({most:+.3f}), {least_paying} least ({least:+.3f})"
        )
    return (
        "Who pays for privacy?",
        f"RMSE of {private} compared with {plain}: {'; '.join(parts)}.",
    )
