"""Every rule against published figures, closed forms, high precision and dp_accounting."""

import math

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpmf_core.privacy import Budget, Gaussian, Laplace, Relation, Repeat, UnsupportedEvent, calibrate, default_delta, normal_form, sequence
from dpmf_core.privacy import accounting as acc

GOLDEN_MU = {0.1: 30.7496, 0.5: 7.0318, 1: 3.7306, 2: 1.9938, 5: 0.8919, 10: 0.4999, 20: 0.2900}  # 1 / mu at delta 1e-5

multipliers = st.floats(0.3, 300)
leaves = st.builds(Gaussian, multipliers, st.sampled_from("abc"), st.just(1.0), st.floats(1, 2))
ledgers = st.lists(st.builds(Repeat, leaves, st.integers(1, 20)), min_size=1, max_size=5)
deltas = st.floats(-12, -2).map(lambda x: 10.0**x)


@pytest.mark.parametrize(("epsilon", "inverse"), GOLDEN_MU.items())
def test_golden_mu(epsilon: float, inverse: float) -> None:
    assert 1 / acc.gaussian_mu(epsilon, 1e-5) == pytest.approx(inverse, abs=5.01e-5)


def test_epsilon_inverts_mu() -> None:
    for epsilon in (1e-4, 0.01, 1, 30, 1000):
        for delta in (1e-15, 1e-6, 0.1):
            assert acc.gaussian_epsilon(acc.gaussian_mu(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-8)


def _exact_log_delta(mu: float, epsilon: float) -> float:
    with mpmath.workdps(120):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        value = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        return float(mpmath.log(value))


@pytest.mark.parametrize("mu", [1e-3, 0.02, 0.3, 1.0, 5.0, 25.0, 60.0])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0, 3.0, 7.0])
def test_log_delta_keeps_its_digits(mu: float, ratio: float) -> None:
    epsilon = ratio * mu + mu * mu / 2
    assert acc.log_delta(mu, epsilon) == pytest.approx(_exact_log_delta(mu, epsilon), rel=1e-9, abs=1e-12)


def test_extremes_neither_overflow_nor_vanish() -> None:
    assert acc.log_delta(25.0, 700.0) == pytest.approx(_exact_log_delta(25.0, 700.0), rel=1e-10)
    mu = acc.gaussian_mu(1.0, 1e-15)
    assert math.exp(acc.log_delta(mu, 1.0)) == pytest.approx(1e-15, rel=1e-9)
    for mu in (0.1, 1.0, 4.0):
        assert math.exp(acc.log_delta(mu, 0.0)) == pytest.approx(2 * norm.cdf(mu / 2) - 1, rel=1e-12)


@pytest.mark.parametrize("z", [0.6, 2.0, 9.0, 40.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-5, 1e-3])
def test_exact_equals_dp_accounting_pld(z: float, delta: float) -> None:
    accountant = PLDAccountant()
    accountant.compose(dp_event.GaussianDpEvent(z), 7)
    assert acc.epsilon(Repeat(Gaussian(z), 7), delta) == pytest.approx(accountant.get_epsilon(delta), rel=1e-3)


def test_laplace_goes_to_the_pld_accountant() -> None:
    event = sequence(Repeat(Laplace(4.0), 3), Gaussian(5.0))
    accountant = PLDAccountant()
    accountant.compose(dp_event.LaplaceDpEvent(4.0), 3)
    accountant.compose(dp_event.GaussianDpEvent(5.0), 1)
    assert acc.epsilon(event, 1e-6) == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-9)
    assert acc.epsilon(Laplace(2.0), 1e-12) == pytest.approx(0.5, rel=1e-3)  # pure DP of one release
    with pytest.raises(UnsupportedEvent, match="Gaussian noise only; found Laplace"):
        acc.mu(event)


@settings(max_examples=60, deadline=None)
@given(ledgers, deltas)
def test_rdp_of_the_sources_is_zcdp(parts: list[Repeat], delta: float) -> None:
    event = sequence(*parts)
    rho = acc.mu(event) ** 2 / 2
    grid = 1 + np.exp(np.linspace(-8, 12, 20_001))
    searched = np.min(rho * grid - math.log(delta) / (grid - 1))
    rows = {row.rule: row.epsilon for row in acc.every_epsilon(event, delta)}
    assert rows["rdp_source"] == pytest.approx(searched, rel=1e-5)


def test_tight_rdp_is_at_or_under_dp_accountings_and_close() -> None:
    for z, count in ((2.0, 5), (20.0, 50), (0.8, 1)):
        accountant = RdpAccountant(orders=np.concatenate([np.linspace(1.01, 20, 2000), np.linspace(20, 400, 2000)]).tolist())
        accountant.compose(dp_event.GaussianDpEvent(z), count)
        ours = acc.every_epsilon(Repeat(Gaussian(z), count), 1e-6)[2]
        assert ours.rule == "rdp_tight"
        assert ours.epsilon == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-4)
    accountant = RdpAccountant(orders=np.exp(np.linspace(0.01, 10, 6000)).tolist())
    accountant.compose(dp_event.LaplaceDpEvent(3.0), 10)
    assert acc.every_epsilon(Repeat(Laplace(3.0), 10), 1e-6)[2].epsilon == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-3)


@settings(max_examples=100, deadline=None)
@given(ledgers, deltas)
def test_exact_is_at_or_under_every_valid_rule(parts: list[Repeat], delta: float) -> None:
    for relation in Relation:
        rows = acc.every_epsilon(sequence(*parts), delta, relation)
        exact = rows[0].epsilon
        assert exact is not None
        for row in rows[1:]:
            assert (row.epsilon is None) == bool(row.reason)
            assert row.epsilon is None or row.epsilon >= exact - 1e-9


def test_classical_rules_are_not_valid_above_one() -> None:
    rows = {row.rule: row for row in acc.every_epsilon(Gaussian(1.0), 1e-5)}
    assert rows["advanced"].epsilon is None
    assert "below 1" in rows["naive"].reason
    rows = {row.rule: row for row in acc.every_epsilon(Repeat(Gaussian(50.0), 4), 1e-5)}
    each = math.sqrt(2 * math.log(1.25 * 4 / 1e-5)) / 50
    assert rows["naive"].epsilon == pytest.approx(4 * each)
    each = math.sqrt(2 * math.log(1.25 * 8 / 1e-5)) / 50
    assert rows["advanced"].epsilon == pytest.approx(math.sqrt(2 * math.log(2 / 1e-5) * 4 * each**2) + 4 * each * math.expm1(each))


@settings(max_examples=60, deadline=None)
@given(ledgers, deltas, st.randoms())
def test_laws_of_composition(parts: list[Repeat], delta: float, random: object) -> None:
    event = sequence(*parts)
    shuffled = list(parts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert acc.epsilon(sequence(*shuffled), delta) == pytest.approx(acc.epsilon(event, delta), rel=1e-9)
    copied = sequence(*(part.event for part in parts for _ in range(part.count)))
    assert dict(normal_form(copied)) == dict(normal_form(event))
    more = sequence(event, parts[0].event)
    assert acc.epsilon(more, delta) >= acc.epsilon(event, delta)
    assert acc.epsilon(event, delta, Relation.REPLACE_ONE) >= acc.epsilon(event, delta)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("epsilon", [1e-3, 0.7, 9.0, 500.0])
def test_calibration_inverts_accounting(epsilon: float, relation: Relation) -> None:
    budget = Budget(epsilon=epsilon, delta=1e-6, relation=relation)

    def plan(level: float) -> object:
        return sequence(Repeat(Gaussian(level * 1.7, "a", 1.0, 1.5), 6), Gaussian(level, "b"))

    level = calibrate(plan, budget)  # type: ignore[arg-type]
    assert acc.epsilon(plan(level), 1e-6, relation) == pytest.approx(epsilon, rel=1e-6)  # type: ignore[arg-type]
    assert calibrate(lambda level: sequence(), budget) == 1.0


def test_calibration_of_laplace_noise() -> None:
    budget = Budget(epsilon=2.0, delta=1e-6)
    level = calibrate(lambda at: Repeat(Laplace(at), 3), budget)
    assert acc.epsilon(Repeat(Laplace(level), 3), 1e-6) == pytest.approx(2.0, rel=1e-3)


def test_trade_off_curve_of_gaussian_and_laplace_noise() -> None:
    alarms = np.linspace(0, 1, 201)
    event = Repeat(Gaussian(3.0), 4)
    curve = acc.false_negatives(event, alarms)
    np.testing.assert_allclose(curve, norm.cdf(norm.ppf(1 - alarms) - 2 / 3), atol=1e-12)
    for other in (event, Laplace(1.0)):
        curve = acc.false_negatives(other, alarms)
        assert (np.diff(curve) <= 1e-12).all()
        assert (np.diff(curve, 2) >= -1e-9).all()
        for eps in (0.0, 0.5, 2.0):
            line = 1 - acc.delta(other, eps) - math.exp(eps) * alarms
            assert (curve >= line - 1e-9).all()


def test_odds_name_the_true_probability() -> None:
    found = acc.odds(Gaussian(1 / acc.gaussian_mu(1.0, 1e-5)), 1e-5)
    assert found.factor == pytest.approx(math.e, rel=1e-6)
    assert found.exception == pytest.approx(1.6e-4, rel=0.02)
    assert "1.6e-04" in found.words
    assert "2.7:1" in found.words


def test_default_delta_is_one_digit_at_most_a_tenth_of_one_over_n() -> None:
    assert [default_delta(n) for n in (1, 20_000, 6_040, 210, 1_000)] == [0.1, 5e-6, 1e-5, 4e-4, 1e-4]


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_noise_multipliers_are_positive_and_finite(value: float) -> None:
    for kind in (Gaussian, Laplace):
        with pytest.raises(ValueError, match="finite number above 0"):
            kind(value)
