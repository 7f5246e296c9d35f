"""The choice on private data themselves: what a private selection among methods costs and tells."""

from typing import Any

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import Gaussian, Relation, sequence
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.selection import price_of_choosing
from dpmf_core.runs.noisy_errors import score_event
from dpmf_core.runs.specification import DataSpec
from dpmf_core.tuning.choosing.finding import selection
from dpmf_core.tuning.choosing.question import Question
from dpmf_core.tuning.private_selection import PrivateSelection

STAND_IN = "cinema?users=120&items=20&density=0.4&bounds=1,5"
METHODS = ("private-bias", "spectral", "private-svd")
DELTA = 1e-4


def selection_of(**parts: Any) -> PrivateSelection:
    question = Question.parse(data={"id": STAND_IN}, delta=DELTA, spend=2.0, **parts)
    return selection(question, DataSpec(id=STAND_IN), METHODS, 2.0, 5.0)


def test_its_price_is_that_of_training_and_score_for_one_and_for_a_group() -> None:
    mu = gaussian_mu(2.0, DELTA)
    one = selection_of()
    trial = sequence(Gaussian(1 / mu, "training"), score_event(one.score_noise))
    assert one.epsilon == price_of_choosing(trial, 5.0, DELTA).best_of["geometric"] > 2
    of_three = selection_of(protect="group", group=3)
    score = sequence(Gaussian(one.score_noise / 3, "score"))
    trial = sequence(Gaussian(1 / mu, "training"), score)
    assert of_three.group_price(3) == pytest.approx(
        price_of_choosing(trial, 5.0, DELTA).best_of["geometric"], rel=1e-6
    )
    assert of_three.epsilon < one.epsilon
    assert selection_of(protect="rating").budget.relation is Relation.REPLACE_ONE


def test_a_method_without_a_proof_for_a_person_is_not_chosen_among() -> None:
    question = Question.parse(data={"id": STAND_IN}, delta=DELTA, spend=2.0)
    with pytest.raises(BadInput):
        selection(question, DataSpec(id=STAND_IN), ("private-bias", "input-perturbation"), 2.0, 5.0)
