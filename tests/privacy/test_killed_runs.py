"""A killed process leaves its charge as it was before the first draw: never less than was drawn."""

import numpy as np
import pytest

from dpmf_core import algorithms
from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.base.errors import BadInput
from dpmf_core.data.samples import Samples
from dpmf_core.privacy import Budget, Noise, Relation, accounts
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.odometer import total
from dpmf_core.runs import execution, noisy_errors
from dpmf_core.runs.planning import first_release
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.runs.tuning.search_space import TuneSpec
from tests.support.gaussian import epsilon_of

DELTA = 1e-4
RELATIONS = (Relation.ADD_REMOVE, Relation.REPLACE_ONE)
PRIVATE = [kind for kind in REGISTRY.values() if issubclass(kind, PrivateAlgorithm)]
SHAPES = (
    {},
    {"item_choice": "private"},
    {"item_choice": "private", "row_count": "private"},
)


@pytest.fixture(autouse=True)
def account(two_sets, tmp_path, monkeypatch):
    monkeypatch.setenv(accounts.LEDGER, str(tmp_path / "mine.ledger"))
    return Account(tmp_path / "mine.ledger")


@pytest.fixture
def left_by_kills(account, monkeypatch):
    """The charges in the account at each release: what a kill would leave at that moment."""
    moments = []
    open_release = Noise._open

    def note(noise, leaf, size):
        moments.append([entry.charge for entry in account.entries])
        return open_release(noise, leaf, size)

    monkeypatch.setattr(Noise, "_open", note)
    return moments


def cost(charges, relation):
    budget = Budget(epsilon=1.0, delta=DELTA, relation=relation)
    return total(charges, budget).epsilon


def require_enough(account, moments):
    """No kill leaves a smaller total, under either relation, than the work that ended."""
    charges = [entry.charge for entry in account.entries]
    assert charges
    assert moments
    for relation in RELATIONS:
        spent = cost(charges, relation)
        for moment in moments:
            assert cost(moment, relation) >= spent * (1 - 1e-9), relation
    return charges


def spec(algorithm, relation, **data):
    kind = algorithms.find(algorithm)
    small = {"steps": 2, "rank": 2, "iterations": 2, "n_components": 2}
    parameters = {
        name: value for name, value in small.items() if name in kind.model_fields
    }
    return RunSpec.parse(
        data={"id": "own", "top_items": 12, **data},
        algorithm=algorithm,
        parameters=parameters,
        budget={"epsilon": 3.0, "delta": DELTA, "relation": relation},
    )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("released", SHAPES)
@pytest.mark.parametrize(
    "name", [kind.id for kind in PRIVATE if kind.task == "ratings"]
)
def test_a_killed_run_costs_no_less_than_the_finished_one(
    name, released, relation, account, left_by_kills
):
    run = spec(name, relation, **released)
    try:
        first_release(run)
    except BadInput:
        pytest.skip("This algorithm's proof does not allow releasing the shape.")
    execution.run(run)
    require_enough(account, left_by_kills)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("released", [{}, {"row_count": "private"}])
@pytest.mark.parametrize(
    "name", [kind.id for kind in PRIVATE if kind.task == "samples"]
)
def test_a_killed_run_on_images_costs_no_less(
    name, released, relation, account, left_by_kills
):
    X = np.random.default_rng(0).random((30, 16))
    images = Samples.of(X, image=(4, 4))
    run = spec(name, relation, **released)
    run = run.model_copy(
        update={"data": run.data.model_copy(update={"top_items": None})}
    )
    execution.run(run, input_data=images)
    require_enough(account, left_by_kills)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_killed_selection_costs_no_less(relation, account, left_by_kills):
    search = TuneSpec.parse(
        data={"id": "own"},
        algorithm="private-bias",
        search={"prior_deviation": (0.1, 1.0)},
        budget={"epsilon": 1.0, "delta": DELTA / 10, "relation": relation},
    )
    selection = PrivateSelection.parse(searches=(search,), trials=3.0)
    selection.measure()
    require_enough(account, left_by_kills)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_killed_release_of_an_error_costs_no_less(relation, account, left_by_kills):
    run = execution.run(spec("private-bias", relation))
    left_by_kills.clear()
    noisy_errors.release({"one": run}, 0.5)
    require_enough(account, left_by_kills)


def test_killed_runs_with_a_private_shape_are_counted_under_replacement(
    account, left_by_kills
):
    """The total is that of replaced people if any run was made for that relation."""
    run = spec("private-bias", Relation.ADD_REMOVE, item_choice="private")
    execution.run(run)
    (killed,) = left_by_kills[0]
    execution.run(spec("private-bias", Relation.REPLACE_ONE))
    *_, replaced = [entry.charge for entry in account.entries]
    once = total([killed]).epsilon
    again = total([killed, replaced]).epsilon
    assert once <= 3.0
    # the same releases with twice the movement, and those of the other run
    rest = [leaf for leaf, _ in killed.ledger if not leaf.failure]
    multipliers = [leaf.noise_multiplier / 2 for leaf in rest]
    own = [
        leaf.noise_multiplier / leaf.replace_one_factor for leaf, _ in replaced.ledger
    ]
    assert again >= epsilon_of([*multipliers, *own], 2 * DELTA)
