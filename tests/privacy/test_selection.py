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
CASES = [
    (0.2, 10),
    (1.0, 3),
    (1.0, 10),
    (1.0, 100),
    (2.0, 20),
    (5.0, 10),
    (20.0, 40),
]


@functools.cache
def prices_of(one, mean):
    """By law: the price of the best of so many trials, each a Gaussian release of this epsilon."""
    trial = Gaussian(1 / gaussian_mu(one, DELTA))
    return price_of_choosing(trial, mean, DELTA).best_of


def by_moments(mu, mean, delta):
    """Papernot & Steinke 2022, Thm. 6 (Poisson), with the exact delta of a Gaussian trial."""

    def bound(log):
        alpha = 1 + math.exp(log)
        shift = math.log1p(1 / (alpha - 1))
        own = alpha * mu * mu / 2
        own += mean * math.exp(log_delta(mu, shift))
        own += math.log(mean) / (alpha - 1)
        conversion = math.log(delta * alpha) / (alpha - 1)
        return own + math.log1p(-1 / alpha) - conversion

    least = minimize_scalar(bound, bounds=(-3, 8), method="bounded")
    return float(least.fun)


def truly(shape, mu, mean, delta, order):
    """Epsilon of the best of K draws of N(0, 1) or N(mu, 1), by numerical integration."""
    x = np.linspace(-12, 12 + mu, 100_001)
    step = x[1] - x[0]
    p = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    q = np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    if order == "largest":
        P = ndtr(x)
        Q = ndtr(x - mu)
    elif order == "smallest":
        P = ndtr(-x)
        Q = ndtr(mu - x)
    else:  # the most telling outcomes of both kinds are best
        centre = mu / 2
        far = np.abs(x - centre)
        P = ndtr(centre + far) - ndtr(centre - far)
        Q = ndtr(centre + far - mu) - ndtr(centre - far - mu)
    slope = derivative(shape, mean)
    a = p * slope(P)
    b = q * slope(Q)

    def over(eps):
        lost = np.maximum(a - math.exp(eps) * b, 0).sum()
        gained = np.maximum(b - math.exp(eps) * a, 0).sum()
        return float(max(lost, gained)) * step

    if over(0.0) > delta:

        def excess(eps):
            return math.log(max(over(eps), 1e-300) / delta)

        return float(brentq(excess, 0.0, 60.0))
    return 0.0


@pytest.mark.parametrize(("one", "mean"), [(1.0, 10), (2.0, 20)])
def test_the_independent_bound_is_the_published_improvement(one, mean):
    """A training of this epsilon and a score of noise multiplier 5."""
    expected = {1.0: 2.59, 2.0: 6.07}[one]
    assert by_moments(
        math.hypot(gaussian_mu(one, DELTA), 1 / 5), mean, DELTA
    ) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("one", "mean"), CASES)
def test_the_price_is_no_more_than_by_the_theorem_of_moments(one, mean):
    """But for intervals of finite width, which cost up to 1% at 100 trials."""
    mu = gaussian_mu(one, DELTA)
    if mean == 100:
        slack = 1.01
    else:
        slack = 1.0
    price = prices_of(one, mean)["poisson"]
    assert price < by_moments(mu, mean, DELTA) * slack


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("one", "mean"), CASES[:-1])
def test_no_order_of_outcomes_costs_more_than_the_price(shape, one, mean):
    mu = gaussian_mu(one, DELTA)
    price = prices_of(one, mean)[shape]
    orders = ("largest", "smallest", "telling")
    worst = max(truly(shape, mu, mean, DELTA, order) for order in orders)
    assert worst <= price * (1 + 1e-6)
    assert one < worst  # choosing is never free


@pytest.mark.parametrize("shape", SHAPES)
def test_no_ranking_of_four_outcomes_breaks_the_price(shape):
    """Every order of randomised answers, one trial a posterior sample at its worst."""
    eps = 0.7
    delta = 1e-3
    keep = math.exp(eps) / (1 + math.exp(eps))
    sample = PosteriorSample(1 / eps)
    p = np.array([keep, 1 - keep])
    q = np.array([1 - keep, keep])
    p = np.concatenate([p * 0.3, p * 0.7])
    q = np.concatenate([q * 0.3, q * 0.7])
    price = price_of_choosing(sample, 4.0, delta).best_of[shape]
    gain = _generating(shape, 4.0)
    for order in itertools.permutations(range(4)):
        in_order = list(order)
        before = np.concatenate([[0.0], np.cumsum(p[in_order])])
        after = np.concatenate([[0.0], np.cumsum(q[in_order])])
        a = np.diff(gain(before))
        b = np.diff(gain(after))
        lost = np.maximum(a - math.exp(price) * b, 0).sum()
        gained = np.maximum(b - math.exp(price) * a, 0).sum()
        assert lost <= delta * (1 + 1e-9)
        assert gained <= delta * (1 + 1e-9)


def _generating(shape, mean):
    k = np.arange(4000)
    chance = {
        "poisson": lambda: poisson.pmf(k, mean),
        "geometric": lambda: geom.pmf(k, 1 / mean),
        "logarithmic": lambda: logser.pmf(k, 1 - logarithmic(mean)),
        "binomial": lambda: binom.pmf(k, *binomial(mean)),
    }[shape]()

    def generating(x):
        values = np.clip(x, 0, 1)
        return np.array([(chance * value**k).sum() for value in values])

    return generating


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", [1.5, 10.0, 37.5])
def test_a_slope_is_that_of_the_law(shape, mean):
    """Against the sum over its probabilities; at 1 it is the mean."""
    u = np.array([0.0, 0.2, 0.7, 0.95, 1.0])
    gain = _generating(shape, mean)
    h = 1e-6
    slopes = derivative(shape, mean)(u)
    assert slopes[-1] == pytest.approx(mean, rel=1e-6)
    numeric = (gain(u[1:4] + h) - gain(u[1:4] - h)) / (2 * h)
    assert slopes[1:4] == pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize(("one", "mean"), CASES)
def test_the_default_is_the_cheapest(one, mean):
    prices = prices_of(one, mean)
    assert min(prices, key=prices.__getitem__) == "logarithmic"
    assert CHEAPEST == "logarithmic"
    # no less than union over the best place
    mu = gaussian_mu(one, DELTA)
    assert gaussian_epsilon(mu, DELTA / mean) < prices[CHEAPEST]


def test_the_prices_of_choosing_are_as_documented():
    """As the README has them."""
    for one, mean, expected in ((1.0, 10, 1.84), (2.0, 20, 3.33)):
        first = Gaussian(1 / gaussian_mu(one, DELTA))
        trial = sequence(first, Gaussian(5.0))
        best_of = price_of_choosing(trial, mean, DELTA).best_of
        assert best_of[CHEAPEST] == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    "event",
    [
        Laplace(2.0),
        sequence(Gaussian(3.0), Laplace(4.0)),
        PosteriorSample(1.0),
    ],
)
def test_other_noise_is_priced_by_its_profile(event):
    """From one trial's epsilon at delta / mean to Papernot & Steinke 2022, Cor. 3."""
    price = price_of_choosing(event, 5.0, 1e-6)
    assert epsilon(event, 1e-6) < price.best_of["geometric"]
    if delta_of(event, 3.0) == 0.0:
        pure = float(epsilon(event, 1e-15))
        assert price.best_of["geometric"] <= 3 * pure * (1 + 1e-3)
        assert price.best_of["logarithmic"] <= 2 * pure * (1 + 1e-3)
