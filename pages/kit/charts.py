"""DataFrame to plotly Figure: one look for every page. An algorithm keeps one colour everywhere (Okabe & Ito's palette)."""

import re
import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import plotly.io
import streamlit as st

from dpmf_core.figures import Mark
from pages.kit import said, sidebar

plotly.io.templates.default = None  # Streamlit brings its own, and building in plotly's takes longer than the figure

COLOURS = {
    "dpals": "#0072B2", "ada-dpals": "#56B4E9", "private-bias": "#009E73", "dpals-plain": "#7d8fd1", "spectral": "#D55E00",
    "dpfw": "#E69F00", "dpfw-oja": "#E69F00",
    "private-svd": "#CC79A7", "svd-cleansing": "#CC79A7", "private-pgd": "#8B5A2B", "dp-sgd": "#7A3E9D", "sgld": "#8A8D00", "input-perturbation": "#C0392B",
    "dpnmf-laplace": "#C0392B", "user-mean": "#6b7280", "oneshot-nmf": "#D55E00", "dp-nmf": "#0072B2",
    "sketch": "#0E7C7B", "sketch-hash": "#C2185B",
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
DASHES = ("solid", "dash", "dashdot", "longdash")
SPAN = 8  # largest over smallest, from which on an axis is logarithmic
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
    """An empty figure with titled axes, legible by WCAG AA, that keeps its zoom over reruns."""
    out, ink = go.Figure(), {"color": _ink()}
    titled = {f"{name}axis": {"title": {"text": text, "font": ink}, "tickfont": ink} for name, text in (("x", x), ("y", y))}
    out.update_layout(
        height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, uirevision="keep", hovermode="closest",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, **titled, **layout,
    )  # fmt: skip
    return out


def show(fig: go.Figure, key: str, alt: str, table: pd.DataFrame, leaves: bool | None = None) -> None:
    """The figure with its description for screen readers, its camera button for a PNG, and its numbers folded below.

    leaves: whether the numbers may be saved; by default where the page is not about data that somebody brought, whose raw figures are for the screen.
    """
    leaves = sidebar.about_public_data() if leaves is None else leaves
    unused = ["select2d", "lasso2d", "autoScale2d", *([] if leaves else ["toImage"])]
    config = {"displaylogo": False, "modeBarButtonsToRemove": unused, "toImageButtonOptions": {"filename": key, "scale": 2}}
    st.plotly_chart(fig, key=key, alt=alt, config=config)
    first = re.split(r"[.:,;](?= |$)", alt)[0]
    with st.expander(f"The numbers: {first}"):
        said.table(table, key=f"{key}.table")
        if leaves:
            st.download_button("Download as CSV", lambda: said.csv_of(table), f"{key}.csv", "text/csv", key=f"{key}.csv")
        else:
            st.caption("Computed on your raw data, without noise: for your eyes, so there is no file of it.")


def steps(curves: pd.DataFrame, trivial: float | None, metric: str = "rmse", title: str = "RMSE", guess: str = "guessing the mean") -> go.Figure:
    """Held-out (solid) and train (dotted) error by step. curves: name, id, draw, step, part and the metric; draws other than 0 are faint."""
    fig = figure("step", title)
    for (name, ident, part), lines in curves.groupby(["name", "id", "part"], sort=False):
        for main, some in lines.groupby(lines["draw"] == 0, sort=False):
            x, y = _joined(some, "draw", "step", metric)
            fig.add_scatter(
                x=x, y=y, name=f"{name}, {part}", legendgroup=f"{name} {part}", showlegend=bool(main), mode="lines+markers" if main else "lines",
                opacity=1.0 if main else 0.35, line={"color": colour(str(ident)), "dash": "dot" if part == "train" else "solid", "width": 2.5 if main else 1},
                hovertemplate=f"{name}, {part}<br>step %{{x}}: %{{y:.3f}}<extra></extra>",
            )  # fmt: skip
    if trivial is not None:
        fig.add_hline(y=trivial, line={"dash": "dash", "color": _ink()}, annotation={"text": f"{guess}: {trivial:.3f}", "font": {"color": _ink()}})
    if curves["step"].max() <= 12:
        fig.update_xaxes(dtick=1)
    return fig


def _joined(rows: pd.DataFrame, by: str, x: str, y: str) -> tuple[list[Any], list[Any]]:
    """Several lines as one trace, with gaps between them: a trace costs a page more than its points."""
    across: list[Any] = []
    up: list[Any] = []
    for _, line in rows.groupby(by, sort=False):
        across += [None] * bool(across) + line[x].tolist()
        up += [None] * bool(up) + line[y].tolist()
    return across, up


def ladder(points: pd.DataFrame, metric: str = "rmse", title: str = "held-out RMSE", digits: int = 3) -> go.Figure:
    """One row a method, each draw a dot, the median a bar. points: name, id, draw and the metric."""
    fig = figure(title, "", height=60 + 46 * points["name"].nunique())
    medians = points.groupby(["name", "id"], as_index=False)[[metric]].median().sort_values(metric)
    fig.add_scatter(
        x=points[metric], y=points["name"], mode="markers", marker={"color": [colour(str(ident)) for ident in points["id"]], "size": 9, "opacity": 0.45},
        showlegend=False, cliponaxis=False, hovertemplate=f"%{{y}}<br>%{{x:.{digits}f}}<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(
        x=medians[metric], y=medians["name"], mode="markers+text", text=[f"{median:.{digits}f}" for median in medians[metric]], textposition="top center",
        textfont={"color": _ink()},
        marker={"symbol": "line-ns", "size": 20, "line": {"width": 3, "color": [colour(str(ident)) for ident in medians["id"]]}}, showlegend=False,
        hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip
    names = medians["name"].tolist()
    broken = ["<br>".join(textwrap.wrap(name, 16, break_long_words=False)) for name in names]  # beside a narrow figure long names would be cut
    fig.update_yaxes(categoryorder="array", categoryarray=names[::-1], tickvals=names, ticktext=broken, title=None)
    low, high = points[metric].min(), points[metric].max()
    fig.update_xaxes(range=[low - 0.12 * (high - low) - 1e-3, high + 0.12 * (high - low) + 1e-3])
    return fig


def trade_off(curve: pd.DataFrame, name: str = "this run") -> go.Figure:
    """The lowest false negative rate of any attack, by false positive rate; below the line no test can go. curve: fpr, fnr."""
    fig = figure("false positives (you did not take part)", "false negatives (you did)", height=330)
    fig.add_scatter(
        x=curve["fpr"], y=curve["fnr"], fill="tozeroy", mode="lines", name=f"out of every attack's reach ({name})", line={"color": colour("dpals")},
        hovertemplate="at %{x:.1%} false alarms an attack misses at least %{y:.1%}<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(x=[0, 1], y=[1, 0], mode="lines", name="blind guessing", line={"color": _ink(), "dash": "dash"}, hoverinfo="skip")
    fig.update_xaxes(range=[0, 1], tickformat=".0%")
    fig.update_yaxes(range=[0, 1], tickformat=".0%")
    return fig


def _levels(fig: go.Figure, points: pd.DataFrame) -> None:
    """What does not depend on the x axis: a horizontal line at the median, dashed for a trivial predictor, named at the private end."""
    for name, rows in points.groupby("name", sort=False):
        trivial = rows["id"].iloc[0] in TRIVIAL
        median = rows["value"].median()
        tint = _ink() if trivial else colour("als")
        fig.add_hline(
            y=median, line={"dash": "dash" if trivial else "solid", "color": tint, "width": 1.5},
            annotation={"text": f"{name} {median:.3f}", "font": {"color": tint}}, annotation_position="top left",
        )  # fmt: skip


def _strokes(lines: pd.DataFrame) -> dict[tuple[str, bool], str]:
    """A dash for every line: dotted by the source's noise, dashed where trivial; lines of one algorithm differ."""
    turns: dict[str, int] = {}
    out = {}
    for name, ident, source in lines[["name", "id", "source"]].drop_duplicates().itertuples(index=False):
        turn = turns[ident] = turns.get(ident, -1) + (0 if source else 1)
        out[name, source] = "dash" if ident in TRIVIAL else "dot" if source else DASHES[turn % len(DASHES)]
    return out


def against(points: pd.DataFrame, x: str, metric: str, title: str) -> go.Figure:
    """A metric against x: every draw a faint mark, the median a line, lowest to highest draw a band. points: name, id, source, value and x; empty x: a level.

    The axis is logarithmic where the numbers span most of a power of ten, and names its values where they are no numbers.
    """
    fig = figure(title, metric, height=400 + 10 * max(0, points["name"].nunique() - 8))
    lines = points[points[x].notna()] if x in points else points.iloc[:0]
    numbers = pd.api.types.is_numeric_dtype(lines[x]) and not pd.api.types.is_bool_dtype(lines[x]) if x in lines else False
    if x in lines and not numbers:
        lines = lines.assign(**{x: lines[x].map(str)})
    strokes = _strokes(lines)
    for (name, ident, source), rows in lines.groupby(["name", "id", "source"], sort=False):
        _line(fig, rows, x, (str(name), str(ident)), strokes[str(name), bool(source)])
    _levels(fig, points[points[x].isna()] if x in points else points)
    if not numbers:
        fig.update_xaxes(type="category")
    elif lines[x].min() > 0 and (x in ("epsilon", "users") or lines[x].max() >= SPAN * lines[x].min()):
        marks = TICKS if x == "epsilon" else sorted(lines[x].unique())
        fig.update_xaxes(type="log", tickvals=marks, ticktext=[f"{mark:,g}" for mark in marks])
    return fig


def _line(fig: go.Figure, rows: pd.DataFrame, x: str, who: tuple[str, str], dash: str) -> None:
    """One method's band, draws and medians."""
    (name, ident), draws = who, rows.groupby(x)["value"]
    tint, symbol, at = colour(ident), SYMBOLS.get(ident, "circle"), draws.median()
    band = pd.concat([draws.max(), draws.min()[::-1]])
    fig.add_scatter(x=band.index, y=band, fill="toself", mode="none", fillcolor=tint, opacity=0.15, showlegend=False, hoverinfo="skip", legendgroup=name)
    fig.add_scatter(
        x=rows[x], y=rows["value"], mode="markers", marker={"color": tint, "size": 6, "opacity": 0.35, "symbol": symbol}, showlegend=False,
        hoverinfo="skip", legendgroup=name,
    )  # fmt: skip
    fig.add_scatter(
        x=at.index, y=at, name=name, mode="lines+markers", line={"color": tint, "width": 2.5, "dash": dash}, marker={"symbol": symbol, "size": 7},
        legendgroup=name, hovertemplate=f"{name}<br>%{{x}}: %{{y:.3f}}<extra></extra>",
    )  # fmt: skip


def heat(points: pd.DataFrame, x: str, y: str, metric: str, titles: tuple[str, str]) -> go.Figure:
    """The median metric over two parameters; titles of x and y. Darker is a smaller value."""
    table = points.pivot_table(index=y, columns=x, values="value", aggfunc="median")
    fig = figure(*titles, height=340)
    across, up = ([f"{value:g}" if isinstance(value, float) else str(value) for value in axis] for axis in (table.columns, table.index))
    fig.add_heatmap(
        z=table.to_numpy(), x=across, y=up, colorscale="Cividis",
        texttemplate="%{z:.3f}", colorbar={"title": {"text": metric}}, hovertemplate=f"{titles[0]} %{{x}}, {titles[1]} %{{y}}: %{{z:.3f}}<extra></extra>",
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
            line={"color": colour(str(ident)), "dash": "dash" if ident in TRIVIAL else "solid", "width": 1.5 if plain else 2.5},
            hovertemplate=f"{name}<br>%{{x}}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    return fig


def published(fig: go.Figure, marks: Sequence[Mark]) -> None:
    """Published numbers as crosses, in the colour of the line of their name; one that stands at no place of the axis is a dotted level."""
    tints = {trace.name: trace.line.color for trace in fig.data if trace.name and trace.line.color}
    for mark in marks:
        if mark.x is None:
            named = {"text": f"{mark.label} {mark.y:g}, published", "font": {"color": _ink()}}
            fig.add_hline(y=mark.y, line={"dash": "dot", "color": _ink(), "width": 1.5}, annotation=named, annotation_position="bottom right")
    for place, mark in enumerate(it for it in marks if it.x is not None):
        fig.add_scatter(
            x=[mark.x], y=[mark.y], mode="markers", marker={"symbol": "x", "size": 11, "color": tints.get(mark.label, colour("als"))}, name="published",
            legendgroup="published", showlegend=place == 0, hovertemplate=f"{mark.label}: {mark.y:g}<br>{mark.source}<extra></extra>",
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


def words(bars: pd.DataFrame) -> go.Figure:
    """A topic's heaviest words beside those of its partner. bars: word, name, id, weight."""
    fig = figure("weight", "", height=80 + 24 * bars["word"].nunique(), barmode="group")
    for (name, ident), rows in bars.groupby(["name", "id"], sort=False):
        fig.add_bar(
            y=rows["word"], x=rows["weight"], name=name, orientation="h", marker={"color": colour(str(ident))}, hovertemplate="%{y}: %{x:.2f}<extra></extra>"
        )
    fig.update_yaxes(categoryorder="array", categoryarray=list(dict.fromkeys(bars["word"]))[::-1], title=None)
    return fig
