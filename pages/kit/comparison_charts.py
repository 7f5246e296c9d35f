"""Figures of a comparison: error by step, and every method with its draws."""

import statistics
import textwrap

import pandas as pd
import plotly.graph_objects as go

from dpmf_core.evaluation.registry import METRICS
from pages.kit import colours
from pages.kit.charts import figure, level

Line = tuple[list[int | None], list[float | None]]  # x and y, with gaps


def steps(
    curves: pd.DataFrame,
    trivial: float | None,
    metric: str = "rmse",
    guess: str = "guessing the mean",
) -> go.Figure:
    """Held-out (solid) and train (dotted) error by step. curves: name, id, draw, step, part and
    the metric; draws other than 0 are faint.
    """
    fig = figure(
        "step",
        METRICS[metric].title,
        xaxis={"dtick": 1} if curves["step"].max() <= 12 else {},
    )
    for (name, ident, part, main), (x, y) in _join_draws(curves, metric).items():
        label = f"{name}, {part}"
        fig.add_scatter(
            x=x,
            y=y,
            name=label,
            showlegend=main,
            mode="lines+markers" if main else "lines",
            opacity=1.0 if main else 0.35,
            line={
                "color": colours.of(ident),
                "dash": "dot" if part == "train" else "solid",
                "width": 2.5 if main else 1,
            },
            hovertemplate=f"{label}<br>step %{{x}}: %{{y:.3f}}" + "<extra></extra>",
        )
    if trivial is not None:
        words = f"{guess}: {trivial:.3f}"
        level(fig, trivial, words, {"dash": "dash", "color": colours.ink()})
    return fig


def _join_draws(curves: pd.DataFrame, metric: str) -> dict[tuple[str, str, str, bool], Line]:
    """The draws of each line, by name, id, part and whether it is draw 0.

    The draws beside 0 are one line with gaps: a trace costs a page more than its points.
    """
    lines: dict[tuple[str, str, str, bool], Line] = {}
    before = None
    columns = ("name", "id", "part", "draw", "step", metric)
    for name, ident, part, draw, step, value in zip(
        *(curves[column].tolist() for column in columns), strict=True
    ):
        x, y = lines.setdefault((str(name), str(ident), str(part), draw == 0), ([], []))
        if x and (name, part, draw) != before:
            x.append(None)
            y.append(None)
        before = (name, part, draw)
        x.append(step)
        y.append(value)
    return lines


def _medians(points: pd.DataFrame, metric: str) -> list[tuple[float, str, str]]:
    """The median, the name and the colour of each method, lowest first."""
    draws: dict[tuple[str, str], list[float]] = {}
    for name, ident, value in zip(points["name"], points["id"], points[metric], strict=True):
        draws.setdefault((name, ident), []).append(value)
    return sorted(
        (statistics.median(values), name, colours.of(ident))
        for (name, ident), values in draws.items()
    )


def ladder(points: pd.DataFrame, metric: str = "rmse") -> go.Figure:
    """One row a method, each draw a dot, the median a bar. points: name, id, draw, the metric."""
    kind, values = METRICS[metric], points[metric].tolist()
    medians = _medians(points, metric)
    names = [name for _, name, _ in medians]
    # beside a narrow figure long names would be cut
    labels = ["<br>".join(textwrap.wrap(name, 16, break_long_words=False)) for name in names]
    low, high = min(values), max(values)
    fig = figure(
        kind.title,
        "",
        height=60 + 46 * len(names),
        xaxis={"range": [low - 0.12 * (high - low) - 1e-3, high + 0.12 * (high - low) + 1e-3]},
        yaxis={
            "categoryorder": "array",
            "categoryarray": names[::-1],
            "tickvals": names,
            "ticktext": labels,
            "title": None,
        },
    )
    fig.add_scatter(
        x=values,
        y=points["name"].tolist(),
        mode="markers",
        marker={"color": [colours.of(ident) for ident in points["id"]], "size": 9, "opacity": 0.45},
        showlegend=False,
        cliponaxis=False,
        hovertemplate=f"%{{y}}<br>%{{x:.{kind.digits}f}}<extra></extra>",
    )
    fig.add_scatter(
        x=[median for median, _, _ in medians],
        y=names,
        mode="markers+text",
        text=[kind.text(median) for median, _, _ in medians],
        textposition="top center",
        textfont={"color": colours.ink()},
        marker={
            "symbol": "line-ns",
            "size": 20,
            "line": {"width": 3, "color": [tint for _, _, tint in medians]},
        },
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
    )
    return fig
