"""How Balu & Furon's figures are read: the best λ between measured places, losses at λ = 0."""

import math

import pytest

from dpmf_core.papers.balu_2016.protocol import SKETCH, TOP_USERS
from dpmf_core.papers.balu_2016.statements import best_regularisations
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.runs.measurements import Measured


def cell(rank, gain, errors):
    return [
        Measured(
            SKETCH,
            "sketch",
            None,
            {"rank": rank, "space_gain": gain, "regularisation": at},
            (error,),
        )
        for at, error in errors.items()
    ]


def bowl(bottom):
    places = (0.02, 0.04, 0.08)
    return {place: 0.8 + math.log(place / bottom) ** 2 for place in places}


def test_the_best_regularisation_lies_between_measured_places():
    results = [
        *cell(8, 1.0, bowl(0.05)),
        *cell(8, 4.0, bowl(0.03)),
        *cell(16, 1.0, bowl(0.5)),
        *cell(16, 4.0, bowl(0.001)),
    ]
    best = best_regularisations(results)
    assert best[8, 1.0] == pytest.approx(0.05)
    assert best[8, 4.0] == pytest.approx(0.03)
    assert best[16, 1.0] == 0.08
    assert best[16, 4.0] == 0.02
    often, corner, by_rank, by_gain = CLAIMS["balu-fig2"].clauses
    assert often.margin(results) == pytest.approx(-0.5)  # none is below .01
    expected = math.log10(0.08 / 0.01)
    assert corner.margin(results) == pytest.approx(expected)
    above = math.log10(0.08 / 0.05)
    below = math.log10(0.02 / 0.03)
    rise = (above + below) / 2
    assert by_rank.margin(results) == pytest.approx(rise)
    expected = math.log10(0.05 / 0.03)
    assert by_gain.margin(results) == pytest.approx(expected)


@pytest.mark.parametrize(("busy", "holds"), [(0.02, True), (0.05, False)])
def test_an_order_of_magnitude_is_more_than_the_root_of_ten(busy, holds):
    grid = {"threshold": 2.0, "space_gain": 1.0}
    results = [
        Measured(SKETCH + ending, "sketch", None, grid, (value,))
        for ending, value in (("", 0.1), (TOP_USERS, busy))
    ]
    (clause,) = [
        clause
        for clause in CLAIMS["balu-top-users-kl"].clauses
        if "magnitude" in clause.words and SKETCH in clause.words
    ]
    assert clause.verdict(results).holds is holds
