"""docs/RESULTS.md is what `python -m benchmarks.tables` makes of benchmarks/results."""

import math

import pandas as pd
import pytest

from benchmarks import table_cells, tables


def test_the_page_is_what_the_results_make() -> None:
    assert tables.PAGE.read_text("utf-8") == tables.page(), "run `python -m benchmarks.tables`"


def test_the_template_asks_for_every_table() -> None:
    asked = tables.TEMPLATE.read_text("utf-8")
    assert [name for name in tables.TABLES if f"{{{{ {name} }}}}" not in asked] == []


def test_medians_and_bold_figures() -> None:
    """Three seeds by hand; ties are all bold, and a dash is never the smallest."""
    frame = pd.DataFrame(
        {"label": ["a"] * 3 + ["b"] * 3, "epsilon": [1.0] * 6, "rmse": [3, 1, 2, 9, 2, 1]}
    )
    head, rows = table_cells.by_epsilon(frame, "rmse", {"b": "B", "a": "A"}, 1)
    assert (head, rows) == (["ε", "1"], [["B", "2.0"], ["A", "2.0"]])
    assert table_cells.bold_smallest([["x", "2.0", "-"], ["y", "2.0", "3"]]) == [
        ["x", "**2.0**", "-"],
        ["y", "**2.0**", "**3**"],
    ]
    assert table_cells.decimals(math.nan, 2) == "-"
    assert table_cells.markdown(["a"], [["1"]]) == "| a |\n| --- |\n| 1 |"


def test_a_table_that_nobody_makes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(tables.TABLES, "films")
    with pytest.raises(KeyError, match="films"):
        tables.page()
