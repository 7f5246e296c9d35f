"""Stored runs as a table, and up to six of them side by side."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.evaluation.registry import METRICS, title_of
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import neighbours
from dpmf_core.privacy.formatting import epsilon_in_full, epsilon_text
from dpmf_core.runs.comparison import differences, judgement_of
from dpmf_core.runs.conclusions import cost_words, kept_words
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.store import Store
from dpmf_core.runs.stored_charges import enter_stored
from pages.kit.base import data_sets, safe_text
from pages.kit.figures import charts, colours, sweep_charts
from pages.kit.privacy import privacy_card

MOST = 6
FORMATS = {
    metric.title: st.column_config.NumberColumn(format=f"%.{metric.digits}f")
    for metric in METRICS.values()
}


def run_table(
    rows: list[dict[str, Any]], sizes: dict[str, int], owner: str = ""
) -> pd.DataFrame:
    """The list of runs.

    Parameters
    ----------
    rows
        A row for each run.
    sizes
        The bytes of each run, by its key.
    owner
        The owner of the visitor's runs.
    """
    table = pd.DataFrame([_table_row(row, sizes, owner) for row in rows])
    # empty cells instead of "None"
    return table.astype(
        {name: float for name in ("ε", "δ", "RMSE", "objective") if name in table}
    )


def _table_row(
    row: dict[str, Any], sizes: dict[str, int], owner: str
) -> dict[str, Any]:
    epsilon = row["epsilon"]
    unit = row["unit"]
    protects = ""
    if epsilon and unit:
        protects = f"one {unit}, {neighbours(unit, row['relation'])}"
    shown_epsilon = None
    if epsilon is not None:
        shown_epsilon = float(epsilon_text(epsilon))
    return {
        "made": pd.Timestamp(row["created"]),
        "algorithm": row["title"],
        "data": data_sets.title_of(row["dataset"]),
        "ε": shown_epsilon,
        "δ": row["delta"] if epsilon else None,
        "protects": protects,
        "seed": row["seed"],
        "RMSE": row["metrics"].get("rmse"),
        "objective": row["metrics"].get("objective"),
        "status": row["guarantee"],
        "parameters": ", ".join(
            f"{name} {value}" for name, value in row["parameters"].items()
        ),
        "tags": row["tags"],
        "note": row["note"],
        "whose": "yours" if owner and row["owner"] == owner else "",
        "seconds": row["fit_seconds"],
        "MB": sizes.get(row["key"], 0) / 1e6,
        "key": row["key"],
    }


def load(store: Store, keys: list[str]) -> list[Run]:
    """Take the stored runs of these keys, skip deleted ones, and say why others are left out.

    Runs on private data enter their account, unless they have entered it before.
    """
    runs = []
    for key in keys:
        try:
            run = store.get(key)
            if run is not None:
                enter_stored(run.record)
        except BadInput as error:  # it is damaged, or a budget does not allow it
            st.warning(safe_text.escape(str(error)))
            continue
        if run is not None:
            runs.append(run)
    return runs


# ---- side by side --------------------------------------------------------------------------------


def draw(runs: list[Run]) -> None:
    records = [run.record for run in runs]
    names = [f"{number}. {_name(run)}" for number, run in enumerate(runs, 1)]
    st.header(_finding(names, records), anchor=False)
    rows = [
        {"run": name, "status": str(record.guarantee.status)}
        | {title_of(metric): value for metric, value in record.metrics.items()}
        for name, record in zip(names, records, strict=True)
    ]
    figures = pd.DataFrame(rows).dropna(axis="columns", how="all")
    safe_text.table(figures, column_config=FORMATS)
    _draw_curves(names, runs)
    _draw_costs(names, records)
    _draw_differences(records)
    _draw_ledgers(names, records)


def _name(run: Run) -> str:
    exact = run.record.epsilon.exact
    if not exact:
        return run.title
    return f"{run.title}, ε = {epsilon_text(exact)}"


def _finding(names: list[str], records: list[RunRecord]) -> str:
    """The best and the worst run, if they share data and measure."""
    shared = [
        name
        for name in ("rmse", "objective")
        if all(record.metrics.get(name) is not None for record in records)
    ]
    # errors on different data do not rank methods
    is_one_data_set = len({record.spec.data for record in records}) == 1
    if len(records) == 1 or not shared or not is_one_data_set:
        return safe_text.count_text(len(records), "run")
    metric = METRICS[shared[0]]
    scores = [record.metric(metric.id) for record in records]
    lowest = min(scores)
    highest = max(scores)
    return (
        f"{metric.label}: {metric.text(lowest)} ({names[scores.index(lowest)]}) to"
        f" {metric.text(highest)} ({names[scores.index(highest)]})"
    )


def _draw_curves(names: list[str], runs: list[Run]) -> None:
    """Draw error by step, one line for each run; training errors are only in the table."""
    parts = {key: title_of(key) for key in ("test_rmse", "train_rmse", "objective")}
    lines = (
        (name, run.spec.algorithm, place, run, parts)
        for place, (name, run) in enumerate(zip(names, runs, strict=True))
    )
    table = sweep_charts.curve_frame(lines, "value")
    if table["step"].nunique() < 2:
        return
    held_out = table[~table["part"].str.startswith("train")]
    fig = charts.figure("step", " or ".join(held_out["part"].unique()))
    for (place, name, algorithm), points in held_out.groupby(["draw", "name", "id"]):
        dash = sweep_charts.DASHES[int(str(place)) % len(sweep_charts.DASHES)]
        fig.add_scatter(
            x=points["step"],
            y=points["value"],
            name=str(name),
            mode="lines+markers",
            line={"color": colours.of(str(algorithm)), "width": 2.5, "dash": dash},
        )
    charts.show(
        fig,
        "runs.curves",
        "Error by step of the chosen runs.",
        table.drop(columns="draw"),
        leaves=True,
    )


def _draw_costs(names: Sequence[str], records: Sequence[RunRecord]) -> None:
    """Draw what privacy costs, where the runs to compare with are stored.

    Nothing on private data: a share computed from raw errors is not a measurement.
    """
    with_budget = [
        (name, record)
        for name, record in zip(names, records, strict=True)
        if record.spec.budget is not None and record.public
    ]
    if not with_budget:
        return
    st.subheader("What privacy costs", anchor=False)
    judgements = [
        judgement_of(record, engine().known_runs.find) for _, record in with_budget
    ]
    for (name, record), judged in zip(with_budget, judgements, strict=True):
        if judged is not None:
            words = _cost_text(*judged, record.guarantee.unit)
            st.markdown(f"- {safe_text.escape(name)}: {words}")
    if None in judgements:
        st.caption(
            "The other runs have nothing to compare with yet. With the same seed, Explore computes"
            " the method without noise, the best known method without privacy, and the means that"
            " need no model of others."
        )


def _cost_text(judgement: Judgement, own: Measured, row: str) -> str:
    """What a run keeps and costs, over its own draw. `row` is the word for a row of the data."""
    words = f"{kept_words(judgement, own, row)}."
    cost = judgement.cost(own)
    if cost is None:
        return words
    return f"{words} {cost_words(judgement, cost, row)}".rstrip()


def _draw_differences(records: list[RunRecord]) -> None:
    st.subheader("Differences", anchor=False)
    rows = [
        (row["setting"], *map(_cell, row["values"])) for row in differences(records)
    ]
    if rows:
        columns = ["", *(str(place + 1) for place in range(len(records)))]
        safe_text.table(rows, columns)
    elif len(records) > 1:
        st.write("None: these runs are identical.")
    else:
        st.write("Tick another run to see how they differ.")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _draw_ledgers(names: list[str], records: list[RunRecord]) -> None:
    st.subheader("What was released", anchor=False)
    tables = []
    for place, record in enumerate(records, 1):
        if record.ledger:
            table = privacy_card.ledger_table(record.event).copy()
            table.insert(0, "run", place)
            tables.append(table)
    if tables:
        safe_text.table(pd.concat(tables))
    for name, record in zip(names, records, strict=True):
        exact = record.epsilon.exact
        promise = record.guarantee
        cost = name
        if exact and record.delta:
            in_full = epsilon_in_full(
                exact, record.delta, promise.unit, record.relation
            )
            cost = f"{name.split(', ε')[0]}: {in_full}"
        st.markdown(f"{privacy_card.badge(promise.status)} {cost}")
