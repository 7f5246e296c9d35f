"""Frames and figures of the Sketch page."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.papers.balu_2016 import NO_THRESHOLD
from dpmf_core.papers.figures import Figure
from dpmf_core.runs.record import Run
from dpmf_core.runs.sweep import Point
from dpmf_core.teaching.sketch_collisions import SketchLayout
from pages.kit import charts, sweep_charts, sweep_frames
from pages.kit.frames import Columns, to_frame

INK = "#111111"  # on cells that are never empty
AXES = {
    "threshold": "threshold ε of the source",
    "regularisation": "regularisation λ",
}


def frame(points: Sequence[Point], runs: dict[str, Run], metric: str) -> pd.DataFrame:
    """A row a run: name, id, source, value, space gain and the other parameters of the grid, in
    words where a number stands for none.
    """
    table = sweep_frames.frame(points, runs, metric, notes={})
    table = table.drop(columns=["epsilon", "seed"]).rename(columns={"space_gain": "gain"})
    one_row = (point for point in points if point.spec.parameters.get("depth") == 1)
    hash_names = {sweep_frames.method(point.label) for point in one_row}
    table.loc[table["name"].isin(hash_names), "id"] = "sketch-hash"
    table["gain"] = table["gain"].astype(float) if "gain" in table else float("nan")
    table["name"] += table["gain"].map(lambda gain: "" if gain != gain else f", γ = {gain:g}")
    if "rank" in table:
        table["name"] += table["rank"].map(lambda rank: f", d = {rank}")
    if "threshold" in table:
        table["threshold"] = table["threshold"].map(
            lambda bound: "none" if bound == NO_THRESHOLD else f"{bound:g}", na_action="ignore"
        )
    return table


def metric_label(metric: str) -> str:
    """A metric's title with a capital letter."""
    title = METRICS[metric].title
    return title[:1].upper() + title[1:]


def against(table: pd.DataFrame, figure: Figure, metric: str) -> go.Figure:
    """The metric along the figure's axis; regular factorisation is a level."""
    lines = table.copy()
    if figure.axis == "regularisation":
        lines = lines.sort_values("regularisation", kind="stable")
        lines["regularisation"] = lines["regularisation"].map(
            lambda value: "none" if value == 0 else f"{value:g}", na_action="ignore"
        )
    return sweep_charts.against(lines, figure.axis, metric_label(metric), AXES[figure.axis])


def best(points: Sequence[Point], table: pd.DataFrame) -> pd.DataFrame:
    """The best λ among those that were run, for each dimension and space gain, and what it
    reaches: rank, gain, regularisation, value.

    A place is left out until all of its λ have been run.
    """
    counts = table.groupby(["rank", "gain"])["value"].transform("size")
    whole = table[counts == len({point.grid["regularisation"] for point in points})]
    rows = whole.loc[whole.groupby(["rank", "gain"])["value"].idxmin()]
    return rows[["rank", "gain", "regularisation", "value"]].reset_index(drop=True)


def best_heat(rows: pd.DataFrame) -> go.Figure:
    """Dimension by space gain, the best λ written in each cell."""
    fig = charts.figure("dimension d", "space gain γ", height=300)
    grid = rows.pivot_table(index="gain", columns="rank", values="regularisation")
    errors = rows.pivot_table(index="gain", columns="rank", values="value")
    cells = zip(grid.to_numpy(float), errors.to_numpy(float), strict=True)
    text = [
        [f"λ = {at:g}<br>RMSE {error:.3f}" for at, error in zip(*row, strict=True)] for row in cells
    ]
    fig.add_heatmap(
        z=grid.rank(method="dense").to_numpy(),
        x=[str(d) for d in grid.columns],
        y=[f"{gain:g}" for gain in grid.index],
        text=text,
        texttemplate="%{text}",
        colorscale="Cividis",
        showscale=False,
        hovertemplate="d %{x}, γ %{y}: %{text}<extra></extra>",
    )
    fig.update_xaxes(type="category")
    fig.update_yaxes(type="category")
    return fig


def cells(sketch: SketchLayout) -> pd.DataFrame:
    """Where every component of every vector lies, and with which sign."""
    columns: Columns = {"row": int, "cell": int, "vector": str, "component": int, "sign": int}
    return to_frame(
        ({name: getattr(it, name) for name in columns} for it in sketch.components), columns
    )


def vector_name(vector: str) -> str:
    """A person or an item of the small sketch."""
    kind, number = vector.split()
    if kind == "person":
        return f"person {number}"
    return f"item {number}"


def _row(number: int) -> str:
    return f"row {number}"


def table_of_cells(sketch: SketchLayout, vector: str) -> go.Figure:
    """The sketch itself: how many components lie in each cell, and where one vector's do, with
    their signs.
    """
    fig = charts.figure("cell", "row", height=130 + 45 * len(sketch.load))
    fig.add_heatmap(
        z=sketch.load,
        x=list(range(sketch.width)),
        y=[_row(j + 1) for j in range(len(sketch.load))],
        xgap=2,
        ygap=2,
        zmin=0,
        zmax=4,
        colorscale=[
            [0, "rgba(139,147,161,0.15)"],
            [0.25, "#56B4E9"],
            [0.5, "#E69F00"],
            [1, "#D55E00"],
        ],
        colorbar={
            "title": {"text": "components"},
            "tickvals": [0, 1, 2, 3, 4],
            "ticktext": ["0", "1", "2", "3", "4+"],
        },
        hovertemplate="%{y}, %{x}: %{z}<extra></extra>",
    )
    hers = sketch.of(vector)
    fig.add_scatter(
        x=[it.cell for it in hers],
        y=[_row(it.row) for it in hers],
        mode="markers+text",
        name=vector_name(vector),
        textposition="middle center",
        text=["+" if it.sign > 0 else "−" for it in hers],
        textfont={"size": 15, "color": INK},
        customdata=[it.component for it in hers],
        marker={"symbol": "square-open", "size": 24, "color": INK, "line": {"width": 3}},
        hovertemplate="%{customdata}<extra></extra>",
    )
    fig.update_yaxes(autorange="reversed")
    return fig
