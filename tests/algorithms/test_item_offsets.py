"""Item sums and counts against their definition, and offsets against the truth."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate

from dpmf_core.algorithms import REGISTRY
from dpmf_core.algorithms.item_offsets import NoisyCounts, SumsAndCounts, release_biases
from dpmf_core.curator import NoisyCurator, in_memory
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import Noise
from dpmf_core.testing import rating_worlds
from tests.support.algebra import exact_curator

N = 4000
M = 40


def sums_by_hand(data, unit, weights, offsets):
    """(2 n_items,), user by user from docs/PRIVACY.md, "Item sums and counts"."""
    total = np.zeros((2, data.n_items))
    for user in range(data.n_users):
        hers = data.users == user
        if not hers.any():
            continue
        items = data.items[hers]
        x = (data.values[hers].astype(float) - offsets[items]) / unit
        x -= x.mean()
        g = weights[items]
        A = (g**2).sum()
        B = (g**2 * x**2).sum()
        s = np.sqrt(max(B, A / 2) + A / 4)
        total[:, items] += g * x / s, g / 2 / s
    return total.ravel()


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_the_definition(seed):
    data = rating_worlds.world()
    random = np.random.default_rng(seed)
    unit = data.shape.half_range / 2
    offsets = np.zeros(data.n_items)
    weights = np.ones(data.n_items)
    if seed > 0:
        offsets = random.normal(0, 0.5, data.n_items)
        weights = np.exp(random.normal(0, 1.0, data.n_items))
    sums = exact_curator(data).total(SumsAndCounts(), unit, weights, offsets)
    expected = sums_by_hand(data, unit, weights, offsets)
    assert_allclose(sums, expected, atol=1e-5 * data.n_users)


def test_errors_of_offsets_have_their_stated_variances():
    """For 20 to 2,000 ratings an item."""
    random = np.random.default_rng(2)
    chance = np.geomspace(0.005, 0.5, 400)
    users, items = np.nonzero(random.random((N, 400)) < chance)
    truth = random.normal(0, 0.5, 400)
    values = 3 + truth[items] + random.normal(0, 0.9, len(users))
    data = Ratings.of(
        users,
        items,
        values,
        n_users=N,
        n_items=400,
        bounds=(-4.0, 10.0),
    )
    plan = REGISTRY["private-bias"]().plan(data.shape, 6.0)
    errors = []
    counts = []
    for seed in range(8):
        noise = Noise(plan, np.random.SeedSequence(seed))
        biases = release_biases(NoisyCurator(in_memory(data), noise), unit=1.0)
        wrong = biases.offsets - truth
        errors.append((wrong - wrong.mean()) / np.sqrt(biases.variances))
        expected = biases.counts.expected
        counts.append(expected / expected.mean())
    assert np.mean(np.square(errors)) == pytest.approx(1.0, abs=0.25)
    true_counts = np.bincount(items, minlength=400)
    shown = np.log(np.mean(counts, axis=0))
    correlation = np.corrcoef(shown, np.log(true_counts))[0, 1]
    assert correlation > 0.95


NOISE = 4.0


def true_and_noisy(n, noise, seed=0):
    """True counts, log-normal, and the same with noise."""
    random = np.random.default_rng(seed)
    true = np.exp(random.normal(2.0, 1.2, n))
    return true, true + random.normal(0, noise, n)


def posterior_by_quadrature(noisy, noise, mean, variance):
    """Mean and variance of a count of log-normal prior with this mean and variance."""
    deviation = math.sqrt(math.log1p(variance / mean**2))
    middle = math.log(mean) - deviation**2 / 2
    mode = (math.log(max(noisy, 0.1)) - middle) / deviation
    places = sorted({0.0, mode})

    def moment(power):
        def density(z):
            count = math.exp(middle + deviation * z)
            error = (noisy - count) / noise
            return count**power * math.exp(-(error**2) / 2 - z**2 / 2)

        return float(
            integrate.quad(
                density,
                -6,
                9,
                points=places,
                limit=500,
            )[0]
        )

    whole = moment(0)
    first = moment(1) / whole
    return first, moment(2) / whole - first**2


def test_posterior_agrees_with_numerical_integration():
    _, noisy = true_and_noisy(3000, NOISE)
    counts = NoisyCounts(noisy, NOISE)
    mean = noisy.mean()
    variance = noisy.var() - NOISE**2
    in_order = np.argsort(noisy)
    for place in in_order[[0, 300, 1500, 2500, 2900]]:
        expected, spread = posterior_by_quadrature(noisy[place], NOISE, mean, variance)
        assert counts.expected[place] == pytest.approx(expected, rel=1e-3)
        assert counts.variances[place] == pytest.approx(spread, rel=5e-3)


def test_without_noise_the_release_is_the_count():
    true, _ = true_and_noisy(500, 0.0)
    for noise in (0.0, 1e-9):
        counts = NoisyCounts(true, noise)
        assert_allclose(counts.expected, true)
        assert_allclose(counts.variances, noise**2, atol=1e-15)
    assert NoisyCounts(np.append(true, 0.0), 0.0).expected[-1] < true.min()
