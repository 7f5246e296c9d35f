"""The price of choosing bounds every ranking and is below what was published."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr
from scipy.stats import binom, geom, logser, poisson

from dpmf_core.privacy import Gaussian, Laplace, PosteriorSample, sequence
from dpmf_core.privacy.accounting import delta as delta_of
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.gaussian import gaussian_epsilon, gaussian_mu, log_delta
from dpmf_core.privacy.selection import (
    CHEAPEST,
    SHAPES,
    binomial,
    derivative,
    logarithmic,
    price_of_choosing,
)

DELTA = 1e-5
CASES = [(0.2, 10), (1.0, 3), (1.0, 10), (1.0, 100), (2.0, 20), (5.0, 10), (20.0, 40)]


@functools.cache
def prices_of(one, mean):
    """By law: the price of the best of so many trials, each a Gaussian release of this epsilon."""
    return price_of_choosing(Gaussian(1 / gaussian_mu(one, DELTA)), mean, DELTA).best_of


def by_moments(mu, mean, delta):
    """Papernot & Steinke 2022, Thm. 6 (Poisson), with the exact delta of a Gaussian trial."""

    def bound(log):
        alpha = 1 + math.exp(log)
        own = (
            alpha * mu * mu / 2
            + mean * math.exp(log_delta(mu, math.log1p(1 / (alpha - 1))))
            + math.log(mean) / (alpha - 1)
        )
        return own + math.log1p(-1 / alpha) - math.log(delta * alpha) / (alpha - 1)

    return float(minimize_scalar(bound, bounds=(-3, 8), method="bounded").fun)


def truly(shape, mu, mean, delta, order):
    """Epsilon of the best of K draws of N(0, 1) or N(mu, 1), by numerical integration."""
    x = np.linspace(-12, 12 + mu, 100_001)
    step = x[1] - x[0]
    p = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    q = np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    if order == "largest":
        P, Q = ndtr(x), ndtr(x - mu)
    elif order == "smallest":
        P, Q = ndtr(-x), ndtr(mu - x)
    else:  # the most telling outcomes of both kinds are best
        centre = mu / 2
        far = np.abs(x - centre)
        P, Q = (ndtr(centre + far - at) - ndtr(centre - far - at) for at in (0.0, mu))
    slope = derivative(shape, mean)
    a, b = p * slope(P), q * slope(Q)

    def over(eps):
        return max(
            float(np.maximum(one - math.exp(eps) * other, 0).sum()) * step
            for one, other in ((a, b), (b, a))
        )

    return (
        float(brentq(lambda eps: math.log(max(over(eps), 1e-300) / delta), 0.0, 60.0))
        if over(0.0) > delta
        else 0.0
    )


@pytest.mark.parametrize(("one", "mean"), [(1.0, 10), (2.0, 20)])
def test_the_independent_bound_is_the_published_improvement(one, mean):
    """A training of this epsilon and a score of noise multiplier 5."""
    assert by_moments(
        math.hypot(gaussian_mu(one, DELTA), 1 / 5), mean, DELTA
    ) == pytest.approx({1.0: 2.59, 2.0: 6.07}[one], abs=0.01)


@pytest.mark.parametrize(("one", "mean"), CASES)
def test_the_price_is_no_more_than_by_the_theorem_of_moments(one, mean):
    """But for intervals of finite width, which cost up to 1% at 100 trials."""
    mu = gaussian_mu(one, DELTA)
    slack = 1.01 if mean == 100 else 1.0
    assert prices_of(one, mean)["poisson"] < by_moments(mu, mean, DELTA) * slack


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("one", "mean"), CASES[:-1])
def test_no_order_of_outcomes_costs_more_than_the_price(shape, one, mean):
    mu, price = gaussian_mu(one, DELTA), prices_of(one, mean)[shape]
    orders = ("largest", "smallest", "telling")
    worst = max(truly(shape, mu, mean, DELTA, order) for order in orders)
    assert worst <= price * (1 + 1e-6)
    assert one < worst  # choosing is never free


@pytest.mark.parametrize("shape", SHAPES)
def test_no_ranking_of_four_outcomes_breaks_the_price(shape):
    """Every order of randomised answers, one trial a posterior sample at its worst."""
    eps, delta = 0.7, 1e-3
    keep = math.exp(eps) / (1 + math.exp(eps))
    p, q = np.array([keep, 1 - keep]), np.array([1 - keep, keep])
    p, q = np.concatenate([p * 0.3, p * 0.7]), np.concatenate([q * 0.3, q * 0.7])
    price = price_of_choosing(PosteriorSample(1 / eps), 4.0, delta).best_of[shape]
    gain = _generating(shape, 4.0)
    for order in itertools.permutations(range(4)):
        a, b = (
            np.diff(gain(np.concatenate([[0.0], np.cumsum(side[list(order)])])))
            for side in (p, q)
        )
        assert np.maximum(a - math.exp(price) * b, 0).sum() <= delta * (1 + 1e-9)
        assert np.maximum(b - math.exp(price) * a, 0).sum() <= delta * (1 + 1e-9)


def _generating(shape, mean):
    k = np.arange(4000)
    chance = {
        "poisson": lambda: poisson.pmf(k, mean),
        "geometric": lambda: geom.pmf(k, 1 / mean),
        "logarithmic": lambda: logser.pmf(k, 1 - logarithmic(mean)),
        "binomial": lambda: binom.pmf(k, *binomial(mean)),
    }[shape]()
    return lambda x: np.array([(chance * value**k).sum() for value in np.clip(x, 0, 1)])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", [1.5, 10.0, 37.5])
def test_a_slope_is_that_of_the_law(shape, mean):
    """Against the sum over its probabilities; at 1 it is the mean."""
    u = np.array([0.0, 0.2, 0.7, 0.95, 1.0])
    gain, h = _generating(shape, mean), 1e-6
    assert derivative(shape, mean)(u)[-1] == pytest.approx(mean, rel=1e-6)
    numeric = (gain(u[1:4] + h) - gain(u[1:4] - h)) / (2 * h)
    assert derivative(shape, mean)(u)[1:4] == pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize(("one", "mean"), CASES)
def test_the_default_is_the_cheapest(one, mean):
    prices = prices_of(one, mean)
    assert min(prices, key=prices.__getitem__) == CHEAPEST == "logarithmic"
    # no less than union over the best place
    assert gaussian_epsilon(gaussian_mu(one, DELTA), DELTA / mean) < prices[CHEAPEST]


def test_the_prices():
    """As the README has them."""
    for one, mean, expected in ((1.0, 10, 1.84), (2.0, 20, 3.33)):
        trial = sequence(Gaussian(1 / gaussian_mu(one, DELTA)), Gaussian(5.0))
        assert price_of_choosing(trial, mean, DELTA).best_of[CHEAPEST] == pytest.approx(
            expected, abs=0.005
        )


@pytest.mark.parametrize(
    "event",
    [Laplace(2.0), sequence(Gaussian(3.0), Laplace(4.0)), PosteriorSample(1.0)],
)
def test_other_noise_is_priced_by_its_profile(event):
    """From one trial's epsilon at delta / mean to Papernot & Steinke 2022, Cor. 3."""
    price = price_of_choosing(event, 5.0, 1e-6)
    assert epsilon(event, 1e-6) < price.best_of["geometric"]
    if delta_of(event, 3.0) == 0.0:
        pure = float(epsilon(event, 1e-15))
        assert price.best_of["geometric"] <= 3 * pure * (1 + 1e-3)
        assert price.best_of["logarithmic"] <= 2 * pure * (1 + 1e-3)
