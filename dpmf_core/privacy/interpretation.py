"""What an epsilon means against an attacker: error rates, beliefs and exceptions, as numbers."""

import functools
import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from dpmf_core.base.arrays import Doubles
from dpmf_core.privacy.accounting import delta
from dpmf_core.privacy.events import Event, Ledger, event_of, normal_form
from dpmf_core.privacy.gaussian import all_gaussian, mu
from dpmf_core.privacy.mechanisms import Relation


@functools.lru_cache(64)
def _lines(ledger: Ledger, relation: Relation) -> tuple[tuple[float, float], ...]:
    """(epsilon, delta(epsilon)) for epsilon from 0 to 12, densest where the curve bends most."""
    epsilons = (12 * (step / 96) ** 2 for step in range(97))
    return tuple((eps, delta(event_of(ledger), eps, relation)) for eps in epsilons)


def false_negatives(
    event: Event,
    false_positives: npt.ArrayLike,
    relation: Relation = Relation.ADD_REMOVE,
) -> Doubles:
    """The lowest false negative rate of any test between two neighbours.

    Gaussian ledgers: Phi(Phi^-1(1 - a) - mu) (Dong, Roth & Su 2019). Others: the envelope of
    (epsilon, delta(epsilon)), Prop. 2.12 there.

    Parameters
    ----------
    event
        Releases, composed.
    false_positives : (any shape)
        False positive rates a, from 0 to 1.
    relation
        Which data sets are neighbours.

    Returns
    -------
    float64 (same shape)
    """
    a = np.asarray(false_positives, float)
    if all_gaussian(event):
        return np.asarray(ndtr(ndtri(1 - a) - mu(event, relation)))
    best = np.zeros_like(a)
    for eps, d in _lines(normal_form(event), relation):
        best = np.maximum(
            best, np.maximum(1 - d - math.exp(eps) * a, math.exp(-eps) * (1 - d - a))
        )
    return best


def belief(prior: float, epsilon: float) -> float:
    """The highest belief after a release, with the exceptions of `exception_of`.

    The odds of `prior` grow by at most e^epsilon.
    """
    after = prior / (1 - prior) * math.exp(epsilon)
    return after / (1 + after)


def success_of(event: Event) -> float:
    """How often the best attacker is right who starts at 50:50 and must answer yes or no.

    (1 + delta(0)) / 2, because delta(0) is the total variation distance.
    """
    return (1 + delta(event, 0.0)) / 2


@functools.lru_cache(maxsize=1024)
def exception_of(
    event: Event, epsilon: float, relation: Relation = Relation.ADD_REMOVE
) -> float:
    """A bound on the probability of a result that moves odds by more than e^epsilon.

    The probability is over the noise, for a unit that is in the data. The bound is exact for
    Gaussian ledgers. For others it is the least bound of `tail_of`, and 0 from the sum of pure
    epsilons on.
    """
    if all_gaussian(event):
        m = mu(event, relation)
        if m:
            return float(ndtr(m / 2 - epsilon / m))
        return 0.0
    if delta(event, epsilon, relation) == 0.0:
        return 0.0
    return tail_of(_lines(normal_form(event), relation), epsilon)


def tail_of(lines: Iterable[tuple[float, float]], epsilon: float) -> float:
    """An upper bound on the probability of a privacy loss above epsilon.

    It is the least of delta(t) / (1 - e^(t - epsilon)) over t < epsilon, which holds because
    delta(t) = E[(1 - e^(t - loss))+] grows with the loss.

    Parameters
    ----------
    lines : iterable of (float, float)
        Pairs of t and delta(t).
    epsilon : float
    """
    bounds = (delta / -math.expm1(t - epsilon) for t, delta in lines if t < epsilon)
    return min(1.0, *bounds, 1.0)
