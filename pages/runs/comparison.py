"""Stored runs as a table, and up to six of them side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.evaluation.registry import METRICS, title_of
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import neighbours
from dpmf_core.privacy.formatting import epsilon_in_full, epsilon_text
from dpmf_core.runs.comparison import cost_of, differences, extremes, references
from dpmf_core.runs.privacy_cost import PrivacyCost, ReferenceLine
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.run_file import DamagedRun
from dpmf_core.runs.store import Store
from pages.kit import charts, colours, data_sets, privacy_card, safe_text, sweep_charts
from pages.kit.sweep_charts import curve_frame

MOST = 6
BEST_STEP = "{}, best step"
FORMATS = {
    title: st.column_config.NumberColumn(format=f"%.{it.digits}f")
    for it in METRICS.values()
    for title in (it.title, BEST_STEP.format(f"held-out {it.title}"), BEST_STEP.format(it.title))
}


def run_table(rows: list[dict[str, Any]], sizes: dict[str, int], owner: str = "") -> pd.DataFrame:
    """Return the list of runs. owner: of the visitor's own runs."""
    table = pd.DataFrame(
        [
            {
                "made": pd.Timestamp(row["created"]),
                "algorithm": row["title"],
                "data": data_sets.title_of(row["dataset"]),
                "ε": _as_printed(row["epsilon"]),
                "δ": row["delta"] if row["epsilon"] else None,
                "protects": f"one {row['unit']}, {neighbours(row['unit'], row['relation'])}"
                if row["epsilon"] and row["unit"]
                else "",
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
            for row in rows
        ]
    )
    # empty cells instead of "None"
    return table.astype({name: float for name in ("ε", "δ", "RMSE", "objective") if name in table})


def _as_printed(epsilon: float | None) -> float | None:
    return None if epsilon is None else float(epsilon_text(epsilon))


def names_of(runs: list[Run]) -> list[str]:
    out = []
    for place, run in enumerate(runs):
        exact = run.record.epsilon.exact
        out.append(f"{place + 1}. {run.title}" + (f", ε = {epsilon_text(exact)}" if exact else ""))
    return out


def side_by_side(runs: list[Run]) -> None:
    names, records = names_of(runs), [run.record for run in runs]
    st.header(finding(names, records), anchor=False)
    safe_text.table(figures(names, records), column_config=FORMATS)
    costs = [cost_of(record, engine().known_runs.find) for record in records]
    curves(names, runs, lines(records, costs))
    what_privacy_costs(names, records, costs)
    st.subheader("Differences", anchor=False)
    rows = differences(records)
    cells = {
        str(place + 1): [_cell(row["values"][place]) for row in rows] for place in range(len(runs))
    }
    if rows:
        safe_text.table(pd.DataFrame({"": [row["setting"] for row in rows], **cells}))
    else:
        st.write(
            "None: these runs are identical."
            if len(runs) > 1
            else "Tick another run to see how they differ."
        )
    ledgers(names, runs)


def finding(names: list[str], records: list[RunRecord]) -> str:
    """Return the best and the worst run, if they share data and measure."""
    shared = [
        name
        for name in ("rmse", "objective")
        if all(record.metrics.get(name) is not None for record in records)
    ]
    measure = next(iter(shared), None)
    if len(records) < 2 or measure is None or len({record.spec.data for record in records}) > 1:
        return f"{len(records)} run{'s' * (len(records) > 1)}"
    scores = {name: record.metric(measure) for name, record in zip(names, records, strict=True)}
    best, worst = min(scores, key=scores.__getitem__), max(scores, key=scores.__getitem__)
    kind = METRICS[measure]
    low, high = (f"{kind.text(scores[it])} ({it})" for it in (best, worst))
    return f"{kind.label}: {low} to {high}"


def figures(names: list[str], records: list[RunRecord]) -> pd.DataFrame:
    """Return each run's final figures, and the best of its held-out curves."""
    rows = []
    for name, record in zip(names, records, strict=True):
        ends: dict[str, object] = {
            BEST_STEP.format(title_of(curve)): best
            for curve, (best, _) in extremes(record.curves).items()
            if not curve.startswith("train")
        }
        figures = {title_of(metric): value for metric, value in record.metrics.items()}
        rows.append({"run": name, "status": str(record.guarantee.status), **figures, **ends})
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


Costs = Sequence[PrivacyCost | None]


def lines(records: Sequence[RunRecord], costs: Costs) -> dict[str, tuple[str, ReferenceLine]]:
    """Return what the error is compared with, and the algorithm whose colour it has, by label.

    Only for runs with one split: a level of one split says nothing about another.
    """
    if len({(it.spec.data, it.spec.split, it.spec.seed) for it in records}) > 1:
        return {}
    return {
        line.label: (record.spec.algorithm, line)
        for record, cost in zip(records, costs, strict=True)
        if cost is not None
        for line in cost.lines(record.title, _best_known(record))
    }


def _best_known(record: RunRecord) -> str:
    return algorithms.find(references(record.spec)["best"].algorithm).title


def what_privacy_costs(names: Sequence[str], records: Sequence[RunRecord], costs: Costs) -> None:
    private = [it.spec.budget is not None for it in records]
    if not any(private):
        return
    st.subheader("What privacy costs", anchor=False)
    for name, record, cost in zip(names, records, costs, strict=True):
        if cost is not None:
            st.markdown(f"- {safe_text.escape(name)}: {cost.words(_best_known(record))}")
    if sum(it is not None for it in costs) < sum(private):
        st.caption(
            "The other runs have nothing to compare with yet. With the same seed, Explore computes"
            " the method without noise, the best known method without privacy, and guessing."
        )


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def curves(
    names: list[str], runs: list[Run], levels: Mapping[str, tuple[str, ReferenceLine]]
) -> None:
    """Draw error by step, one line for each run; training errors are only in the table.

    levels: as of `lines`.
    """
    parts = {key: title_of(key) for key in ("test_rmse", "train_rmse", "objective")}
    table = curve_frame(
        ((name, run.spec.algorithm, 0, run, parts) for name, run in zip(names, runs, strict=True)),
        "value",
    ).drop(columns="draw")
    if table["step"].nunique() < 2:
        return
    test_curves = table[~table["part"].str.startswith("train")]
    fig = charts.figure("step", " or ".join(test_curves["part"].unique()))
    line_counts: dict[str, int] = {}
    for (of, algorithm), line in test_curves.groupby(["name", "id"], sort=False):
        ident = str(algorithm)
        place = line_counts[ident] = line_counts.get(ident, -1) + 1
        look = {"color": colours.of(ident), "width": 2.5}
        marker = {"symbol": ("circle", "square", "diamond", "cross")[place % 4], "size": 8}
        look |= {"dash": sweep_charts.DASHES[place % len(sweep_charts.DASHES)]}
        points = {"x": line["step"], "y": line["value"], "name": str(of), "mode": "lines+markers"}
        fig.add_scatter(**points, line=look, marker=marker)
    for algorithm, level in levels.values():
        charts.reference_line(fig, level, colours.of(algorithm))
    charts.show(fig, "runs.curves", "Error by step of the chosen runs.", table, leaves=True)


def ledgers(names: list[str], runs: list[Run]) -> None:
    st.subheader("What was released", anchor=False)
    tables = [
        privacy_card.ledger_table(run.record.event).assign(run=place)
        for place, run in enumerate(runs, 1)
        if run.record.ledger
    ]
    if tables:
        table = pd.concat(tables)
        safe_text.table(table[["run", *table.columns.drop("run")]])
    for name, run in zip(names, runs, strict=True):
        promise = run.record.guarantee
        st.markdown(f"{privacy_card.badge(promise.status)} {_cost(name, run.record)}")


def _cost(name: str, record: RunRecord) -> str:
    exact, delta, unit = record.epsilon.exact, record.delta, record.guarantee.unit
    if not exact or not delta:
        return name
    return f"{name.split(', ε')[0]}: {epsilon_in_full(exact, delta, unit, record.relation)}"


def load(store: Store, keys: list[str]) -> list[Run]:
    """Return the stored runs of these keys; warn about damaged ones and skip deleted ones."""
    runs = []
    for key in keys:
        try:
            run = store.get(key)
        except DamagedRun as error:
            st.warning(str(error))
            continue
        if run is not None:
            runs.append(run)
    return runs
