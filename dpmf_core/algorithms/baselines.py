"""Trivial and bias predictors: what a factorisation must beat, and private biases that are hard to beat.

Private biases (ours, after McSherry & Mironov 2009): every user centres her ratings by her own mean and scales the row so
that one user moves the weighted item sums S, and the weighted item counts C, by at most 1 in L2 norm. Two releases
give every item's offset; a user's own offset is local. privacy.md, section 3, "Private biases".
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from dpmf_core.algorithms.base import Algorithm, Array, Fit, Recommender, Streams, Watch, unwatched, user_means
from dpmf_core.data import Ratings, Shape
from dpmf_core.privacy import Budget, Event, Gaussian, Guarantee, Noise, Status, sequence

SUMS, COUNTS, CENTRE = "item sums", "item counts", "mean of user means"
SUMS_SHARE = 0.8  # of the biases' mu^2; the rest goes to the counts
PUBLIC_FACTS = ("the number of users", "the item set", "the rating bounds")


def _no_factors(data: Ratings, **parts: Any) -> Recommender:
    defaults: dict[str, Any] = {"item_offsets": np.zeros(data.n_items, np.float32), "user_damping": None}
    return Recommender(bounds=data.bounds, item_factors=np.zeros((data.n_items, 0), np.float32), **(defaults | parts))


class GlobalMean(Algorithm):
    """One number for everybody: the trivial predictor."""

    id: ClassVar[str] = "global-mean"
    title: ClassVar[str] = "Global mean"
    words: ClassVar[str] = "predicts the mean of all ratings"
    source: ClassVar[str] = "trivial predictor"

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        centre = float(data.values.mean(dtype=np.float64)) if len(data) else data.shape.mid_range
        return Fit(_no_factors(data, centre=centre))


class UserMean(Algorithm):
    """Each user's own mean: needs nothing from others, hence nothing private is released; with no rating, mid-range."""

    id: ClassVar[str] = "user-mean"
    title: ClassVar[str] = "User mean"
    words: ClassVar[str] = "predicts each user's own mean; nobody's data reaches anybody else"
    source: ClassVar[str] = "trivial predictor"

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        return Fit(_no_factors(data, centre=data.shape.mid_range, user_damping=0.0))


class Popularity(Algorithm):
    """Ranks items by how many users rated them; predicts the global mean as a rating."""

    id: ClassVar[str] = "popularity"
    title: ClassVar[str] = "Popularity"
    words: ClassVar[str] = "the same list for everybody: most rated first"
    source: ClassVar[str] = "trivial recommender"

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        counts = np.bincount(data.items, minlength=data.n_items)
        rank = np.argsort(np.argsort(counts, kind="stable"), kind="stable")
        tiny = (rank / max(data.n_items, 1) * 1e-6).astype(np.float32)  # orders lists, leaves predicted ratings alone
        centre = float(data.values.mean(dtype=np.float64)) if len(data) else data.shape.mid_range
        return Fit(_no_factors(data, centre=centre, item_offsets=tiny))


def damped_biases(data: Ratings, damping: float, rounds: int = 5) -> tuple[float, Array]:
    """Global mean and item offsets (n_items,) of the damped bias model: alternating ridge solutions (Koren, Bell & Volinsky 2009, eq. 3)."""
    centre = float(data.values.mean(dtype=np.float64)) if len(data) else data.shape.mid_range
    b = np.zeros(data.n_items, np.float32)
    counts = np.bincount(data.items, minlength=data.n_items)
    for _ in range(rounds):
        a = user_means(data, data.values - centre - b[data.items], damping)
        sums = np.bincount(data.items, data.values - centre - a[data.users], data.n_items)
        b = (sums / np.maximum(counts + damping, 1e-9)).astype(np.float32)
    return centre, b


class Bias(Algorithm):
    """Global mean, item offset and user offset, each pulled towards 0 by a pseudo-count."""

    id: ClassVar[str] = "bias"
    title: ClassVar[str] = "Damped biases"
    words: ClassVar[str] = "mean, item offset and user offset, no factors"
    source: ClassVar[str] = "Koren, Bell & Volinsky 2009"

    damping: float = Field(5.0, ge=0, le=1000, title="damping β", description="pseudo-count that pulls offsets towards 0")

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        centre, b = damped_biases(data, self.damping)
        return Fit(_no_factors(data, centre=centre, item_offsets=b, user_damping=self.damping))


@dataclass(frozen=True)
class ReleasedBiases:
    """Private item offsets (n_items,) in rating units, and the noisy weighted counts (n_items,) they rest on."""

    offsets: Array
    counts: Array
    count_noise: float


def bias_plan(level: float, share: float) -> Event:
    """The two releases of private biases, which together take `share` of mu^2 = 1 / level^2."""
    return sequence(
        Gaussian(level / math.sqrt(share * SUMS_SHARE), SUMS, 1.0, 2.0),
        Gaussian(level / math.sqrt(share * (1 - SUMS_SHARE)), COUNTS, 1.0, math.sqrt(2)),
    )


def share_of_biases(shape: Shape, budget: Budget) -> float:
    """Of the total mu^2, as a first stage: the more, the less signal n mu the users give for each item's offset."""
    return min(0.8, max(0.08, 3 * shape.n_items / (3 * shape.n_items + shape.n_users * budget.mu)))


def release_biases(data: Ratings, noise: Noise, *, unit: float, prior_deviation: float = 0.5, rating_deviation: float = 1.0) -> ReleasedBiases:
    """Item offsets from two noisy releases of sensitivity 1 each.

    User u sends w_u x_u and w_u 1, where x_u is her row centred by her own mean, in units of `unit`, and
    w_u = min(1/sqrt(n_u), 1/||x_u||): both vectors have L2 norm at most 1, so adding or removing her moves S and C by at most 1.
    The offsets are Wiener-shrunk towards a line in log C that is fitted to the released values; all of it post-processing.
    """
    x = (data.values - user_means(data, data.values)[data.users]) / unit
    n_u = np.maximum(np.diff(data.by_user), 1)
    norms = np.sqrt(np.bincount(data.users, x.astype(np.float64) ** 2, data.n_users))
    w = 1 / np.maximum(np.sqrt(n_u), norms)  # (n_users,)
    weight = w[data.users] * (1 - 1e-6)  # float32 rows: stay inside the bound after rounding
    S = noise.vector(SUMS, np.bincount(data.items, weight * x, data.n_items), sensitivity=1.0)
    C = noise.vector(COUNTS, np.bincount(data.items, weight, data.n_items), sensitivity=1.0)
    s_S, s_C = (noise_scale(noise, SUMS), noise_scale(noise, COUNTS))
    counts = denoised(C, s_C)
    typical_weight = min(1.0, data.n_users / max(float(C.sum()), 1.0))  # sum of w^2 over sum of w, to a constant
    variance = (counts * typical_weight * rating_deviation**2 + s_S**2) / counts**2  # of S / C about the true offset
    line = _line(np.log(np.maximum(counts, s_C)), S / counts, prior_deviation**2 + variance, prior_deviation)
    gain = prior_deviation**2 / (prior_deviation**2 + variance)
    return ReleasedBiases(((line + gain * (S / counts - line)) * unit).astype(np.float32), C, s_C)


def denoised(C: Array, noise: float) -> Array:
    """Noisy counts pulled towards their mean by as much as noise explains their spread, and kept above 0."""
    mean = max(float(C.mean()), 1e-3)
    spread = max(float(C.var()) - noise**2, 0.0)
    return np.asarray(np.maximum(mean + spread / (spread + noise**2 + 1e-12) * (C - mean), 0.05 * mean))


def noise_scale(noise: Noise, statistic: str) -> float:
    return max(leaf.noise_multiplier * leaf.sensitivity for leaf, _ in noise.spent if leaf.statistic == statistic)


def _line(x: Array, y: Array, variance: Array, prior_deviation: float) -> Array:
    """The ridge line of y on x at every x: weights 1/variance, height and slope each with a Gaussian prior about 0."""
    weight, prior = 1 / variance, 1 / prior_deviation**2
    centred = x - np.average(x, weights=weight)
    height = (weight * y).sum() / (weight.sum() + prior)
    slope = (weight * centred * (y - height)).sum() / ((weight * centred**2).sum() + prior)
    return np.asarray(height + slope * centred)


def private_mean_plan(noise_multiplier: float) -> Event:
    """One release of two numbers; a non-empty user adds (x, 1) to them, |x| <= 1: she moves them by at most sqrt(2), and from (-1, 1) to (1, 1) by 2."""
    return Gaussian(noise_multiplier, CENTRE, math.sqrt(2), math.sqrt(2))


def private_mean(data: Ratings, noise: Noise) -> float:
    """Mean of user means: each non-empty user sends her mean less mid-range, in half-ranges, and a 1 (privacy.md, section 3, 3)."""
    shape, present = data.shape, np.diff(data.by_user) > 0
    means = (user_means(data, data.values - np.float32(shape.mid_range)) / shape.half_range).clip(-1, 1)
    total, count = noise.vector(CENTRE, np.array([means[present].sum(dtype=float), present.sum()]), sensitivity=math.sqrt(2))
    return float(shape.mid_range + shape.half_range * np.clip(total / max(count, 1.0), -1, 1))


class PrivateBias(Algorithm):
    """Item offsets from noisy weighted sums and counts; a user's own offset never leaves her."""

    id: ClassVar[str] = "private-bias"
    title: ClassVar[str] = "Private biases"
    words: ClassVar[str] = "item offsets from noisy sums and counts, user offsets local"
    source: ClassVar[str] = "ours, after McSherry & Mironov 2009"
    twin: ClassVar[str] = "bias"

    prior_deviation: float = Field(0.5, gt=0, le=10, title="prior deviation of item offsets", description="in quarters of the rating range; steers shrinkage")

    def plan(self, shape: Shape, level: float) -> Event:
        return bias_plan(level, 1.0)

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        released = release_biases(data, noise, unit=data.shape.half_range / 2, prior_deviation=self.prior_deviation)
        model = _no_factors(data, centre=data.shape.mid_range, item_offsets=released.offsets, user_damping=0.0)
        return Fit(model, noise.spent)
