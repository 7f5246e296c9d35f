"""The arithmetic of an attack, against closed forms."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from dpmf_core.audit import bounds


def test_a_perfect_attack_shows_no_more_than_its_runs_allow() -> None:
    """No error in n trials of each kind: both rates are below 1 - (error / 2)^(1 / n)."""
    limit = 1 - 0.025 ** (1 / 250)
    bound = bounds.epsilon_of_rates(np.array([0]), np.array([0]), (250, 250), 0.0, 0.05)
    assert bound[0] == pytest.approx(math.log((1 - limit) / limit))
    assert bounds.most(1000, ("what is shared",), 0.0, False) == pytest.approx(
        math.log((1 - limit) / limit)
    )


def test_the_pair_test_of_the_same_trainings_shows_far_more() -> None:
    """All of 500 pairs told apart: mu is at least √2 Φ⁻¹(0.02^(1/500)), as Φ(mu/√2)^500 = 0.02;
    its epsilon by Theorem 8 of Balle & Wang 2018.
    """
    mu = math.sqrt(2) * norm.ppf(0.02 ** (1 / 500))

    def slack(epsilon: float) -> float:
        a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return float(norm.cdf(a) - math.exp(epsilon + norm.logcdf(b))) - 1e-5

    epsilon = bounds.most(1000, ("what is released",), 1e-5, True)
    assert epsilon == pytest.approx(brentq(slack, 0, 100), rel=0.01)
    assert epsilon > 4 * bounds.most(1000, ("what is released",), 1e-5, False)


def test_limits_are_those_of_clopper_and_pearson() -> None:
    """1 of 10 at 2.5% a side: at most .4450 (Clopper & Pearson 1934); and for every count the
    binomial tail is the error itself.
    """
    assert bounds.upper_limits(10, 0.025)[1] == pytest.approx(0.4450, abs=5e-5)
    assert bounds.upper_limits(10, 0.025)[10] == 1.0
    limits = bounds.upper_limits(50, 0.01)[:-1]
    np.testing.assert_allclose(binom.cdf(np.arange(50), 50, limits), 0.01, rtol=1e-9)


@pytest.mark.parametrize("attacks", [("what is shared",), ("what is shared", "what is released")])
@pytest.mark.parametrize("through_mu", [False, True])
def test_the_tests_that_are_run_share_the_five_percent(
    attacks: tuple[bounds.Attack, ...], through_mu: bool
) -> None:
    errors = bounds.shares(attacks, through_mu)
    assert sum(errors.values()) == pytest.approx(0.05)
    assert {rule for _, rule in errors} == (
        {"pair test", "error rates"} if through_mu else {"error rates"}
    )
    scores = dict.fromkeys(attacks, (np.zeros(40), np.ones(40)))
    assert {
        (it.attack, it.rule): it.error for it in bounds.bounds_of(scores, 1e-5, through_mu)
    } == errors


def test_error_rates_run_from_all_alarms_to_none() -> None:
    rng = np.random.default_rng(2)
    bound = bounds.bounds_of(
        {"what is shared": (rng.standard_normal(200), 1 + rng.standard_normal(200))}, 1e-5, False
    )[0]
    assert len(bound.false_alarms) == len(bound.misses) == bounds.CUTS
    assert bound.false_alarms[-1] == 0 and bound.misses[-1] == 1
    assert sorted(bound.misses) == list(bound.misses)
    assert sorted(bound.false_alarms, reverse=True) == list(bound.false_alarms)
