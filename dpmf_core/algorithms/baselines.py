"""Trivial and bias predictors: what a factorisation must beat, and private biases that are hard to
beat.

Private biases (ours, after McSherry & Mironov 2009): every user centres her ratings by her own mean
and scales the row so that one user moves the weighted item sums S, and the weighted item counts C,
by at most 1 in L2 norm. Two releases give every item's offset; a user's own offset is local.
docs/PRIVACY.md, "Weighted item sums".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from dpmf_core import kernels
from dpmf_core.algorithms.base import (
    INSIDE,
    Algorithm,
    Array,
    PrivateAlgorithm,
    Recommender,
    Streams,
    user_means,
)
from dpmf_core.algorithms.local_columns import (
    LOCAL_COLUMNS,
    with_local_columns,
)
from dpmf_core.algorithms.noisy_counts import NoisyCounts
from dpmf_core.algorithms.offset_regression import regress_offsets
from dpmf_core.algorithms.plain_biases import damped_biases, item_counts, mean_rating
from dpmf_core.curator import Block, Curator, Held, OpenCurator, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.language import phrase
from dpmf_core.privacy import Budget, Event, Guarantee, Noise, Status, sequence

SUMS, COUNTS, CENTRE = phrase("item sums"), phrase("item counts"), phrase("mean of user means")
SUMS_SHARE = 0.8  # of the biases' mu^2; the rest goes to the counts
PUBLIC_FACTS = (phrase("the number of users"), phrase("the item set"), phrase("the rating bounds"))


def no_factors(shape: Shape, **parts: Any) -> Recommender:
    defaults: dict[str, Any] = {
        "item_offsets": np.zeros(shape.n_items, np.float32),
        "user_damping": None,
    }
    return Recommender(
        bounds=shape.bounds,
        item_factors=np.zeros((shape.n_items, 0), np.float32),
        **(defaults | parts),
    )


class GlobalMean(Algorithm):
    """One number for everybody: the trivial predictor."""

    id: ClassVar[str] = "global-mean"
    is_trivial: ClassVar[bool] = True
    title: ClassVar[str] = "Global mean"
    words: ClassVar[str] = "predicts the mean of all ratings"
    source: ClassVar[str] = "trivial predictor"

    def asks_sums_alone(self) -> bool:
        return True

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        yield no_factors(curator.shape, centre=mean_rating(curator.total, curator.shape))


class UserMean(Algorithm):
    """Each user's own mean: needs nothing from others, hence nothing private is released; with
    no rating, mid-range.
    """

    id: ClassVar[str] = "user-mean"
    colour: ClassVar[str] = "grey"
    is_trivial: ClassVar[bool] = True
    title: ClassVar[str] = "User mean"
    words: ClassVar[str] = "predicts each user's own mean; nobody's data reaches anybody else"
    source: ClassVar[str] = "trivial predictor"

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        yield no_factors(curator.shape, centre=curator.shape.mid_range, user_damping=0.0)


class Popularity(Algorithm):
    """Ranks items by how many users rated them; predicts the global mean as a rating."""

    id: ClassVar[str] = "popularity"
    is_trivial: ClassVar[bool] = True
    title: ClassVar[str] = "Popularity"
    words: ClassVar[str] = "the same list for everybody: most rated first"
    source: ClassVar[str] = "trivial recommender"

    def asks_sums_alone(self) -> bool:
        return True

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        shape: Shape = curator.shape
        rank = np.argsort(np.argsort(item_counts(curator.total), kind="stable"), kind="stable")
        # orders lists, leaves predicted ratings alone
        tiny = (rank / max(shape.n_items, 1) * 1e-6).astype(np.float32)
        centre = mean_rating(curator.total, shape)
        yield no_factors(shape, centre=centre, item_offsets=tiny)


class Bias(Algorithm):
    """Global mean, item offset and user offset, each pulled towards 0 by a pseudo-count."""

    id: ClassVar[str] = "bias"
    uses_item_features: ClassVar[bool] = True
    title: ClassVar[str] = "Damped biases"
    words: ClassVar[str] = "mean, item offset and user offset, no factors"
    source: ClassVar[str] = "Koren, Bell & Volinsky 2009"

    damping: float = Field(
        5.0,
        ge=0,
        le=1000,
        title="damping β",
        description="pseudo-count that pulls offsets towards 0",
    )
    local_columns: bool = LOCAL_COLUMNS

    def asks_sums_alone(self) -> bool:
        return True

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        shape: Shape = curator.shape
        centre, b = damped_biases(curator.total, shape, self.damping)
        model = no_factors(shape, centre=centre, item_offsets=b, user_damping=self.damping)
        if self.local_columns:
            model = with_local_columns(model, item_counts(curator.total), shape)
        yield model


@dataclass(frozen=True)
class ReleasedBiases:
    """Private item offsets (n_items,) in rating units, and the noisy weighted counts they rest on.

    variances: (n_items,) of the offsets' errors, in units of `unit`, squared.
    """

    offsets: Array
    counts: NoisyCounts
    variances: Array

    @classmethod
    def unknown(cls, n_items: int, deviation: float = 0.5) -> "ReleasedBiases":
        """Where nothing is released: all items alike."""
        zeros, ones = np.zeros(n_items, np.float32), np.ones(n_items)
        return cls(zeros, NoisyCounts(ones, 0.0), deviation**2 * ones)


@dataclass(frozen=True)
class ItemSums(Statistic):
    """sum_u w_u x_u (n_items,) of `weighted_rows`: a user adds a vector of L2 norm at most 1,
    and may be replaced by one who adds its opposite.

    docs/PRIVACY.md, "Weighted item sums".
    """

    name: ClassVar[str] = SUMS
    sensitivity: ClassVar[float] = 1.0

    def empty(self, shape: Shape, rows: Held) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals, rows: tuple[Array, Array]) -> None:
        totals[0][:] += np.bincount(block.rows.items, rows[0], len(totals[0]))


@dataclass(frozen=True)
class ItemCounts(Statistic):
    """sum_u w_u 1 (n_items,): a user adds a vector of L2 norm at most 1 without negative
    entries, so that two users' differ by at most sqrt(2).

    docs/PRIVACY.md, "Weighted item counts".
    """

    name: ClassVar[str] = COUNTS
    replace_one_factor: ClassVar[float] = math.sqrt(2)
    sensitivity: ClassVar[float] = 1.0

    def empty(self, shape: Shape, rows: Held) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals, rows: tuple[Array, Array]) -> None:
        totals[0][:] += np.bincount(block.rows.items, rows[1], len(totals[0]))


def centred_rows(rows: Ratings, unit: float) -> Array:
    """x_u for each rating (n_ratings,): user u's row less her own mean, in units of `unit`."""
    return (rows.values - user_means(rows, rows.values)[rows.users]) / unit


def weighted_rows(block: Block, unit: float) -> tuple[Array, Array]:
    """w_u x_u (`centred_rows`) and w_u for each rating (n_ratings,), on the grid.
    w_u = min(1/sqrt(n_u), 1/||x_u||), so that both have L2 norm at most 1."""
    rows: Ratings = block.rows
    x = centred_rows(rows, unit)
    n_u = np.maximum(np.diff(rows.by_user), 1)
    norms = np.sqrt(kernels.segment_sums(rows.by_user, x.astype(np.float64) ** 2))
    weight = (1 / np.maximum(np.sqrt(n_u), norms))[rows.users] * INSIDE
    return on_grid(weight * x, 1.0, block.n_units), on_grid(weight, 1.0, block.n_units)


def bias_plan(level: float, share: float) -> Event:
    """The two releases of private biases, which together take `share` of mu^2 = 1 / level^2."""
    return sequence(
        ItemSums().event(level / math.sqrt(share * SUMS_SHARE)),
        ItemCounts().event(level / math.sqrt(share * (1 - SUMS_SHARE))),
    )


def share_of_biases(shape: Shape, budget: Budget) -> float:
    """Of the total mu^2, as a first stage: the more, the less signal n mu the users give for
    each item's offset.
    """
    return min(0.8, max(0.08, 3 * shape.n_items / (3 * shape.n_items + shape.n_users * budget.mu)))


def release_biases(
    curator: Curator, *, unit: float, prior_deviation: float = 0.5, rating_deviation: float = 1.0
) -> ReleasedBiases:
    """Item offsets from noisy sums (`ItemSums`) and counts (`ItemCounts`)."""
    sums, weights, rows = ItemSums(), ItemCounts(), curator.hold(weighted_rows, unit)
    sum_noise, count_noise = curator.scale(sums), curator.scale(weights)
    S, C = curator.release(sums, rows), curator.release(weights, rows)
    noisy = NoisyOffsets(S, sum_noise, NoisyCounts(C, count_noise))
    return noisy.shrunk(curator.shape, unit, prior_deviation, rating_deviation)


@dataclass(frozen=True)
class NoisyOffsets:
    """sums: S, of users' weighted rows (n_items,), in some unit of ratings, with noise of deviation
    `sum_noise`. counts: C, of their weights.
    """

    sums: Array
    sum_noise: float
    counts: NoisyCounts

    def shrunk(
        self, shape: Shape, unit: float, prior_deviation: float, rating_deviation: float = 1.0
    ) -> ReleasedBiases:
        """S / C, Wiener-shrunk towards its regression on log C and public item features; all of it
        post-processing.
        """
        S, C = self.sums, self.counts.expected
        # sum of w^2 over sum of w, to a constant
        typical_weight = min(1.0, shape.n_users / max(float(self.counts.released.sum()), 1.0))
        # of S / C about the true offset: ratings, noise of sums, what is not known of the count
        luck = C * typical_weight * rating_deviation**2 + self.sum_noise**2
        variance = (luck + self.counts.variances * prior_deviation**2) / C**2
        prior = regress_offsets(S / C, variance, np.log(C), shape.item_features, prior_deviation)
        gain = prior.deviation**2 / (prior.deviation**2 + variance)
        offsets = prior.mean + gain * (S / C - prior.mean)
        return ReleasedBiases((offsets * unit).astype(np.float32), self.counts, gain * variance)


def noise_scale(noise: Noise, statistic: str) -> float:
    return max(
        leaf.noise_multiplier * leaf.sensitivity
        for leaf, _ in noise.spent
        if leaf.statistic == statistic
    )


@dataclass(frozen=True)
class UserMeans(Statistic):
    """(sum of x_u, number of non-empty users) (2,): x_u is a user's mean less mid-range, in
    half-ranges, |x_u| <= 1.

    She moves them by at most sqrt(2), and from (-1, 1) to (1, 1) by 2.
    docs/PRIVACY.md, "Mean of user means".
    """

    name: ClassVar[str] = CENTRE
    replace_one_factor: ClassVar[float] = math.sqrt(2)
    sensitivity: ClassVar[float] = math.sqrt(2)

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(2),)

    def add(self, block: Block, totals: Totals) -> None:
        rows: Ratings = block.rows
        present = np.diff(rows.by_user) > 0
        means = (
            user_means(rows, rows.values - np.float32(rows.shape.mid_range)) / rows.shape.half_range
        ).clip(-1, 1)
        totals[0][:] += on_grid(means[present], 1.0, block.n_units).sum(dtype=float), present.sum()


def private_mean_plan(noise_multiplier: float) -> Event:
    return UserMeans().event(noise_multiplier)


def private_mean(curator: Curator) -> float:
    """Mean of user means: each non-empty user sends hers and a 1."""
    shape = curator.shape
    total, count = curator.release(UserMeans())
    return float(shape.mid_range + shape.half_range * np.clip(total / max(count, 1.0), -1, 1))


class OffsetsAlone(PrivateAlgorithm):
    """Released item offsets and nothing else; a user's own offset never leaves her."""

    uses_item_features: ClassVar[bool] = True
    twin: ClassVar[str] = "bias"

    prior_deviation: float = Field(
        0.5,
        gt=0,
        le=10,
        title="prior deviation of item offsets",
        description="in quarters of the rating range; steers shrinkage",
    )
    local_columns: bool = LOCAL_COLUMNS

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def model(self, released: ReleasedBiases, shape: Shape) -> Recommender:
        """What everybody gets."""
        model = no_factors(
            shape, centre=shape.mid_range, item_offsets=released.offsets, user_damping=0.0
        )
        if not self.local_columns:
            return model
        return with_local_columns(model, released.counts.expected, shape)


class PrivateBias(OffsetsAlone):
    """Item offsets from noisy weighted sums and counts."""

    id: ClassVar[str] = "private-bias"
    colour: ClassVar[str] = "green"
    training_cost: ClassVar[int] = 1
    is_usual_rival: ClassVar[bool] = True
    title: ClassVar[str] = "Private biases"
    words: ClassVar[str] = "item offsets from noisy sums and counts, user offsets local"
    source: ClassVar[str] = "ours, after McSherry & Mironov 2009"
    version: ClassVar[int] = 4

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return ItemSums(), ItemCounts()

    def plan(self, shape: Shape, level: float) -> Event:
        return bias_plan(level, 1.0)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        released = release_biases(
            curator, unit=shape.half_range / 2, prior_deviation=self.prior_deviation
        )
        yield self.model(released, shape)
