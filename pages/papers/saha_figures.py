"""Figures of Saha & Imtiaz 2022: two units, topics, components, total epsilon."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.algorithms import PrivateAlgorithm
from dpmf_core.data.samples import SampleShape
from dpmf_core.papers.clauses import Median, Results
from dpmf_core.papers.saha_2022 import units as saha_units
from dpmf_core.papers.saha_2022.methods import PLAIN, PRIVATE
from dpmf_core.papers.saha_2022.units import DPNMF, EPSILONS, OWN_MEAN, QUIET, ROWS, STARS, ZERO
from dpmf_core.privacy import Calibration
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.inspection import pairs, sheet, topics
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import Point
from pages.kit import charts, colours, safe_text, sweep_charts
from pages.kit.sweep_charts import Runs, curve_frame

MOST_TOPICS = 10

# ---- two units -----------------------------------------------------------------------------------


def in_both_units(summaries: Results) -> pd.DataFrame:
    """Return a row for each method: name, id, published number and unit, errors in both units."""
    ours = [(f"DP-NMF, ε = {budget_text(at)} a step", PRIVATE, at) for at in EPSILONS]
    theirs = [(f"DPNMF, ε = {budget_text(at)}", DPNMF, at) for at in EPSILONS]
    lines: list[tuple[str, str, float | None]] = [
        (ZERO, ZERO, None),
        ("NMF, no privacy", PLAIN, None),
        *ours,
        ("DPNMF, hardly any noise", QUIET, None),
        *theirs,
        (OWN_MEAN, OWN_MEAN, None),
    ]
    published_errors = {(mark.label, mark.x): mark.y for mark in saha_units.TABLE_4.marks}
    return pd.DataFrame(
        {
            "name": name,
            "id": Median(label, at, {"unit": ROWS}).place(summaries).algorithm,
            "published": published_errors.get((label, at)),
            "published unit": (
                {PLAIN: ROWS, PRIVATE: ROWS}.get(label, STARS)
                if (label, at) in published_errors
                else ""
            ),
            **{unit: Median(label, at, {"unit": unit})(summaries) for unit in (ROWS, STARS)},
        }
        for name, label, at in lines
    )


def units_chart(table: pd.DataFrame) -> go.Figure:
    """Return every method's error in both units on one logarithmic axis, with published numbers."""
    fig = charts.figure(
        "error (logarithmic)",
        "",
        height=420,
        xaxis={"type": "log", "tickvals": [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]},
        yaxis={"categoryorder": "array", "categoryarray": table["name"].tolist()[::-1]},
    )
    kinds = (
        (ROWS, "circle", "blue", "here, in rows of norm 1"),
        (STARS, "square", "orange", "here, in stars"),
        ("published", "x", "vermilion", "published, both in one column"),
    )
    for column, symbol, tint, name in kinds:
        rows = table[table[column].notna()]
        fig.add_scatter(
            x=rows[column],
            y=rows["name"],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 11, "color": colours.of(tint)},
            hovertemplate=f"%{{y}}, {name}: %{{x:.4g}}<extra></extra>",
        )
    return fig


def two_units(summaries: Results) -> tuple[go.Figure, pd.DataFrame]:
    """Return Table 4 in both units, as a chart and a table."""
    table = in_both_units(summaries)
    return units_chart(table), table.drop(columns="id")


# ---- topics and components -----------------------------------------------------------------------


def _side_by_side(key: str, points: Sequence[Point], runs: Runs) -> tuple[Point, Run, Run] | None:
    """Return a private run, chosen if there are several, and the run without privacy."""
    plain = [runs[point.key] for point in points if point.label == PLAIN]
    private = {
        f"{point.label}, ε = {budget_text(point.epsilon)} a step": point
        for point in points
        if point.epsilon is not None and point.spec.algorithm == "dp-nmf"
    }
    if not (plain and private):
        return None
    label = st.selectbox("Private", list(private), key=f"{key}.private")
    point = private[label or next(iter(private))]
    return point, runs[point.key], plain[0]


def _draw_words(key: str, points: Sequence[Point], runs: Runs) -> None:
    """Draw matched topics as words."""
    if (both := _side_by_side(key, points, runs)) is None:
        return
    _, private, plain = both
    mine, theirs = topics(private), topics(plain)
    safe_text.table(
        pd.DataFrame(
            {
                "similarity": f"{pair.cosine:.0%}",
                "with privacy": " · ".join(word for word, _ in mine[pair.component]),
                "without privacy": " · ".join(word for word, _ in theirs[pair.partner]),
            }
            for pair in pairs(private, plain)[:MOST_TOPICS]
            if pair.partner is not None
        )
    )


def _draw_sheets(key: str, points: Sequence[Point], runs: Runs) -> None:
    """Draw private components next to their partners."""
    if (both := _side_by_side(key, points, runs)) is None:
        return
    _, private, plain = both
    matches = [pair for pair in pairs(private, plain) if pair.partner is not None]
    mean = sum(pair.cosine for pair in matches) / len(matches)
    columns = st.columns(2, gap="large")
    words = f"with privacy; mean similarity {mean:.2f}", "without privacy, in the same order"
    sides = (
        (private, [pair.component for pair in matches], words[0]),
        (plain, [pair.partner or 0 for pair in matches], words[1]),
    )
    for column, (run, order, caption) in zip(columns, sides, strict=True):
        alt = f"{len(order)} components {caption}."
        column.image(sheet(run, order), width="stretch", caption=caption, alt=alt)


def _draw_steps(key: str, points: Sequence[Point], runs: Runs) -> None:
    curves = [
        (
            point.label if point.epsilon is None else f"{point.label}, ε = {point.epsilon:g}",
            "sky" if "random" in point.label else point.spec.algorithm,
            point.spec.seed - points[0].spec.seed,
            runs[point.key],
            {"objective": "all samples"},
        )
        for point in points
    ]
    table = curve_frame(curves, "objective")
    draws = table.assign(value=table["objective"], source=False)
    fig = sweep_charts.against(draws, "step", "objective", "step")
    charts.show(fig, f"{key}.steps", "Objective by step.", table, leaves=True)


# by figure: what its runs show in addition
OF_RUNS = {
    "saha-fig2": _draw_steps,
    "saha-fig5": _draw_steps,
    "saha-fig4": _draw_words,
    "saha-fig7": _draw_sheets,
}

# ---- total epsilon -------------------------------------------------------------------------------


def totals(points: Sequence[Point]) -> dict[float, tuple[int, float]]:
    """Return the number of steps and the exact total of all steps, by the epsilon of a step."""
    specs = {
        float(point.epsilon): point.spec
        for point in points
        if point.spec.algorithm == "dp-nmf"
        and point.epsilon is not None
        and point.spec.budget is not None
        and point.spec.budget.calibration is Calibration.SOURCE
    }
    return {at: (int(specs[at].parameters["steps"]), _total(specs[at])) for at in sorted(specs)}


def _total(spec: RunSpec) -> float:
    """Return the epsilon of a run with its source's noise, for any shape of the data."""
    shape, budget = SampleShape(10_000, 10_000), spec.budget
    assert budget is not None
    method = algorithms.build(spec.algorithm, spec.parameters, shape, budget)
    assert isinstance(method, PrivateAlgorithm)
    return exactly(method.plan(shape, method.source_level(shape, budget)), budget.delta)


def totals_text(points: Sequence[Point]) -> str:
    """Return the total of each epsilon of a step and its terms; '' without any."""
    each = ", ".join(
        f"{epsilon_text(total)} for ε = {at:g} in each of {steps} steps"
        for at, (steps, total) in totals(points).items()
    )
    terms = (
        f" Total ε: {each} (exact, δ = 1e-5, per sample, add/remove, for a random start)."
        " Nothing is proved for the source's start, which is computed from the private data."
    )
    return terms if each else ""
