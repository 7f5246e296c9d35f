"""Figures and sections of Compare methods."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation.registry import METRICS, Metric
from dpmf_core.privacy import Status
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.privacy_cost import best_known
from dpmf_core.runs.record import RunRecord
from dpmf_core.runs.reports import notebook_of_sweep
from dpmf_core.runs.store import to_json
from dpmf_core.runs.sweep import rows
from pages.kit import charts, privacy_card, safe_text, sweep_charts, sweep_frames
from pages.kit.exports import draw_files
from pages.kit.sweep_frames import Runs, method
from pages.tradeoff import findings
from pages.tradeoff.controls import ALWAYS, Question
from pages.tradeoff.findings import Results


def _pick_epsilon(question: Question, key: str, visibility: Any = "collapsed") -> float:
    """Ask for one of the question's epsilons; the default is the middle one."""
    epsilons = sorted({it.epsilon for it in question.points if it.epsilon is not None})
    return float(
        st.selectbox(
            "At ε",
            epsilons,
            epsilons.index(findings.middle(epsilons)),
            key=f"{key}.{question.signature}",
            format_func=lambda at: f"at ε = {budget_text(at)}",
            label_visibility=visibility,
        )
    )


def figure(question: Question, runs: Runs, metric: str, aside: DeltaGenerator) -> None:
    """Draw the metric against epsilon or a parameter. aside: for the choice of epsilon."""
    kind, axis = METRICS[metric], question.axis
    table = sweep_frames.frame(question.points, runs, metric)
    if table.empty:
        st.info(f"No finished run has {kind.title} yet.")
        return
    title = "privacy loss ε, total"
    if axis != "epsilon":
        title = sweep_frames.parameter(axis, dict.fromkeys(table["id"]))
        if table["epsilon"].nunique() > 1:
            with aside:
                at = _pick_epsilon(question, "tradeoff.at")
            table = table[table["epsilon"].isna() | (table["epsilon"] == at)]
    table = best_of_second(table, axis, kind)
    known = best_known(kind.id, in_parts=is_in_parts(question.sweep.data.id))
    results = Results(question.points, runs, metric)
    best = results.reference.algorithm if results.reference and results.has_best_known else known
    table = table[~table["id"].isin({ALWAYS[0], known} - {best})]  # one line is enough
    fig = sweep_charts.against(table, axis, kind.label, title, best)
    medians = table.groupby("name", sort=False)["value"].median()
    words = "; ".join(f"{name} {value:.3f}" for name, value in medians.items())
    alt = f"{kind.title} against {title}. Medians over the axis: {words}."
    charts.show(fig, "tradeoff.main", alt, table, caption=_caption(table, axis))


def _caption(table: pd.DataFrame, axis: str) -> str:
    """Return how to read the primary figure."""
    parts = ["Each dot is one draw of split and noise; lines are medians, bands the range."]
    if axis == "epsilon":
        parts.append("A horizontal line in a method's colour is the method without noise.")
    if table["source"].any():
        parts.append("Dotted: noise by the source's own rule, at its nominal ε.")
    parameters = [name for name in table.columns if name not in sweep_frames.PLACE]
    if axis != "epsilon" and len(parameters) > 1:
        parts.append("Each point has the best value of the grid's second parameter.")
    return " ".join(parts)


def grid(question: Question, runs: Runs) -> None:
    """Draw the best places of a grid in words, and a heat map for two parameters."""
    table = sweep_frames.frame(question.points, runs, "validation_rmse")
    names = [name for name in table.columns if name not in sweep_frames.PLACE]
    if not names or table.empty:
        return
    st.header("The grid, on the validation split", anchor=False)
    results = Results(question.points, runs, "validation_rmse")
    st.markdown("\n".join(f"- {it}" for it in findings.best_places(results)))
    both = table.dropna(subset=names)
    if len(names) == 2 and len(both):
        _heat_map(question, both, names)
    st.caption(
        "On private data, choosing by a grid costs more than the ε of one run: all its runs"
        " compose. On public or synthetic data it is free."
    )


def _heat_map(question: Question, table: pd.DataFrame, names: Sequence[str]) -> None:
    left, right = st.columns(2)
    key = f"tradeoff.heat.method.{question.signature}"
    name = left.selectbox("Method", list(dict.fromkeys(table["name"])), key=key)
    own = table[table["name"] == name]
    if own["epsilon"].notna().any():
        with right:
            at = _pick_epsilon(question, "tradeoff.heat.epsilon", "visible")
        own = own[own["epsilon"] == at]
    if own.empty:
        return
    x, y = (sweep_frames.parameter(it, [str(own["id"].iloc[0])]) for it in names)
    medians = own.pivot_table(index=names[1], columns=names[0], values="value", aggfunc="median")
    fig = charts.heat_map(medians, medians.map("{:.3f}".format), x, y)
    charts.show(fig, "tradeoff.heat", f"Validation RMSE of {name} over {x} and {y}.", own)


def promises(results: Results) -> None:
    with st.expander("Guarantee and time of each method"):
        safe_text.words_table(methods_table(results))
        for words, status in _bases(results).items():
            st.markdown(f"{privacy_card.badge(status)} {words}")


def notebook(question: Question) -> str:
    """Return a notebook that repeats every run, with a table and a chart."""
    fields = question.sweep.model_dump(mode="json")
    return notebook_of_sweep("Methods compared", fields, "", question.metric)


def exports(question: Question, runs: Runs) -> None:
    finished = [point for point in question.points if point.key in runs]
    files = {
        "trade-off.csv": (
            "Runs as CSV",
            lambda: safe_text.to_csv(pd.DataFrame(rows(finished, runs))),
        ),
        "trade-off.json": (
            "Runs as JSON",
            lambda: to_json(
                [runs[key].export() for key in dict.fromkeys(it.key for it in finished)]
            ),
        ),
        "trade-off.ipynb": ("Notebook", notebook(question)),
    }
    draw_files(files, "Contains the data set, δ, the seed and the whole comparison.")
    if any(not runs[it.key].record.public for it in finished):
        st.caption(
            "Your data are private, so the files contain settings and ledgers but no errors, which"
            " are computed on raw data. `dpmf sweep --noisy-errors` releases them with noise."
        )


def best_of_second(table: pd.DataFrame, axis: str, kind: Metric) -> pd.DataFrame:
    """Return a grid of two parameters with only the second one's best value.

    The best is taken for every method, epsilon and value of the first parameter.
    """
    names = [name for name in table.columns if name not in sweep_frames.PLACE and name != axis]
    if not names or axis not in table:
        return table
    where = ["name", "epsilon", axis]
    medians = table.groupby([*where, *names], dropna=False, as_index=False)[["value"]].median()
    order = medians.sort_values("value", ascending=not kind.larger_is_better, kind="stable")
    return table.merge(order.drop_duplicates(where)[[*where, *names]], on=[*where, *names])


def methods_table(results: Results) -> pd.DataFrame:
    """Return each method's guarantee, its true at its largest nominal epsilon, and its time."""
    records: dict[str, list[RunRecord]] = {}
    for point in results.points:
        if point.key in results.runs:
            records.setdefault(point.label, []).append(results.runs[point.key].record)
    return pd.DataFrame(
        {"method": method(label)} | _promise(max(its, key=_nominal)) | {"seconds": _seconds(its)}
        for label, its in records.items()
    )


def _promise(record: RunRecord) -> dict[str, str]:
    nominal, guarantee, exact = _nominal(record), record.guarantee, record.epsilon.exact
    unit = f", one {guarantee.unit}" if nominal else ""
    epsilon = "-"
    if exact is not None and nominal and guarantee.has_epsilon:
        epsilon = f"{epsilon_text(exact)} at nominal {budget_text(nominal)}"
    return {"guarantee": f"{guarantee.status}{unit}", "true ε": epsilon}


def _nominal(record: RunRecord) -> float:
    """Return the requested epsilon; 0 without a budget."""
    return record.spec.budget.epsilon if record.spec.budget else 0.0


def _seconds(records: Sequence[RunRecord]) -> str:
    """Return the median training time and the number of runs."""
    values = [float(it) for record in records if (it := record.seconds["fit"]) is not None]
    median = f"{statistics.median(values):.2f}" if values else "-"
    return f"{median} ({len(records)} run{'s' * (len(records) > 1)})"


def _bases(results: Results) -> Mapping[str, Status]:
    """Return the reasons for each status, without repetition."""
    records: list[Any] = [
        results.runs[it.key].record for it in results.points if it.key in results.runs
    ]
    return {it.guarantee.words: it.guarantee.status for it in records}
