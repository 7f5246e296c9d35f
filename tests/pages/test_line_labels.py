"""Names at the ends of lines: each line has one, and none lies over another."""

import math

import numpy as np
import pandas as pd
import pytest

from pages.kit import charts, line_labels

HEIGHT = 340


def label_places(ends: list[float], log: bool = False) -> tuple[list[float], list[str]]:
    """Where the labels of lines that end there stand, in pixels above the axis, and what they
    say, in the order of the lines' ends.
    """
    fig = charts.figure("x", "y", HEIGHT, yaxis={"type": "log"} if log else {})
    for place, end in enumerate(ends):
        fig.add_scatter(x=[1, 2, 3], y=[1.0, None, end], name=f"line {place}", mode="lines")
    line_labels.place(fig)
    values = np.log10([1.0, *ends]) if log else np.array([1.0, *ends])
    pixels = (HEIGHT - line_labels.AROUND) / (values.max() - values.min())
    labels = [
        ((it.y - values.min()) * pixels + it.yshift, it.text.split("</span> ")[1], it.y)
        for it in fig.layout.annotations
    ]
    assert all(trace.showlegend is False for trace in fig.data)
    assert [it[2] for it in labels] == pytest.approx(
        sorted(math.log10(end) if log else end for end in ends)
    )
    return [it[0] for it in labels], [it[1] for it in labels]


@pytest.mark.parametrize("log", [False, True])
def test_labels_stand_at_their_lines_where_there_is_room(log: bool) -> None:
    places, names = label_places([3.0, 2.0, 9.0], log)
    assert names == ["line 1", "line 0", "line 2"]
    span = np.log10(9) if log else 8.0
    expected = [(np.log10(end) if log else end - 1) / span * 280 for end in (2.0, 3.0, 9.0)]
    assert places == pytest.approx(expected)


def test_labels_of_lines_that_meet_are_apart_and_in_order() -> None:
    places, _ = label_places([2.0, 2.01, 2.02, 2.03, 5.0, 5.0])
    assert np.diff(places).min() >= line_labels.LINE - 1e-9
    assert np.mean(places[:4]) == pytest.approx((2.015 - 1) / 4 * 280)


def test_filled_curves_are_named_at_their_tops_side_by_side() -> None:
    fig = charts.figure("x", "y")
    for name, middle in (("right", 2.0), ("left", 1.0)):
        heights = [math.exp(-((x - middle) ** 2)) for x in range(4)]
        fig.add_scatter(x=list(range(4)), y=heights, name=name, mode="lines", fill="tozeroy")
    line_labels.place(fig)
    names = {it.text: (it.x, it.y, it.xanchor) for it in fig.layout.annotations}
    assert names == {"left": (1, 1.0, "right"), "right": (2, 1.0, "left")}


def test_a_level_of_a_logarithmic_axis_is_named_where_it_is_drawn() -> None:
    fig = charts.figure("x", "y", yaxis={"type": "log"})
    charts.level(fig, 1e-5, "five", {"color": "black"})
    assert fig.layout.shapes[0].y0 == 1e-5
    assert fig.layout.annotations[0].y == pytest.approx(-5)


@pytest.mark.parametrize(("even", "arrow"), [(0.45, False), (0.1, True)])
def test_the_area_that_no_attack_reaches_is_named_within_it(even: float, arrow: bool) -> None:
    curve = pd.DataFrame({"fpr": [0.0, even, 1.0], "fnr": [1.0, even, 0.0]})
    name = next(it for it in charts.trade_off(curve).layout.annotations if "attack" in it.text)
    assert (name.x, name.y) == (even / 2, even / 2)
    assert (name.showarrow is not False) == arrow
    names = [it.text for it in charts.trade_off(None).layout.annotations]
    assert names == ["blind guessing"]


def test_a_figure_of_many_lines_keeps_its_legend() -> None:
    fig = charts.figure("x", "y")
    for place in range(line_labels.MOST + 1):
        fig.add_scatter(x=[1], y=[place], name=str(place), mode="lines")
    assert not line_labels.place(fig).layout.annotations
    assert all(trace.showlegend is not False for trace in fig.data)
