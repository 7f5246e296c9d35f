"""Where noise is added: by a curator to a sum, or by each person to their own number; and what may
be done to a noisy figure afterwards.
"""

import functools
import math

import numpy as np
import numpy.typing as npt

from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.gaussian import gaussian_epsilon, gaussian_mu

LOW, HIGH = 1.0, 5.0
STARS = (2, 1, 9, 24, 14)  # of fifty people, how many gave one star, two, ...
DRAWS = 2_000
Array = npt.NDArray[np.float64]
STEPS = ("nonnegative", "rounded", "rescaled")


def central_error(people: int, epsilon: float, delta: float = 1e-5) -> float:
    """The standard deviation of the noise on a mean of ratings between 1 and 5 that a curator
    publishes: replacing one person moves the sum by at most 4. The number of people is public.
    """
    return (HIGH - LOW) / gaussian_mu(epsilon, delta) / people


def local_error(people: int, epsilon: float, delta: float = 1e-5) -> float:
    """The same where each person adds noise to their own rating, any number from 1 to 5."""
    return (HIGH - LOW) / gaussian_mu(epsilon, delta) / math.sqrt(people)


def part_epsilon(epsilon: float, blocks: int, delta: float = 1e-5) -> float:
    """What the part of one block tells of a person in it, where each of so many blocks adds its
    share of the noise that makes their sum cost `epsilon`: its variance is 1/blocks of the sum's,
    so mu is the root of `blocks` times as large.

    docs/PRIVACY.md, "Every user's message".
    """
    return gaussian_epsilon(math.sqrt(blocks) * gaussian_mu(epsilon, delta), delta)


def epsilon_without(epsilon: float, absent: float, delta: float = 1e-5) -> float:
    """The same of the sum where this share of the blocks, in [0, 1), adds no noise."""
    return gaussian_epsilon(gaussian_mu(epsilon, delta) / math.sqrt(1 - absent), delta)


@functools.cache
def noisy_counts(epsilon: float, delta: float = 1e-5) -> Array:
    """(DRAWS, 5): the counts of stars with noise, drawn again and again. One person more or less
    changes one count by 1.
    """
    noise = np.empty(DRAWS * len(STARS))
    Gaussian.draw(np.random.default_rng(0), noise, 1 / gaussian_mu(epsilon, delta), 0.0)
    return np.asarray(STARS, float) + noise.reshape(DRAWS, len(STARS))


def processed(counts: Array, steps: frozenset[str]) -> Array:
    """Noisy counts, (..., 5), after these of STEPS: nothing below 0, whole numbers, and in whole
    as many as the noisy counts say; none of them looks at the people again.
    """
    out = counts
    if "nonnegative" in steps:
        out = np.maximum(out, 0.0)
    if "rescaled" in steps:
        total = np.maximum(counts.sum(axis=-1, keepdims=True), 0.0)
        out = out * total / np.maximum(np.abs(out.sum(axis=-1, keepdims=True)), 1e-9)
    return np.round(out) if "rounded" in steps else out


def count_error(counts: Array) -> float:
    """How far a count is off, in people, on average over draws and stars."""
    return float(np.abs(counts - np.asarray(STARS)).mean())
