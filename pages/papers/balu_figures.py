"""Figures of Balu & Furon 2016: the best regularisation by size, and a sketch that is small enough
to be seen.
"""

import pandas as pd
import plotly.graph_objects as go

from dpmf_core.papers.balu_2016.statements import best_regularisations
from dpmf_core.papers.clauses import Results
from dpmf_core.teaching.sketch_collisions import SketchLayout
from pages.kit import charts

INK = "#111111"  # on cells that are never empty
LOAD = ("rgba(139,147,161,0.15)", "#56B4E9", "#E69F00", "#D55E00")  # of 0, 1, 2, 4 components


def best_map(results: Results) -> tuple[go.Figure, pd.DataFrame]:
    """Dimension by space gain, the best λ in each cell, as the statements have it."""
    best = [
        {"rank": rank, "gain": gain, "λ": value, "text": f"λ = {value:.3f}"}
        for (rank, gain), value in best_regularisations(results).items()
    ]
    table = pd.DataFrame(best)
    place = {"index": "gain", "columns": "rank"}
    values = table.pivot(**place, values="λ")
    text = table.pivot(**place, values="text")
    fig = charts.heat_map(values, text, "dimension d", "space gain γ")
    return fig, table.drop(columns="text")


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
