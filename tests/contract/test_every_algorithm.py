"""What every registered algorithm keeps, whatever it computes."""

from dataclasses import replace

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation

from dpmf_core.algorithms import Streams, build, curator_for
from dpmf_core.algorithms.nmf import NMF
from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import Budget, Relation, Status, calibrate, normal_form
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.noise import Noise
from dpmf_core.runs import planning
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.homes import CASES, case_name
from dpmf_core.testing.parameter_sets import corners
from dpmf_core.testing.probes import record
from tests.contract.cases import covering, in_corners
from tests.contract.models import as_bits, assert_model_sound

BUDGET = Budget(epsilon=1.0, delta=1e-6)
every = pytest.mark.parametrize("case", CASES, ids=case_name)
private = pytest.mark.parametrize(
    "case",
    [case for case in CASES if normal_form(case[0]().plan(case[1].world().shape, 1.0))],
    ids=case_name,
)


def recommended_for(case):
    """With what the algorithm itself recommends for the small world."""
    kind, home = case
    shape = home.world().shape
    plan = kind().plan(shape, 1.0)
    return build(kind.id, {}, shape, BUDGET if normal_form(plan) else None)


def assert_sound(outcome, algorithm, data, level, home):
    assert outcome.ledger == normal_form(algorithm.plan(data.shape, level))
    # as the source's equations do
    may_diverge = getattr(algorithm, "as_printed", False)
    assert may_diverge or all(
        np.isfinite(array).all() for array in outcome.shared.values()
    )
    assert_model_sound(outcome.model, data)


@every
def test_every_algorithm_describes_itself(case):
    kind = case[0]
    assert kind.id
    assert kind.title
    assert kind.words
    assert kind.source
    guarantee = kind().guarantee()
    assert (guarantee.status is Status.CONDITIONAL) == bool(guarantee.assumptions)
    assert (guarantee.status is Status.UNPROVEN) == bool(guarantee.claim)
    assert guarantee.taken_as_public or not guarantee.has_epsilon


@every
def test_every_parameter_explains_itself_and_has_a_default_within_its_range(case):
    kind = case[0]
    assert kind.model_validate(kind().model_dump()) == kind()
    for name, field in kind.model_json_schema().get("properties", {}).items():
        assert field.get("description"), name
        assert "default" in field, name
        numeric = field.get("type") in ("integer", "number")
        if numeric:
            assert {"minimum", "exclusiveMinimum"} & field.keys(), name
            assert {"maximum", "exclusiveMaximum"} & field.keys(), name


@every
def test_a_seed_decides_a_model_bit_for_bit_and_no_fit_changes_the_data(case):
    """With its own recommendation, which spends exactly its plan and is finite."""
    _, home = case
    algorithm = recommended_for(case)
    world = home.world()
    before = world.fingerprint
    first = record(algorithm, world, seed=3)
    second = record(algorithm, world, seed=3)
    other = record(algorithm, world, seed=4)
    assert_sound(first, algorithm, world, 1.0, home)
    assert as_bits(first.shared) == as_bits(second.shared)
    rows = [
        [side.tobytes() for side in home.own_rows(run.model, world)]
        for run in (first, second)
    ]
    assert rows[0] == rows[1]
    random = (
        first.log
        or first.init_state != np.random.default_rng([3, 1]).bit_generator.state
    )
    is_other = as_bits(first.shared) != as_bits(other.shared)
    assert is_other == bool(random)
    # taken anew
    assert home.world().fingerprint == replace(world).fingerprint
    assert before == replace(world).fingerprint


@in_corners
@every
def test_every_algorithm_spends_exactly_its_plan(case, together):
    kind, home = case
    world = home.world()
    shape = world.shape
    for parameters in covering(kind, shape, together):
        algorithm = kind(**parameters)
        outcome = record(algorithm, world, level=0.7)
        assert_sound(outcome, algorithm, world, 0.7, home)


@every
def test_every_algorithm_survives_a_world_without_ratings(case):
    kind, home = case
    shape = home.world().shape
    empty = home.nobody()
    for parameters in corners(kind, shape)[::17]:
        algorithm = kind(**parameters)
        assert_sound(record(algorithm, empty), algorithm, empty, 1.0, home)


@every
def test_every_algorithm_survives_one_user_and_few_items(case):
    kind, home = case
    lone = home.lone()
    for parameters in corners(kind, lone.shape)[::17]:
        algorithm = kind(**parameters)
        assert_sound(record(algorithm, lone), algorithm, lone, 1.0, home)


@every
def test_every_algorithm_refuses_more_factors_than_columns(case):
    kind, home = case
    shape = home.world().shape
    if kind.task == "ratings":
        size = "rank"
    else:
        size = "n_components"
    if size in kind.model_fields:
        if kind.task == "ratings":
            columns = shape.n_items
        else:
            columns = shape.n_features
        with pytest.raises(BadInput, match=size):
            build(kind.id, {size: columns + 1}, shape, BUDGET)
        assert build(kind.id, {size: columns}, shape, BUDGET)


@every
def test_every_algorithm_yields_a_model_after_every_step(case):
    world = case[1].world()
    algorithm = recommended_for(case)
    plan = algorithm.plan(world.shape, 1.0)
    curator = curator_for(algorithm, world, Noise(plan))
    rng = Streams(np.random.default_rng(0), 1)
    steps = sum(1 for _ in algorithm.fit(curator, rng))
    assert 1 <= steps <= algorithm.n_steps + 1
    # which may settle before
    assert steps >= algorithm.n_steps or isinstance(algorithm, NMF)


@private
def test_a_private_algorithm_is_refused_without_a_budget(case):
    kind, home = case
    shape = home.world().shape
    with pytest.raises(BadInput):
        spec = RunSpec.parse(data={"id": "small"}, algorithm=kind.id)
        planning.prepare(spec, shape)


@in_corners
@private
@pytest.mark.parametrize("relation", Relation)
def test_a_calibrated_plan_costs_exactly_the_budget_in_its_corners(
    case, relation, together
):
    kind, home = case
    shape = home.world().shape
    for place, parameters in enumerate(covering(kind, shape, together)):
        algorithm = kind(**parameters)
        eps = (0.1, 1.0, 8.0)[place % 3]
        budget = Budget(epsilon=eps, delta=1e-6, relation=relation)

        def plan_at(level, of=algorithm):
            return of.plan(shape, level)

        event = plan_at(calibrate(plan_at, budget))
        assert epsilon(event, 1e-6, relation) == pytest.approx(eps, rel=1e-6)


@private
def test_dp_accounting_agrees_on_the_cost(case):
    """Privacy loss distributions over the ledger that a run really spent: independent of ours.
    Under replace-one, where each statistic has a factor of its own.
    """
    kind, home = case
    world = home.world()
    budget = Budget(epsilon=2.0, delta=1e-6, relation=Relation.REPLACE_ONE)
    spec = RunSpec.parse(
        data={"id": "small"}, algorithm=kind.id, budget=budget.model_dump()
    )
    ready = planning.prepare(spec, world.shape)
    has_samples = any(
        leaf.mechanism == "posterior sample" for leaf, _ in normal_form(ready.plan)
    )
    # randomised response replaces
    accountant = PLDAccountant(
        NeighboringRelation.REPLACE_ONE
        if has_samples
        else NeighboringRelation.ADD_OR_REMOVE_ONE
    )
    outcome = record(ready.algorithm, world, level=ready.level)
    for leaf, count in outcome.ledger:
        z = leaf.noise_multiplier / (leaf.joint_factor or leaf.replace_one_factor)
        noise = {
            "Gaussian": dp_event.GaussianDpEvent(z), "Laplace": dp_event.LaplaceDpEvent(z),
            "posterior sample": dp_event.RandomizedResponseDpEvent(2 / (1 + np.exp(1 / z)), 2),
        }[leaf.mechanism]  # fmt: skip
        accountant.compose(noise, count)
    assert accountant.get_epsilon(1e-6) == pytest.approx(2.0, rel=1e-3)
