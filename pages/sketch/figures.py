"""Frames and figures of the Sketch page."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.papers.balu_2016.claims import NO_THRESHOLD
from dpmf_core.papers.figures import Figure
from dpmf_core.runs.record import Run
from dpmf_core.runs.sweep import Point
from dpmf_core.teaching.sketch_collisions import SketchLayout
from pages.kit import charts, sweep_charts, sweep_frames

INK = "#111111"  # on cells that are never empty
AXES = {"threshold": "threshold ε of the source", "regularisation": "regularisation λ"}
LOAD = ("rgba(139,147,161,0.15)", "#56B4E9", "#E69F00", "#D55E00")  # of 0, 1, 2, 4 components


def _in_words(values: pd.Series, nothing: float) -> pd.Series:
    """Numbers as they are printed, one of which stands for none."""
    words: pd.Series = values.map(
        lambda it: "none" if it == nothing else f"{it:g}", na_action="ignore"
    )
    return words


def frame(points: Sequence[Point], runs: dict[str, Run], metric: str) -> pd.DataFrame:
    """A row a run: name, id, source, value, space gain and the other parameters of the grid."""
    table = sweep_frames.frame(points, runs, metric, notes={})
    table = table.drop(columns=["epsilon", "seed"]).rename(columns={"space_gain": "gain"})
    one_row = {it.label for it in points if it.spec.parameters.get("depth") == 1}
    table.loc[table["name"].isin({sweep_frames.method(it) for it in one_row}), "id"] = "sketch-hash"
    table["gain"] = table["gain"].astype(float) if "gain" in table else float("nan")
    table["name"] += table["gain"].map(lambda gain: "" if gain != gain else f", γ = {gain:g}")
    if "rank" in table:
        table["name"] += table["rank"].map(lambda rank: f", d = {rank}")
    if "threshold" in table:
        table["threshold"] = _in_words(table["threshold"], NO_THRESHOLD)
    return table


def against(table: pd.DataFrame, figure: Figure, metric: str) -> go.Figure:
    """The metric along the figure's axis; regular factorisation is a level."""
    lines = table
    if figure.axis == "regularisation":
        lines = table.sort_values("regularisation", kind="stable")
        lines["regularisation"] = _in_words(lines["regularisation"], 0)
    return sweep_charts.against(lines, figure.axis, METRICS[metric].label, AXES[figure.axis])


def best(points: Sequence[Point], table: pd.DataFrame) -> pd.DataFrame:
    """The best λ that was run, for each dimension and space gain all of whose λ were: rank, gain,
    regularisation, value.
    """
    counts = table.groupby(["rank", "gain"])["value"].transform("size")
    whole = table[counts == len({point.grid["regularisation"] for point in points})]
    rows = whole.loc[whole.groupby(["rank", "gain"])["value"].idxmin()]
    return rows[["rank", "gain", "regularisation", "value"]].reset_index(drop=True)


def best_heat(rows: pd.DataFrame) -> go.Figure:
    """Dimension by space gain, the best λ written in each cell."""
    texts = [f"λ = {it.regularisation:g}<br>RMSE {it.value:.3f}" for it in rows.itertuples()]
    place = {"index": "gain", "columns": "rank"}
    table = rows.assign(text=texts)
    ranks = table.pivot(**place, values="regularisation").astype(float).rank(method="dense")
    text = table.pivot(**place, values="text")
    return charts.heat_map(ranks, text, "dimension d", "space gain γ")


def cells(sketch: SketchLayout) -> pd.DataFrame:
    """Where every component of every vector lies, and with which sign."""
    names = ("row", "cell", "vector", "component", "sign")
    return pd.DataFrame({name: getattr(it, name) for name in names} for it in sketch.components)


def table_of_cells(sketch: SketchLayout, vector: str) -> go.Figure:
    """How many components lie in each cell, and where one vector's do, with their signs."""
    rows = [f"row {j + 1}" for j in range(len(sketch.load))]
    fig = charts.figure("cell", "row", 130 + 45 * len(rows), yaxis={"autorange": "reversed"})
    fig.add_heatmap(
        z=sketch.load,
        x=list(range(sketch.width)),
        y=rows,
        xgap=2,
        ygap=2,
        zmin=0,
        zmax=4,
        colorscale=list(zip((0, 0.25, 0.5, 1), LOAD, strict=True)),
        colorbar={
            "title": {"text": "components"},
            "tickvals": [0, 1, 2, 3, 4],
            "ticktext": ["0", "1", "2", "3", "4+"],
        },
        hovertemplate="%{y}, %{x}: %{z}<extra></extra>",
    )
    own = sketch.of(vector)
    fig.add_scatter(
        x=[it.cell for it in own],
        y=[rows[it.row - 1] for it in own],
        mode="markers+text",
        name=vector,
        textposition="middle center",
        text=["+" if it.sign > 0 else "−" for it in own],
        textfont={"size": 15, "color": INK},
        customdata=[it.component for it in own],
        marker={"symbol": "square-open", "size": 24, "color": INK, "line": {"width": 3}},
        hovertemplate="%{customdata}<extra></extra>",
    )
    return fig
