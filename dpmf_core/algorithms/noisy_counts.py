"""Item counts behind noise, by what all of them together show of their spread. Post-processing of
released counts.

The true counts are taken as log-normal, with the mean and the variance of the released ones, less
the noise's (empirical Bayes, Efron & Morris 1973). Each is then known by its posterior, which is
above 0 however far below 0 noise took what was released.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpmf_core.algorithms.base import Array

POINTS, WIDEST = 241, 6.0  # of the grid over the prior, and how many deviations it reaches
AT_ONCE = 4096  # items, so that 8 MB do


@dataclass(frozen=True)
class NoisyCounts:
    """values: (n_items,) weighted counts with Gaussian noise of deviation `noise`, one for all or
    (n_items,).
    """

    values: Array
    noise: float | Array

    def combine_with(self, values: Array, noise: Array) -> "NoisyCounts":
        """With other estimates of the same counts (n_items,), each by its precision."""
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
        """Of the counts about their posterior means (n_items,)."""
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
        parts = [
            _moments(
                self.values[start : start + AT_ONCE],
                noise[start : start + AT_ONCE],
                values,
                z**2 / 2,
            )
            for start in range(0, len(self.values), AT_ONCE)
        ]
        expected, variances = (np.concatenate(part) for part in zip(*parts, strict=True))
        # noise below the grid's steps: the released count is as good as the true one
        is_exact = noise < (z[1] - z[0]) * deviation * self.values
        return (
            np.where(is_exact, self.values, expected),
            np.where(is_exact, noise**2, variances),
        )


def _moments(counts: Array, noise: Array, values: Array, cost: Array) -> tuple[Array, Array]:
    """Posterior mean and variance of each count (n,), whose noise has deviation (n,), over `values`
    (p,), whose prior density is exp(-cost).
    """
    logarithms = -(((counts[:, None] - values) / noise[:, None]) ** 2) / 2 - cost
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ values
    return mean, np.maximum(weights @ values**2 - mean**2, 0.0)
