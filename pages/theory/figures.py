"""Figures and tables of the Theory page."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from dpmf_core.papers.bounds import LOW_RANK, SAMPLE_COMPLEXITY, Place
from dpmf_core.papers.theory import Comparison, places_between
from dpmf_core.papers.theory_claims import SYMBOLS
from pages.kit import colours
from pages.kit.charts import figure

BEYOND = 2.0  # so far past the measured places a curve is drawn
TICKS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]


def title(it: Comparison) -> str:
    """The finding, as the page's title, with formulas of Markdown."""
    name = SYMBOLS[it.axis]
    return (
        f"{it.bound.title}: the error goes as ${name}^{{{it.exponent.value:.2f}}}$, the bound says"
        f" ${name}^{{{it.bound_exponent:g}}}$"
    )


def against(lines: Sequence[Comparison], x: str) -> go.Figure:
    """Measured errors and fitted bounds, both axes logarithmic. The first line is the chosen
    bound.
    """
    fig = figure(x, "RMSE, held out", height=420)
    for it in lines:
        _add_measurements(fig, it)
        _curve(fig, it)
    marks = sorted({at for it in lines for at in it.medians})
    fig.update_xaxes(type="log", tickvals=marks, ticktext=[f"{mark:,g}" for mark in marks])
    fig.update_yaxes(type="log", tickvals=TICKS, ticktext=[f"{tick:g}" for tick in TICKS])
    return fig


def _add_measurements(fig: go.Figure, it: Comparison) -> None:
    tint, symbol = colours.of(it.bound.algorithm), colours.marker(it.bound.algorithm)
    name = f"{it.bound.algorithm.upper()}, measured"
    fig.add_scatter(
        x=[x for x, _ in it.draws],
        y=[error for _, error in it.draws],
        mode="markers",
        marker={"color": tint, "size": 6, "opacity": 0.35, "symbol": symbol},
        showlegend=False,
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=list(it.medians),
        y=list(it.medians.values()),
        name=name,
        mode="lines+markers",
        line={"color": tint, "width": 2.5},
        marker={"symbol": symbol, "size": 8},
        hovertemplate=f"{name}<br>%{{x:,}}: %{{y:.3f}}<extra></extra>",
    )


def _curve(fig: go.Figure, it: Comparison) -> None:
    low, high = min(it.medians), max(it.medians)
    places = places_between(low / BEYOND, high * BEYOND)
    name = f"{it.bound.algorithm.upper()}, bound"
    fig.add_scatter(
        x=places,
        y=it.curve(places),
        name=name,
        mode="lines",
        line={"color": colours.of(it.bound.algorithm), "width": 1.5, "dash": "dash"},
        hovertemplate=f"{name}<br>%{{x:,.4g}}: %{{y:.3g}}<extra></extra>",
    )


def table(lines: Sequence[Comparison]) -> pd.DataFrame:
    """The numbers of the figure."""
    return pd.DataFrame(
        {
            "bound": it.bound.title,
            SYMBOLS[it.axis]: f"{at:g}",
            "measured, median": f"{error:.4f}",
            "bound, fitted": f"{it.curve([at])[0]:.4f}",
        }
        for it in lines
        for at, error in it.medians.items()
    )


def sample_complexity(place: Place) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "method": row.method,
            "needs": row.note,
            "users": f"{row.users(place):,.0f}" if row.users else "-",
            "ratings": f"{row.ratings(place):,.0f}" if row.ratings else "-",
        }
        for row in SAMPLE_COMPLEXITY
    )


def low_rank(place: Place) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "method": row.method,
            "error": row.note,
            "at these sizes": f"{row.error(place):,.1f}" if row.error else "-",
        }
        for row in LOW_RANK
    )
