"""Names of lines at their ends, in place of a legend."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import plotly.graph_objects as go

from pages.kit import colours

MOST = 9  # lines; a legend holds more
LETTERS = 15  # of a label's line
LINE, WIDTH = 15, 6.4  # pixels of a line of text, and of a letter
AROUND = 60  # pixels of a figure's height above and below its axes


@dataclass(frozen=True)
class _End:
    """Where a line ends: its place on the y axis (of a logarithmic one, the logarithm) and its
    label.
    """

    at: float
    rows: tuple[str, ...]
    colour: str


def place(fig: go.Figure) -> go.Figure:
    """The figure with every line's name at its right end, one above the other where lines meet,
    and every filled curve's name at its top.

    A figure of many lines keeps its legend.
    """
    traces = [it for it in fig.data if getattr(it, "showlegend", False) is not False]
    traces = [it for it in traces if it.name and _line_values(it, _is_log(fig))]
    if not 0 < len(traces) <= MOST:
        return fig
    areas = [it for it in traces if it.fill]
    _name_areas(fig, areas)
    _name_ends(fig, [it for it in traces if it not in areas])
    for it in traces:
        it.showlegend = False
    return fig


def _name_ends(fig: go.Figure, lines: Sequence[Any]) -> None:
    """Names at the right ends of lines, and the margin that they need."""
    ends = sorted((_end(it, _is_log(fig)) for it in lines), key=lambda end: end.at)
    if not ends:
        return
    low, high = _span(fig)
    pixels = (fig.layout.height - AROUND) / (high - low or 1.0)
    heights = _apart([(it.at - low) * pixels for it in ends], [len(it.rows) * LINE for it in ends])
    for end, height in zip(ends, heights, strict=True):
        _annotate(fig, end, height - (end.at - low) * pixels)
    longest = max(len(row) for end in ends for row in end.rows)
    fig.layout.margin.r = max(fig.layout.margin.r or 0, int(longest * WIDTH) + 26)


def _name_areas(fig: go.Figure, areas: Sequence[Any]) -> None:
    """Names at the tops of filled curves: the leftmost beside its top to the left, the rightmost
    to the right, so that two that nearly coincide do not hide each other's.
    """
    tops = sorted(((_top(it), it) for it in areas), key=lambda pair: pair[0])
    for number, ((x, y), area) in enumerate(tops):
        side = {"xanchor": "right" if number < len(tops) / 2 else "left"} if len(tops) > 1 else {}
        fig.add_annotation(
            x=x,
            y=math.log10(y) if _is_log(fig) else y,
            yanchor="bottom",
            **side,
            text=area.name,
            font={"color": area.line.color or colours.ink(), "size": 13},
            showarrow=False,
        )


def _top(area: Any) -> tuple[float, float]:
    """Where a curve is highest: x and y."""
    y, x = max(zip(area.y, area.x, strict=True))
    return float(x), float(y)


def _annotate(fig: go.Figure, end: _End, shift: float) -> None:
    mark = f'<span style="color:{end.colour}">━</span> '
    fig.add_annotation(
        x=1,
        xref="x domain",
        xanchor="left",
        y=end.at,
        yshift=shift,
        align="left",
        showarrow=False,
        text=mark + "<br>".join(end.rows),
        font={"color": colours.ink(), "size": 12},
    )


def note(
    fig: go.Figure,
    text: str,
    at: tuple[float, float],
    aside: tuple[float, float],
    arrow: bool = False,
) -> None:
    """Words at a place of a figure, which name what is drawn there.

    at: on the axes, of a logarithmic one the logarithm. aside: how far the words stand to the
    right of it and above, in pixels; without an arrow they begin there, unless that is nowhere.
    """
    right, up = aside
    common = {"x": at[0], "y": at[1], "text": text, "font": {"color": colours.text(), "size": 12}}
    if arrow:
        fig.add_annotation(
            **common, ax=right, ay=-up, arrowcolor=colours.ink(), arrowwidth=1, arrowhead=2
        )
        return
    starts = {"xanchor": "left", "yanchor": "bottom"} if any(aside) else {}
    fig.add_annotation(**common, **starts, xshift=right, yshift=up, showarrow=False)


def _is_log(fig: go.Figure) -> bool:
    return bool(fig.layout.yaxis.type == "log")


def _line_values(trace: Any, log: bool) -> list[float]:
    """The y values of a line that can be drawn; none of another trace."""
    if "lines" not in (getattr(trace, "mode", None) or "") or trace.y is None:
        return []
    values = [float(y) for y in trace.y if y is not None and math.isfinite(y)]
    return [y for y in values if y > 0] if log else values


def _end(trace: Any, log: bool) -> _End:
    last = _line_values(trace, log)[-1]
    rows = tuple(textwrap.wrap(str(trace.name), LETTERS, break_long_words=False)) or ("",)
    return _End(math.log10(last) if log else last, rows, str(trace.line.color or colours.ink()))


def _values(fig: go.Figure) -> Iterator[float]:
    for trace in fig.data:
        if getattr(trace, "y", None) is not None:
            yield from (float(y) for y in trace.y if isinstance(y, Real))
    yield from (float(shape.y0) for shape in fig.layout.shapes if shape.yref in (None, "y"))


def _span(fig: go.Figure) -> tuple[float, float]:
    """The ends of the y axis as it will be drawn, about."""
    if (axis_range := fig.layout.yaxis.range) is not None:
        return float(axis_range[0]), float(axis_range[1])
    values = [it for it in _values(fig) if math.isfinite(it)]
    if _is_log(fig):
        values = [math.log10(it) for it in values if it > 0]
    return min(values), max(values)


def _apart(targets: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Places in ascending order, near those wanted, so that labels of these heights do not
    overlap: overlapping ones are put together around their common middle.
    """
    blocks: list[tuple[float, float, list[int]]] = []  # middle, height, members
    for index, (middle, height) in enumerate(zip(targets, heights, strict=True)):
        block = (middle, height, [index])
        while blocks and blocks[-1][0] + blocks[-1][1] / 2 > block[0] - block[1] / 2:
            before = blocks.pop()
            members = before[2] + block[2]
            block = (sum(targets[i] for i in members) / len(members), before[1] + block[1], members)
        blocks.append(block)
    places = [0.0] * len(targets)
    for middle, height, members in blocks:
        bottom = middle - height / 2
        for index in members:
            places[index] = bottom + heights[index] / 2
            bottom += heights[index]
    return places
