"""Counts behind noise against numerical integration, and against the truth where it is known."""

import math

import numpy as np
import pytest
from scipy import integrate

from dpmf_core.algorithms.noisy_counts import NoisyCounts

NOISE = 4.0


def true_and_noisy(n: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """True counts, log-normal, and the same with noise."""
    random = np.random.default_rng(seed)
    true = np.exp(random.normal(2.0, 1.2, n))
    return true, true + random.normal(0, noise, n)


def posterior_by_quadrature(
    noisy: float, noise: float, mean: float, variance: float
) -> tuple[float, float]:
    """Mean and variance of a count of log-normal prior with this mean and variance."""
    deviation = math.sqrt(math.log1p(variance / mean**2))
    middle = math.log(mean) - deviation**2 / 2

    def moment(power: int) -> float:
        def density(z: float) -> float:
            count = math.exp(middle + deviation * z)
            return count**power * math.exp(-(((noisy - count) / noise) ** 2) / 2 - z**2 / 2)

        places = sorted({0.0, (math.log(max(noisy, 0.1)) - middle) / deviation})
        return float(integrate.quad(density, -6, 9, points=places, limit=500)[0])

    whole = moment(0)
    return moment(1) / whole, moment(2) / whole - (moment(1) / whole) ** 2


def test_posterior_agrees_with_numerical_integration() -> None:
    _, noisy = true_and_noisy(3000, NOISE)
    counts = NoisyCounts(noisy, NOISE)
    mean, variance = noisy.mean(), noisy.var() - NOISE**2
    for place in [*np.argsort(noisy)[[0, 300, 1500, 2500, 2900]]]:
        expected, spread = posterior_by_quadrature(noisy[place], NOISE, mean, variance)
        assert counts.expected[place] == pytest.approx(expected, rel=1e-3)
        assert counts.variances[place] == pytest.approx(spread, rel=5e-3)


def test_posterior_errs_less_than_release_and_than_a_linear_pull_by_as_much_as_it_says() -> None:
    true, noisy = true_and_noisy(20_000, NOISE)
    counts = NoisyCounts(noisy, NOISE)
    spread = noisy.var() - NOISE**2
    linear_pull = noisy.mean() + spread / noisy.var() * (noisy - noisy.mean())
    error = np.mean((counts.expected - true) ** 2)
    assert error < 0.8 * np.mean((linear_pull - true) ** 2) < 0.9 * NOISE**2
    assert error == pytest.approx(counts.variances.mean(), rel=0.05)


def test_posterior_means_are_positive_and_keep_the_order_of_the_release() -> None:
    for noise in (1e-6, 0.3, NOISE, 100.0):
        _, noisy = true_and_noisy(9000, noise, seed=3)
        expected = NoisyCounts(noisy, noise).expected
        assert (expected > 0).all()
        assert (np.diff(expected[np.argsort(noisy)]) >= -1e-2 * noise).all()


def test_without_noise_the_release_is_the_count() -> None:
    true, _ = true_and_noisy(500, 0.0)
    for noise in (0.0, 1e-9):
        counts = NoisyCounts(true, noise)
        np.testing.assert_allclose(counts.expected, true)
        np.testing.assert_allclose(counts.variances, noise**2, atol=1e-15)
    assert NoisyCounts(np.append(true, 0.0), 0.0).expected[-1] < true.min()


def test_where_noise_explains_all_spread_every_count_is_the_mean() -> None:
    noisy = 50 + np.random.default_rng(1).normal(0, 1.0, 400)
    counts = NoisyCounts(noisy, 2.0)
    np.testing.assert_allclose(counts.expected, noisy.mean())
    assert not counts.variances.any()


def test_noise_that_drowns_everything_leaves_finite_positive_counts() -> None:
    noisy = np.random.default_rng(2).normal(0, 1e6, 300)
    counts = NoisyCounts(noisy - noisy.mean() - 10.0, 1e6)
    assert np.isfinite(counts.expected).all() and (counts.expected > 0).all()
    assert np.isfinite(counts.variances).all() and (counts.variances >= 0).all()
