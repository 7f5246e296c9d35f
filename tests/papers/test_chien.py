"""What is read off results for the claims of Chien et al.: by hand."""

import pytest

from dpmf_core.papers.chien_2021 import claims as chien_2021
from dpmf_core.papers.figures import by_step
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.runs.specification import Value
from dpmf_core.runs.sweep import Summary
from tests.support.records import run_of


def place(label: str, value: float, epsilon: float | None = None, **grid: Value) -> Summary:
    return Summary(label, "dpals", epsilon, grid, (value,))


def test_a_lead_is_the_share_by_which_the_error_is_smaller() -> None:
    """0.90 against 1.00 is 10% less."""
    results = [
        place("DPALS, source's noise", 0.9, 5.0),
        place("DPFW, source's noise", 1.0, 5.0),
        place("DPFW, source's noise", 2.0, 1.0),
    ]
    assert chien_2021.gain(results, 5.0) == pytest.approx(0.1)
    clause = CLAIMS["chien-fig3a"].clauses[1]
    assert clause.verdict(results).holds
    for other in (0.95, 0.85):  # 5% and 15%
        assert not clause.verdict([place("DPALS, source's noise", other, 5.0), *results[1:]]).holds


def test_the_top_fifth_is_the_point_of_the_curve_at_a_fifth() -> None:
    results = [place("all ratings", share, top_share=at) for at, share in ((0.1, 0.3), (0.2, 0.6))]
    assert chien_2021.on_top(
        [*results, place("all ratings", 1.0, top_share=1.0)], "all ratings"
    ) == (0.6)


def test_the_best_side_of_an_axis_moves_with_the_results_without_a_jump() -> None:
    above, below = CLAIMS["chien-rank"].clauses
    lines = [place("ALS", 0.9, rank=2), place("ALS", 0.85, rank=8), place("ALS", 0.84, rank=32)]
    assert above.margin(lines) == pytest.approx(0.01)
    private = [place("DPALS, ε = 1", value, 1.0, rank=at) for at, value in ((2, 0.91), (32, 0.9))]
    assert below.margin(private) == pytest.approx(-0.01)


def test_steps_are_read_off_every_draw() -> None:
    points = [it for it in CLAIMS["chien-fig7"].points() if it.label == "DPALS"]
    runs = {
        point.key: run_of(
            spec=point.spec,
            curves=({"step": 1, "test_rmse": 1.0 + seed}, {"step": 2, "test_rmse": 0.5 + seed}),
        )
        for seed, point in enumerate(points)
    }
    draws = {(it.grid["step"], it.draws) for it in by_step(points, runs, "rmse")}
    assert draws == {(1, (1.0, 2.0)), (2, (0.5, 1.5))}
