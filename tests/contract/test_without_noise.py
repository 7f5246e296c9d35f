"""Every private algorithm without noise: the same code on exact sums, no ledger and no epsilon."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import SeedSequence
from numpy.testing import assert_allclose, assert_array_equal

import dpmf
from dpmf_core.algorithms import PrivateAlgorithm, build, find, without_noise
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import NOTHING, Budget, NoiseKind, Status, normal_form
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.privacy_record import EpsilonRecord
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import Method, Sweep, with_open
from dpmf_core.testing.homes import CASES, case_name
from dpmf_core.testing.parameter_sets import choices_of, fields
from dpmf_core.testing.probes import Recorder, fit, record
from dpmf_core.testing.rating_worlds import world
from tests.contract.cases import covering
from tests.contract.models import assert_model_sound

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
HARDLY_ANY = 1e-9  # a noise multiplier
private = pytest.mark.parametrize(
    "case",
    [case for case in CASES if issubclass(case[0], PrivateAlgorithm)],
    ids=case_name,
)


def predictions(model, data):
    """What a model says, whatever the signs and the order of its factors."""
    if isinstance(data, Ratings):
        return np.asarray(model.predict(model.personal(data), data.users, data.items))
    coefficients = model.personal(data).coefficients
    return np.asarray(coefficients @ model.basis)


@private
def test_it_is_the_limit_of_vanishing_noise(case):
    """With the recommended numbers, choices of which any two are met, and three steps.

    Steps that follow explain nothing more in so small a world, so any noise at all leads them
    elsewhere. A spectral start is left out for the same reason: no factor stands out of sampling.
    """
    kind, home = case
    world = home.world()
    for corner in covering(kind, world.shape):
        choices = {
            name: value
            for name, value in corner.items()
            if choices_of(fields(kind)[name])
        }
        if choices.get("start") == "spectral":
            choices.pop("start")
        if "steps" in fields(kind):
            few = {"steps": 3}
        else:
            few = {}
        algorithm = build(kind.id, choices | few, world.shape, None, noise=False)
        exact = record(algorithm, world)
        noisy = record(kind(**algorithm.model_dump()), world, level=HARDLY_ANY)
        here = predictions(exact.model, world)
        there = predictions(noisy.model, world)
        assert_allclose(here, there, atol=2e-3, err_msg=str(choices))


@private
def test_it_releases_nothing_and_repeats_itself_in_every_corner(case):
    kind, home = case
    world = home.world()
    for corner in covering(kind, world.shape):
        algorithm = without_noise(kind)(**corner)
        one = fit(algorithm, world, Recorder(NOTHING, SeedSequence(0)))
        again = fit(algorithm, world, Recorder(NOTHING, SeedSequence(1)))
        assert not one.log
        assert not one.ledger
        assert_model_sound(one.model, world)
        for name, array in one.shared.items():
            assert_array_equal(array, again.shared[name])


@private
def test_its_plan_and_its_guarantee_are_empty(case):
    kind, home = case
    shape = home.world().shape
    spec = RunSpec.of(dataset="small", algorithm=kind.id, noise="none")
    ready = prepare(spec, shape)
    assert not normal_form(ready.plan)
    assert ready.guarantee.status is Status.NONE
    assert not ready.guarantee.has_epsilon
    assert spec.canonical().budget is None
    assert spec == RunSpec.of(dataset="small", algorithm=kind.id, **BUDGET).open()
    assert (
        "without_noise" not in RunSpec.of(dataset="small", algorithm="als").model_dump()
    )


def test_noise_none_and_an_epsilon_exclude_each_other():
    with pytest.raises(BadInput, match="epsilon"):
        RunSpec.of(dataset="small", algorithm="dpals", noise="none", **BUDGET)
    with pytest.raises(BadInput, match="budget"):
        RunSpec.parse(
            data={"id": "small"}, algorithm="dpals", without_noise=True, budget=BUDGET
        )
    with pytest.raises(ValueError, match="budget"):
        Budget(**BUDGET, noise=NoiseKind.NONE)
    with pytest.raises(BadInput, match="not private"):
        dpmf.fit("small", "als", noise="none", keep=False)


def private_world():
    return replace(world(), public=False)


def numbers_called_epsilon(value, inside=False):
    """Every figure of JSON under a name that holds the word."""
    if isinstance(value, dict):
        named = [(inside or "epsilon" in name, part) for name, part in value.items()]
        return [
            number
            for here, part in named
            for number in numbers_called_epsilon(part, here)
        ]
    if inside and isinstance(value, int | float):
        return [value]
    return []


def test_no_record_and_no_export_carries_an_epsilon():
    data = private_world()
    run = dpmf.fit(data, "spectral", noise="none", keep=False)
    with_epsilon = dpmf.fit(data, "spectral", **BUDGET, keep=False).record.to_dict()
    assert numbers_called_epsilon(with_epsilon)
    assert numbers_called_epsilon(run.record.to_dict()) == []
    assert numbers_called_epsilon(run.export()) == []
    assert run.record.epsilon == EpsilonRecord()
    assert run.record.delta is None
    assert not run.record.ledger
    assert run.title != find("spectral").title
    assert run.export()["guarantee"]["status"] == "NONE"
    assert not {"metrics", "model", "curves"} & run.export().keys()


def test_a_sweep_runs_private_methods_once_without_noise_and_says_so():
    methods = [Method(algorithm=name, label=name) for name in ("spectral", "als")]
    sweep = Sweep.of(
        {"dataset": "small", "noise": "none"}, methods=methods, seeds=(0, 1)
    )
    points = sweep.points()
    assert [(point.label, point.epsilon) for point in points[:2]] == [
        ("spectral, without noise", None),
        ("als", None),
    ]
    without_noise = [point.spec.without_noise for point in points]
    assert without_noise == [True, False, True, False]
    both = with_open(methods)
    names = [style.name for style in both]
    assert names == [
        "spectral",
        "als",
        "spectral, without noise",
    ]
    with pytest.raises(BadInput, match="epsilon"):
        Sweep.of({"dataset": "small", "noise": "none", "epsilon": 1.0}, methods=methods)
