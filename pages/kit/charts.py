"""DataFrame to plotly Figure: one look for every page. An algorithm keeps one colour everywhere (Okabe & Ito's palette)."""

from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

COLOURS = {
    "dpals": "#0072B2", "ada-dpals": "#56B4E9", "private-bias": "#009E73", "dpals-plain": "#CC79A7",
}  # fmt: skip


AT_NIGHT = {"#0072B2": "#3f9fe3", "#56B4E9": "#9ad6f7"}  # the blues, lighter on a dark page


def dark() -> bool:
    return st.context.theme.type == "dark"


def colour(name: str) -> str:
    """The colour of an algorithm id; what is not private is grey, and so is the trivial predictor."""
    tint = COLOURS.get(name, "#b8bec9" if dark() else "#4a4f59")
    return AT_NIGHT.get(tint, tint) if dark() else tint


def _ink() -> str:
    return "#8b93a1" if dark() else "#6b7280"


def figure(x: str, y: str, height: int = 340, **layout: Any) -> go.Figure:
    """An empty figure with titled axes that keeps its zoom over reruns."""
    out = go.Figure()
    out.update_layout(
        height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, uirevision="keep", hovermode="closest",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, xaxis={"title": {"text": x}}, yaxis={"title": {"text": y}}, **layout,
    )  # fmt: skip
    return out


def show(fig: go.Figure, key: str, alt: str, table: pd.DataFrame) -> None:
    """The figure with its description for screen readers, its camera button for a PNG, and its numbers folded below."""
    config = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"], "toImageButtonOptions": {"filename": key, "scale": 2}}
    st.plotly_chart(fig, key=key, alt=alt, config=config)
    with st.expander("The figure's numbers"):
        st.dataframe(table, hide_index=True, key=f"{key}.table")
        st.download_button("Download as CSV", table.to_csv(index=False), f"{key}.csv", "text/csv", key=f"{key}.csv")


def steps(curves: pd.DataFrame, trivial: float | None) -> go.Figure:
    """Held-out (solid) and train (dotted) RMSE by step. curves: name, id, draw, step, part, rmse; draws other than 0 are faint."""
    fig = figure("step", "RMSE")
    for (name, ident, draw, part), line in curves.groupby(["name", "id", "draw", "part"], sort=False):
        main = draw == 0
        fig.add_scatter(
            x=line["step"], y=line["rmse"], name=f"{name}, {part}", legendgroup=f"{name} {part}", showlegend=bool(main),
            mode="lines+markers" if main else "lines",
            opacity=1.0 if main else 0.35, line={"color": colour(str(ident)), "dash": "dot" if part == "train" else "solid", "width": 2.5 if main else 1},
            hovertemplate=f"{name}, {part}<br>step %{{x}}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    if trivial is not None:
        fig.add_hline(y=trivial, line={"dash": "dash", "color": _ink()}, annotation={"text": f"guessing the mean: {trivial:.3f}", "font": {"color": _ink()}})
    fig.update_xaxes(dtick=1)
    return fig


def ladder(points: pd.DataFrame) -> go.Figure:
    """One row a method, each draw a dot, the median a bar. points: name, id, draw, rmse."""
    fig = figure("held-out RMSE", "", height=60 + 46 * points["name"].nunique())
    order = points.groupby("name")["rmse"].median().sort_values().index.tolist()
    for (name, ident), rows in points.groupby(["name", "id"], sort=False):
        tint, median = colour(str(ident)), rows["rmse"].median()
        fig.add_scatter(
            x=rows["rmse"], y=[name] * len(rows), mode="markers", marker={"color": tint, "size": 9, "opacity": 0.45}, showlegend=False, cliponaxis=False,
            hovertemplate=f"{name}<br>%{{x:.3f}}<extra></extra>",
        )  # fmt: skip
        fig.add_scatter(
            x=[median], y=[name], mode="markers+text", text=[f"{median:.3f}"], textposition="top center", showlegend=False, hoverinfo="skip",
            marker={"symbol": "line-ns", "size": 20, "line": {"width": 3, "color": tint}}, cliponaxis=False,
        )  # fmt: skip
    fig.update_yaxes(categoryorder="array", categoryarray=order[::-1], title=None)
    low, high = points["rmse"].min(), points["rmse"].max()
    fig.update_xaxes(range=[low - 0.12 * (high - low) - 1e-3, high + 0.12 * (high - low) + 1e-3])
    return fig


def trade_off(curve: pd.DataFrame, name: str = "this run") -> go.Figure:
    """The lowest false negative rate of any attack, by false positive rate; below the line no test can go. curve: fpr, fnr."""
    fig = figure("false positives: says you took part, you did not", "false negatives: misses you", height=330)
    fig.add_scatter(
        x=curve["fpr"], y=curve["fnr"], fill="tozeroy", mode="lines", name=f"out of every attack's reach ({name})", line={"color": colour("dpals")},
        hovertemplate="at %{x:.1%} false alarms an attack misses at least %{y:.1%}<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(x=[0, 1], y=[1, 0], mode="lines", name="blind guessing", line={"color": _ink(), "dash": "dash"}, hoverinfo="skip")
    fig.update_xaxes(range=[0, 1], tickformat=".0%")
    fig.update_yaxes(range=[0, 1], tickformat=".0%")
    return fig
