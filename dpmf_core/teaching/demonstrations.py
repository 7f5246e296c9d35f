"""What the lessons show, computed: densities of two answers, error over the clip norm, what
steps add up to, what an attacker may believe, what is left for a group.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import Gaussian, Repeat
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounting import group_epsilon
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.interpretation import false_negatives, odds

CROWD, LOW, HIGH = 50, 1.0, 5.0
CLIP_NORMS = tuple(float(norm) for norm in np.geomspace(0.5, 30, 25))
STEPS = (1, 2, 5, 10, 20, 50, 100)
PHOTOGRAPHS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class TwoAnswers:
    """The noisy sum of a crowd's ratings of one item, without and with you: densities over the
    same axis.
    """

    axis: tuple[float, ...]
    without: tuple[float, ...]
    with_you: tuple[float, ...]
    noise: float


def two_answers(epsilon: float, delta: float = 1e-5, your_rating: float = HIGH) -> TwoAnswers:
    """Everyone sends a rating between 1 and 5, so one person moves the sum by at most 5."""
    noise = HIGH / gaussian_mu(epsilon, delta)
    total = CROWD * 3.4
    axis = np.linspace(total - 4 * noise, total + your_rating + 4 * noise, 241)
    densities = (
        np.exp(-(((axis - middle) / noise) ** 2) / 2) / (noise * math.sqrt(2 * math.pi))
        for middle in (total, total + your_rating)
    )
    without, with_you = (tuple(map(float, density)) for density in densities)
    return TwoAnswers(tuple(map(float, axis)), without, with_you, noise)


@dataclass(frozen=True)
class ClippingError:
    """Error of a noisy sum of rows clipped at `norm`, a root mean square over items: of cutting
    off, of noise, of both.
    """

    norm: float
    cut: float
    noise: float
    both: float
    people_cut: float


def clipping_errors(
    ratings: Ratings, norms: tuple[float, ...], epsilon: float, delta: float = 1e-5
) -> list[ClippingError]:
    """The sum over users of their ratings less mid-range, one number an item, released once."""
    x = ratings.values.astype(np.float64) - ratings.shape.mid_range
    lengths = np.sqrt(np.bincount(ratings.users, x**2, ratings.n_users))
    multiplier = 1 / gaussian_mu(epsilon, delta)
    out = []
    for C in norms:
        factors = np.minimum(1.0, C / np.maximum(lengths, 1e-12))
        cut_part = np.bincount(ratings.items, (1 - factors[ratings.users]) * x, ratings.n_items)
        cut, noise = float(np.sqrt(np.mean(cut_part**2))), multiplier * C
        out.append(
            ClippingError(C, cut, noise, math.hypot(cut, noise), float((lengths > C).mean()))
        )
    return out


def added_up(each: float, steps: int, delta: float = 1e-5) -> tuple[float, float]:
    """`steps` releases, each of epsilon `each` alone: their total, exactly, and the sum of
    epsilons.
    """
    z = 1 / gaussian_mu(each, delta)
    return exactly(Repeat(Gaussian(z), steps), delta), each * steps


def totals(each: float, steps: int) -> list[tuple[int, float, float]]:
    """(steps, exact total, sum of epsilons) for a few numbers of steps, `steps` among them."""
    return [(count, *added_up(each, count)) for count in sorted({*STEPS, steps})]


def belief(prior: float, epsilon: float) -> float:
    """What an attacker may believe at most, having believed `prior` before: odds grow by
    e^epsilon, with the exceptions of `belief_exception`.
    """
    after = prior / (1 - prior) * math.exp(epsilon)
    return after / (1 + after)


def belief_exception(epsilon: float, delta: float = 1e-5) -> float:
    """How likely the attacker sees a result of one Gaussian release that moves odds further."""
    return odds(Gaussian(1 / gaussian_mu(epsilon, delta)), delta).exception


def beliefs(epsilon: float) -> list[tuple[float, float]]:
    """(before, after) for beliefs from 1% to 99%."""
    return [(float(prior), belief(float(prior), epsilon)) for prior in np.linspace(0.01, 0.99, 50)]


def best_attacks(epsilon: float, delta: float = 1e-5) -> list[tuple[float, float]]:
    """(false positives, lowest false negatives) of any attack on one Gaussian release."""
    alarms = [step / 50 for step in range(51)]
    misses = false_negatives(Gaussian(1 / gaussian_mu(epsilon, delta)), alarms)
    return list(zip(alarms, map(float, misses), strict=True))


def group_epsilons(
    each: float, sizes: Sequence[int], delta: float = 1e-5
) -> list[tuple[int, float]]:
    """(rows, epsilon) of a person with so many rows in data whose release has epsilon `each`
    for one row.
    """
    release = Gaussian(1 / gaussian_mu(each, delta))
    return [(size, group_epsilon(release, delta, size=size)) for size in sizes]
