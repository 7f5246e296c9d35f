"""Every PROVEN algorithm, in every corner of its parameters, keeps the four laws."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmf_core.algorithms import REGISTRY, Algorithm
from dpmf_core.privacy import Status, normal_form
from tests.contract import privacy_laws as laws
from tests.contract.parameters import corners, drawn
from tests.contract.probes import blind
from tests.worlds import world

SHAPE = world().shape


def proven(kind: type[Algorithm], seed: int = 0) -> list[Algorithm]:
    """The algorithm in every corner in which it claims a proof."""
    made = [kind(**parameters) for parameters in corners(kind, SHAPE, seed)]
    return [algorithm for algorithm in made if algorithm.guarantee().status is Status.PROVEN]


def _over(kinds: list[type[Algorithm]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", kinds, ids=lambda kind: kind.id)


PROVEN = [kind for kind in REGISTRY.values() if proven(kind)]
every = _over(PROVEN)
releasing = _over([kind for kind in PROVEN if normal_form(proven(kind)[0].plan(SHAPE, 1.0))])


def test_some_algorithms_claim_a_proof() -> None:
    assert len(PROVEN) >= 4


@every
def test_blindfold(kind: type[Algorithm]) -> None:
    for algorithm in proven(kind):
        laws.check_blindfold(algorithm)


@every
def test_additivity(kind: type[Algorithm]) -> None:
    for seed, algorithm in enumerate(proven(kind)):
        laws.check_additivity(algorithm, seed)


@every
def test_locality(kind: type[Algorithm]) -> None:
    for place, algorithm in enumerate(proven(kind)):
        laws.check_locality(algorithm, seed=place)


@every
def test_noise_is_fresh(kind: type[Algorithm]) -> None:
    for algorithm in proven(kind):
        laws.check_fresh_noise(blind(algorithm, world()))


@releasing
def test_no_release_moves_more_than_declared_and_every_bound_is_reached(kind: type[Algorithm]) -> None:
    """Clip norms are small and drawn at random; the worst users come within 1% of the bound of every statistic."""
    largest: dict[str, float] = {}
    planned: set[str] = set()
    for place, algorithm in enumerate(proven(kind)):
        planned |= {leaf.statistic for leaf, _ in normal_form(algorithm.plan(SHAPE, 1.0))}
        spread: dict[str, Any] = {"first": place % 4, "stride": 4 if place >= 4 else 1}
        for shares in (laws.check_sensitivity(algorithm, **spread), laws.check_sensitivity(algorithm, laws.crowd(), level=0.01, **spread)):
            for name, share in shares.items():
                largest[name] = max(share, largest.get(name, 0.0))
    assert largest.keys() == planned
    assert {name: share for name, share in largest.items() if share < 0.99} == {}


@releasing
def test_no_release_moves_more_than_declared_for_any_drawn_parameters(kind: type[Algorithm]) -> None:
    @settings(max_examples=8, deadline=None, derandomize=True)
    @given(parameters=drawn(kind, SHAPE), seed=st.integers(0, 999))
    def law(parameters: dict[str, Any], seed: int) -> None:
        algorithm = kind(**parameters)
        if algorithm.guarantee().status is Status.PROVEN:
            laws.check_sensitivity(algorithm, world(seed, skew=seed % 3))

    law()


@every
def test_the_user_row_of_somebody_without_ratings_is_zero(kind: type[Algorithm]) -> None:
    for algorithm in proven(kind):
        model = blind(algorithm, world()).model
        personal = model.personal(world().only(np.zeros(len(world()), bool)))
        assert not personal.offsets.any()
        assert not personal.factors.any()
