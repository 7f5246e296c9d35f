"""Private item offsets and counts from two noisy sums (ours, after McSherry & Mironov 2009).

A row holds a user's ratings, centred by the user's mean, and a constant for each rated item. Both
together are scaled to norm 1. The mean depends on which items the user rated, so the first sum also
judges an item by the other items of its raters. The second sum is of ratings minus the first
offsets, which removes most of that. It gives less weight to items with large counts, which are
known by then. docs/PRIVACY.md, "Item sums and counts".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.base import INSIDE, Parameters, user_means
from dpmf_core.algorithms.local_columns import centred, scaled
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Block, Curator, Statistic, Totals, on_grid
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Budget, Event, Repeat

# grid points over the prior, and its reach in standard deviations
POINTS = 241
WIDEST = 6.0
AT_ONCE = 4096  # items together, so that 8 MB suffice


@dataclass(frozen=True)
class NoisyCounts:
    """Noisy item counts, and their posterior under a prior that all of them show together.

    The true counts are taken as log-normal. Their mean is that of the released counts, and their
    variance is that of the released counts minus the noise's (empirical Bayes, Efron & Morris
    1973). A posterior mean is above 0, however far below 0 the noise took the released count.

    Attributes
    ----------
    values : (n_items,)
        Weighted counts with Gaussian noise.
    noise : float or (n_items,)
        The deviation of the noise, one for all or one each.
    """

    values: Array
    noise: float | Array

    def combine_with(self, values: Array, noise: Array) -> "NoisyCounts":
        """Combine with other estimates of the same counts (n_items,), each by its precision."""
        precision = 1 / np.square(self.noise)
        whole = precision + 1 / noise**2
        mean = (precision * self.values + values / noise**2) / whole
        return NoisyCounts(mean, 1 / np.sqrt(whole))

    @property
    def expected(self) -> Array:
        """Posterior means (n_items,), above 0, in the order of `values`."""
        return self._posterior[0]

    @property
    def variances(self) -> Array:
        """Variances of the counts about their posterior means (n_items,)."""
        return self._posterior[1]

    @cached_property
    def _posterior(self) -> tuple[Array, Array]:
        mean = max(float(self.values.mean()), 1e-3)
        noise = np.broadcast_to(np.maximum(self.noise, 1e-9 * mean), self.values.shape)
        spread = max(float(self.values.var() - np.mean(noise**2)), 0.0)
        deviation = math.sqrt(math.log1p(spread / mean**2))
        if not deviation:
            return np.full(len(self.values), mean), np.zeros(len(self.values))
        middle = math.log(mean) - deviation**2 / 2
        largest = (math.log(max(float(self.values.max()), mean)) - middle) / deviation
        z = np.linspace(-WIDEST, max(WIDEST, largest), POINTS)
        values = np.exp(middle + deviation * z)
        some = [slice(at, at + AT_ONCE) for at in range(0, len(self.values), AT_ONCE)]
        parts = [_moments(self.values[at], noise[at], values, z**2 / 2) for at in some]
        expected, variances = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        # noise below the grid's steps: the released count is as good as the true one
        is_exact = noise < (z[1] - z[0]) * deviation * self.values
        return (
            np.where(is_exact, self.values, expected),
            np.where(is_exact, noise**2, variances),
        )


def _moments(
    counts: Array, noise: Array, values: Array, cost: Array
) -> tuple[Array, Array]:
    """Posterior means and variances of noisy counts, on grid `values` with prior exp(-cost)."""
    logarithms = -(((counts[:, None] - values) / noise[:, None]) ** 2) / 2 - cost
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ values
    return mean, np.maximum(weights @ values**2 - mean**2, 0.0)


# prior deviations of the coefficients, in quarters of the rating range: of a category, and of a
# number scaled to mean square 1; and how much of an offset's own deviation features leave
CATEGORY = 0.2
NUMBER = 0.15
RESIDUAL = 0.6


def regress_offsets(
    estimates: Array,
    variance: Array,
    log_counts: Array,
    features: ItemFeatures | None,
    deviation: float,
) -> tuple[Array, float]:
    """Weighted ridge regression of released offsets on log counts and features.

    Parameters
    ----------
    estimates : (n_items,)
        Released offsets.
    variance : (n_items,)
        Their error variances.
    log_counts : (n_items,)
    features : ItemFeatures or None
    deviation : float
        The deviation of offsets without features.

    Returns
    -------
    expected : (n_items,)
        The expected offsets.
    deviation : float
        The deviation of offsets from the expected ones.
    """
    columns = [np.ones((len(estimates), 1))]
    deviations = [deviation]
    weights = 1 / (deviation**2 + variance)
    columns.append(centred(log_counts[:, None], weights))
    deviations.append(deviation)
    if features is not None:
        deviation *= RESIDUAL
        weights = 1 / (deviation**2 + variance)
        categories = features.categories
        numbers = features.numbers
        columns += [centred(categories, weights), scaled(numbers, weights)]
        deviations += [CATEGORY] * categories.shape[1] + [NUMBER] * numbers.shape[1]
    X = np.hstack(columns)
    weighted_columns = X * weights[:, None]
    ridge = np.diag(1 / np.square(deviations))
    line = np.linalg.solve(
        weighted_columns.T @ X + ridge, weighted_columns.T @ estimates
    )
    return X @ line, deviation


RELEASES = 2  # with equal budgets
# Chosen on validation ratings: benchmarks/results/utility.md, "Offsets by two sums".
COUNT_WEIGHT = 0.5  # the constant next to a rating, in quarters of the rating range
# least variance of a user's ratings, in that unit squared; smaller ones are not scaled up
LEAST_VARIANCE = 0.5
POPULAR = 0.5  # of the mean count, above which an item's weight falls with its count
# relative error of a count that follows from another release's weights
COUNT_ERROR = 0.1
FIRST_ERROR = 0.1  # the effect of a rater's other items on a first offset


@dataclass(frozen=True)
class SumsAndCounts(Statistic):
    """Sum over users of `offset_rows` (2 n_items,): weighted ratings, then weights.

    The weights are multiplied by `COUNT_WEIGHT`. A user adds a vector of L2 norm at most 1,
    whatever the weights and offsets. docs/PRIVACY.md, "Item sums and counts".
    """

    name = "item sums and counts"
    sensitivity: ClassVar[float] = 1.0
    per_item = 2

    def empty(
        self, shape: Shape, unit: float, weights: Array, offsets: Array
    ) -> Totals:
        return np.zeros(shape.n_items), np.zeros(shape.n_items)

    def add(
        self, block: Block, totals: Totals, unit: float, weights: Array, offsets: Array
    ) -> None:
        rows = offset_rows(block, unit, weights, offsets)
        for total, values in zip(totals, rows, strict=True):
            total[:] += block.rows.item_sums(values)

    def assemble(
        self, totals: Totals, unit: float, weights: Array, offsets: Array
    ) -> Array:
        return np.concatenate(totals)


def offset_rows(
    block: Block, unit: float, weights: Array, offsets: Array
) -> tuple[Array, Array]:
    """g_i x_ui / s_u and `COUNT_WEIGHT` g_i / s_u for each rating (n_ratings,), on the grid.

    x are ratings minus `offsets`, centred by the user's own mean, in units of `unit`. s_u makes the
    norm of both together 1, or less if the user's x vary by less than `LEAST_VARIANCE`.

    Parameters
    ----------
    block : Block
    unit : float
    weights : (n_items,)
        g, above 0.
    offsets : (n_items,)
    """
    rows: Ratings = block.rows
    values = (rows.values - offsets[rows.items]) / unit
    x = values - user_means(rows, values)[rows.users]
    g = weights[rows.items]
    weight = kernels.segment_sums(rows.by_user, g**2)
    square = kernels.segment_sums(rows.by_user, (g * x) ** 2)
    norm = np.maximum(square, LEAST_VARIANCE * weight) + COUNT_WEIGHT**2 * weight
    g *= (INSIDE / np.sqrt(np.maximum(norm, 1e-300)))[rows.users]
    return on_grid(g * x, 1.0, block.n_units), on_grid(
        COUNT_WEIGHT * g, 1.0, block.n_units
    )


@dataclass(frozen=True)
class ReleasedBiases:
    """Private item offsets, and the noisy counts they rest on.

    Attributes
    ----------
    offsets : (n_items,)
        In rating units.
    counts : NoisyCounts
    variances : (n_items,)
        Variances of the offsets' errors, in squared units of `unit`.
    """

    offsets: Array
    counts: NoisyCounts
    variances: Array

    @classmethod
    def unknown(cls, n_items: int, deviation: float = 0.5) -> "ReleasedBiases":
        """Biases if nothing is released: all items are equal."""
        zeros = np.zeros(n_items, np.float32)
        ones = np.ones(n_items)
        return cls(zeros, NoisyCounts(ones, 0.0), deviation**2 * ones)


def bias_plan(level: float, share: float) -> Event:
    """The releases of private biases, which together take `share` of mu^2 = 1 / level^2."""
    return Repeat(SumsAndCounts().event(level * math.sqrt(RELEASES / share)), RELEASES)


def recommended_biases(
    shape: Shape, budget: Budget, parameters: Parameters
) -> Parameters:
    """The share of the total mu^2 for biases, if they are a first stage.

    It grows as the signal n mu per item falls.
    """
    whole = 3 * shape.n_items + shape.n_users * budget.mu
    share = min(0.8, max(0.08, 3 * shape.n_items / whole))
    if parameters.get("biases", True):
        return {"bias_share": share}
    return {}


def release_biases(
    curator: Curator, *, unit: float, prior_deviation: float = 0.5
) -> ReleasedBiases:
    """Item offsets and counts from two releases of `SumsAndCounts`."""

    def release(weights: Array, offsets: Array) -> Array:
        return curator.release(SumsAndCounts(), unit, weights, offsets)

    noise = curator.scale(SumsAndCounts())
    return biases_from(release, noise, curator.shape, unit, prior_deviation)


def biases_from(
    release: Callable[[Array, Array], Array],
    noise: float,
    shape: Shape,
    unit: float,
    prior_deviation: float,
) -> ReleasedBiases:
    """Item offsets and counts from two sums of `offset_rows` (2 n_items,).

    Parameters
    ----------
    release : callable
        Releases such a sum for given weights and offsets.
    noise : float
        The deviation of the sum's noise.
    shape : Shape
    unit : float
    prior_deviation : float
    """

    def noisy_sums(weights: Array, offsets: Array) -> tuple[Array, NoisyCounts]:
        S, C = np.split(release(weights, offsets), 2)
        return S, NoisyCounts(C / COUNT_WEIGHT, noise / COUNT_WEIGHT)

    sums, first = noisy_sums(np.ones(shape.n_items), np.zeros(shape.n_items))
    early = Estimates.of(sums, first.expected, noise)
    offsets = early.shrunk(first, shape, unit, prior_deviation).offsets.astype(float)

    weights = _weights(first.expected)
    more, weighted_counts = noisy_sums(weights, offsets)
    counts = first.combine_with(
        weighted_counts.values / weights,
        np.hypot(weighted_counts.noise / weights, COUNT_ERROR * first.expected),
    )
    early = Estimates.of(sums, counts.expected, noise, FIRST_ERROR)
    late = Estimates.of(more, weights * counts.expected, noise)
    late = replace(late, offsets=late.offsets + offsets / unit)
    return early.combine_with(late).shrunk(counts, shape, unit, prior_deviation)


def _weights(counts: Array) -> Array:
    """Weights of items (n_items,) by their counts.

    Their mean square over ratings is 1, so most users scale their rows as they would without
    weights. A count in the second sum is the first sum's times the weight.
    """
    weights = 1 / np.sqrt(counts / counts.mean() + POPULAR)
    return np.asarray(weights / math.sqrt(np.average(weights**2, weights=counts)))


@dataclass(frozen=True)
class Estimates:
    """Item offsets (n_items,) in some unit of ratings, and what noise adds to their variance."""

    offsets: Array
    variances: Array

    @classmethod
    def of(
        cls, sums: Array, counts: Array, noise: float, error: float = 0.0
    ) -> "Estimates":
        """Divide sums by their counts.

        Parameters
        ----------
        sums, counts : (n_items,)
        noise : float
            The deviation of the noise on the sums.
        error : float
            The deviation of other errors of the quotients.
        """
        return cls(sums / counts, (noise / counts) ** 2 + error**2)

    def combine_with(self, other: "Estimates") -> "Estimates":
        """Combine both by their precisions."""
        mine = 1 / self.variances
        theirs = 1 / other.variances
        whole = mine + theirs
        return Estimates(
            (mine * self.offsets + theirs * other.offsets) / whole, 1 / whole
        )

    def shrunk(
        self, counts: NoisyCounts, shape: Shape, unit: float, prior_deviation: float
    ) -> ReleasedBiases:
        """Shrink towards the regression on log counts and public features (Wiener)."""
        C = counts.expected
        # sum of w^2 over sum of w, to a constant
        typical_weight = min(1.0, shape.n_users / max(float(counts.values.sum()), 1.0))
        # error variances other than the noise: of ratings, in units of 1, and of the count
        luck = C * typical_weight + counts.variances * prior_deviation**2
        variance = self.variances + luck / C**2
        mean, deviation = regress_offsets(
            self.offsets, variance, np.log(C), shape.item_features, prior_deviation
        )
        gain = deviation**2 / (deviation**2 + variance)
        offsets = mean + gain * (self.offsets - mean)
        return ReleasedBiases(
            (offsets * unit).astype(np.float32), counts, gain * variance
        )
