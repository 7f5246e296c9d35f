"""Who pays for privacy: error in quarters of people by activity, and of items by popularity."""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dpmf_core.runs.record import Run
from pages.kit import charts

COLUMNS = ("group", "name", "id", "rmse")
# by what they are parted: the axis, and the names of the quarters
GROUPS = {
    "activity": ("people, by how much they rated", ("fewest", "few", "many", "most")),
    "popularity": (
        "items, by how often they were rated",
        ("rarest", "rare", "common", "most rated"),
    ),
}
ENDS = {
    "activity": "for the people with the fewest ratings and {:+.3f} for those with the most",
    "popularity": "for the rarest items and {:+.3f} for the most rated",
}
Runs = Mapping[str, Sequence[Run]]  # the draws of each method, by its name


def table(runs: Runs, by: str) -> pd.DataFrame:
    """Held-out RMSE of each method in each quarter, its mean over draws: group, name, id, rmse."""
    _, groups = GROUPS[by]
    rows = []
    for name, draws in runs.items():
        for place, group in enumerate(groups):
            if errors := _errors(draws, by, place):
                mean = statistics.fmean(errors)
                rows.append((group, name, draws[0].spec.algorithm, mean))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _errors(draws: Sequence[Run], by: str, place: int) -> list[float]:
    quarters = [run.record.buckets.get(by, ()) for run in draws]
    errors = [it[place].get("rmse") for it in quarters if place < len(it)]
    return [float(error) for error in errors if error is not None]


def draw(key: str, runs: Runs, leaves: bool | None = None) -> None:
    """Both figures, side by side."""
    every = [(name, run) for name, draws in runs.items() for run in draws]
    for column, by in zip(st.columns(2), GROUPS, strict=True):
        figure = charts.of_runs(by, every, partial(_figure, runs, by))
        if len(figure.numbers.table):
            with column:
                charts.show_ready(figure, f"{key}.{by}", leaves)


def _figure(runs: Runs, by: str) -> charts.Ready:
    title, rows = GROUPS[by][0], table(runs, by)
    return charts.ready(charts.groups(rows, title), f"Held-out RMSE by quarter of {title}.", rows)


def sentence(runs: Runs, private: str, twin: str) -> str:
    """What privacy adds to the error at both ends; '' where one of the two is not there."""
    parts = []
    for by, words in ENDS.items():
        errors = table(runs, by).pivot(index="group", columns="name", values="rmse")
        groups = GROUPS[by][1]
        if {private, twin} <= set(errors) and {groups[0], groups[-1]} <= set(errors.index):
            cost = errors[private] - errors[twin]
            parts.append(f"{cost[groups[0]]:+.3f} " + words.format(cost[groups[-1]]))
    return f"Compared with {twin}, {private} changes the RMSE by {'; by '.join(parts)}." * bool(
        parts
    )
