"""A Gaussian release that costs at least as much as a private selection, at every epsilon.

The price of a selection holds at one delta (`selection`). An account with a budget adds up mu^2. So
it needs the smallest mu with a Gaussian profile above a bound on the selection's profile
everywhere. docs/PRIVACY.md, "A selection as one Gaussian release", has the proof of each step.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, logsumexp

from dpmf_core.base.arrays import Doubles
from dpmf_core.privacy import selection
from dpmf_core.privacy.events import Event, event_of, normal_form
from dpmf_core.privacy.gaussian import mu as mu_of
from dpmf_core.privacy.mechanisms import Relation

NODES = 300  # epsilons at which the bound is computed
STEPS = 32  # between two nodes, at which it is compared
SMALLEST = 0.01  # the smallest epsilon above 0, over the mu of a trial
MOST_TRIALS = 100_000  # that are counted one by one; more of them cost delta = 1
RATIO = 1.05  # the ratio of numbers of trials that are counted as one
# margin of logarithms for rounding; a bound that differs from 1 by less has no mu
MARGIN = 1e-9
MOST_MU = 200.0  # the largest mu that is searched


@functools.lru_cache(512)
def gaussian_bound(
    event: Event, shape: str, mean: float, relation: Relation = Relation.ADD_REMOVE
) -> float:
    """The smallest mu whose profile lies above the selection's bound at every epsilon.

    Parameters
    ----------
    event
        Everything that one trial releases: Gaussian noise only.
    shape, mean
        The distribution of the number of trials and its mean, as in `price_of_best`.
    relation
        Which data sets are neighbours.

    Returns
    -------
    float
        Above the mu of one trial. Infinite if none up to 200 is found.

    Raises
    ------
    UnsupportedEvent
        If a trial releases anything but Gaussian noise.
    """
    event = event_of(normal_form(event))
    trial = mu_of(event, relation)
    if not trial:
        return 0.0
    shifts, weights = selection.mixture(
        event, selection.derivative(shape, mean), relation
    )
    last = 10 * trial * (1 + trial)
    while True:
        bound = _Bound.between(trial, shifts, weights, _numbers(shape, mean), last)
        mu = bound.smallest_mu()
        start = _start_of_tail(trial, mu, float(shifts.max()))
        if start <= last or math.isinf(mu):
            return mu
        # a larger last epsilon makes mu larger, and the start smaller
        last = 1.1 * start


def log_profile(mu: float | Doubles, eps: Doubles) -> Doubles:
    """log delta of a Gaussian release at any epsilons, also where delta underflows."""
    first = log_ndtr(mu / 2 - eps / mu)
    second = eps + log_ndtr(-mu / 2 - eps / mu)
    return first + np.log(-np.expm1(np.minimum(second - first, -1e-300)))


def _start_of_tail(trial: float, mu: float, shift: float) -> float:
    """The epsilon from which the Gaussian profile falls more slowly than every shifted trial's."""
    if mu <= trial:
        return math.inf
    return max(0.0, (shift / trial + (trial - mu) / 2) / (1 / trial - 1 / mu))


class _Bound:
    """A bound on a selection's profile: its logarithms at ascending epsilons from 0."""

    def __init__(self, eps: Doubles, logs: Doubles) -> None:
        self.eps = eps
        self.logs = logs

    @classmethod
    def between(
        cls,
        trial: float,
        shifts: Doubles,
        weights: Doubles,
        numbers: tuple[Doubles, Doubles],
        last: float,
    ) -> "_Bound":
        eps = np.append(0.0, np.geomspace(SMALLEST * trial, last, NODES))
        terms = np.log(weights) + log_profile(trial, eps[:, None] - shifts)
        by_winner = logsumexp(terms, axis=1)
        counts, chances = numbers
        profiles = np.exp(log_profile(trial * np.sqrt(counts[1:]), eps[:, None]))
        # numbers that are too large to be counted
        unlikely = max(0.0, 1 - float(chances.sum()))
        # with no trial, nothing is released
        by_composition = np.log(profiles @ chances[1:] + unlikely)
        logs = _by_chords(eps, np.minimum(by_winner, by_composition))
        logs[-1] = by_winner[-1]  # the tail is compared with this bound
        return cls(eps, logs)

    def smallest_mu(self) -> float:
        """The smallest mu that is enough between the first epsilon and the last."""
        ends, logs = self._steps()

        def lack(log_mu: float) -> float:
            return float((logs + MARGIN - log_profile(math.exp(log_mu), ends)).max())

        low = math.log(1e-6)
        high = math.log(MOST_MU)
        if lack(high) > 0:
            return math.inf
        root = math.exp(brentq(lack, low, high, xtol=1e-9))
        while lack(math.log(root)) > 0:
            root *= 1 + 1e-9
        return root

    def _steps(self) -> tuple[Doubles, Doubles]:
        """Short intervals between the nodes: where each ends, and the bound where it begins.

        Profiles are convex in e^epsilon, so the chord between two nodes lies above. They fall, so
        the bound where an interval begins holds in all of it.
        """
        widths = np.diff(self.eps)[:, None]
        parts = np.linspace(0.0, 1.0, STEPS + 1)
        # (e^(w p) - 1) / (e^w - 1), which does not overflow in this form
        shares = np.exp(widths * (parts[:-1] - 1)) * np.expm1(-widths * parts[:-1])
        shares = shares / np.expm1(-widths)
        drops = np.expm1(np.diff(self.logs))[:, None]
        logs = self.logs[:-1, None] + np.log1p(shares * drops)
        places = self.eps[:-1, None] + widths * parts
        return places[:, 1:].ravel(), logs.ravel()


def _by_chords(eps: Doubles, logs: Doubles) -> Doubles:
    """The bound at each epsilon by that at larger ones: chords between -e and e.

    A profile is 1 - e^-e (1 - b) at -e and b at e. At x = e^epsilon between them it lies below b +
    (1 - b) (e^e - x) / (e^e + 1).
    """
    values = np.minimum(np.exp(logs), 1.0)
    gaps = eps[:, None] - eps
    shares = -np.expm1(np.minimum(gaps, 0.0)) / (1 + np.exp(-eps))
    chords = np.where(gaps <= 0, values + (1 - values) * shares, np.inf).min(axis=1)
    smaller = chords < values
    return np.where(
        smaller, np.log(np.where(smaller, chords, 1.0)), np.minimum(logs, 0.0)
    )


def _numbers(shape: str, mean: float) -> tuple[Doubles, Doubles]:
    """Numbers of trials from 0 and their chances; some are counted as the largest of several."""
    k = np.arange(1.0, MOST_TRIALS + 1)
    chances = np.exp(_log_chance(shape, mean)(k))
    group = np.ceil(np.log(k) / math.log(RATIO)).astype(np.int64)
    firsts = np.flatnonzero(np.diff(group, prepend=-1))
    largest = np.append(k[firsts[1:] - 1], k[-1])
    return np.append(0.0, largest), np.append(
        _chance_of_none(shape, mean), np.add.reduceat(chances, firsts)
    )


def _chance_of_none(shape: str, mean: float) -> float:
    if shape not in ("poisson", "binomial"):
        return 0.0
    return float(np.exp(_log_chance(shape, mean)(np.zeros(1)))[0])


def _log_chance(shape: str, mean: float) -> Callable[[Doubles], Doubles]:
    """The logarithm of the chance of each number of trials. Raises ValueError.

    Only Poisson and binomial numbers may be 0.
    """
    from scipy import stats  # loaded when first needed

    if shape == "poisson":
        return stats.poisson(mean).logpmf
    if shape == "binomial":
        return stats.binom(*selection.binomial(mean)).logpmf
    if shape == "geometric":
        return stats.geom(1 / mean).logpmf
    if shape == "logarithmic":
        gamma = selection.logarithmic(mean)
        return lambda k: k * math.log1p(-gamma) - np.log(k) - math.log(-math.log(gamma))
    raise ValueError(f"There is no distribution {shape!r} of a number of trials.")
