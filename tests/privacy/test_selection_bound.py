"""A private selection as one Gaussian release: never less than any ranking of trials costs."""

import functools
import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from dpmf_core.privacy import Gaussian, Laplace, UnsupportedEvent
from dpmf_core.privacy.gaussian import gaussian_epsilon, log_delta
from dpmf_core.privacy.selection import SHAPES, binomial, logarithmic, price_of_best
from dpmf_core.privacy.selection_bound import gaussian_bound, log_profile
from tests.support.gaussian import exact_delta

TRIALS = (0.05, 0.3, 1.0, 4.0)  # mu; at 4 a trial costs epsilon 24 at delta 1e-5
MEANS = (1.2, 5.0, 12.0)


@functools.cache
def bound(mu, shape, mean):
    return gaussian_bound(Gaussian(1 / mu, "trial"), shape, mean)


def slope(shape, mean):
    """The derivative of the probability generating function, and the chance of no trial."""
    n, p = binomial(mean)
    gamma = logarithmic(mean)
    of_logarithmic = (gamma - 1) / math.log(gamma)
    functions = {
        "logarithmic": (lambda u: of_logarithmic / (1 - (1 - gamma) * u), 0.0),
        "geometric": (lambda u: mean / (mean - (mean - 1) * u) ** 2, 0.0),
        "poisson": (lambda u: mean * np.exp(mean * (u - 1)), math.exp(-mean)),
        "binomial": (lambda u: n * p * (1 - p + p * u) ** (n - 1), (1 - p) ** n),
    }
    return functions[shape]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("trial", TRIALS)
def test_it_costs_more_than_the_best_by_its_own_likelihood(trial, mean, shape):
    """The winner is the largest of K normal draws; the neighbour's are moved up or down.

    Its law and the neighbour's follow from the generating function, so its profile is known.
    """
    derivative, nobody = slope(shape, mean)
    mu = bound(trial, shape, mean)
    t = np.linspace(-12 - trial, 12 + trial, 40_000)
    step = t[1] - t[0]
    density = norm.pdf(t) * step
    ours = derivative(ndtr(t)) * density
    for move in (trial, -trial):
        moved = t - move
        theirs = derivative(ndtr(moved)) * norm.pdf(moved) * step
        twice = 2 * mu + mu * mu / 2
        fourfold = 4 * mu + mu * mu / 2
        for epsilon in (0.0, 0.3 * mu, mu, twice, fourfold):
            factor = math.exp(epsilon)
            none = max(0.0, nobody - factor * nobody)
            lost = np.maximum(ours - factor * theirs, 0.0).sum() + none
            gained = np.maximum(theirs - factor * ours, 0.0).sum() + none
            profile = math.exp(log_delta(mu, epsilon))
            assert max(lost, gained) <= profile * (1 + 1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("trial", TRIALS)
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-30])
def test_it_costs_no_less_than_the_price_at_any_delta(delta, trial, mean, shape):
    event = Gaussian(1 / trial, "trial")
    price = price_of_best(event, shape, mean, delta)
    counted = gaussian_epsilon(bound(trial, shape, mean), delta)
    assert counted >= price * (1 - 1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("trial", TRIALS)
def test_it_is_between_one_trial_and_all_possible_ones(trial, shape):
    mus = [bound(trial, shape, mean) for mean in MEANS]
    assert trial < mus[0] < mus[1] < mus[2]
    assert mus[1] < trial * math.sqrt(12)
    event = Gaussian(1 / trial, "trial")
    nearly_one = gaussian_bound(event, shape, 1 + 1e-3)
    if shape in ("logarithmic", "geometric"):
        assert nearly_one == pytest.approx(trial, rel=0.03)


def test_the_profile_is_that_of_fifty_digits():
    """Far into both tails, where the two parts nearly cancel."""
    mus = [
        (0.02, 0.0),
        (0.02, 0.5),
        (0.3, 4.0),
        (3.0, 40.0),
        (12.0, 300.0),
        (0.3, -2.0),
    ]
    for mu, epsilon in mus:
        value = float(log_profile(mu, np.array([epsilon]))[0])
        with mpmath.workdps(50):
            expected = float(mpmath.log(exact_delta(mu, epsilon)))
        assert value == pytest.approx(expected, abs=1e-7)


def test_other_noise_has_no_bound():
    with pytest.raises(UnsupportedEvent):
        gaussian_bound(Laplace(2.0, "trial"), "geometric", 10.0)


def test_no_noise_costs_nothing_and_too_little_noise_has_no_bound():
    from dpmf_core.privacy import NOTHING

    assert gaussian_bound(NOTHING, "geometric", 10.0) == 0.0
    trial = Gaussian(1 / 190.0, "trial")
    assert math.isinf(gaussian_bound(trial, "geometric", 100.0))
