"""DataFrame to plotly Figure: one look for every page. An algorithm keeps one colour everywhere (Okabe & Ito's palette)."""

from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

COLOURS = {
    "dpals": "#0072B2", "ada-dpals": "#56B4E9", "private-bias": "#009E73", "dpals-plain": "#7d8fd1", "spectral": "#D55E00",
    "dpfw": "#E69F00", "dpfw-oja": "#E69F00",
    "private-svd": "#CC79A7", "svd-cleansing": "#CC79A7", "private-pgd": "#8B5A2B", "dp-sgd": "#7A3E9D", "sgld": "#8A8D00", "input-perturbation": "#C0392B",
    "dpnmf-laplace": "#C0392B", "user-mean": "#6b7280",
}  # fmt: skip
SYMBOLS = {
    "dpfw-oja": "diamond",
    "svd-cleansing": "diamond",
    "ada-dpals": "square",
    "dp-sgd": "triangle-up",
    "private-pgd": "cross",
    "dpnmf-laplace": "diamond",
}
TRIVIAL = ("global-mean", "popularity", "user-mean")
MOST_NAMED = 5  # lines named once more where the main figure names them already
TICKS = [0.1, 0.3, 1, 3, 10, 30, 100]


AT_NIGHT = {"#0072B2": "#3f9fe3", "#56B4E9": "#9ad6f7", "#7A3E9D": "#b07ad1", "#8B5A2B": "#c08a58"}  # lighter on a dark page


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


def _levels(fig: go.Figure, points: pd.DataFrame) -> None:
    """What does not depend on the x axis: a horizontal line at the median, dashed for a trivial predictor, named at the right."""
    for place, (name, rows) in enumerate(points.groupby("name", sort=False)):
        trivial = rows["id"].iloc[0] in TRIVIAL
        median = rows["value"].median()
        tint = _ink() if trivial else colour("als")
        fig.add_hline(
            y=median, line={"dash": "dash" if trivial else "solid", "color": tint, "width": 1.5},
            annotation={"text": f"{name} {median:.3f}", "font": {"color": tint}, "xanchor": "right", "yshift": 0 if place % 2 else 2},
        )  # fmt: skip


def against(points: pd.DataFrame, x: str, metric: str, log: bool) -> go.Figure:
    """A metric against x: every draw a faint mark, the median solid, lowest to highest draw a band. points: name, id, source, value and x; empty x: a level."""
    fig = figure("privacy loss ε, total" if x == "epsilon" else x.replace("_", " "), metric, height=400)
    lines = points[points[x].notna()] if x in points else points.iloc[:0]
    for (name, ident, source), rows in lines.groupby(["name", "id", "source"], sort=False):
        tint, draws = colour(str(ident)), rows.groupby(x)["value"]
        at = draws.median()
        dash, symbol = "dash" if ident in TRIVIAL else "dot" if source else "solid", SYMBOLS.get(str(ident), "circle")
        band = pd.concat([draws.max(), draws.min()[::-1]])
        fig.add_scatter(x=band.index, y=band, fill="toself", mode="none", fillcolor=tint, opacity=0.15, showlegend=False, hoverinfo="skip", legendgroup=name)
        fig.add_scatter(
            x=rows[x], y=rows["value"], mode="markers", marker={"color": tint, "size": 6, "opacity": 0.35, "symbol": symbol}, showlegend=False,
            hoverinfo="skip", legendgroup=name,
        )  # fmt: skip
        fig.add_scatter(
            x=at.index, y=at, name=name, mode="lines+markers", line={"color": tint, "width": 2.5, "dash": dash}, marker={"symbol": symbol, "size": 7},
            legendgroup=name, hovertemplate=f"{name}<br>%{{x:g}}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    _levels(fig, points[points[x].isna()] if x in points else points)
    if log:
        marks = TICKS if x == "epsilon" else sorted(lines[x].unique())
        fig.update_xaxes(type="log", tickvals=marks, ticktext=[f"{mark:,g}" for mark in marks])
    return fig


def heat(points: pd.DataFrame, x: str, y: str, metric: str) -> go.Figure:
    """The median metric over two parameters."""
    table = points.pivot_table(index=y, columns=x, values="value", aggfunc="median")
    fig = figure(x.replace("_", " "), y.replace("_", " "), height=340)
    fig.add_heatmap(
        z=table.to_numpy(), x=[str(value) for value in table.columns], y=[str(value) for value in table.index], colorscale="Cividis",
        texttemplate="%{z:.3f}", colorbar={"title": {"text": metric}}, hovertemplate=f"{x} %{{x}}, {y} %{{y}}: %{{z:.3f}}<extra></extra>",
    )  # fmt: skip
    fig.update_xaxes(type="category")
    fig.update_yaxes(type="category")
    return fig


def groups(rows: pd.DataFrame, title: str) -> go.Figure:
    """RMSE by group, a line a method. rows: group, name, id, rmse."""
    fig = figure(title, "RMSE", height=320)
    for (name, ident), line in rows.groupby(["name", "id"], sort=False):
        plain = str(ident) not in COLOURS
        fig.add_scatter(
            x=line["group"], y=line["rmse"], name=name, mode="lines+markers", marker={"symbol": SYMBOLS.get(str(ident), "circle")},
            line={"color": colour(str(ident)), "dash": "dash" if ident == "global-mean" else "solid", "width": 1.5 if plain else 2.5},
            showlegend=rows["name"].nunique() <= MOST_NAMED,
            hovertemplate=f"{name}<br>%{{x}}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    return fig


def published(fig: go.Figure, marks: pd.DataFrame) -> None:
    """Published numbers as crosses. marks: label, x, y, source."""
    for mark in marks.itertuples():
        fig.add_scatter(
            x=[mark.x], y=[mark.y], mode="markers+text", marker={"symbol": "x", "size": 11, "color": _ink()}, text=[f"{mark.label}, published"],
            textposition="bottom left", showlegend=False, hovertemplate=f"{mark.label}: {mark.y:g}<br>{mark.source}<extra></extra>",
        )  # fmt: skip


def shares(rows: pd.DataFrame) -> go.Figure:
    """Share of observations against share of top items. rows: kept, items, observations."""
    fig = figure("share of items, most observed first", "share of observations", height=400)
    for (name, line), ident in zip(rows.groupby("kept", sort=False), ("als", "private-bias", "spectral"), strict=True):
        fig.add_scatter(
            x=line["items"], y=line["observations"], name=name, mode="lines", line={"color": colour(ident), "width": 2.5},
            hovertemplate=f"{name}<br>%{{x:.0%}} of the items: %{{y:.0%}}<extra></extra>",
        )  # fmt: skip
    fig.update_xaxes(tickformat=".0%")
    fig.update_yaxes(tickformat=".0%")
    return fig
