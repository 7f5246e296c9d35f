"""Frames and figures of the Sketch page."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dpmf_core.collisions import Drawn
from dpmf_core.experiment import DataSpec, Run
from dpmf_core.figures import Preset
from dpmf_core.other_roads import NO_THRESHOLD, REGULAR
from dpmf_core.sweeps import Point
from pages.kit import charts
from pages.kit.frames import ANY, Columns, framed

INK = "#111111"  # on cells that are never empty
AXES = {"threshold": "threshold ε of the source", "penalty": "regulariser λ"}
MEASURES = {"rmse": "held-out RMSE", "kl": "KL divergence, nats", "kl_top_users": "KL divergence of the busiest tenth, nats"}


def points(preset: Preset, data: DataSpec, seed: int, rank: int) -> list[Point]:
    """The preset at page size, on other data, with other dimensions where they are not what it varies."""
    found = []
    for sweep in preset.sweeps(False):
        kept = {} if "rank" in sweep.grid else {"rank": rank}
        methods = tuple(method.model_copy(update={"parameters": {**method.parameters, **kept}}) for method in sweep.methods)
        found += sweep.model_copy(update={"data": data, "methods": methods, "seeds": (seed,)}).points()
    return found


LINE: Columns = {"name": str, "id": str, "source": bool, "value": float, "gain": float}


def frame(asked: Sequence[Point], finished: dict[str, Run], metric: str) -> pd.DataFrame:
    """A row a run: name, id, source, value, space gain and the other parameters of the grid, in words where a number stands for none."""
    rows: list[dict[str, Any]] = []
    for point in asked:
        value = finished[point.key].record["metrics"].get(metric) if point.key in finished else None
        if value is None:
            continue
        place = dict(point.grid)
        gain = place.pop("space_gain", None)
        name = point.label if gain is None else f"{point.label}, γ = {gain:g}"
        if "threshold" in place:
            place["threshold"] = "none" if place["threshold"] == NO_THRESHOLD else f"{place['threshold']:g}"
        ident = "sketch-hash" if point.spec.parameters.get("depth") == 1 else point.spec.algorithm
        rows.append({"name": name, "id": ident, "source": False, "value": float(value), "gain": gain, **place})
    grid = {name: ANY for point in asked for name in point.grid if name != "space_gain"}
    return framed(rows, {**LINE, **grid})


def against(table: pd.DataFrame, preset: Preset, metric: str) -> go.Figure:
    """The metric along the preset's axis; regular factorisation is a level."""
    lines = table.copy()
    if preset.axis == "penalty":
        lines["penalty"] = lines["penalty"].map(lambda value: "none" if value == 0 else f"{value:g}", na_action="ignore")
    return charts.against(lines, preset.axis, MEASURES[metric], AXES[preset.axis])


def best(asked: Sequence[Point], table: pd.DataFrame) -> pd.DataFrame:
    """The best regulariser for each dimension and space gain, and what it reaches: rank, gain, penalty, value.

    A place is left out until all of its regularisers have been run.
    """
    inner = table[table["name"] != REGULAR.label]
    counts = inner.groupby(["rank", "gain"])["value"].transform("size")
    inner = inner[counts == len({point.grid["penalty"] for point in asked})]
    return inner.loc[inner.groupby(["rank", "gain"])["value"].idxmin(), ["rank", "gain", "penalty", "value"]].reset_index(drop=True)


def best_heat(chosen: pd.DataFrame) -> go.Figure:
    """Dimension by space gain, the best regulariser written in each cell."""
    fig = charts.figure("dimension d", "space gain γ", height=300)
    grid = chosen.pivot_table(index="gain", columns="rank", values="penalty")
    errors = chosen.pivot_table(index="gain", columns="rank", values="value")
    cells = zip(grid.to_numpy(float), errors.to_numpy(float), strict=True)
    text = [[f"λ = {penalty:g}<br>RMSE {error:.3f}" for penalty, error in zip(*row, strict=True)] for row in cells]
    fig.add_heatmap(
        z=grid.rank(method="dense").to_numpy(), x=[str(d) for d in grid.columns], y=[f"{gain:g}" for gain in grid.index], text=text,
        texttemplate="%{text}", colorscale="Cividis", showscale=False, hovertemplate="d %{x}, γ %{y}: %{text}<extra></extra>",
    )  # fmt: skip
    fig.update_xaxes(type="category")
    fig.update_yaxes(type="category")
    return fig


def cells(sketch: Drawn) -> pd.DataFrame:
    """Where every component of every vector lies, and with which sign."""
    columns: Columns = {"row": int, "cell": int, "vector": str, "component": int, "sign": int}
    return framed(({name: getattr(it, name) for name in columns} for it in sketch.components), columns)


def table_of_cells(sketch: Drawn, vector: str) -> go.Figure:
    """The sketch itself: how many components lie in each cell, and where one vector's do, with their signs."""
    fig = charts.figure("cell", "row", height=130 + 45 * len(sketch.load))
    fig.add_heatmap(
        z=sketch.load, x=list(range(sketch.width)), y=[f"row {j + 1}" for j in range(len(sketch.load))], xgap=2, ygap=2, zmin=0, zmax=4,
        colorscale=[[0, "rgba(139,147,161,0.15)"], [0.25, "#56B4E9"], [0.5, "#E69F00"], [1, "#D55E00"]],
        colorbar={"title": {"text": "components"}, "tickvals": [0, 1, 2, 3, 4], "ticktext": ["0", "1", "2", "3", "4+"]},
        hovertemplate="%{y}, cell %{x}: %{z} components<extra></extra>",
    )  # fmt: skip
    hers = sketch.of(vector)
    fig.add_scatter(
        x=[it.cell for it in hers], y=[f"row {it.row}" for it in hers], mode="markers+text", name=vector, textposition="middle center",
        text=["+" if it.sign > 0 else "−" for it in hers], textfont={"size": 15, "color": INK}, customdata=[it.component for it in hers],
        marker={"symbol": "square-open", "size": 24, "color": INK, "line": {"width": 3}}, hovertemplate="component %{customdata}<extra></extra>",
    )  # fmt: skip
    fig.update_yaxes(autorange="reversed")
    return fig
