"""How figures of Saha & Imtiaz 2022 are drawn."""

import pytest

from dpmf_core.papers.registry import CLAIMS
from dpmf_core.papers.saha_units import ROWS, STARS, TABLE_4
from dpmf_core.runs.sweep import Summary
from pages.kit import parts_figures, published_figures
from tests.pages.made_up import made_up


def test_what_the_epsilon_of_a_step_adds_up_to() -> None:
    """At page size 10 steps; the totals of 100 steps at 0.5 are those of the page on privacy."""
    points = CLAIMS["saha-fig3"].points(full=True)
    table = parts_figures.totals(points)
    assert table["step"].tolist() == [0.3, 0.5, 0.7, 0.9]
    half = table[table["step"] == 0.5].iloc[0]
    totals = [round(half[name], 2) for name in ("source", "total", "replace-one")]
    assert (half["steps"], *totals) == (100, 6.82, 2.34, 3.85)
    assert parts_figures.totals([it for it in points if it.label == "NMF"]).empty


def test_the_total_stands_on_a_second_axis() -> None:
    figure = CLAIMS["saha-fig6"]
    points = figure.points()
    fig = published_figures.chart(figure, points, {it.key: made_up(it.spec) for it in points})
    assert fig.layout.xaxis2.side == "top"
    assert (
        list(fig.layout.xaxis2.tickvals) == list(fig.layout.xaxis.tickvals) == [0.3, 0.5, 0.7, 0.9]
    )
    assert "total ε of 10 steps" in fig.layout.xaxis2.title.text


def test_a_published_number_stands_in_the_row_and_unit_of_its_column() -> None:
    summaries = [
        Summary(label, "dp-nmf", epsilon, {"unit": unit}, (value,))
        for label in {mark.label for mark in TABLE_4.marks}
        | {parts_figures.ZERO, parts_figures.OWN_MEAN}
        for epsilon in (
            (0.3, 0.5, 0.7) if label in ("DP-NMF as in the source", "DPNMF (Laplace)") else (None,)
        )
        for unit, value in ((ROWS, 0.05), (STARS, 2.0))
    ]
    table = parts_figures.in_both_units(summaries).set_index("name")
    assert table.loc["DP-NMF, ε = 0.5 a step", "published"] == 0.0648
    assert table.loc["DP-NMF, ε = 0.5 a step", "published unit"] == ROWS
    assert table.loc["DPNMF, ε = 0.5", "published"] == 1.0785
    assert table.loc["DPNMF, ε = 0.5", "published unit"] == STARS
    assert table.loc["DPNMF, hardly any noise", "published"] == pytest.approx(0.8568)
    assert table.loc["Predict 0", "published unit"] == ""
    assert set(table[ROWS]) == {0.05} and set(table[STARS]) == {2.0}
