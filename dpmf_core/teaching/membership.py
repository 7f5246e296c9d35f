"""Sums over a film club, before and after you joined: what they tell of you without noise and with
it.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.gaussian import gaussian_mu

MEMBERS, FILMS = 60, 12
Sums = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Club:
    """others: how many of the other members saw each film, (FILMS,). published_sums: the sums with
    you, or with noise. has_seen: which films you saw.
    """

    others: Sums
    published_sums: Sums
    has_seen: npt.NDArray[np.bool_]

    @property
    def difference(self) -> Sums:
        """What an attacker has who knows all the others."""
        return self.published_sums - self.others


def club(films: tuple[int, ...], noise: float = 0.0, draw: int = 0) -> Club:
    """The club with you in it, who saw these films; noise: standard deviation on every sum."""
    others = np.random.default_rng(0).binomial(MEMBERS, np.linspace(0.8, 0.2, FILMS)).astype(float)
    has_seen = np.isin(np.arange(FILMS), films)
    noise_sample = np.zeros(FILMS)
    if noise:
        Gaussian.draw(np.random.default_rng((1, draw)), noise_sample, noise, 0.0)
    return Club(others, others + has_seen + noise_sample, has_seen)


def noise_of(epsilon: float, delta: float = 1e-5) -> float:
    """The standard deviation that every sum needs for this epsilon in total: a member changes each
    of the sums by at most 1, so all of them by at most √FILMS in L2 norm.
    """
    return math.sqrt(FILMS) / gaussian_mu(epsilon, delta)


def best_attack(epsilon: float, films: int = FILMS, delta: float = 1e-5) -> float:
    """How often, from even odds, the best attacker is right about whether somebody who saw so many
    films is in: Φ(μ/2), the likelihood ratio test of two Gaussians μ standard deviations apart.
    """
    return float(ndtr(math.sqrt(films) / noise_of(epsilon, delta) / 2))
