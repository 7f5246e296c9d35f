"""Line charts as SVG, which reports and browsers show without further libraries."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpmf_core.base.documents import render

TINTS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
PALE = "#8b93a1"
WIDTH = 760
HEIGHT = 340
LEFT = 56
RIGHT = 190
EDGE = 34
MOST_TICKS = 12
DASHES = {"solid": "none", "dash": "8 6", "dot": "2 5"}
ChartPoint = tuple[float, float]
Points = Sequence[ChartPoint]


def line_chart(
    lines: Mapping[str, Points],
    across: str,
    title: str,
    *,
    log: bool = False,
    best: str | None = None,
    dot: ChartPoint | None = None,
    dashes: Mapping[str, str] | None = None,
    text: Callable[[float], str] = "{:.3f}".format,
) -> str:
    """Draw a line for each name, as SVG.

    Parameters
    ----------
    lines
        Points (x, y) by name; at least one point in all.
    across
        The name of the x axis.
    title
        The title of the chart.
    log
        Whether x is on a logarithmic scale. It must then be above 0.
    best
        The line that stands out; the others are grey. None gives each line its own colour.
    dot
        A point to mark.
    dashes
        "solid", "dash" or "dot", by the name of a line. Lines without an entry are solid.
    text
        A value of y in words.

    Returns
    -------
    str
        The SVG.
    """
    frame = _Frame.of([point for line in lines.values() for point in line], log, text)
    heights = _apart(
        {name: frame.down(line[-1][1]) + 4 for name, line in lines.items()}
    )
    polylines = [
        {
            "name": name,
            "name_y": f"{heights[name]:.1f}",
            "points": frame.place(line),
            "dashes": DASHES[(dashes or {}).get(name, "solid")],
            **_stroke(number, name, best),
        }
        for number, (name, line) in enumerate(lines.items())
    ]
    if dot:
        mark = {"name": "", "points": frame.place([dot]), "dashes": "none"}
        polylines.append({**mark, "tint": TINTS[0], "width": 14})
    return render(
        "chart.svg",
        title=title,
        size=(WIDTH, HEIGHT),
        lines=polylines,
        name_x=WIDTH - RIGHT + 8,
        marks=[
            *frame.marks(),
            ((WIDTH - RIGHT + LEFT) / 2, HEIGHT - 2, "middle", across),
        ],
    )


def _stroke(number: int, name: str, best: str | None) -> dict[str, Any]:
    """The colour and the width of a line. The best one stands out, if there is one."""
    if best is None:
        return {"tint": TINTS[number % len(TINTS)], "width": 2.5}
    if name == best:
        return {"tint": TINTS[0], "width": 4}
    return {"tint": PALE, "width": 1.2}


@dataclass(frozen=True)
class _Frame:
    """The positions of points on the drawing."""

    xs: Sequence[float]
    low: float
    high: float
    scale: Callable[[float], float]
    text: Callable[[float], str]

    @classmethod
    def of(cls, points: Points, log: bool, text: Callable[[float], str]) -> "_Frame":
        ys = [y for _, y in points]
        xs = sorted({x for x, _ in points})
        return cls(xs, min(ys), max(ys), math.log if log else float, text)

    def right(self, x: float) -> float:
        first = self.scale(self.xs[0])
        last = self.scale(self.xs[-1])
        share = (self.scale(x) - first) / max(last - first, 1e-12)
        return LEFT + (WIDTH - LEFT - RIGHT) * share

    def down(self, y: float) -> float:
        share = (y - self.low) / max(self.high - self.low, 1e-12)
        return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share

    def place(self, points: Points) -> str:
        places = [f"{self.right(x):.1f},{self.down(y):.1f}" for x, y in points]
        # one point: a round dot
        return " ".join(places * 2 if len(places) == 1 else places)

    def marks(self) -> list[tuple[object, ...]]:
        """The labels of the axes: x, y, anchor, text."""
        if len(self.xs) <= MOST_TICKS:
            ticks = self.xs
        else:
            ticks = (self.xs[0], self.xs[-1])
        below = [
            (f"{self.right(x):.1f}", HEIGHT - 18, "middle", f"{x:g}") for x in ticks
        ]
        ends = [
            (4, f"{self.down(y) + 4:.1f}", "start", self.text(y))
            for y in (self.low, self.high)
        ]
        return [*below, *ends]


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """The heights of names, moved apart where they would touch."""
    places = {}
    last = -math.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        places[name] = last = max(height, last + 14)
    return places
