"""The pair test: a lower bound on mu from training runs in pairs, without and with the canary.

The attack says which is which by the larger score, and how sure it is by the difference of the
scores. Pairs are ordered by that difference, the surest first, and cut into classes of equal size.
A right answer counts `CLASSES` in the first class, one less in the next, down to 1. A tie is a
wrong answer.

Why it is valid. Let one training run be mu-GDP, P without and Q with the canary, so that T(P, Q) >=
G_mu (Dong, Roth & Su 2022).
- Telling the two apart is a test of P x Q against Q x P: sqrt(2) mu-GDP, since products of
  trade-offs compose. Swapping the two swaps the answer, so both error rates are 1 - p, p the
  probability of being right, and G_(sqrt(2) mu)(1 - p) <= 1 - p says p <= Phi(mu / sqrt(2)).
- By Blackwell's theorem (ibid., Thm. 2.10) there is a randomised map from N(+-mu / sqrt(2), 1) to
  the difference of two runs; the sign is the question. So all answers of an attack are computed
  from independent Z_i of that law. Given the |Z_i|, answers are independent, and none is right with
  more probability than p_i = 1 / (1 + exp(-sqrt(2) mu |Z_i|)), increasing in |Z_i|.
- The sum of weights of right answers is largest, in distribution, if larger weights go to larger
  p_i: exchange two weights, and only the outcomes with one of the two right change; the likelier of
  them should carry the larger weight. So for every mu-GDP run, every score and every order of
  pairs, the sum lies stochastically below that of the ideal attack: answers sign(Z_i), ordered by
  |Z_i|. It grows with mu, because a smaller mu is a post-processing of a larger.
So a mu under which the ideal attack reaches the observed sum with probability at most `error` is
ruled out. With one class this is the number of right answers and its Clopper-Pearson limit; with
several it is nearly as sharp as a test that knows the scores to be normal (as Wilcoxon's is to the
sign test).

The ideal attack's sum is simulated from its exact law. The upper limit of the simulated probability
is used, so the simulation errs once in 10^6.
"""

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtr

Array = npt.NDArray[Any]
CLASSES = 6
DRAWS = 50_000  # simulated sums
SIMULATION_ERROR = 1e-6
STEP, STEPS = 1 / 256, 1 << 12  # the grid of mu; a bound is rounded down to it


def weighted_sum(out: Array, inside: Array) -> Array:
    """The sum of weights of right answers (...).

    out, inside: scores (..., n) without and with the canary, of one audit or of many.
    """
    difference = inside - out
    surest_first = np.argsort(-np.abs(difference), axis=-1, kind="stable")
    return np.asarray(
        (_weights(out.shape[-1]) * (np.take_along_axis(difference, surest_first, axis=-1) > 0)).sum(
            axis=-1
        )
    )


def mu_at_least(total: int, pairs: int, error: float) -> float:
    """The lower bound on mu from right answers in so many pairs whose weights sum to `total`.

    It holds except with probability `error`.
    """
    low, high = 0, STEPS  # low is ruled out, high is not
    if not _ruled_out(total, pairs, 0, error):
        return 0.0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _ruled_out(total, pairs, middle, error) else (low, middle)
    return low * STEP


def _sizes(pairs: int) -> Array:
    return np.array([len(part) for part in np.array_split(np.zeros(pairs), CLASSES)])


def _weights(pairs: int) -> Array:
    return np.repeat(np.arange(CLASSES, 0, -1), _sizes(pairs))


def _ruled_out(total: int, pairs: int, place: int, error: float) -> bool:
    count = int(_reaching(pairs, place)[total])
    limit = (
        1.0 if count >= DRAWS else float(betaincinv(count + 1, DRAWS - count, 1 - SIMULATION_ERROR))
    )
    return limit <= error


@functools.lru_cache(4)
def _ends(pairs: int) -> Array:
    """Where each class ends (DRAWS, CLASSES): order statistics of `pairs` uniform numbers."""
    rng = np.random.default_rng(2026)
    gaps = rng.standard_gamma(_sizes(pairs).astype(float), (DRAWS, CLASSES))
    return np.asarray(
        np.cumsum(gaps, axis=1) / (gaps.sum(axis=1) + rng.standard_exponential(DRAWS))[:, None]
    )


@functools.lru_cache(4)
def _order(pairs: int) -> Array:
    """The order of all ends, because ordered look-ups in a table are many times as fast."""
    return np.argsort(_ends(pairs), axis=None, kind="stable")


def _interpolation(pairs: int, place: Array, *columns: Array) -> list[Array]:
    """Each column at the ends (DRAWS, CLASSES). place: where the table's rows lie."""
    ends, order = _ends(pairs), _order(pairs)
    results = []
    for column in columns:
        values = np.empty(ends.size)
        values[order] = np.interp(ends.ravel()[order], place, column)
        results.append(values.reshape(ends.shape))
    return results


@functools.lru_cache(256)
def _reaching(pairs: int, place: int) -> Array:
    """The number of simulated sums of the ideal attack at mu = place STEP that reach each total.

    `above(u)` is the probability that Z is positive and |Z| among its largest u. The surest m_1,
    then m_2, ... of n absolute values end at the order statistics of uniform numbers, whose gaps
    are gamma variables; between two of them all values are independent.
    """
    theta, sizes, ends = place * STEP / math.sqrt(2), _sizes(pairs), _ends(pairs)
    tau = np.linspace(theta + 9, 0, 40_001)
    right, wrong = ndtr(theta - tau), ndtr(-theta - tau)
    above, at_end = _interpolation(pairs, right + wrong, right, tau)
    # the value at the end of the class
    last = 1 / (1 + np.exp(-2 * theta * at_end))
    before, first = (
        np.concatenate([np.zeros((DRAWS, 1)), part[:, :-1]], axis=1) for part in (above, ends)
    )
    within = np.clip((above - before) / np.maximum(ends - first, 1e-300), 0.0, 1.0)
    rng = np.random.default_rng(2027)
    answers = rng.binomial(np.maximum(sizes - 1, 0), within) + (rng.random(ends.shape) < last) * (
        sizes > 0
    )
    sums = answers @ np.arange(CLASSES, 0, -1)
    most = int(_weights(pairs).sum())
    return np.asarray(np.cumsum(np.bincount(sums, minlength=most + 1)[::-1])[::-1])
