"""Lists from one noisy second moment of likes: each kept item is regressed on all others.

This is EASE [Steck 2019] under the denoised moment. A row is ones for the items a user liked,
weighted, minus its part along the released popularity, which needs no second release. The rest of
every row has norm 1, so more of the moment is taste. docs/PRIVACY.md, "Item second moment".
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpmf_core.algorithms.base import (
    INSIDE,
    Parameters,
    Personal,
    Recommender,
    no_matrix,
)
from dpmf_core.algorithms.item_moments import ItemRows, SecondMoment
from dpmf_core.algorithms.local_columns import feature_columns
from dpmf_core.algorithms.spectrum import MomentNoise, Spectrum, spectrum
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Block, Curator, on_grid
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.rating_loops import segment_sums

LEAST_SIGNAL = 300.0  # n mu below which counts alone make better lists
# share of a row's squared norm along popularity: .07 in the cinema, .2 in MovieLens 1M
POPULAR = 0.15
LEAST_OWN = 0.1  # of an item's diagonal that factors leave unexplained
CHUNK = 512  # rows that are held dense together


@dataclass(frozen=True, repr=False)
class Projection(Recommender):
    """A recommender of lists by a projection of the user's history.

    A user's factor is the sum of `probe` (n_items, K) over the items of the history; without a
    probe it is a ridge regression.
    """

    probe: Array = field(default_factory=no_matrix)

    def personal(self, history: Ratings) -> Personal:
        if not self.probe.size:
            return super().personal(history)
        factors = history.matrix(history.values) @ self.probe
        return Personal(
            np.zeros(history.n_users, np.float32), np.asarray(factors, np.float32)
        )


@dataclass(frozen=True)
class CentredRows(ItemRows):
    """Rows minus their part along the unit vector `along` (n_kept,), of norm 1, on the grid."""

    along: Array
    n_units: int

    @cached_property
    def _parts_along(self) -> Array:
        """Each row times `along`, (n_rows,), row by row: no digit depends on the other rows."""
        return segment_sums(self.indptr, self.values * self.along[self.items])

    def add_moment(self, upper: Array) -> None:
        whole = np.zeros_like(upper)
        n_rows = len(self.indptr) - 1
        for start in range(0, n_rows, CHUNK):
            part = self.dense(start, min(start + CHUNK, n_rows))
            whole += part.T @ part
        upper += np.triu(whole)

    def dense(self, first: int, last: int) -> Array:
        """Rows first to last (exclusive), (last - first, n_kept).

        A row along popularity becomes 0.
        """
        x = self.matrix[first:last].toarray()
        x -= np.outer(self._parts_along[first:last], self.along)
        norms = np.linalg.norm(x, axis=1)
        x *= np.where(norms > 1e-6, INSIDE / np.maximum(norms, 1e-6), 0.0)[:, None]
        return on_grid(x, 1.0, self.n_units, factors=2)


def liked_rows(
    block: Block, kept_items: Array, weights: Array, along: Array
) -> CentredRows:
    """Users' weighted rows of ones over the kept items, minus their part along popularity."""
    rows = ItemRows.of(block.rows, np.ones(len(block.rows)), kept_items, weights)
    return CentredRows(
        rows.indptr,
        rows.items,
        rows.values,
        rows.n_items,
        along=along,
        n_units=block.n_units,
    )


@dataclass(frozen=True)
class ItemLikes:
    """The kept items: ascending ids, denoised counts and weights of their likes, each (n_kept,)."""

    items: Array
    counts: Array
    weights: Array

    @classmethod
    def of(cls, items: Array, counts: Array, exponent: float) -> "ItemLikes":
        """Weigh items by counts^exponent, scaled to a largest weight of 1."""
        weights = counts**exponent
        return cls(items, counts, weights / weights.max())

    @property
    def along(self) -> Array:
        """The direction of an average weighted row, (n_kept,), of norm 1."""
        mean = self.counts * self.weights
        return np.asarray(mean / np.linalg.norm(mean))

    def diagonal(self, n_users: int) -> Array:
        """The second moment's diagonal (n_kept,), as popularity alone would make it."""
        share = self.counts * self.weights**2
        return np.asarray(n_users * share / share.sum())

    def content(self, features: ItemFeatures | None) -> Array:
        """Columns of a public item table times popularity, (n_kept, n_features)."""
        if features is None:
            return np.zeros((len(self.items), 0))
        table = feature_columns(features.keeping(self.items), self.counts)
        return self.along[:, None] * table


def recommended_lists(shape: Shape, signal: float) -> Parameters:
    """Recommend parameters for lists, by the signal n mu.

    Constants were chosen on MovieLens 1M, with all and with 1,500 users, and on the cinema.
    """
    return {
        "implicit": True,
        "release": "none" if signal < LEAST_SIGNAL else "covariance",
        "bias_share": min(0.4, max(0.05, 80 / signal)),
        "rank": min(64, shape.n_items),
        "popularity_exponent": -0.2,
        "shrinkage": 0.8,
        "prediction_ridge": 0.5,
    }


def items_carried(counts: Array, n_users: int, scale: float) -> int:
    """How many of the most liked items a noisy second moment supports.

    Constants were chosen as in `recommended_lists`.

    Parameters
    ----------
    counts : (n_items,)
        Noisy sums of 1 / sqrt(n_u), so that (sum / n)^2 n is about the number of likes.
    n_users : int
    scale : float
        The noise of the moment.
    """
    likes = max(float(counts.sum()), 0.0) ** 2 / n_users
    return max(1, min(len(counts), int(1.4 * (likes / scale) ** 0.45)))


def liked_covariance(
    curator: Curator, likes: ItemLikes, rank: int, shrinkage: float
) -> Array:
    """Columns F (n_kept, K) with F F^T the moment of uncentred rows off its diagonal.

    F consists of popularity, a released spectrum, and public features as far as the spectrum misses
    them.
    """
    n_users = curator.shape.n_users
    m = len(likes.items)
    along = likes.along
    rows = curator.hold(liked_rows, likes.items, likes.weights, along)
    scale = curator.scale(SecondMoment())
    M = curator.release(SecondMoment(), rows, m)
    # the release leaves M without its diagonal
    moment_spectrum = spectrum(
        M, MomentNoise.uniform(m, n_users, scale), min(rank, m), shrinkage
    )
    content = likes.content(curator.shape.item_features)
    content = content * math.sqrt(content_share(M, moment_spectrum, along, content))
    taste = np.concatenate(
        [moment_spectrum.Q * np.sqrt(moment_spectrum.eta), content], axis=1
    )
    return np.column_stack(
        [math.sqrt(POPULAR * n_users) * along, math.sqrt(1 - POPULAR) * taste]
    )


def content_share(
    M: Array, moment_spectrum: Spectrum, along: Array, content: Array
) -> float:
    """How much of a moment M (n_kept, n_kept; diagonal 0) `content` adds to the spectrum.

    It is the least-squares coefficient, off the diagonal, of M - Q eta Q^T on Y Y^T, and at least
    0. Y is content minus its part along popularity.
    """
    Y = content - np.outer(along, along @ content)
    L = moment_spectrum.Q * np.sqrt(moment_spectrum.eta)
    lengths = (Y**2).sum(1)
    size = ((Y.T @ Y) ** 2).sum() - (lengths**2).sum()
    explained_part = ((L.T @ Y) ** 2).sum() - ((L**2).sum(1) * lengths).sum()
    if size > 0:
        return float(max(((M @ Y) * Y).sum() - explained_part, 0.0) / size)
    return 0.0


def item_regression(F: Array, diagonal: Array, ridge: float) -> tuple[Array, Array]:
    """(probe, V), each (n_kept, K), with probe V^T = B off the diagonal.

    S is F F^T off its diagonal and `diagonal` (n_kept,) on it, and P = (S + ridge I)^-1. Column j
    of B = I - P diag(P)^-1 regresses item j on all others. By Woodbury's identity, with D =
    diagonal - |F_j|^2 + ridge, only K x K systems are solved. At least a tenth of the diagonal is
    left to the item itself.
    """
    D = np.maximum(diagonal - (F**2).sum(1), LEAST_OWN * diagonal) + ridge
    scaled_factors = F / D[:, None]
    probe = scaled_factors @ np.linalg.inv(np.eye(F.shape[1]) + F.T @ scaled_factors)
    own = (probe * F).sum(1)  # what an item says about itself, below 1
    return probe, F / (1 - own)[:, None]


def _places(counts: Array) -> Array:
    """Each item's place in the order of counts, (n_items,), from 0 to below 1."""
    order = np.argsort(np.argsort(counts, kind="stable"), kind="stable")
    return order / len(counts)


def list_by_counts(shape: Shape, counts: Array) -> Recommender:
    """The list for everyone by released counts (n_items,)."""
    offsets = (_places(counts) - shape.n_items).astype(np.float32)
    return Recommender(
        shape.bounds, 0.0, offsets, np.zeros((shape.n_items, 0), np.float32)
    )


def list_by_regression(
    shape: Shape, counts: Array, likes: ItemLikes, F: Array, ridge: float
) -> Projection:
    """Rank kept items by their regression on all others, other items below them by counts.

    Parameters
    ----------
    shape : Shape
    counts : (n_items,)
        Released counts.
    likes : ItemLikes
        The kept items.
    F : (n_kept, K)
        See `liked_covariance`.
    ridge : float
        In units of the mean diagonal entry.
    """
    probe, V = (np.zeros((shape.n_items, F.shape[1]), np.float32) for _ in range(2))
    per_item = shape.n_users / len(likes.items)
    regression = item_regression(F, likes.diagonal(shape.n_users), ridge * per_item)
    probe[likes.items] = likes.weights[:, None] * regression[0]
    V[likes.items] = regression[1]
    places = _places(counts)
    offsets = places - shape.n_items  # below any score of a kept item
    offsets[likes.items] = 1e-6 * places[likes.items]
    return Projection(shape.bounds, 0.0, offsets.astype(np.float32), V, probe=probe)
