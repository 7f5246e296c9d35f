"""Randomised response: each answer is true with a known probability.

Warner 1965; Kairouz, Oh & Viswanath 2014 for the best probability at an epsilon.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

Array = npt.NDArray[np.float64]


def truth_probability(epsilon: float) -> float:
    """Return the probability of a true answer at this epsilon: e^epsilon / (1 + e^epsilon).

    Either answer is then at most e^epsilon times as likely from one person as from another.
    """
    return 1 / (1 + math.exp(-epsilon))


def response_epsilon(truth: float) -> float:
    """Return the epsilon of an answer true with probability `truth`, in (0.5, 1); delta 0."""
    return math.log(truth / (1 - truth))


@dataclass(frozen=True)
class Survey:
    """The estimate of a survey.

    estimates, chances: possible estimates of the share, and their probabilities. error: the
    estimate's standard deviation.
    """

    estimates: Array
    chances: Array
    error: float


def survey(share: float, people: int, epsilon: float) -> Survey:
    """Return the estimate when `share` of the people would say yes and all use randomised response.

    The share of yes is q = p share + (1 - p)(1 - share), so the estimate is (q - (1 - p)) / (2p -
    1).
    """
    p, yes = truth_probability(epsilon), round(share * people)
    counts = np.arange(people + 1)
    # the sum of two binomials: people who would say yes, and the others
    chances = np.convolve(
        binom.pmf(np.arange(yes + 1), yes, p),
        binom.pmf(np.arange(people - yes + 1), people - yes, 1 - p),
    )
    estimates = (counts / people - (1 - p)) / (2 * p - 1)
    return Survey(estimates, chances, response_error(people, epsilon))


def response_error(people: int, epsilon: float) -> float:
    """Return the standard deviation of the estimated share, √(p(1-p)/n) / (2p-1).

    It comes from the false answers alone: the people asked are fixed.
    """
    p = truth_probability(epsilon)
    return math.sqrt(p * (1 - p) / people) / (2 * p - 1)
