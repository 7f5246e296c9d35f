"""The pair test: a lower bound on mu from training runs in pairs, without and with the canary.

The attack says which is which by the larger score, and how sure it is by the difference of the
scores. Pairs are ordered by that difference, the surest first, and cut into classes of equal size.
A right answer counts `CLASSES` in the first class, one less in the next, down to 1. A tie is a
wrong answer.

docs/PRIVACY.md, "The pair test", proves that no mu-GDP run reaches a larger sum than the ideal
attack, in distribution. So a mu is ruled out if the ideal attack reaches the observed sum under it
with probability at most `error`. The ideal attack's sum is simulated from its exact law. The upper
limit of the simulated probability is used, so the simulation errs once in 10^6.
"""

import functools
import math

import numpy as np
from scipy.special import betaincinv, ndtr

from dpmf_core.base.arrays import Array

CLASSES = 6
DRAWS = 50_000  # simulated sums
SIMULATION_ERROR = 1e-6
# the grid of mu; a bound is rounded down to it
STEP = 1 / 256
STEPS = 1 << 12


def weighted_sum(out: Array, inside: Array) -> Array:
    """The sum of weights of right answers (...).

    Parameters
    ----------
    out, inside : (..., n)
        Scores without and with the canary, of one audit or of many.
    """
    difference = inside - out
    surest_first = np.argsort(-np.abs(difference), axis=-1, kind="stable")
    return np.asarray(
        (
            _weights(out.shape[-1])
            * (np.take_along_axis(difference, surest_first, axis=-1) > 0)
        ).sum(axis=-1)
    )


def mu_at_least(total: int, pairs: int, error: float) -> float:
    """The lower bound on mu if the weights of right answers in a number of pairs sum to `total`.

    It holds except with probability `error`.
    """
    # low is ruled out, high is not
    low = 0
    high = STEPS
    if not ruled_out(total, pairs, 0, error):
        return 0.0
    while high - low > 1:
        middle = (low + high) // 2
        if ruled_out(total, pairs, middle, error):
            low = middle
        else:
            high = middle
    return low * STEP


def _sizes(pairs: int) -> Array:
    return np.array([len(part) for part in np.array_split(np.zeros(pairs), CLASSES)])


def _weights(pairs: int) -> Array:
    return np.repeat(np.arange(CLASSES, 0, -1), _sizes(pairs))


def ruled_out(total: int, pairs: int, place: int, error: float) -> bool:
    """Whether the ideal attack at mu = place STEP reaches `total` too rarely, at this error."""
    count = int(reaching(pairs, place)[total])
    if count >= DRAWS:
        limit = 1.0
    else:
        limit = float(betaincinv(count + 1, DRAWS - count, 1 - SIMULATION_ERROR))
    return limit <= error


@functools.lru_cache(4)
def _ends(pairs: int) -> tuple[Array, Array]:
    """Where each class ends (DRAWS, CLASSES): order statistics of `pairs` uniform numbers.

    Also the order of all ends: ordered look-ups in a table are many times as fast.
    """
    rng = np.random.default_rng(2026)
    gaps = rng.standard_gamma(_sizes(pairs).astype(float), (DRAWS, CLASSES))
    ends = (
        np.cumsum(gaps, axis=1)
        / (gaps.sum(axis=1) + rng.standard_exponential(DRAWS))[:, None]
    )
    return ends, np.argsort(ends, axis=None, kind="stable")


def _at_ends(pairs: int, place: Array, column: Array) -> Array:
    """A table's column, with rows at `place`, at the ends of the classes (DRAWS, CLASSES)."""
    ends, order = _ends(pairs)
    values = np.empty(ends.size)
    values[order] = np.interp(ends.ravel()[order], place, column)
    return values.reshape(ends.shape)


@functools.lru_cache(256)
def reaching(pairs: int, place: int) -> Array:
    """The number of simulated sums of the ideal attack at mu = place STEP that reach each total.

    `above(u)` is the probability that Z is positive and |Z| among its largest u. The surest m_1,
    then m_2, ... of n absolute values end at the order statistics of uniform numbers. The gaps of
    these are gamma variables. Between two of them all values are independent.
    """
    theta = place * STEP / math.sqrt(2)
    sizes = _sizes(pairs)
    ends, _ = _ends(pairs)
    tau = np.linspace(theta + 9, 0, 40_001)
    right = ndtr(theta - tau)
    wrong = ndtr(-theta - tau)
    above, at_end = (_at_ends(pairs, right + wrong, column) for column in (right, tau))
    # whether the last one of each class is right
    last = 1 / (1 + np.exp(-2 * theta * at_end))
    before, first = (
        np.concatenate([np.zeros((DRAWS, 1)), part[:, :-1]], axis=1)
        for part in (above, ends)
    )
    within = np.clip((above - before) / np.maximum(ends - first, 1e-300), 0.0, 1.0)
    rng = np.random.default_rng(2027)
    answers = rng.binomial(np.maximum(sizes - 1, 0), within)
    answers = answers + (rng.random(ends.shape) < last) * (sizes > 0)
    sums = answers @ np.arange(CLASSES, 0, -1)
    most = int(_weights(pairs).sum())
    return np.cumsum(np.bincount(sums, minlength=most + 1)[::-1])[::-1]
