"""Computations behind the lessons: answers, sums, clipping, composition, beliefs, groups, trust."""

import functools
import math

import numpy as np
import pandas as pd
from scipy.stats import binom, norm

from dpmf_core.base.arrays import Doubles
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import Gaussian, Repeat
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounting import group_epsilon
from dpmf_core.privacy.gaussian import gaussian_epsilon, gaussian_mu
from dpmf_core.privacy.interpretation import belief, false_negatives

DELTA = 1e-5  # of every demonstration
CROWD = 50
LOW = 1.0
HIGH = 5.0
STARS = (2, 1, 9, 24, 14)  # how many of fifty people gave one star, two, ...
DRAWS = 2_000
CLIP_NORMS = tuple(float(norm) for norm in np.geomspace(0.5, 30, 25))
STEPS = (1, 2, 5, 10, 20, 50, 100)
PHOTOGRAPHS = (1, 2, 4, 8, 16, 32, 64)


def _mu(epsilon: float) -> float:
    return gaussian_mu(epsilon, DELTA)


def two_answers(epsilon: float) -> tuple[pd.DataFrame, float]:
    """The densities of a noisy sum of ratings, without you and with you, and the noise.

    Ratings lie between 1 and 5: a person moves the sum by at most 5. You gave a 5.
    """
    noise = HIGH / _mu(epsilon)
    total = CROWD * 3.4
    axis = np.linspace(total - 4 * noise, total + HIGH + 4 * noise, 241)
    without, with_you = (
        norm.pdf(axis, middle, noise) for middle in (total, total + HIGH)
    )
    return pd.DataFrame(
        {"answer": axis, "without you": without, "with you": with_you}
    ), noise


def clipping_errors(ratings: Ratings) -> pd.DataFrame:
    """Root-mean-square errors over items of a noisy sum of rows clipped at each norm.

    The sum adds users' ratings minus mid-range, released once at epsilon 1. The columns are norm,
    cut (from clipping), noise, both, and people_cut, the share of people with a longer row.
    """
    x = ratings.values.astype(np.float64) - ratings.shape.mid_range
    lengths = np.sqrt(np.bincount(ratings.users, x**2, ratings.n_users))
    multiplier = 1 / _mu(1.0)
    rows = []
    for C in CLIP_NORMS:
        factors = np.minimum(1.0, C / np.maximum(lengths, 1e-12))
        cut_part = ratings.item_sums((1 - factors[ratings.users]) * x)
        cut = float(np.sqrt(np.mean(cut_part**2)))
        noise = multiplier * C
        rows.append(
            (C, cut, noise, math.hypot(cut, noise), float((lengths > C).mean()))
        )
    return pd.DataFrame(rows, columns=["norm", "cut", "noise", "both", "people_cut"])


def totals(each: float, steps: int) -> pd.DataFrame:
    """Total epsilons of STEPS and of `steps` releases, as `exactly` and `sum`, by their number.

    Parameters
    ----------
    each
        The epsilon of one release.
    steps
        A further number of releases.
    """
    counts = sorted({*STEPS, steps})
    release = Gaussian(1 / _mu(each))
    epsilons = [exactly(Repeat(release, count), DELTA) for count in counts]
    sums = [each * count for count in counts]
    return pd.DataFrame(
        {"exactly": epsilons, "sum": sums}, pd.Index(counts, name="steps")
    )


def beliefs(epsilon: float) -> pd.DataFrame:
    """Beliefs from 1% to 99% `before`, and the largest belief `after`."""
    before = np.linspace(0.01, 0.99, 50)
    return pd.DataFrame(
        {"before": before, "after": [belief(value, epsilon) for value in before]}
    )


def best_attacks(epsilon: float) -> pd.DataFrame:
    """The lowest false negative rates `fnr` of a Gaussian release, by false positive rate `fpr`."""
    alarms = [step / 50 for step in range(51)]
    misses = false_negatives(Gaussian(1 / _mu(epsilon)), alarms)
    return pd.DataFrame({"fpr": alarms, "fnr": misses})


def group_epsilons(each: float) -> dict[int, float]:
    """A person's epsilon by the number of their rows, when one row has epsilon `each`."""
    release = Gaussian(1 / _mu(each))
    return {size: group_epsilon(release, DELTA, size=size) for size in PHOTOGRAPHS}


# ---- randomised response -------------------------------------------------------------------------


def response_epsilon(truth: float) -> float:
    """The epsilon of an answer true with probability `truth`, in (0.5, 1); delta 0.

    Either answer is at most truth / (1 - truth) = e^epsilon times as likely from one person as from
    another (Warner 1965; Kairouz, Oh & Viswanath 2014).
    """
    return math.log(truth / (1 - truth))


def survey(share: float, people: int, truth: float) -> pd.DataFrame:
    """Each possible estimate of the share of yes, and its chance under randomised response.

    With p = truth the share of yes is q = p share + (1 - p)(1 - share), so the estimate is (q - (1
    - p)) / (2p - 1).

    Parameters
    ----------
    share
        The share of the people who would say yes.
    people
        The number of people.
    truth
        The probability of a true answer.
    """
    yes = round(share * people)
    counts = np.arange(people + 1)
    # the sum of two binomials: people who would say yes, and the others
    chances = np.convolve(
        binom.pmf(np.arange(yes + 1), yes, truth),
        binom.pmf(np.arange(people - yes + 1), people - yes, 1 - truth),
    )
    estimates = (counts / people - (1 - truth)) / (2 * truth - 1)
    return pd.DataFrame({"estimate": estimates, "chance": chances})


def response_error(people: int, truth: float) -> float:
    """The standard deviation of the estimated share, √(p(1-p)/n) / (2p-1) for p = truth.

    It comes from the false answers alone: the people asked are fixed.
    """
    return math.sqrt(truth * (1 - truth) / people) / (2 * truth - 1)


# ---- who adds the noise, and post-processing -----------------------------------------------------


def central_error(people: int, epsilon: float) -> float:
    """The standard deviation of a mean of ratings between 1 and 5 that a curator publishes.

    Replacing one person moves the sum by at most 4. The number of people is public.
    """
    return (HIGH - LOW) / _mu(epsilon) / people


def local_error(people: int, epsilon: float) -> float:
    """The standard deviation of the mean when each person adds noise to their own rating."""
    return (HIGH - LOW) / _mu(epsilon) / math.sqrt(people)


def part_epsilon(epsilon: float, blocks: int) -> float:
    """The epsilon of one block's part, when each block adds an equal share of the noise.

    The sum of all parts costs `epsilon`. A part has 1/blocks of the variance, so its mu is √blocks
    times as large. docs/PRIVACY.md, "Every user's message".
    """
    return gaussian_epsilon(math.sqrt(blocks) * _mu(epsilon), DELTA)


def epsilon_without(epsilon: float, absent: float) -> float:
    """The epsilon of the sum when this share of the blocks, in [0, 1), adds no noise."""
    return gaussian_epsilon(_mu(epsilon) / math.sqrt(1 - absent), DELTA)


@functools.cache
def noisy_counts(epsilon: float) -> Doubles:
    """(DRAWS, 5) noisy counts of stars. One person changes one count by 1."""
    noise = np.empty(DRAWS * len(STARS))
    Gaussian.draw(np.random.default_rng(0), noise, 1 / _mu(epsilon), 0.0)
    return np.asarray(STARS, float) + noise.reshape(DRAWS, len(STARS))


def processed(counts: Doubles, steps: frozenset[str]) -> Doubles:
    """Noisy counts after post-processing with some steps.

    Parameters
    ----------
    counts : (..., 5)
        The noisy counts.
    steps
        "nonnegative" raises counts below 0 to 0. "rescaled" keeps the total of the noisy counts,
        which counts as at least 0. "rounded" gives integers. The steps are taken in this order.

    Returns
    -------
    (..., 5)
        The processed counts.
    """
    out = counts
    if "nonnegative" in steps:
        out = np.maximum(out, 0.0)
    if "rescaled" in steps:
        total = np.maximum(counts.sum(axis=-1, keepdims=True), 0.0)
        out = out * total / np.maximum(np.abs(out.sum(axis=-1, keepdims=True)), 1e-9)
    if "rounded" in steps:
        return np.round(out)
    return out


def count_error(counts: Doubles) -> float:
    """The mean absolute error of a count over draws and stars, in people."""
    return float(np.abs(counts - np.asarray(STARS)).mean())
