"""The laws of every algorithm with a proof, as tests of one algorithm.

In a test file of any package:

    from dpmf_core.testing.contract import Contract

    class TestToyOffsets(Contract):
        algorithm = ToyOffsets  # or the id of one that is registered

or, for algorithms that are registered, without a file:

    pytest --pyargs dpmf_core.testing.contract --dpmf-algorithm toy-offsets

Each test visits the corners of the algorithm's parameters in which a proof is claimed, with clip
norms so small that they take effect.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from dpmf_core.algorithms import REGISTRY, Algorithm, PrivateAlgorithm
from dpmf_core.curator import grid
from dpmf_core.privacy import Budget, Relation, calibrate, normal_form
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.testing import privacy_laws as laws
from dpmf_core.testing.homes import Home, homes_of
from dpmf_core.testing.parameter_sets import corners
from dpmf_core.testing.probes import blind, record

Case = tuple[type[Algorithm], Home]
CORNERS = 12  # of an algorithm's parameters, spread evenly over all of them
DELTA = 1e-6


def cases_of(algorithm: type[Algorithm] | str) -> list[Case]:
    """An algorithm with each kind of data that it takes. Raises BadInput on an unknown id."""
    if isinstance(algorithm, str):
        kind = REGISTRY.find(algorithm)
    else:
        kind = algorithm
    return [(kind, home) for home in homes_of(kind)]


def proven(case: Case) -> list[PrivateAlgorithm]:
    """The algorithm in the corners in which it claims a proof."""
    kind, home = case
    algorithms = [
        kind(**parameters) for parameters in corners(kind, home.world().shape)
    ]
    private = [one for one in algorithms if isinstance(one, PrivateAlgorithm)]
    proven_ones = [one for one in private if one.guarantee().has_epsilon]
    return proven_ones[:: max(1, len(proven_ones) // CORNERS)]


class Contract:
    """Tests of one algorithm; `algorithm` is its class or its id."""

    algorithm: ClassVar[type[Algorithm] | str | None] = None

    @pytest.fixture(autouse=True)
    def _exact_sums(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(grid, "ON", True)

    def test_a_proof_is_claimed(self, case: Case) -> None:
        assert proven(case), "with no parameters is the guarantee PROVEN or CONDITIONAL"

    def test_plan_is_the_declared_statistics(self, case: Case) -> None:
        shape = case[1].world().shape
        _each(case, lambda algorithm: laws.check_plan(algorithm, shape))

    def test_sensitivity_of_every_answer(self, case: Case) -> None:
        """No unit moves a statistic by more than it declares; the worst units are included."""
        _each(case, lambda algorithm: laws.check_units(algorithm, home=case[1]))

    def test_sensitivity_by_replay(self, case: Case) -> None:
        """No unit does so in whole runs on neighbouring data, with all releases held fixed."""
        _each(
            case,
            lambda algorithm: laws.check_sensitivity(algorithm, stride=3, home=case[1]),
        )

    def test_additivity(self, case: Case) -> None:
        _each(case, lambda algorithm: laws.check_sums(algorithm, 0, case[1]))

    def test_blindfold(self, case: Case) -> None:
        _each(case, lambda algorithm: laws.check_blindfold(algorithm, case[1]))

    def test_locality(self, case: Case) -> None:
        _each(case, lambda algorithm: laws.check_locality(algorithm, 0, case[1]))

    def test_fresh_noise(self, case: Case) -> None:
        """Every release of a run has noise of its own, and so have runs with other seeds."""
        _each(case, lambda algorithm: check_fresh(algorithm, case[1]))

    def test_exact_spending(self, case: Case) -> None:
        """A run spends its plan, and a calibrated plan costs exactly the budget."""
        _each(case, lambda algorithm: check_spending(algorithm, case[1]))


class TestAlgorithms(Contract):
    """Tests of the ids on the command line."""


def check_fresh(algorithm: Algorithm, home: Home) -> None:
    """No two parts of a run begin with the same draw; another seed draws anew."""
    one, other = (blind(algorithm, home.world(), seed=seed) for seed in (0, 1))
    laws.check_fresh_noise(one)
    assert one.log, "nothing is released"
    for first, second in zip(one.log, other.log, strict=True):
        for here, there in zip(first.noisy, second.noisy, strict=True):
            assert not here.size or not np.array_equal(here, there), (
                "two runs had the same noise"
            )
    if not normal_form(algorithm.plan(home.world().shape, 1.0)):
        return
    pairs = [(array, other.shared[name]) for name, array in one.shared.items()]
    assert all(here.shape == there.shape for here, there in pairs)
    assert not all(np.array_equal(here, there) for here, there in pairs), (
        "two runs with other noise share the same model: noise was used again"
    )


def check_spending(algorithm: Algorithm, home: Home) -> None:
    """A run spends its plan; calibrated to a budget, the plan costs the budget."""
    world = home.world()
    ledger = record(algorithm, world, level=0.7).ledger
    assert ledger == normal_form(algorithm.plan(world.shape, 0.7))
    for relation in Relation:
        budget = Budget(
            epsilon=1.0,
            delta=DELTA,
            relation=relation,
        )
        level = calibrate(lambda at: algorithm.plan(world.shape, at), budget)
        cost = epsilon(algorithm.plan(world.shape, level), DELTA, relation)
        assert cost == pytest.approx(1.0, rel=1e-6)


def _each(case: Case, check: Callable[[Any], object]) -> None:
    """Check every corner; a failure reports its parameters."""
    algorithms = proven(case)
    if not algorithms:
        pytest.skip("no proof is claimed")
    for algorithm in algorithms:
        try:
            check(algorithm)
        except Exception as error:
            error.add_note(f"with {algorithm!r}")
            raise
