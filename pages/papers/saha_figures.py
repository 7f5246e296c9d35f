"""How figures of Saha & Imtiaz 2022 are drawn: two units side by side, topics as words, components
as pictures, and what the epsilon of a step adds up to.
"""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.algorithms import PrivateAlgorithm
from dpmf_core.data.samples import SampleShape
from dpmf_core.papers import source_noise
from dpmf_core.papers.clauses import Median, Results
from dpmf_core.papers.saha_2022 import units as saha_units
from dpmf_core.papers.saha_2022.methods import PLAIN, PRIVATE
from dpmf_core.papers.saha_2022.units import DPNMF, EPSILONS, OWN_MEAN, QUIET, ROWS, STARS, ZERO
from dpmf_core.privacy import Calibration, Event, Relation
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.inspection import pairs, sheet, topics
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import Point
from pages.kit import charts, colours, safe_text, sweep_charts
from pages.kit.frames import Curve, curve_frame
from pages.kit.sweep_frames import Runs

MOST_TOPICS = 10

# ---- two units -----------------------------------------------------------------------------------


def in_both_units(summaries: Results) -> pd.DataFrame:
    """A row a method: name, id, the published number, its unit, the error here in both units."""
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
    published_errors = _published_errors()
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


def _published_errors() -> dict[tuple[str, float | None], float]:
    return {(mark.label, mark.x): mark.y for mark in saha_units.TABLE_4.marks}


def units_chart(table: pd.DataFrame) -> go.Figure:
    """Every method's error in both units on one logarithmic axis, published numbers as crosses."""
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
        ("published", "x", "vermilion", "published, in one column"),
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
    """Table 4 in both units, as a chart and a table."""
    table = in_both_units(summaries)
    return units_chart(table), table.drop(columns="id")


# ---- topics and components -----------------------------------------------------------------------


def _side_by_side(key: str, points: Sequence[Point], runs: Runs) -> tuple[Point, Run, Run] | None:
    """A private run, chosen where there are several, and the same without privacy."""
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
    """Matched topics as words."""
    if (both := _side_by_side(key, points, runs)) is None:
        return
    _, private, plain = both
    mine, theirs = topics(private), topics(plain)
    safe_text.table(
        pd.DataFrame(
            {
                "alike": f"{pair.cosine:.0%}",
                "with privacy": " · ".join(word for word, _ in mine[pair.component]),
                "without privacy": " · ".join(word for word, _ in theirs[pair.partner]),
            }
            for pair in pairs(private, plain)[:MOST_TOPICS]
            if pair.partner is not None
        )
    )


def _draw_sheets(key: str, points: Sequence[Point], runs: Runs) -> None:
    """Private components beside their partners, as pictures."""
    if (both := _side_by_side(key, points, runs)) is None:
        return
    _, private, plain = both
    matches = [pair for pair in pairs(private, plain) if pair.partner is not None]
    mean = sum(pair.cosine for pair in matches) / len(matches)
    columns = st.columns(2, gap="large")
    sides = (
        (
            private,
            [pair.component for pair in matches],
            f"with privacy, {mean:.2f} alike on average",
        ),
        (plain, [pair.partner or 0 for pair in matches], "without, in the same places"),
    )
    for column, (run, order, words) in zip(columns, sides, strict=True):
        alt = f"{len(order)} components {words}."
        column.image(sheet(run, order), width="stretch", caption=words, alt=alt)


def _draw_steps(key: str, points: Sequence[Point], runs: Runs) -> None:
    """The objective after each step."""
    curves = [
        Curve(
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


# by figure: what its runs show besides its numbers
OF_RUNS = {
    "saha-fig2": _draw_steps,
    "saha-fig5": _draw_steps,
    "saha-fig4": _draw_words,
    "saha-fig7": _draw_sheets,
}

# ---- what a step's epsilon adds up to ------------------------------------------------------------


def totals(points: Sequence[Point]) -> pd.DataFrame:
    """For each epsilon of a step what all steps cost, exactly: step, steps, the total with the
    source's sensitivities, and with those of the sums that are released here.
    """
    settings = {
        (float(point.epsilon), int(point.spec.parameters["steps"]), point.spec.budget.delta): point
        for point in points
        if point.spec.algorithm == "dp-nmf"
        and point.epsilon is not None
        and point.spec.budget is not None
        and point.spec.budget.calibration is Calibration.SOURCE
    }
    return pd.DataFrame(
        {
            "step": each,
            "steps": steps,
            "source": exactly(source_noise.saha(each, delta, steps).event, delta),
            "total": exactly(released, delta),
            "replace-one": exactly(released, delta, Relation.REPLACE_ONE),
        }
        for (each, steps, delta), point in sorted(settings.items(), key=lambda it: it[0])
        for released in [_released(point.spec)]
    )


def _released(spec: RunSpec) -> Event:
    """What a run with the noise of its source releases; the shape of the data takes no part."""
    shape, budget = SampleShape(10_000, 10_000), spec.budget
    assert budget is not None
    method = algorithms.build(spec.algorithm, spec.parameters, shape, budget)
    assert isinstance(method, PrivateAlgorithm)
    return method.plan(shape, method.source_level(shape, budget))


def add_overall_axis(fig: go.Figure, points: Sequence[Point]) -> None:
    """A second axis above: the total epsilon of all steps."""
    table = totals(points)
    if not len(table):
        return
    fig.add_scatter(
        x=table["step"],
        y=[None] * len(table),
        xaxis="x2",
        showlegend=False,
        hoverinfo="skip",
    )
    ink = {"color": colours.ink()}
    title = f"total ε of {table['steps'].iloc[0]} steps"
    fig.update_layout(
        margin={"t": 60},
        legend={"y": 1.22},
        xaxis={
            "title": {"text": "ε of a step", "font": ink},
            "tickvals": table["step"],
            "ticktext": [f"{at:g}" for at in table["step"]],
        },
        xaxis2={
            "overlaying": "x",
            "matches": "x",
            "side": "top",
            "type": fig.layout.xaxis.type,
            "title": {"text": title, "font": ink},
            "tickvals": table["step"],
            "ticktext": [epsilon_text(total) for total in table["total"]],
            "tickfont": ink,
        },
    )


def show_totals(points: Sequence[Point]) -> None:
    """The same as a table."""
    table = totals(points)
    if not len(table):
        return
    safe_text.table(
        pd.DataFrame(
            {
                "ε of a step": table["step"],
                "steps": table["steps"],
                "total ε": table["total"].map(_total),
                "replace-one": table["replace-one"].map(_total),
                "with the source's sensitivities": table["source"].map(_total),
            }
        )
    )
    st.caption(
        "Total ε is exact, for adding or removing a sample, and holds for a random start. With"
        " the source's start, which is computed from the private data, nothing is proved."
    )


def _total(epsilon: float) -> str:
    return epsilon_text(epsilon)
