"""Weighted Slope One [Lemire & Maclachlan 2005]: mean rating differences of pairs of items."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpmf_core.algorithms.base import (
    Algorithm,
    Array,
    Personal,
    Streams,
    fits_in_memory,
    user_means,
)
from dpmf_core.algorithms.ease import OwnRow, RowModel
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Ratings, Shape


@dataclass(frozen=True, repr=False)
class SlopeOneModel(RowModel):
    """pairs (n_items, n_items): differences above the diagonal, counts below it.

    Above: sums of r_uj - r_uk, j < k. Below: the number of users who rated both.
    """

    pairs: Array = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def personal(self, history: Ratings) -> OwnRow:
        means = self.centre + user_means(history, history.values - np.float32(self.centre))
        rows = history.matrix(history.values.astype(np.float64))
        return OwnRow(means, np.zeros((history.n_users, 0), np.float32), rows)

    def from_scores(self, personal: Personal, users: Array, scores: Array) -> Array:
        return scores

    def scores(self, personal: Personal, users: Array) -> Array:
        """Each rated item's differences, weighted by counts; the user's mean where none apply."""
        assert isinstance(personal, OwnRow)
        square, rows = self.pairs.astype(np.float64), personal.rows[users]
        rated = rows.copy()
        rated.data[:] = 1
        lower, upper = np.tril(square), np.triu(square)
        weights = rated @ (lower + lower.T)
        total = rows @ (lower + lower.T) - rated @ (upper - upper.T)
        means = np.broadcast_to(personal.offsets[users][:, None], weights.shape)
        return np.where(weights > 0, total / np.maximum(weights, 1), means).astype(np.float32)


class SlopeOne(Algorithm):
    """A difference and a count for every pair of items, applied to each user's own ratings."""

    id = "slope-one"
    title = "Slope One"
    words = "how much higher one item is rated than another, by users who rated both"
    source = "Lemire & Maclachlan 2005"
    model_type = SlopeOneModel

    def check(self, shape: Shape) -> None:
        fits_in_memory(self, shape)

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data = curator.rows
        centre = float(data.values.mean(dtype=np.float64)) if len(data) else data.shape.mid_range
        rated = data.matrix(np.ones(len(data)))
        counts = (rated.T @ rated).toarray()
        sums = (data.matrix(data.values.astype(np.float64)).T @ rated).toarray()
        pairs = (np.triu(sums - sums.T, 1) + np.tril(counts, -1)).astype(np.float32)
        parts = {"centre": centre, "user_damping": None, "pairs": pairs}
        yield SlopeOneModel.of_means(data.shape, **parts)
