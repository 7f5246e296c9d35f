"""What an epsilon means against an attacker: error rates and odds."""

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtr, ndtri

from dpmf_core.privacy.accounting import delta, epsilon
from dpmf_core.privacy.events import Event, Ledger, event_of, normal_form
from dpmf_core.privacy.gaussian import all_gaussian, mu
from dpmf_core.privacy.mechanisms import Relation


@functools.lru_cache(64)
def _lines(ledger: Ledger, relation: Relation) -> tuple[tuple[float, float], ...]:
    """(epsilon, delta(epsilon)) for epsilon from 0 to 12, densest where the curve bends most."""
    epsilons = (12 * (step / 96) ** 2 for step in range(97))
    return tuple((eps, delta(event_of(ledger), eps, relation)) for eps in epsilons)


def false_negatives(
    event: Event, false_positives: npt.ArrayLike, relation: Relation = Relation.ADD_REMOVE
) -> npt.NDArray[np.float64]:
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
        best = np.maximum(best, np.maximum(1 - d - math.exp(eps) * a, math.exp(-eps) * (1 - d - a)))
    return best


def belief(prior: float, epsilon: float) -> float:
    """The highest belief after a release, with the exceptions of `Odds`.

    The odds of `prior` grow by at most e^epsilon.
    """
    after = prior / (1 - prior) * math.exp(epsilon)
    return after / (1 + after)


@dataclass(frozen=True)
class Odds:
    """An attacker's final odds from even odds: at most `factor`:1, up to `exception`."""

    factor: float
    exception: float

    @property
    def words(self) -> str:
        factor = f"{self.factor:,.1f}" if self.factor < 1e4 else f"{self.factor:.0e}"
        small = f"{self.exception:.1e}".replace("e-0", "e-")
        exception = f"{self.exception:.2g}" if self.exception > 0.01 else small
        return (
            "An attacker who starts at 1:1 odds that you took part ends below"
            f" {factor}:1, except with probability {exception}."
        )


@functools.lru_cache(maxsize=256)
def odds(event: Event, delta_: float, relation: Relation = Relation.ADD_REMOVE) -> Odds:
    """How far a Gaussian ledger lets an attacker's odds move at its exact epsilon.

    Raises UnsupportedEvent on other noise.
    """
    m, eps = mu(event, relation), epsilon(event, delta_, relation)
    return Odds(math.exp(min(eps, 700.0)), float(ndtr(eps / -m + m / 2)) if m else 0.0)


@dataclass(frozen=True)
class Meaning:
    """What a guarantee means for one person, if an attacker starts at 50:50 that they took part.

    suspicion: how sure the attacker can become, in [1/2, 1], with exceptions of probability at most
    `exception`, if the person took part. correct: how often the best attacker is right who must
    answer yes or no, in [1/2, 1].
    """

    suspicion: float
    exception: float
    correct: float


@functools.lru_cache(maxsize=256)
def meaning(event: Event, delta_: float, relation: Relation = Relation.ADD_REMOVE) -> Meaning:
    """Translate an event by its exact curve (epsilon, delta(epsilon)).

    The suspicion is e^epsilon / (1 + e^epsilon) at the event's epsilon. The rate of right answers
    is (1 + delta(0)) / 2, because delta(0) is the total variation distance. `exception` is exact
    for Gaussian noise. For others it is the least bound P[loss >= epsilon] <= delta(t) / (1 - e^(t
    - epsilon)) over t < epsilon, which holds because delta(t) = E[(1 - e^(t - loss))+] grows with
    the loss.
    """
    if not normal_form(event):
        return Meaning(0.5, 0.0, 0.5)
    eps = epsilon(event, delta_, relation)
    if all_gaussian(event):
        exception = odds(event, delta_, relation).exception
    else:
        exception = _tail(normal_form(event), eps, relation)
    return Meaning(float(expit(eps)), exception, (1 + delta(event, 0.0, relation)) / 2)


def _tail(ledger: Ledger, eps: float, relation: Relation) -> float:
    """An upper bound on the probability of a privacy loss of at least eps."""
    lines = ((t, d) for t, d in _lines(ledger, relation) if t < eps)
    return min([1.0, *(d / -math.expm1(t - eps) for t, d in lines)])
