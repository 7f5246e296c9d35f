"""Noise added by a curator, by groups or by each person; and post-processing of noisy counts."""

import functools
import math

import numpy as np
import numpy.typing as npt

from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.gaussian import gaussian_epsilon, gaussian_mu

LOW, HIGH = 1.0, 5.0
STARS = (2, 1, 9, 24, 14)  # how many of fifty people gave one star, two, ...
DRAWS = 2_000
Array = npt.NDArray[np.float64]
STEPS = ("nonnegative", "rounded", "rescaled")


def central_error(people: int, epsilon: float, delta: float = 1e-5) -> float:
    """Return the standard deviation of a mean of ratings between 1 and 5 that a curator publishes.

    Replacing one person moves the sum by at most 4. The number of people is public.
    """
    return (HIGH - LOW) / gaussian_mu(epsilon, delta) / people


def local_error(people: int, epsilon: float, delta: float = 1e-5) -> float:
    """Return the standard deviation of the mean when each person adds noise to their own rating."""
    return (HIGH - LOW) / gaussian_mu(epsilon, delta) / math.sqrt(people)


def part_epsilon(epsilon: float, blocks: int, delta: float = 1e-5) -> float:
    """Return the epsilon of one block's part, when each block adds an equal share of the noise.

    The sum of all parts costs `epsilon`. A part has 1/blocks of the variance, so its mu is √blocks
    times as large. docs/PRIVACY.md, "Every user's message".
    """
    return gaussian_epsilon(math.sqrt(blocks) * gaussian_mu(epsilon, delta), delta)


def epsilon_without(epsilon: float, absent: float, delta: float = 1e-5) -> float:
    """Return the epsilon of the sum when this share of the blocks, in [0, 1), adds no noise."""
    return gaussian_epsilon(gaussian_mu(epsilon, delta) / math.sqrt(1 - absent), delta)


@functools.cache
def noisy_counts(epsilon: float, delta: float = 1e-5) -> Array:
    """Return (DRAWS, 5) noisy counts of stars. One person changes one count by 1."""
    noise = np.empty(DRAWS * len(STARS))
    Gaussian.draw(np.random.default_rng(0), noise, 1 / gaussian_mu(epsilon, delta), 0.0)
    return np.asarray(STARS, float) + noise.reshape(DRAWS, len(STARS))


def processed(counts: Array, steps: frozenset[str]) -> Array:
    """Return noisy counts, (..., 5), after post-processing with some of STEPS.

    nonnegative: no count below 0. rescaled: the total of the noisy counts. rounded: integers.
    """
    out = counts
    if "nonnegative" in steps:
        out = np.maximum(out, 0.0)
    if "rescaled" in steps:
        total = np.maximum(counts.sum(axis=-1, keepdims=True), 0.0)
        out = out * total / np.maximum(np.abs(out.sum(axis=-1, keepdims=True)), 1e-9)
    return np.round(out) if "rounded" in steps else out


def count_error(counts: Array) -> float:
    """Return the mean absolute error of a count over draws and stars, in people."""
    return float(np.abs(counts - np.asarray(STARS)).mean())
