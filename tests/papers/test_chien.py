"""What is read off results for the claims of Chien et al.: by hand."""

import pytest

from dpmf_core.papers.chien_2021 import statements
from dpmf_core.papers.figures import by_step
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.papers.shared_methods import SOURCE_DPFW
from dpmf_core.runs.measurements import Measured
from tests.support.records import run_of


def place(label, value, epsilon=None, **grid):
    return Measured(label, "dpals", epsilon, grid, (value,))


def leads(*shares):
    """DPALS below a DPFW of 1 by these shares, at epsilons 1, 2, ..."""
    at = [(float(epsilon), share) for epsilon, share in enumerate(shares, 1)]
    return [
        *(place("DPALS", 1 - share, epsilon) for epsilon, share in at),
        *(place(SOURCE_DPFW, 1.0, epsilon) for epsilon, _ in at),
    ]


def test_a_lead_is_the_share_by_which_the_error_is_smaller():
    """0.90 against 1.00 is 10% less; the source prints 7% to 11.6%, and that it rises."""
    gain = statements.gain(leads(0.1, 0.2), 1.0)
    assert gain == pytest.approx(0.1)
    within, rising = statements.FIG_3A
    for shares, holds in (
        ((0.07, 0.09, 0.116), (True, True)),
        ((0.07, 0.116, 0.09), (True, False)),
        ((0.05, 0.09, 0.1), (False, True)),
        ((0.07, 0.09, 0.13), (False, True)),
    ):
        results = leads(*shares)
        first, second = holds
        assert within.verdict(results).holds == first
        assert rising.verdict(results).holds == second


def test_the_top_fifth_is_the_point_of_the_curve_next_to_a_fifth():
    over_85, *_ = CLAIMS["chien-fig2"].clauses
    shares = {0.1: 0.9, 0.2001: 0.86, 1.0: 1.0}
    results = [
        place("all ratings", share, top_share=at) for at, share in shares.items()
    ]
    assert over_85.verdict(results).figures.startswith("measured 0.8600")
    assert over_85.verdict(results).holds


def test_steps_are_read_off_every_draw():
    points = [
        point for point in CLAIMS["chien-fig7"].points() if point.label == "DPALS"
    ]
    runs = {
        point.key: run_of(
            spec=point.spec,
            curves=(
                {"step": 1, "test_rmse": 1.0 + seed},
                {"step": 2, "test_rmse": 0.5 + seed},
            ),
        )
        for seed, point in enumerate(points)
    }
    draws = {
        (result.grid["step"], result.draws) for result in by_step(points, runs, "rmse")
    }
    assert draws == {(1, (1.0, 2.0)), (2, (0.5, 1.5))}
