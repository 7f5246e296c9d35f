"""Figures of all pages: where the names of lines stand, and which figures are not drawn."""

import plotly.graph_objects as go
import pytest

from pages.kit import charts


def drawn(ends: dict[str, float], **axis: str) -> go.Figure:
    fig = charts.figure("x", "y", yaxis=axis)
    for name, end in ends.items():
        fig.add_scatter(x=[1, 10], y=[1.0, end], name=name, mode="lines")
    fig.add_vline(x=5)
    return charts.with_legend(fig)


@pytest.mark.parametrize("axis", [{}, {"type": "log"}])
def test_lines_that_end_apart_are_named_there(axis: dict[str, str]) -> None:
    fig = drawn({"low": 0.1, "high": 10.0, "middle": 1.0 if axis else 5.0}, **axis)
    names = {it.text: it.y for it in fig.layout.annotations}
    assert set(names) == {"low", "high", "middle"} and not fig.layout.showlegend
    assert names["high"] == (1.0 if axis else 10.0)  # of a logarithmic axis the logarithm


def test_lines_that_end_together_keep_a_legend_in_their_order() -> None:
    fig = drawn({"second": 9.9, "first": 10.0, "last": 0.1})
    assert fig.layout.showlegend and not fig.layout.annotations
    ranks = {it.name: it.legendrank for it in fig.data}
    assert sorted(ranks, key=ranks.__getitem__) == ["first", "second", "last"]
