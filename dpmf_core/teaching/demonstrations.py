"""Computations behind the lessons: noisy sums, clipping, composition, beliefs, groups."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import Gaussian, Repeat
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounting import group_epsilon
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.interpretation import belief, false_negatives, odds

CROWD, HIGH = 50, 5.0
CLIP_NORMS = tuple(float(norm) for norm in np.geomspace(0.5, 30, 25))
STEPS = (1, 2, 5, 10, 20, 50, 100)
PHOTOGRAPHS = (1, 2, 4, 8, 16, 32, 64)


def two_answers(epsilon: float, delta: float = 1e-5) -> tuple[pd.DataFrame, float]:
    """Return the densities of a noisy sum of ratings, without you and with you, and the noise.

    Ratings lie between 1 and 5: a person moves the sum by at most 5. You gave a 5.
    """
    noise, total = HIGH / gaussian_mu(epsilon, delta), CROWD * 3.4
    axis = np.linspace(total - 4 * noise, total + HIGH + 4 * noise, 241)
    without, with_you = (
        np.exp(-(((axis - middle) / noise) ** 2) / 2) / (noise * math.sqrt(2 * math.pi))
        for middle in (total, total + HIGH)
    )
    return pd.DataFrame({"answer": axis, "without you": without, "with you": with_you}), noise


def clipping_errors(
    ratings: Ratings, norms: tuple[float, ...], epsilon: float, delta: float = 1e-5
) -> pd.DataFrame:
    """Return root-mean-square errors over items of a noisy sum of rows clipped at each norm.

    The sum is that of users' ratings minus mid-range, released once. The columns are norm, cut
    (from clipping), noise, both, and people_cut, the share of people whose row is longer.
    """
    x = ratings.values.astype(np.float64) - ratings.shape.mid_range
    lengths = np.sqrt(np.bincount(ratings.users, x**2, ratings.n_users))
    multiplier = 1 / gaussian_mu(epsilon, delta)
    rows = []
    for C in norms:
        factors = np.minimum(1.0, C / np.maximum(lengths, 1e-12))
        cut_part = np.bincount(ratings.items, (1 - factors[ratings.users]) * x, ratings.n_items)
        cut, noise = float(np.sqrt(np.mean(cut_part**2))), multiplier * C
        rows.append((C, cut, noise, math.hypot(cut, noise), float((lengths > C).mean())))
    return pd.DataFrame(rows, columns=["norm", "cut", "noise", "both", "people_cut"])


def added_up(each: float, steps: int, delta: float = 1e-5) -> tuple[float, float]:
    """Return the exact total epsilon of `steps` releases of epsilon `each`, and their sum."""
    z = 1 / gaussian_mu(each, delta)
    return exactly(Repeat(Gaussian(z), steps), delta), each * steps


def totals(each: float, steps: int) -> list[tuple[int, float, float]]:
    """Return (steps, exact total, sum of epsilons) for STEPS and `steps`."""
    return [(count, *added_up(each, count)) for count in sorted({*STEPS, steps})]


def belief_exception(epsilon: float, delta: float = 1e-5) -> float:
    """Return the probability of a result of one Gaussian release that moves the odds further."""
    return odds(Gaussian(1 / gaussian_mu(epsilon, delta)), delta).exception


def beliefs(epsilon: float) -> list[tuple[float, float]]:
    """Return (before, after) for beliefs from 1% to 99%."""
    return [(float(prior), belief(float(prior), epsilon)) for prior in np.linspace(0.01, 0.99, 50)]


def best_attacks(epsilon: float, delta: float = 1e-5) -> list[tuple[float, float]]:
    """Return (false positive rate, lowest false negative rate) for a Gaussian release."""
    alarms = [step / 50 for step in range(51)]
    misses = false_negatives(Gaussian(1 / gaussian_mu(epsilon, delta)), alarms)
    return list(zip(alarms, map(float, misses), strict=True))


def group_epsilons(
    each: float, sizes: Sequence[int], delta: float = 1e-5
) -> list[tuple[int, float]]:
    """Return (rows, epsilon) of a person with several rows, when one row has epsilon `each`."""
    release = Gaussian(1 / gaussian_mu(each, delta))
    return [(size, group_epsilon(release, delta, size=size)) for size in sizes]
