"""Who pays for privacy: errors in quarters of people and of items."""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.measurements import is_trivial
from dpmf_core.runs.record import Run
from pages.kit import charts, colours

# title of the axis, and names of the quarters: in a figure, in a sentence
GROUPS = {
    "activity": ("people, by how much they rated", ("fewest", "few", "many", "most")),
    "popularity": (
        "items, by how often they were rated",
        ("rarest", "rare", "common", "most rated"),
    ),
}
QUARTERS = {
    "activity": [f"people with {it} ratings" for it in ("the fewest", "few", "many", "the most")],
    "popularity": [
        f"{it} items" for it in ("the rarest", "rarely rated", "often rated", "the most rated")
    ],
}
Runs = Mapping[str, Sequence[Run]]  # draws of each method by name


def _rows(runs: Runs, by: str) -> list[tuple[str, str, str, float]]:
    """Return group, name, id and mean held-out RMSE of each method in each quarter."""

    def errors(draws: Sequence[Run], place: int) -> list[float]:
        quarters = [run.record.buckets.get(by, ()) for run in draws]
        values = [it[place].get("rmse") for it in quarters if place < len(it)]
        return [float(it) for it in values if it is not None]

    return [
        (group, name, draws[0].spec.algorithm, statistics.fmean(values))
        for name, draws in runs.items()
        for place, group in enumerate(GROUPS[by][1])
        if (values := errors(draws, place))
    ]


def errors_by_quarter(runs: Runs, by: str) -> pd.DataFrame:
    """Return group, name, id, rmse: mean held-out RMSE of each method in each quarter."""
    return pd.DataFrame(_rows(runs, by), columns=["group", "name", "id", "rmse"])


def draw_payers(key: str, runs: Runs, leaves: bool | None = None) -> None:
    every = [(name, run) for name, draws in runs.items() for run in draws]
    for tab, by in zip(st.tabs(["People", "Items"]), GROUPS, strict=True):
        figure = charts.of_runs(by, every, partial(_quarters_figure, runs, by))
        if len(figure.table):
            with tab:
                charts.show_ready(figure, f"{key}.{by}", leaves)


def _quarters_figure(runs: Runs, by: str) -> charts.Ready:
    title, rows = GROUPS[by][0], errors_by_quarter(runs, by)
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


def costs(runs: Runs, private: str, plain: str, by: str) -> list[float]:
    """Return a private method's mean increase in RMSE in each quarter, from fewest to most ratings.

    Empty if a quarter of either method is missing.
    """
    errors = {(name, group): rmse for group, name, _, rmse in _rows(runs, by)}
    groups = GROUPS[by][1]
    if not errors.keys() >= {(name, group) for name in (private, plain) for group in groups}:
        return []
    digits = METRICS["rmse"].digits
    increases = (errors[private, group] - errors[plain, group] for group in groups)
    return [round(increase, digits) + 0.0 for increase in increases]


def finding(runs: Runs, private: str, plain: str) -> tuple[str, str]:
    """Return a heading, and who pays most and least, of people and of items; '' if unknown.

    private, plain: names of a private method and of the one it is compared with.
    """
    known = {by: cost for by in QUARTERS if (cost := costs(runs, private, plain, by))}
    if not known:
        return "Errors by quarter", ""
    if max(map(max, known.values())) <= 0:
        return (
            "Nobody pays for privacy here",
            f"In every quarter the RMSE of {private} is at most that of {plain}.",
        )
    parts = []
    for by, cost in known.items():
        most, least = max(cost), min(cost)
        names = [QUARTERS[by][cost.index(it)] for it in (most, least)]
        parts.append(f"**{names[0]}** pay most ({most:+.3f}), {names[1]} least ({least:+.3f})")
    return "Who pays for privacy?", f"RMSE of {private} compared with {plain}: {'; '.join(parts)}."
