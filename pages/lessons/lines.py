"""Curves of the lessons: a few lines over one axis, each in a colour of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.privacy.formatting import budget_text
from pages.kit import charts, colours

DELTA, DELTA_TEXT = 1e-5, "1e-5"


@dataclass(frozen=True)
class Line:
    """name: as it is read. column: of the table. colour: of the palette or of a method."""

    name: str
    column: str
    colour: str
    more: dict[str, Any]


def line(name: str, column: str, colour: str, **more: Any) -> Line:
    return Line(name, column, colour, more)


def line_figure(
    x: str, y: str, table: pd.DataFrame, axis: str, lines: Sequence[Line], height: int = 320
) -> go.Figure:
    """x, y: titles of the axes. axis: the column of the table that runs along x."""
    fig = charts.figure(x, y, height=height)
    for it in lines:
        dash = {"dash": it.more.get("dash", "solid")}
        fig.add_scatter(
            x=table[axis],
            y=table[it.column],
            name=it.name,
            mode=it.more.get("mode", "lines"),
            fill=it.more.get("fill"),
            line={"color": colours.of(it.colour), "width": 2.5, **dash},
        )
    return fig


def epsilon_slider(key: str, start: float = 1.0) -> float:
    marks = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    return float(
        st.select_slider(
            "Privacy loss ε, total",
            marks,
            start,
            key=key,
            format_func=lambda mark: f"{budget_text(mark)}",
        )
    )
