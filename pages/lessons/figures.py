"""Curves and sliders that the lessons' demonstrations share."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.teaching.demonstrations import DELTA
from pages.kit import charts, colours

DELTA_TEXT = delta_text(DELTA)


@dataclass(frozen=True)
class Line:
    """One column of a table, drawn as a line. colour: of the palette or of a method."""

    name: str
    column: str
    colour: str
    dash: str = "solid"
    mode: str = "lines"
    fill: str | None = None


def curves(
    x: str, y: str, table: pd.DataFrame, axis: str, lines: Sequence[Line], height: int = 320
) -> go.Figure:
    """Draw lines over one axis. x, y: titles of the axes. axis: the table's column for x."""
    fig = charts.figure(x, y, height=height)
    for it in lines:
        fig.add_scatter(
            x=table[axis],
            y=table[it.column],
            name=it.name,
            mode=it.mode,
            fill=it.fill,
            showlegend=len(lines) > 1,  # the axis names a single one
            line={"color": colours.of(it.colour), "width": 2.5, "dash": it.dash},
        )
    return fig


def show(fig: go.Figure, name: str, alt: str, table: pd.DataFrame) -> None:
    charts.show(fig, f"learn.{name}", alt, table, leaves=True)


def epsilon_slider(key: str, start: float = 1.0) -> float:
    marks, label = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0], "Privacy loss ε, total"
    return float(st.select_slider(label, marks, start, key=f"learn.{key}", format_func=budget_text))
