"""How Balu & Furon's figures are read: the best λ between measured places, losses at λ = 0."""

import math

import pytest

from dpmf_core.papers.balu_2016.claims import (
    HASHING,
    REGULAR,
    SKETCH,
    TOP_USERS,
    best_regularisations,
)
from dpmf_core.papers.figures import Outcome
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.runs.sweep import Summary


def cell(rank: int, gain: float, errors: dict[float, float]) -> list[Summary]:
    return [
        Summary(
            SKETCH,
            "sketch",
            None,
            {"rank": rank, "space_gain": gain, "regularisation": at},
            (error,),
        )
        for at, error in errors.items()
    ]


def bowl(bottom: float) -> dict[float, float]:
    return {at: 0.8 + math.log(at / bottom) ** 2 for at in (0.02, 0.04, 0.08)}


def test_the_best_regularisation_lies_between_measured_places() -> None:
    results = [
        *cell(8, 1.0, bowl(0.05)),
        *cell(8, 4.0, bowl(0.03)),
        *cell(16, 1.0, bowl(0.5)),
        *cell(16, 4.0, bowl(0.001)),
    ]
    best = best_regularisations(results)
    assert best[8, 1.0] == pytest.approx(0.05) and best[8, 4.0] == pytest.approx(0.03)
    assert (best[16, 1.0], best[16, 4.0]) == (0.08, 0.02)
    (clause,) = CLAIMS["balu-fig2"].clauses
    fall = (math.log10(0.05 / 0.03) + math.log10(0.08 / 0.02)) / 2
    assert clause.margin(results) == pytest.approx(fall)


def outcome_of(**at_zero: float) -> Outcome:
    """The verdict on Fig. 1 where every method's best error is .9 and these are its errors at 0."""
    labels = {"sketch": SKETCH, "hashing": HASHING, "regular": REGULAR}
    results = [
        Summary(label, "any", None, {"regularisation": at}, (error,))
        for name, label in labels.items()
        for at, error in ((0.1, 0.95), (0.04, 0.9), (0.0, at_zero[name]))
    ]
    return CLAIMS["balu-fig1"].judge(results).outcome


def test_regular_factorisation_is_to_lose_most_without_regularisation() -> None:
    assert outcome_of(sketch=0.91, hashing=0.92, regular=0.93) is Outcome.REPRODUCED
    assert outcome_of(sketch=0.91, hashing=0.93, regular=0.92) is Outcome.DIFFERS
    assert outcome_of(sketch=0.92, hashing=0.91, regular=0.93) is Outcome.DIFFERS
    assert outcome_of(sketch=0.89, hashing=0.92, regular=0.93) is Outcome.DIFFERS


@pytest.mark.parametrize(("busy", "holds"), [(0.02, True), (0.05, False)])
def test_an_order_of_magnitude_is_more_than_the_root_of_ten(busy: float, holds: bool) -> None:
    grid = {"threshold": 2.0, "space_gain": 1.0}
    results = [
        Summary(SKETCH + ending, "sketch", None, grid, (value,))
        for ending, value in (("", 0.1), (TOP_USERS, busy))
    ]
    (clause,) = [
        it for it in CLAIMS["balu-fig4"].clauses if "magnitude" in it.words and SKETCH in it.words
    ]
    assert clause.verdict(results).holds is holds
