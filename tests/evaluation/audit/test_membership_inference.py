"""The attack finds planted faults and nothing above a proof."""

import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta, norm

from dpmf_core.algorithms import find
from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.evaluation.audit import canary_data
from dpmf_core.evaluation.audit.audit_table import every_proven, table_specs
from dpmf_core.evaluation.audit.canaries import FAULTS
from dpmf_core.evaluation.audit.canary_data import COLUMNS
from dpmf_core.evaluation.audit.membership_inference import AuditSpec, audit, rates
from dpmf_core.jobs.engine import Engine
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.runs.store import Store
from tests.support.engines import WAIT


def values_by_place(ratings):
    places = zip(ratings.users, ratings.items, strict=True)
    return dict(zip(places, ratings.values, strict=True))


@pytest.mark.parametrize("unit", ["user", "rating", "value"])
def test_worlds_are_neighbours(unit):
    """They differ in user 0 alone: by all her ratings, by one, or by the value of one."""
    seed = np.random.SeedSequence(0)
    for pair in canary_data.pairs(find("dpals")(), unit, seed):
        first = values_by_place(pair.absent)
        second = values_by_place(pair.present)
        differ = {
            place
            for place in first.keys() | second.keys()
            if first.get(place) != second.get(place)
        }
        assert {user for user, _ in differ} == {0}
        n_moved = COLUMNS if unit == "user" else 1
        assert len(differ) == n_moved
        are_same_places = first.keys() == second.keys()
        assert are_same_places == (unit == "value")
        assert pair.absent.shape == pair.present.shape
        assert pair.absent.shape == canary_data.shape(find("dpals"))


def test_sample_worlds_are_neighbours():
    seed = np.random.SeedSequence(0)
    for pair in canary_data.pairs(find("dp-nmf")(), "user", seed):
        moves = np.abs(pair.absent.X - pair.present.X)
        differ = np.flatnonzero(moves.sum(axis=1))
        assert differ.tolist() == [0]
        norm_of_canary = np.linalg.norm(pair.present.X[0])
        assert norm_of_canary == pytest.approx(1.0)
        assert not pair.absent.X[0].any()


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "budget", "runs"),
    [
        ("private-bias", 1.0, 200),
        slow("spectral", 2.0, 200),
        ("input-perturbation", 1.0, 120),
    ],
)
def test_nothing_is_found_above_a_proof(name, budget, runs):
    result = audit(name, epsilon=budget, runs=runs, seed=3)
    assert result.proven == pytest.approx(budget, rel=1e-6)
    assert result.lower <= budget
    assert not result.broken
    if name == "input-perturbation":
        unit = "value of a rating, another value"
    else:
        unit = "user, add/remove"
    assert (
        f"proven at most {budget:.2f} (delta = 1e-5, per {unit}, exact)" in result.words
    )
    signs = {}
    for figure in result.figures:
        sign, _, _ = figure.words.rpartition(" ")
        signs[figure.name] = sign
    assert signs["proved"] == "≤"
    assert signs["at best"] not in ("≤", "=", "≥")


@pytest.mark.slow
def test_an_attack_comes_near_a_proof():
    """Rows are released as they are: at least 2 of epsilon 3 is found."""
    result = audit("private-svd", epsilon=3.0, runs=2000, seed=1)
    assert result.by == "what is released"
    assert result.best.rule == "pair test"
    assert 2.0 < result.lower < 3.0
    assert result.lost_epsilon == pytest.approx(3.0, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "fault", "by", "runs", "parameters"),
    [
        ("private-bias", "small-noise", "what is released", 100, {}),
        ("private-bias", "unlisted-release", "what is shared", 300, {}),
        slow("dpals", "no-clipping", "what is released", 200, {}),
        slow("dp-nmf", "exact-start", "what is released", 400, {"steps": 2}),
    ],
)
def test_planted_faults_are_found(name, fault, by, runs, parameters):
    result = audit(name, epsilon=1.0, runs=runs, fault=fault, parameters=parameters)
    assert result.broken
    assert result.by == by


def test_what_is_no_gaussian_mechanism_is_bounded_by_error_rates_alone():
    """Logarithms of the odds at Clopper and Pearson's limits, not the 16 that mu would give."""
    result = audit("private-bias", epsilon=1.0, runs=400, fault="unlisted-release")
    shared = next(test for test in result.tests if test.attack == "what is shared")
    errors = [int(number) for number in re.findall(r"\d+", shared.words)]
    assert errors[1] == 100
    assert errors[3] == 100
    assert errors[0] + errors[2] < 10
    alarms = beta.ppf(1 - 0.0125, errors[0] + 1, 100 - errors[0])
    misses = beta.ppf(1 - 0.0125, errors[2] + 1, 100 - errors[2])
    odds_of_alarms = (1 - 1e-5 - alarms) / misses
    odds_of_misses = (1 - 1e-5 - misses) / alarms
    expected = math.log(max(odds_of_alarms, odds_of_misses))
    assert result.lower == pytest.approx(expected, abs=1e-9)
    rules = {test.rule for test in result.tests}
    assert rules == {"error rates"}
    assert result.realised_mu is None
    assert result.planned_mu is None


@pytest.mark.parametrize(
    ("name", "fault", "through_mu"),
    [
        ("private-bias", "none", True),
        ("private-bias", "small-noise", True),
        ("dpals", "no-clipping", True),
        ("private-bias", "unlisted-release", False),
        ("dp-nmf", "exact-start", False),
        ("sgld", "none", True),
        ("input-perturbation", "none", False),
        ("als", "none", False),
    ],
)
def test_mu_is_for_gaussian_mechanisms(name, fault, through_mu):
    target = AuditSpec(algorithm=name, epsilon=3.0, fault=fault).target(
        canary_data.shape(find(name))
    )
    assert target.through_mu is through_mu


def test_a_larger_canary_than_what_is_proved_breaks_nothing():
    result = audit("input-perturbation", epsilon=1.0, runs=120, unit="user")
    assert result.lower > 1.0
    assert not result.broken


def test_the_allowed_curve_is_the_ledgers():
    """A ledger of mu: the fewest misses at false alarms a are Phi(Phi^-1(1 - a) - mu)."""
    result = audit("private-svd", epsilon=2.0, runs=40)
    mu = gaussian_mu(2.0, 1e-5)
    inner = slice(1, -1)
    false_alarms = np.array(rates())[inner]
    expected = norm.cdf(norm.ppf(1 - false_alarms) - mu)
    assert_allclose(result.allowed_misses[inner], expected, atol=2e-3)


@pytest.mark.parametrize(
    "fields",
    [
        {"algorithm": "dpals"},
        {"algorithm": "private-bias", "epsilon": 1.0, "runs": 10},
        {"algorithm": "private-bias", "epsilon": 1.0, "fault": "no-noise"},
        {"algorithm": "private-bias", "epsilon": 1.0, "fault": "no-clipping"},
        {"algorithm": "als", "fault": "small-noise"},
        {"algorithm": "dp-nmf", "epsilon": 1.0, "unit": "rating"},
        {"algorithm": "als", "unit": "item"},
        {"algorithm": "als", "epsilon": 1.0},
    ],
    ids=str,
)
def test_what_cannot_be_attacked_is_refused(fields):
    with pytest.raises(BadInput):
        audit(**fields)


def test_the_table_holds_every_proof_and_every_fault():
    specs = table_specs(1.0, 1e-5, 100, 0)
    algorithms = {spec.algorithm for spec in specs}
    assert algorithms == {*every_proven(), "sketch"}
    assert {spec.fault for spec in specs} == set(FAULTS)
    for spec in specs:
        spec.check()


def test_an_audit_stops_when_it_is_told():
    with pytest.raises(Cancelled):
        AuditSpec.parse(algorithm="private-bias", epsilon=1.0).measure(
            stopped=lambda: True
        )


@pytest.fixture
def threads(tmp_path):
    engine = Engine(Store(tmp_path), workers=1)
    yield engine
    engine.close()


def test_the_engine_measures_once_and_remembers(threads):
    spec = AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=40)
    first = threads.submit(spec)
    second = threads.submit(spec)
    assert first.result(WAIT) is second.result(WAIT)
    again = threads.submit(
        AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=40)
    )
    assert again.state == "done"
    assert again.result(0) is first.result(0)
    assert threads.store.rows() == []
    spec = AuditSpec.parse(algorithm="dpals", runs=100)
    failure = threads.submit(spec)
    assert failure.state == "failed"
    assert "budget" in str(failure.error)
