"""A method without privacy that is no better than guessing is named as such."""

import pytest

from dpmf_core.evaluation.reference import weak_reference
from dpmf_core.evaluation.registry import METRICS

GUESSES = {"Global mean": 1.052, "User mean": 1.03}


@pytest.mark.parametrize(
    ("figure", "weak"), [(1.029, False), (1.03, True), (1.04, True), (1.062, True)]
)
def test_the_best_trivial_predictor_is_what_must_be_beaten(figure: float, weak: bool) -> None:
    sentence = weak_reference("ALS", figure, GUESSES)
    assert bool(sentence) == weak


def test_recall_must_be_larger_and_without_a_guess_nothing_is_said() -> None:
    assert not weak_reference("ALS", 0.3, {"Popularity": 0.2}, METRICS["recall_at_20"])
    assert "Recall@20 0.100 against 0.200" in weak_reference(
        "ALS", 0.1, {"Popularity": 0.2}, METRICS["recall_at_20"]
    )
    assert weak_reference("ALS", 2.0, {}) == ""
