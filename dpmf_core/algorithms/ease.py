"""Items by items, without privacy: EASE [Steck 2019] and Slope One [Lemire & Maclachlan 2005].

EASE is a ridge regression in closed form. Every item is regressed on all others over the users'
rows x. With P = (X^T X + lambda I)^-1 the weights are B_ij = -P_ij / P_jj, and 0 on the diagonal.
`spectral` has the private form. Weighted Slope One has mean rating differences of pairs of items.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array

from dpmf_core.algorithms.base import (
    Algorithm,
    Personal,
    Recommender,
    Streams,
    fits_in_memory,
    no_matrix,
    user_means,
)
from dpmf_core.algorithms.exact_sums import damped_biases, mean_rating, sums_over
from dpmf_core.algorithms.parameters import LEAST, parameter
from dpmf_core.base.arrays import Array
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.sparse_moments import second_moment

DAMPING = 5.0  # pseudo-count of the offsets of ratings
MOST_SCORES = 4_000_000  # held together: 32 MB


@dataclass(frozen=True)
class OwnRow(Personal):
    """A user's side: the row of ratings or residuals, (n_users, n_items)."""

    rows: csr_array


@dataclass(frozen=True, repr=False)
class RowModel(Recommender):
    """A model whose scores come from a user's whole row, so they are computed user by user."""

    def from_scores(self, personal: Personal, users: Array, scores: Array) -> Array:
        """Ratings (len(users),) of scores."""
        return self.centre + personal.offsets[users] + scores

    def predict(self, personal: Personal, users: Array, items: Array) -> Array:
        predictions = np.empty(len(users), np.float32)
        each, place = np.unique(users, return_inverse=True)
        order = np.argsort(place, kind="stable")
        size = max(1, MOST_SCORES // max(len(self.item_offsets), 1))
        for start in range(0, len(each), size):
            scores = self.scores(personal, each[start : start + size])
            rows = order[slice(*np.searchsorted(place[order], (start, start + size)))]
            predictions[rows] = scores[place[rows] - start, items[rows]]
        ratings = self.from_scores(personal, users, predictions)
        return np.asarray(np.clip(ratings, *self.bounds), np.float32)


@dataclass(frozen=True, repr=False)
class ItemRegression(RowModel):
    """Item-item weights (n_items, n_items), 0 on the diagonal.

    Each is what a residual of 1 on the row's item adds to the residual on the column's item.
    """

    weights: Array = field(default_factory=no_matrix)

    def personal(self, history: Ratings) -> OwnRow:
        offsets, residuals = self.residuals(history)
        rows = history.matrix(residuals)
        return OwnRow(offsets, np.zeros((history.n_users, 0), np.float32), rows)

    def scores(self, personal: Personal, users: Array) -> Array:
        assert isinstance(personal, OwnRow)
        return np.asarray(self.item_offsets + personal.rows[users] @ self.weights)


class EASE(Algorithm):
    """Regress every item on all others; ratings minus damped biases are the data."""

    id = "ease"
    title = "EASE"
    words = "a ridge regression of every item on all others, in closed form"
    source = "Steck 2019"
    model_type = ItemRegression

    regularisation: float = parameter(
        3.0,
        "regularisation λ",
        "pull of the weights towards 0, in mean squared norms of an item's column",
        (LEAST, 1e6),
    )

    def check(self, shape: Shape) -> None:
        fits_in_memory(self, shape)

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data = curator.rows
        model = self._offsets(data)
        residuals = model.residuals(data)[1].astype(np.float64)
        G = second_moment(data.by_user, data.items, residuals, data.n_items)
        ridge = self.regularisation * max(float(np.trace(G)) / len(G), 1e-9)
        yield replace(model, weights=item_weights(G, ridge))

    def _offsets(self, data: Ratings) -> ItemRegression:
        """Damped biases. Likes all have one value, so they have none."""
        if data.bounds == (0.0, 1.0):
            return ItemRegression.of_means(data.shape, centre=0.0, user_damping=None)
        centre, b = damped_biases(sums_over(data), data.shape, DAMPING)
        return ItemRegression.of_means(
            data.shape,
            centre=centre,
            item_offsets=b,
            user_damping=DAMPING,
        )


def item_weights(G: Array, ridge: float) -> Array:
    """B (n_items, n_items), float32, from a second moment G of rows.

    Column j regresses item j on all others. G is overwritten.
    """
    G[np.diag_indices_from(G)] += ridge
    factor, _ = lapack.dpotrf(G.T, overwrite_a=True)
    upper, _ = lapack.dpotri(factor, overwrite_c=True)
    P = np.triu(upper) + np.triu(upper, 1).T
    B = np.asarray(-P / np.diag(P), np.float32)
    np.fill_diagonal(B, 0.0)
    return B


@dataclass(frozen=True, repr=False)
class SlopeOneModel(RowModel):
    """Sums of rating differences and counts for all pairs of items.

    Attributes
    ----------
    pairs : (n_items, n_items)
        Above the diagonal: sums of r_uj - r_uk, j < k. Below it: the number of users who rated
        both.
    """

    pairs: Array = field(default_factory=no_matrix)

    def personal(self, history: Ratings) -> OwnRow:
        means = self.centre + user_means(
            history, history.values - np.float32(self.centre)
        )
        rows = history.matrix(history.values.astype(np.float64))
        return OwnRow(means, np.zeros((history.n_users, 0), np.float32), rows)

    def from_scores(self, personal: Personal, users: Array, scores: Array) -> Array:
        return scores

    def scores(self, personal: Personal, users: Array) -> Array:
        """Each rated item's differences, weighted by counts; the user's mean where none apply."""
        assert isinstance(personal, OwnRow)
        square = self.pairs.astype(np.float64)
        rows = personal.rows[users]
        rated = rows.copy()
        rated.data[:] = 1
        lower = np.tril(square)
        upper = np.triu(square)
        weights = rated @ (lower + lower.T)
        total = rows @ (lower + lower.T) - rated @ (upper - upper.T)
        means = np.broadcast_to(personal.offsets[users][:, None], weights.shape)
        return np.where(weights > 0, total / np.maximum(weights, 1), means).astype(
            np.float32
        )


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
        centre = mean_rating(sums_over(data), data.shape)
        rated = data.matrix(np.ones(len(data)))
        counts = (rated.T @ rated).toarray()
        sums = (data.matrix(data.values.astype(np.float64)).T @ rated).toarray()
        pairs = (np.triu(sums - sums.T, 1) + np.tril(counts, -1)).astype(np.float32)
        yield SlopeOneModel.of_means(
            data.shape,
            centre=centre,
            user_damping=None,
            pairs=pairs,
        )
