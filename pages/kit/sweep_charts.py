"""Figures of a sweep, and the frames that they draw: a metric against epsilon or a parameter."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dpmf_core import algorithms
from dpmf_core.papers.figures import Mark
from dpmf_core.runs.conclusions import Reference, ReferenceLine, share_text
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.measurements import is_reference, is_trivial
from dpmf_core.runs.record import Run
from pages.kit import colours
from pages.kit.charts import SILENT, figure, level, reference_line

DASHES = ("solid", "dash", "dashdot", "longdash")
SPAN = 8  # ratio of largest to smallest value from which an axis is logarithmic
TICKS = [0.1, 0.3, 1, 3, 10, 30, 100]
# ends the label of a method with its source's noise
SOURCE_SUFFIX = ", source's noise"
PLACE = ("name", "id", "source", "epsilon", "seed", "value")  # columns of every frame of draws
Runs = dict[str, Run]
# one run's curves: its line's name, the method of its colour, draw, run, and names by key of a step
Curves = tuple[str, str, int, Run, Mapping[str, str]]


def parameter(name: str, ids: Iterable[str]) -> str:
    """Return a parameter's title, from the first of these algorithms that declares it."""
    for ident in ids:
        info = algorithms.find(ident).model_fields.get(name)
        if info is not None and info.title:
            return info.title
    return name.replace("_", " ")


def place(grid: dict[str, Any], ids: Sequence[str] = ()) -> str:
    """Return a point of the grid in words, such as "rank r 4, steps T 2"."""
    return ", ".join(
        f"{value:,} users" if name == "users" else f"{parameter(name, ids)} {value_text(value)}"
        for name, value in grid.items()
    )


def value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def frame(judgement: Judgement, *, of_shares: bool = False) -> pd.DataFrame:
    """Return every draw as a row: name, id, source, epsilon, seed, value and the grid's parameters.

    source: whether the noise is set by the source's rule. of_shares: whether the value is the share
    kept instead of the metric; methods without a share are left out.
    """
    rows = []
    for one in judgement.measured:
        shown_figure = judgement.shares(one) if of_shares else one
        if shown_figure is None:
            continue
        by_source = one.label.endswith(SOURCE_SUFFIX)
        note = "" if by_source or not one.caution else f" ({one.caution})"
        where = {
            "name": f"{one.label}{note}",
            "id": one.algorithm,
            "source": by_source,
            "epsilon": one.epsilon,
        }
        seeds = shown_figure.seeds or (None,) * len(shown_figure.draws)
        for seed, value in zip(seeds, shown_figure.draws, strict=True):
            rows.append(where | {"seed": seed, "value": value} | dict(one.grid))
    return draws_frame(rows, (name for one in judgement.measured for name in one.grid))


def draws_frame(rows: Sequence[Mapping[str, Any]], grid: Iterable[str]) -> pd.DataFrame:
    """Return draws as a frame with the columns of `PLACE` and of the grid, also without rows."""
    frame = pd.DataFrame(rows, columns=list(dict.fromkeys((*PLACE, *grid))))
    return frame.astype({"epsilon": float, "value": float})


def curve_frame(curves: Iterable[Curves], metric: str = "rmse") -> pd.DataFrame:
    """Return a row for every step: name, id, draw, step, part and the metric."""
    rows = [
        (name, method_id, draw, int(step), part, point[key])
        for name, method_id, draw, run, parts in curves
        for key, part in parts.items()
        for point in run.record.curves
        if point.get(key) is not None and (step := point.get("step")) is not None
    ]
    return pd.DataFrame(rows, columns=["name", "id", "draw", "step", "part", metric])


# ---- figures -------------------------------------------------------------------------------------


def against(
    points: pd.DataFrame,
    x: str,
    quantity: str,
    title: str,
    *,
    logs: bool = False,
    of_shares: bool = False,
) -> go.Figure:
    """Return a figure of a quantity against x: draws, medians and ranges.

    points: name, id, source, value and x; rows without x become levels. logs: of the quantity.
    of_shares: whether the quantity is a share. The axis of x is logarithmic if its values span most
    of a power of ten, and categorical if they are no numbers. Lines with the source's noise are
    dotted, trivial predictors dashed.
    """
    height = 400 + 10 * max(0, points["name"].nunique() - 8)
    fig = figure(title, quantity, height=height, yaxis={"type": "log"} if logs else {})
    lines = points[points[x].notna()] if x in points else points.iloc[:0]
    numbers = x in lines and (
        pd.api.types.is_numeric_dtype(lines[x]) and not pd.api.types.is_bool_dtype(lines[x])
    )
    if x in lines and not numbers:
        lines = lines.assign(**{x: lines[x].map(str)})
    turns = Counter[str]()  # lines of one algorithm differ
    for (name, method, source), rows in lines.groupby(["name", "id", "source"], sort=False):
        ident = str(method)
        own = "dot" if source else DASHES[turns[ident] % len(DASHES)]
        turns[ident] += not source
        _line(fig, rows, x, (str(name), ident), "dash" if is_trivial(ident) else own)
    _levels(fig, points, x, of_shares)
    if of_shares:
        fig.update_yaxes(tickformat=".0%", hoverformat=".0%")
    else:
        fig.update_yaxes(hoverformat=".3f")
    if not numbers:
        fig.update_xaxes(type="category")
    elif lines[x].min() > 0 and (
        x in ("epsilon", "users") or lines[x].max() >= SPAN * lines[x].min()
    ):
        marks = TICKS if x == "epsilon" else sorted(lines[x].unique())
        fig.update_xaxes(type="log", tickvals=marks, ticktext=[f"{it:,g}" for it in marks])
    return fig


def _levels(fig: go.Figure, points: pd.DataFrame, x: str, of_shares: bool) -> None:
    """Draw medians that do not depend on x as horizontal lines.

    A level of a method that has a line too is known by its colour, and has no label.
    """
    middle = points["value"].median()
    depends = points[x].notna() if x in points else pd.Series(False, points.index)
    levels, lines = points[~depends], set(points["id"][depends])
    for name, rows in levels.groupby("name", sort=False):
        ident, median = rows["id"].iloc[0], rows["value"].median()
        figure_text = share_text(median) if of_shares else f"{median:.3f}"
        reference, which = _reference(ident), ""
        if x == "epsilon" and reference is Reference.BEST_KNOWN:
            which = " without privacy"
        label = "" if ident in lines else f"{name}{which} {figure_text}"
        line = ReferenceLine(reference, median, label)
        reference_line(fig, line, colours.of(ident), above=median >= middle)


def _reference(method: str) -> Reference:
    if is_trivial(method):
        return Reference.FLOOR
    return Reference.BEST_KNOWN if is_reference(method) else Reference.WITHOUT_NOISE


def _line(fig: go.Figure, rows: pd.DataFrame, x: str, who: tuple[str, str], dash: str) -> None:
    (name, ident), draws = who, rows.groupby(x)["value"]
    tint, symbol, at = colours.of(ident), colours.marker(ident), draws.median()
    band = pd.concat([draws.max(), draws.min()[::-1]])
    look = {"fillcolor": tint, "opacity": 0.15, **SILENT}
    fig.add_scatter(x=band.index, y=band, fill="toself", mode="none", **look)
    marks = {"color": tint, "size": 6, "opacity": 0.35, "symbol": symbol}
    fig.add_scatter(x=rows[x], y=rows["value"], mode="markers", marker=marks, **SILENT)
    fig.add_scatter(
        x=at.index,
        y=at,
        name=name,
        mode="lines+markers",
        line={"color": tint, "width": 2.5, "dash": dash},
        marker={"symbol": symbol, "size": 7},
        hovertemplate=f"{name}<br>%{{x}}: %{{y}}<extra></extra>",
    )


def add_published(fig: go.Figure, marks: Sequence[Mark]) -> None:
    """Draw published numbers as crosses in the colour of their line, or as levels without x.

    Those that a reader digitised are hollow circles.
    """
    tints = {trace.name: trace.line.color for trace in fig.data if trace.name and trace.line.color}
    for mark in marks:
        if mark.x is None:
            line = {"dash": "dot", "color": colours.ink(), "width": 1.5}
            text = f"{mark.label} {mark.y:g}, {'digitised' if mark.is_digitised else 'published'}"
            level(fig, mark.y, text, line, above=False)
    for mark in (it for it in marks if it.x is not None):
        tint = tints.get(mark.label, colours.of("als"))
        symbol = "circle-open" if mark.is_digitised else "x"
        fig.add_scatter(
            x=[mark.x],
            y=[mark.y],
            mode="markers",
            marker={"symbol": symbol, "size": 11, "color": tint},
            showlegend=False,
            hovertemplate=f"{mark.label}: {mark.y:g}<br>{mark.source}<extra></extra>",
        )
