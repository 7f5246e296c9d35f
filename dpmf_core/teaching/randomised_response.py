"""Randomised response: everybody answers yes or no, and lies with a known probability (Warner 1965;
Kairouz, Oh & Viswanath 2014 for the probability that is best at an epsilon).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

Array = npt.NDArray[np.float64]


def truth_probability(epsilon: float) -> float:
    """How often an answer is true at this epsilon: e^epsilon / (1 + e^epsilon). Either answer is
    then at most e^epsilon times as likely from one person as from another.
    """
    return 1 / (1 + math.exp(-epsilon))


def response_epsilon(truth: float) -> float:
    """The epsilon of one answer that is true with this probability, in (0.5, 1); pure, delta 0."""
    return math.log(truth / (1 - truth))


@dataclass(frozen=True)
class Survey:
    """What a survey of so many people says of a share.

    estimates, chances: every share that may come out, and its probability. error: the standard
    deviation of the estimate around the share.
    """

    estimates: Array
    chances: Array
    error: float


def survey(share: float, people: int, epsilon: float) -> Survey:
    """`share` of the people would say yes, and each answers by randomised response.

    The share of yes, q = p share + (1 - p)(1 - share), is turned back: (q - (1 - p)) / (2p - 1).
    """
    p, yes = truth_probability(epsilon), round(share * people)
    counts = np.arange(people + 1)
    # of those who would say yes and of the others: two binomials, added
    chances = np.convolve(
        binom.pmf(np.arange(yes + 1), yes, p),
        binom.pmf(np.arange(people - yes + 1), people - yes, 1 - p),
    )
    estimates = (counts / people - (1 - p)) / (2 * p - 1)
    return Survey(estimates, chances, response_error(people, epsilon))


def response_error(people: int, epsilon: float) -> float:
    """The standard deviation of the estimated share: the lies alone, √(p(1-p)/n) / (2p-1); the
    people who are asked are fixed.
    """
    p = truth_probability(epsilon)
    return math.sqrt(p * (1 - p) / people) / (2 * p - 1)
