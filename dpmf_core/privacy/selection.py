"""The cost of choosing the best of a random number of private trials.

It is compared with one trial and with all trials composed. The proof needs four things: the number
of trials K is drawn from its distribution, configurations are drawn at random, scores are private
within each trial, and only the winner is shown (Papernot & Steinke 2022). The price is computed
from the privacy profile of one trial, as in Koskela, Redberg & Wang 2024, with
the whole trade-off curve in place of one (epsilon, delta). With f the probability generating
function of K, F(y) the probability that a trial ends at most as good as y (ties broken by coins),
and primes for the neighbouring data, the winner has density f'(F(y)) q(y). As the winner of one
trial is a private output, F' >= T(1 - F), T the trade-off curve of a trial, and f' is increasing.
So, with u = F(y) and L = q/q',

    delta(eps) <= E[max over u of (f'(u) - e^eps f'(T(1 - u)) / L)_+] <= sum over j of w_j
    delta_trial(eps - s_j):

a maximum of finitely many lines in 1/L, one for each interval of u, with f'(u) at its upper end and
f'(T(1 - u)) at its lower, is convex and falls to 0, hence a sum of w_j (1 - e^(eps - s_j) / L)_+
with positive w_j of sum f'(1) = E[K]. Any intervals give a bound; finer ones a closer bound.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpmf_core.base.arrays import Doubles
from dpmf_core.privacy.accounting import delta as delta_of
from dpmf_core.privacy.accounting import epsilon, failure
from dpmf_core.privacy.events import Event, Repeat, event_of, normal_form
from dpmf_core.privacy.gaussian import all_gaussian, log_delta, mu
from dpmf_core.privacy.interpretation import false_negatives, tail_of
from dpmf_core.privacy.mechanisms import Relation

# the cheapest at the same mean first
SHAPES = (
    "logarithmic",
    "geometric",
    "poisson",
    "binomial",
)
CHEAPEST = SHAPES[0]
INTERVALS = 2000
ENTRIES = 200  # of a profile's table
LARGEST = 1e4  # the largest epsilon that is searched
# a bound on an exception: its number of points, and the least delta
TAIL_POINTS = 100
SMALLEST = 1e-12


@dataclass(frozen=True)
class Price:
    """epsilon of one trial, of the best (by distribution of K), and of `mean` trials composed."""

    mean: float
    delta: float
    single: float
    best_of: dict[str, float]
    all_shown: float


def price_of_choosing(
    event: Event, mean: float, delta: float, relation: Relation = Relation.ADD_REMOVE
) -> Price:
    """Price a choice by each distribution of the number of trials.

    Parameters
    ----------
    event : Event
        Everything that one trial releases, its score included.
    mean : float
        The mean number of trials.
    delta : float
    relation : Relation

    Raises
    ------
    ValueError
        If `mean` is below 1.
    """
    if not mean >= 1:
        raise ValueError(f"The mean number of trials must be at least 1. Got {mean}.")
    shapes = SHAPES if mean > 1 else ()
    best_of = {
        shape: price_of_best(event, shape, mean, delta, relation) for shape in shapes
    }
    all_shown = epsilon(Repeat(event, math.ceil(mean)), delta, relation)
    return Price(mean, delta, epsilon(event, delta, relation), best_of, all_shown)


@functools.lru_cache(256)
def price_of_best(
    event: Event,
    shape: str,
    mean: float,
    delta: float,
    relation: Relation = Relation.ADD_REMOVE,
) -> float:
    """The epsilon of the best of a random number of trials, for one distribution of it.

    It is the smallest at which the best keeps delta, and infinite above 10,000.
    """
    event = event_of(normal_form(event))
    profile = _profile(event, delta / mean, relation)
    shifts, weights = mixture(event, derivative(shape, mean), relation)

    def excess(eps: float) -> float:
        return math.log(max(float(weights @ profile(eps - shifts)), 1e-300) / delta)

    low = 0.0
    high = 1.0
    if not event.events or excess(low) <= 0:
        return 0.0
    while excess(high) > 0:
        if high > LARGEST:
            return math.inf
        low = high
        high = 2 * high
    smallest = brentq(excess, low, high, xtol=1e-9, rtol=1e-12)
    while excess(smallest) > 0:
        smallest *= 1 + 1e-9
    return smallest


def exception_of_best(
    event: Event,
    shape: str,
    mean: float,
    epsilon: float,
    relation: Relation = Relation.ADD_REMOVE,
) -> float:
    """The probability that the best of the trials has a privacy loss above epsilon, at most.

    It follows from the profile of the best by `tail_of`.
    """
    event = event_of(normal_form(event))
    if not event.events:
        return 0.0
    profile = _profile(event, SMALLEST, relation)
    shifts, weights = mixture(event, derivative(shape, mean), relation)
    points = [epsilon * step / TAIL_POINTS for step in range(TAIL_POINTS)]
    return tail_of(((t, float(weights @ profile(t - shifts))) for t in points), epsilon)


@functools.lru_cache(64)
def _profile(
    event: Event, small: float, relation: Relation
) -> Callable[[Doubles], Doubles]:
    """delta_trial at any epsilons, negative ones included: 1 - e^eps + e^eps delta(-eps).

    Either of two neighbours may be the first. The largest delta that matters is `small`. Profiles
    that are not Gaussian are read from a table. They are convex in e^eps, so lines between its
    entries lie above them.
    """
    if all_gaussian(event):
        m = mu(event, relation)
        return lambda eps: np.array(
            [math.exp(log_delta(m, value)) for value in eps.tolist()]
        )
    last = epsilon(event, max(small / 1000, 1.5 * failure(event)), relation)
    grid = last * np.linspace(0.0, 1.0, ENTRIES) ** 2
    deltas = np.array([delta_of(event, float(eps), relation) for eps in grid])

    def profile(eps: Doubles) -> Doubles:
        at = np.abs(eps)
        entry = np.clip(np.searchsorted(grid, at, side="right") - 1, 0, ENTRIES - 2)
        share = np.clip(
            np.expm1(at - grid[entry]) / np.expm1(grid[entry + 1] - grid[entry]),
            0.0,
            1.0,
        )
        values = deltas[entry] * (1 - share) + deltas[entry + 1] * share
        return np.where(eps >= 0, values, -np.expm1(-at) + np.exp(-at) * values)

    return profile


def mixture(
    event: Event, slope: Callable[[Doubles], Doubles], relation: Relation
) -> tuple[Doubles, Doubles]:
    """The shifts s_j and weights w_j. The lines are a - b z with z = e^eps / L.

    Neighbours on their upper hull meet at z_j = e^s_j, where the slope changes by w_j / z_j.
    """
    normal = ndtr(np.linspace(-9.0, 9.0, INTERVALS))
    plain = np.linspace(0.0, 1.0, INTERVALS)
    u = np.unique(np.concatenate([[0.0], normal, plain, 1 - plain[1:-1] ** 4, [1.0]]))
    above = slope(u[1:])
    below = slope(np.maximum(false_negatives(event, 1 - u[:-1], relation), 0.0))
    order = np.lexsort((above, below))
    # (b, a), both ascending; the line 0 is the positive part
    hull: list[tuple[float, float]] = [(0.0, 0.0)]
    for b, a in zip(below[order].tolist(), above[order].tolist(), strict=True):
        if a > hull[-1][1]:
            while len(hull) > 1 and (a - hull[-1][1]) * (hull[-1][0] - hull[-2][0]) >= (
                hull[-1][1] - hull[-2][1]
            ) * (b - hull[-1][0]):
                hull.pop()
            hull.append((b, a))
    b_steps, a_steps = np.diff(np.array(hull), axis=0).T
    return np.log(a_steps / b_steps), a_steps


def derivative(shape: str, mean: float) -> Callable[[Doubles], Doubles]:
    """f' of the number of trials, on [0, 1].

    Raises
    ------
    ValueError
        On an unknown distribution.
    """
    if shape == "poisson":
        return lambda u: mean * np.exp(mean * (u - 1))
    if shape == "binomial":
        n, p = binomial(mean)
        return lambda u: mean * (1 - p + p * u) ** (n - 1)
    if shape == "geometric":
        return lambda u: mean / (mean - (mean - 1) * u) ** 2
    if shape == "logarithmic":
        gamma = logarithmic(mean)
        return lambda u: (1 - gamma) / (1 - (1 - gamma) * u) / -math.log(gamma)
    raise ValueError(
        f"The distribution of the number of trials must be one of {', '.join(SHAPES)}. Got"
        f" {shape!r}."
    )


def number_of_trials(distribution: str, mean: float, rng: np.random.Generator) -> int:
    """Draw the number of trials of a private selection.

    It may be 0 for `poisson` and `binomial`; then nothing is released.
    """
    if distribution == "poisson":
        return int(rng.poisson(mean))
    if distribution == "binomial":
        return int(rng.binomial(*binomial(mean)))
    if distribution == "geometric":
        return int(rng.geometric(1 / mean))
    return int(rng.logseries(1 - logarithmic(mean)))


def binomial(mean: float) -> tuple[int, float]:
    """n and p: about twice as many trials as the mean, each made with probability near 1/2."""
    n = math.ceil(2 * mean)
    return n, mean / n


def logarithmic(mean: float) -> float:
    """The parameter gamma of the logarithmic distribution on 1, 2, ... with this mean.

    The mean is (1 / gamma - 1) / log(1 / gamma) (Papernot & Steinke 2022, Def. 1).
    """
    if mean <= 1 + 1e-6:
        return 1 - 1e-9

    def excess(gamma: float) -> float:
        return (1 / gamma - 1) / math.log(1 / gamma) - mean

    return brentq(excess, 1e-12, 1 - 1e-9, xtol=2e-12, rtol=1e-15)
