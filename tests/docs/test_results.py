"""docs/RESULTS.md is what `python -m benchmarks.tables` makes of benchmarks/results."""

import math

import pandas as pd
import pytest

from benchmarks import local_noise, table_cells, tables
from dpmf_core.teaching.trust import part_epsilon


def test_the_page_is_what_the_results_make() -> None:
    assert tables.PAGE.read_text("utf-8") == tables.page(), "run `python -m benchmarks.tables`"


def test_the_template_asks_for_every_table() -> None:
    template = tables.TEMPLATE.read_text("utf-8")
    assert [name for name in tables.TABLES if f"{{{{ {name} }}}}" not in template] == []


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


def test_equal_errors_are_read_off_log_linearly() -> None:
    """Three draws by hand: a curator's error of 0.9 lies half-way between 10 and 1000."""

    def rows(algorithm: str, epsilon: float, *errors: float) -> list[local_noise.Row]:
        return [
            local_noise.Row("films", 400, 9, algorithm, epsilon, seed, error)
            for seed, error in enumerate(errors)
        ]

    results = [
        *rows("private-bias", 1.0, 0.7, 0.9, 2.0),
        *rows("local-bias", 1.0, 1.1, 1.1, 1.2),
        *rows("local-bias", 10.0, 1.0, 0.9, 3.0),
        *rows("local-bias", 1000.0, 0.8, 0.8, 0.8),
        *rows("user-mean", 0.0, 1.05, 1.05, 1.05),
    ]
    (match,) = local_noise.equal_errors(results, (1.0,))
    assert match.local_epsilon == pytest.approx(100)
    assert (match.rmse, match.local_rmse, match.alone_rmse) == (0.9, 1.1, 1.05)


def test_what_nobody_s_trust_costs_was_measured_near_the_rule() -> None:
    """mu grows by the root of n at equal noise; messages spend a little less of it on counts."""
    matches = local_noise.equal_errors(local_noise.read(), (0.5, 1.0, 2.0))
    assert {it.data for it in matches} == set(local_noise.DATA)
    for it in matches:
        if it.local_epsilon is not None:
            assert 0.5 < it.local_epsilon / part_epsilon(it.epsilon, it.users) < 1.3
