"""Figures of all pages, with a description for screen readers and their numbers below."""

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import plotly.io
import streamlit as st

from dpmf_core.runs.conclusions import Reference, ReferenceLine
from dpmf_core.runs.record import Run
from pages.kit.base import data_sets, safe_text
from pages.kit.figures import colours

# Streamlit has its own; applying plotly's takes longer than drawing the figure
plotly.io.templates.default = None

PlotlySettings = Mapping[str, Any]
NONE: PlotlySettings = MappingProxyType({})
MOST_LINES = 9  # of a legend on the right
LETTERS = 16  # in a row of that legend
CACHE_SIZE = 200  # figures in memory
# the lowest share on an axis: below it a method is far worse than no model
LOWEST_SHARE = -0.5
LABEL = 0.8  # opacity behind words, which lines may cross
ROOMY = 0.3  # error rate on the diagonal above which words fit below the curve


def figure(
    x: str,
    y: str,
    height: int = 340,
    xaxis: PlotlySettings = NONE,
    yaxis: PlotlySettings = NONE,
    **layout: Any,
) -> go.Figure:
    """An empty figure with titled axes that keeps its zoom over reruns.

    Parameters
    ----------
    x, y
        The titles of the axes.
    height
        The height in pixels.
    xaxis, yaxis
        Further settings of the axes.
    **layout
        Further settings of the layout.
    """
    ink = {"color": colours.ink()}
    axes = {
        "xaxis": {"title": {"text": x, "font": ink}, "tickfont": ink, **xaxis},
        "yaxis": {"title": {"text": y, "font": ink}, "tickfont": ink, **yaxis},
    }
    common = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "uirevision": "keep",
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    }
    # ten times as fast as `update_layout`
    return go.Figure(layout={**common, **axes, **layout})


def log_axis(ticks: Sequence[float]) -> dict[str, Any]:
    """The settings of a logarithmic axis with these ticks, such as values of epsilon."""
    return {
        "type": "log",
        "tickvals": list(ticks),
        "ticktext": [f"{tick:,g}" for tick in ticks],
    }


def note(
    fig: go.Figure,
    text: str,
    at: tuple[float, float],
    aside: tuple[float, float],
    arrow: bool = False,
) -> None:
    """Write words into a figure.

    Parameters
    ----------
    fig
        The figure.
    text
        The words.
    at
        The coordinates; logarithms on a logarithmic axis.
    aside
        The offset to the right and up, in pixels. Without an arrow the text starts there, and (0,
        0) centres it.
    arrow
        Whether an arrow leads from the text to the coordinates.
    """
    x, y = at
    right, up = aside
    annotation = go.layout.Annotation(
        x=x,
        y=y,
        text=text,
        font={"color": colours.text(), "size": 12},
        bgcolor=colours.page(LABEL),
        showarrow=arrow,
    )
    if arrow:
        annotation.update(
            ax=right,
            ay=-up,
            arrowcolor=colours.ink(),
            arrowwidth=1,
            arrowhead=2,
        )
    else:
        annotation.update(xshift=right, yshift=up)
        if any(aside):
            annotation.update(xanchor="left", yanchor="bottom")
    fig.add_annotation(annotation)


def with_legend(fig: go.Figure) -> go.Figure:
    """The figure with its lines named on its right, in the order of their ends.

    A figure of many lines, or of bars, keeps its legend above.
    """
    ends = [
        (line, end)
        for line in fig.data
        if line.name
        and line.showlegend is not False
        and (end := _end(line)) is not None
    ]
    if not 0 < len(ends) <= MOST_LINES:
        return fig
    for line, end in ends:
        rows = textwrap.wrap(
            line.name, LETTERS, break_long_words=False, break_on_hyphens=False
        )
        rank = sum(other > end for _, other in ends)
        line.update(
            name="<br>".join(rows),
            legendrank=rank,
            showlegend=True,
        )
    place = {"orientation": "v", "x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top"}
    fig.update_layout(showlegend=True, legend=place)
    return fig


def _end(trace: Any) -> float | None:
    """The last finite value of a line; None for other traces."""
    if "lines" not in (getattr(trace, "mode", None) or "") or trace.y is None:
        return None
    ends = (float(y) for y in reversed(trace.y) if y is not None and math.isfinite(y))
    return next(ends, None)


UNSHOWN = ("id", "source")  # columns that only figures need


@dataclass(frozen=True)
class Ready:
    """A figure's description for screen readers, its numbers, and the figure with its legend."""

    alt: str
    table: pd.DataFrame
    figure: go.Figure | None = None

    @cached_property
    def csv(self) -> str:
        return safe_text.to_csv(self.table)


def ready(fig: go.Figure, alt: str, table: pd.DataFrame) -> Ready:
    return Ready(alt, table, with_legend(fig))


def of_runs(
    what: str, runs: Iterable[tuple[str, Run]], make: Callable[[], Ready]
) -> Ready:
    """The figure that `make` draws of these runs, cached for all sessions on public data.

    Parameters
    ----------
    what
        Distinguishes figures of the same runs.
    """
    if not data_sets.chosen_is_public():
        return make()
    keys = [(name, run.key) for name, run in runs]
    return _cached((what, colours.is_dark(), keys), make)


@st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)
def _cached(key: tuple[object, ...], _make: Callable[[], Ready]) -> Ready:
    return _make()


def show(
    fig: go.Figure,
    key: str,
    alt: str,
    table: pd.DataFrame,
    leaves: bool | None = None,
    caption: str = "",
) -> None:
    """Draw a figure with its description, and below it the caption and a button for its numbers.

    Parameters
    ----------
    fig
        The figure.
    key
        The key of the figure in the session.
    alt
        The description.
    table
        The numbers.
    leaves
        Whether the numbers may be saved; by default only if the page's data are not private.
    caption
        Markdown.
    """
    show_ready(ready(fig, alt, table), key, leaves, caption)


def show_ready(
    ready_figure: Ready, key: str, leaves: bool | None = None, caption: str = ""
) -> None:
    if leaves is None:
        leaves = data_sets.chosen_is_public()
    hidden_buttons = ["select2d", "lasso2d", "autoScale2d"]
    if not leaves:
        hidden_buttons.append("toImage")
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": hidden_buttons,
        "toImageButtonOptions": {"filename": key, "scale": 2},
    }
    st.plotly_chart(
        ready_figure.figure,
        key=key,
        alt=ready_figure.alt,
        config=config,
    )
    below(key, ready_figure, leaves, caption)


def below(key: str, numbers: Ready, leaves: bool, caption: str = "") -> None:
    """Draw a caption, and a button that shows a figure's numbers."""
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        wrap=False,
    ):
        st.caption(caption, width="stretch")
        first_clause = re.split(r"[.:,;](?= |$)", numbers.alt)[0]
        numbers_button = st.popover(
            safe_text.button_label("Numbers", first_clause),
            key=f"{key}.numbers",
            icon=":material/table:",
            type="tertiary",
        )
    with numbers_button:
        hidden = dict.fromkeys(name for name in UNSHOWN if name in numbers.table)
        st.markdown(f"**{safe_text.escape(first_clause)}**")
        safe_text.table(
            numbers.table,
            key=f"{key}.table",
            width="content",  # as wide as its columns; the panel grows with it
            column_config=hidden,
        )
        if leaves:
            # made now: a file made at a click is lost if the page reruns at that moment
            name = f"{key}.csv"
            st.download_button(
                "Download as CSV", numbers.csv, name, "text/csv", key=name
            )
        else:
            st.caption(
                "Computed on your raw data, without noise, so it cannot be downloaded."
            )


def level(
    fig: go.Figure,
    y: float,
    text: str,
    line: dict[str, Any],
    side: str = "right",
    above: bool = True,
) -> None:
    """Draw a horizontal line across the figure with its name, if any, at one end.

    It replaces Plotly's `add_hline`, which takes four times as long. `y` is in units of the axis.
    """
    fig.add_shape(
        type="line",
        x0=0,
        x1=1,
        xref="x domain",
        y0=y,
        y1=y,
        line=line,
    )
    if not text:
        return
    label_y = y
    if fig.layout.yaxis.type == "log":
        # there Plotly takes values for shapes and logarithms for annotations
        label_y = math.log10(y)
    fig.add_annotation(
        text=text,
        font={"color": colours.text()},
        bgcolor=colours.page(LABEL),
        borderpad=1,
        showarrow=False,
        y=label_y,
        yanchor="bottom" if above else "top",
        x={"left": 0, "right": 1}[side],
        xref="x domain",
        xanchor=side,
    )


def band(
    fig: go.Figure,
    x: Sequence[Any],
    low: Sequence[float],
    high: Sequence[float],
    colour: str,
) -> None:
    """Fill the area between two lines."""
    fig.add_scatter(
        x=[*x, *reversed(x)],
        y=[*high, *reversed(low)],
        fill="toself",
        fillcolor=colour,
        opacity=0.15,
        mode="none",
        showlegend=False,
        hoverinfo="skip",
    )


def reference_line(
    fig: go.Figure, line: ReferenceLine, colour: str = "", *, above: bool
) -> None:
    """Draw a line with its name that private figures are compared with.

    Solid, in its colour: the method without noise. Dashed: the best known method without privacy.
    Dotted: what needs no model of others.
    """
    stroke = {"dash": str(line.reference), "color": colours.ink(), "width": 1.5}
    side = "left"
    if line.reference is Reference.WITHOUT_NOISE:
        side = "right"
        stroke["color"] = colour or colours.ink()
    level(fig, line.value, line.label, stroke, side, above)


def trade_off(curve: pd.DataFrame | None) -> go.Figure:
    """A figure of the lowest false negative rate of any attack by false positive rate.

    Parameters
    ----------
    curve
        The columns fpr and fnr; None if nothing is proved.
    """
    share = {"range": [0, 1], "tickformat": ".0%"}
    fig = figure(
        "false positives (you did not take part)",
        "false negatives (you did)",
        320,
        share,
        share,
        margin={"l": 8, "r": 24, "t": 8, "b": 8},  # room for "100%"
        showlegend=False,
    )
    if curve is not None:
        fig.add_scatter(
            x=curve["fpr"],
            y=curve["fnr"],
            fill="tozeroy",
            mode="lines",
            line={"color": colours.of("dpals")},
            hovertemplate="at %{x:.1%} false alarms an attack misses at least %{y:.1%}"
            "<extra></extra>",
        )
        diagonal = (curve["fpr"] - curve["fnr"]).abs().argmin()
        even = float(curve.iloc[diagonal].mean())  # the error rate where both are equal
        middle = (even / 2, even / 2)
        if even > ROOMY:
            note(fig, "no attack gets here", middle, (0, 0))
        else:
            note(fig, "no attack gets here", middle, (110, 60), arrow=True)
    fig.add_scatter(
        x=[0, 1],
        y=[1, 0],
        mode="lines",
        line={"color": colours.ink(), "dash": "dash"},
        hoverinfo="skip",
    )
    note(fig, "blind guessing", (0.25, 0.75), (8, 4))
    return fig


def heat_map(values: pd.DataFrame, text: pd.DataFrame, x: str, y: str) -> go.Figure:
    """A heat map of values by column (x) and row (y), with a text in each cell.

    Darker is smaller.
    """
    fig = figure(x, y, xaxis={"type": "category"}, yaxis={"type": "category"})
    fig.add_heatmap(
        z=values.to_numpy(),
        x=[_category(value) for value in values.columns],
        y=[_category(value) for value in values.index],
        text=text.to_numpy(),
        texttemplate="%{text}",
        colorscale="Cividis",
        showscale=False,
        hovertemplate=f"{x} %{{x}}, {y} %{{y}}: %{{text}}<extra></extra>",
    )
    return fig


def _category(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
