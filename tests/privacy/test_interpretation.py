"""What an epsilon means: trade-off curves and suspicions, in closed form and by integration."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpmf_core.privacy import Gaussian, Laplace, Repeat, sequence
from dpmf_core.privacy import accounting as rules
from dpmf_core.privacy.interpretation import (
    belief,
    exception_of,
    false_negatives,
    success_of,
)
from tests.privacy.test_accounting import ALARMS, MIXED_NOISE


@pytest.mark.parametrize(
    "event",
    [
        Gaussian(3.0),
        Gaussian(0.3),
        Repeat(Gaussian(4.0), 9),
        MIXED_NOISE,
        Laplace(1.0),
    ],
)
def test_trade_off_is_convex_decreasing_and_under_guessing(event):
    misses = false_negatives(event, ALARMS)
    assert misses[0] == pytest.approx(1.0, abs=2e-3)
    assert misses[-1] == pytest.approx(0.0, abs=1e-12)
    assert np.all(np.diff(misses) <= 1e-12)
    assert np.all(np.diff(misses, 2) >= -1e-9)
    assert np.all(misses <= 1 - ALARMS + 1e-12)


def test_trade_off_matches_its_formula():
    for mu in (0.2, 1.0, 3.0):
        inside = ALARMS[1:-1]
        assert np.allclose(
            false_negatives(Gaussian(1 / mu), inside),
            ndtr(ndtri(1 - inside) - mu),
            atol=1e-12,
        )


def test_an_even_suspicion_at_epsilon_two():
    """By numerical integration and bisection: 88%, exception 9e-5, right 60 times in 100."""
    x = np.linspace(-12.0, 14.0, 200_001)
    step = x[1] - x[0]
    without = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)

    def with_her(mu):
        return np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)

    low = 0.1
    high = 2.0
    while high - low > 1e-9:
        mu = (low + high) / 2
        excess = np.maximum(with_her(mu) - math.exp(2.0) * without, 0)
        beyond = np.sum(excess) * step
        if beyond < 1e-5:
            low = mu
        else:
            high = mu
    p = with_her(low)
    posterior = p / (p + without)
    event = Gaussian(1 / low)
    epsilon = rules.epsilon(event, 1e-5)
    most = belief(0.5, epsilon)
    expected = math.e**2 / (1 + math.e**2)
    assert most == pytest.approx(expected, abs=1e-6)
    excess_share = float(np.sum(p[posterior > most]) * step)
    exception = exception_of(event, epsilon)
    assert exception == pytest.approx(excess_share, rel=1e-3)
    assert float(f"{excess_share:.0e}") == 9e-5
    more_likely = np.maximum(p, without)
    right = float(np.sum(more_likely) * step / 2)
    assert success_of(event) == pytest.approx(right, abs=1e-6)
    assert round(100 * right) == 60


def test_meaning_of_laplace_noise_in_closed_form():
    """Lap(0, 2) against Lap(1, 2): the loss is at most 1/2; right with 1 - e^(-1/4) / 2."""
    epsilon = rules.epsilon(Laplace(2.0), 1e-9)
    expected = 1 / (1 + math.exp(-0.5))
    assert belief(0.5, epsilon) == pytest.approx(expected, abs=1e-4)
    expected = 1 - math.exp(-0.25) / 2
    assert success_of(Laplace(2.0)) == pytest.approx(expected, abs=1e-4)


def test_the_exception_of_mixed_noise_bounds_how_often_the_loss_is_larger():
    """Counted over draws of both noises, at an epsilon that a loss often exceeds."""
    event = sequence(Laplace(4.0), Gaussian(3.0))
    delta = rules.delta(event, 0.3)
    rng = np.random.default_rng(3)
    n = 200_000
    loss = rng.normal(1 / 3, 1, n) / 3 - 1 / 18
    draw = 1 + rng.laplace(0, 4.0, n)
    loss += (np.abs(draw) - np.abs(draw - 1)) / 4.0
    excess_share = np.mean(loss >= 0.3)
    exception = exception_of(event, rules.epsilon(event, delta))
    assert 0.1 < excess_share <= exception <= 1
