"""Figures of a sweep, and the frames that they draw: a metric against epsilon or a parameter."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from dpmf_core import algorithms
from dpmf_core.papers.figures import Mark
from dpmf_core.runs.conclusions import (
    Reference,
    ReferenceLine,
    reference_lines,
    share_text,
)
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.measurements import Measured, is_reference, is_trivial
from dpmf_core.runs.record import Run
from pages.kit.figures import colours
from pages.kit.figures.charts import (
    LOWEST_SHARE,
    band,
    figure,
    level,
    log_axis,
    reference_line,
)

DASHES = ("solid", "dash", "dashdot", "longdash")
SPAN = 8  # ratio of largest to smallest value from which an axis is logarithmic
TICKS = [0.1, 0.3, 1, 3, 10, 30, 100]
# ends the label of a method with its source's noise
SOURCE_SUFFIX = ", source's noise"
# columns of every frame of draws
PLACE = ["name", "id", "source", "epsilon", "seed", "value"]
# one run's curves: its line's name, the method of its colour, draw, run, and names by key of a step
Curves = tuple[str, str, int, Run, Mapping[str, str]]


def parameter(name: str, ids: Iterable[str]) -> str:
    """A parameter's title, from the first of these algorithms that declares it."""
    for ident in ids:
        info = algorithms.find(ident).model_fields.get(name)
        if info is not None and info.title:
            return info.title
    return name.replace("_", " ")


def place(grid: dict[str, Any], ids: Sequence[str] = ()) -> str:
    """A point of the grid in words, such as "rank r 4, steps T 2"."""
    settings = []
    for name, value in grid.items():
        if name == "users":
            settings.append(f"{value:,} users")
        else:
            settings.append(f"{parameter(name, ids)} {value_text(value)}")
    return ", ".join(settings)


def value_text(value: Any) -> str:
    if isinstance(value, bool):
        if value:
            return "on"
        return "off"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def frame(judgement: Judgement, *, of_shares: bool = False) -> pd.DataFrame:
    """Every draw as a row: name, id, source, epsilon, seed, value and the grid's parameters.

    The column `source` says whether the noise is set by the source's rule.

    Parameters
    ----------
    judgement
        The measured methods.
    of_shares
        Whether the value is the share kept instead of the metric. Methods without a share are then
        left out.

    Returns
    -------
    DataFrame
        One row per draw.
    """
    lines = []
    for one in judgement.measured:
        name = one.label
        if one.caution and not name.endswith(SOURCE_SUFFIX):
            name += f" ({one.caution})"
        figures = judgement.shares(one) if of_shares else one
        if figures is not None:
            lines.append((name, figures))
    return draws_frame(lines)


def draws_frame(lines: Iterable[tuple[str, Measured]]) -> pd.DataFrame:
    """Draws as a frame with the columns of `PLACE` and of the grid, also without rows.

    Parameters
    ----------
    lines
        The figures at each place, with the name of their line.
    """
    rows = [
        {
            "name": name,
            "id": one.algorithm,
            "source": one.label.endswith(SOURCE_SUFFIX),
            "epsilon": one.epsilon,
            "seed": seed,
            "value": value,
            **one.grid,
        }
        for name, one in lines
        for seed, value in zip_longest(one.seeds, one.draws)
    ]
    frame = pd.DataFrame(rows, columns=None if rows else PLACE)
    return frame.astype({"epsilon": float, "value": float})


def curve_frame(curves: Iterable[Curves], metric: str) -> pd.DataFrame:
    """A row for every step: name, id, draw, step, part and the metric."""
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
    """A figure of a quantity against x: draws, medians and ranges.

    The axis of x is logarithmic if its values span most of a power of ten. It is categorical if
    they are not numbers. Lines with the source's noise are dotted, and trivial predictors are
    dashed.

    Parameters
    ----------
    points
        The columns name, id, source, value and x. Rows without x become levels.
    x
        The column of the horizontal axis.
    quantity
        The name of the vertical axis.
    title
        The title of the figure.
    logs
        Whether the axis of the quantity is logarithmic.
    of_shares
        Whether the quantity is a share.

    Returns
    -------
    Figure
        The figure.
    """
    height = 400 + 10 * max(0, points["name"].nunique() - 8)
    fig = figure(title, quantity, height=height)
    if logs:
        fig.update_yaxes(type="log")
    if of_shares:
        fig.update_yaxes(hoverformat=".0%")
    else:
        fig.update_yaxes(hoverformat=".3f")
    if x not in points:
        points = points.assign(**{x: None})  # all are levels
    depends = points[x].notna()
    lines = points[depends]
    kind = lines[x].dtype
    if is_numeric_dtype(kind) and not is_bool_dtype(kind):
        _scale_axis(fig, x, lines[x])
    else:
        lines = lines.assign(**{x: lines[x].map(str)})
        fig.update_xaxes(type="category")
    _lines(fig, lines, x)
    _levels(fig, points, depends, x, of_shares)
    return fig


def _scale_axis(fig: go.Figure, x: str, values: "pd.Series[Any]") -> None:
    """Make the axis of x logarithmic if that suits these numbers."""
    is_wide = x in ("epsilon", "users") or values.max() >= SPAN * values.min()
    if values.min() > 0 and is_wide:
        marks = TICKS if x == "epsilon" else sorted(values.unique())
        fig.update_xaxes(log_axis(marks))


def _lines(fig: go.Figure, points: pd.DataFrame, x: str) -> None:
    """Draw a line for each method; several of one algorithm differ in their dashes."""
    turns = Counter[str]()
    for (name, method, source), rows in points.groupby(
        ["name", "id", "source"], sort=False
    ):
        ident = str(method)
        if is_trivial(ident):
            dash = "dash"
        elif source:
            dash = "dot"
        else:
            dash = DASHES[turns[ident] % len(DASHES)]
        if not source:
            turns[ident] += 1
        _line(fig, rows, x, str(name), ident, dash)


def _levels(
    fig: go.Figure,
    points: pd.DataFrame,
    depends: "pd.Series[Any]",
    x: str,
    of_shares: bool,
) -> None:
    """Draw medians that do not depend on x as horizontal lines; `depends` marks points that do.

    If a method also has a line, its level is known by its colour and has no label.
    """
    middle = points["value"].median()
    with_line = set(points["id"][depends])
    for name, rows in points[~depends].groupby("name", sort=False):
        ident = rows["id"].iloc[0]
        median = rows["value"].median()
        reference = _reference(ident)
        label = ""
        if ident not in with_line:
            which = ""
            if x == "epsilon" and reference is Reference.BEST_KNOWN:
                which = " without privacy"
            if of_shares:
                figure_text = share_text(median)
            else:
                figure_text = f"{median:.3f}"
            label = f"{name}{which} {figure_text}"
        reference_line(
            fig,
            ReferenceLine(reference, median, label),
            colours.of(ident),
            above=median >= middle,
        )


def _reference(method: str) -> Reference:
    if is_trivial(method):
        return Reference.FLOOR
    if is_reference(method):
        return Reference.BEST_KNOWN
    return Reference.WITHOUT_NOISE


def _line(
    fig: go.Figure, rows: pd.DataFrame, x: str, name: str, ident: str, dash: str
) -> None:
    """Draw a method's range as a band, its draws as dots and its medians as a line."""
    tint = colours.of(ident)
    symbol = colours.marker(ident)
    draws = rows.groupby(x)["value"]
    medians = draws.median()
    band(fig, medians.index.tolist(), draws.min().tolist(), draws.max().tolist(), tint)
    fig.add_scatter(
        x=rows[x],
        y=rows["value"],
        mode="markers",
        marker={"color": tint, "size": 6, "opacity": 0.35, "symbol": symbol},
        showlegend=False,
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=medians.index,
        y=medians,
        name=name,
        mode="lines+markers",
        line={"color": tint, "width": 2.5, "dash": dash},
        marker={"symbol": symbol, "size": 7},
        hovertemplate=f"{name}<br>%{{x}}: %{{y}}<extra></extra>",
    )


def add_ends(
    fig: go.Figure, judgement: Judgement, one: Measured | None, *, of_shares: bool
) -> None:
    """Draw the best known method without privacy and the floor, and a method without noise.

    An axis of shares is then in percent, and starts at `LOWEST_SHARE` or above.

    Parameters
    ----------
    one
        The figures of the method; None for none.
    of_shares
        Whether the figure shows shares.
    """
    is_up = of_shares or bool(judgement.metric.larger_is_better)
    colour = colours.of(one.algorithm) if one else ""
    for line in reference_lines(judgement, one, of_shares=of_shares):
        is_floor = line.reference is Reference.FLOOR
        reference_line(fig, line, colour, above=is_up != is_floor)
    if of_shares:
        fig.update_yaxes(tickformat=".0%", autorangeoptions={"clipmin": LOWEST_SHARE})


def add_published(fig: go.Figure, marks: Sequence[Mark]) -> None:
    """Draw published numbers as crosses in the colour of their line, or as levels without x.

    Numbers that a reader digitised are hollow circles.
    """
    tints = {
        trace.name: trace.line.color
        for trace in fig.data
        if trace.name and trace.line.color
    }
    for mark in marks:
        origin = "published"
        symbol = "x"
        if mark.is_digitised:
            origin = "digitised"
            symbol = "circle-open"
        if mark.x is None:
            level(
                fig,
                mark.y,
                f"{mark.label} {mark.y:g}, {origin}",
                {"dash": "dot", "color": colours.ink(), "width": 1.5},
                above=False,
            )
            continue
        tint = tints.get(mark.label, colours.of("als"))
        fig.add_scatter(
            x=[mark.x],
            y=[mark.y],
            mode="markers",
            marker={"symbol": symbol, "size": 11, "color": tint},
            showlegend=False,
            hovertemplate=f"{mark.label}: {mark.y:g}<br>{mark.source}<extra></extra>",
        )
