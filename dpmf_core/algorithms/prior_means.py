"""Users' prior means, linear in which items they rated, from one noisy second moment (ours).

In a user's own regression, factors and loadings have prior mean 0. Which items a user rated says
something about them before any rating is read (SVD++, Koren 2008). Released factors, columns,
offsets and counts already say what kind of items those are. A user's attention is the sum of these
over the rated items, divided by the root of their number. Only the regression of users' sides on
their attention is learned from private data: from the second moment of rows that hold both.
docs/PRIVACY.md, "Attention moment".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpmf_core.algorithms.base import Recommender, finite, rated_shares, unit_factors
from dpmf_core.algorithms.item_moments import RowMoment
from dpmf_core.algorithms.local_columns import scaled
from dpmf_core.algorithms.spectrum import with_fixed_signs
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Block, Curator, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape

# Chosen on validation ratings: benchmarks/results/utility.md, "Who rated what in prior means".
SHARE = 0.03  # of the mu^2 left after biases
LEAST_SIGNAL = 3000.0  # n mu below which prior means bring less than they cost
CHUNK = 4096  # rows that are held dense together
LEAST_VARIANCE = 1e-3  # of a direction of attention, in the largest
LEAST_MOMENT = 0.1  # of attention in a direction, in the mean of all directions


@dataclass(frozen=True)
class AttentionMoment(RowMoment):
    """sum_u w_u w_u^T (p, p) of `unit_rows`. docs/PRIVACY.md, "Attention moment"."""

    bound: float = 1.0
    name = "attention moment"

    def empty(self, shape: Shape, model: Recommender, *how: Any) -> Totals:  # type: ignore[override]
        p = 2 + how[0].shape[1] + model.item_sides.shape[1] + 1
        return (np.zeros((p, p)),)

    def add(self, block: Block, totals: Totals, model: Recommender, *how: Any) -> None:
        for w in unit_rows(block, model, *how):
            totals[0][:] += np.triu(w.T @ w)


def unit_rows(
    block: Block, model: Recommender, loadings: Array, typical: float, scale: float
) -> Iterator[Array]:
    """Users' features and `scale` times their sides, scaled to norm 1, on the grid, in chunks.

    Features are a constant, log(1 + number of ratings) minus `typical`, and the attention by
    `loadings` (n_items, k). A side holds factors, loadings and the mended offset (r + c + 1,). A
    user without ratings adds nothing.
    """
    rows: Ratings = block.rows
    own = model.personal(rows)
    means = model.residuals(rows)[0]
    offsets = (own.offsets - means) / rows.shape.quarter_range
    counts = rows.user_counts
    rated = rated_shares(rows)
    for first in range(0, len(counts), CHUNK):
        at = slice(first, first + CHUNK)
        features = (
            np.ones(len(counts[at])),
            np.log1p(counts[at]) - typical,
            rated[at] @ loadings,
        )
        side = np.column_stack([own.factors[at], offsets[at]])
        w = np.column_stack([*features, scale * side]) * (counts[at] > 0)[:, None]
        w[~np.isfinite(w)] = 0.0
        norms = np.linalg.norm(w, axis=1, keepdims=True)
        w *= unit_factors(norms)
        yield on_grid(w, 1.0, block.n_units, factors=2)


def most_coordinates(shape: Shape, rank: int) -> int:
    """The most columns p of `unit_rows`."""
    features = shape.item_features
    if features is None:
        n_columns = 2
    else:
        n_columns = 2 + features.values.shape[1]
    return 2 * (rank + n_columns) + 5


def with_prior_means(
    curator: Curator, model: Recommender, counts: Array
) -> Recommender:
    """The model with prior means of users' sides, after one release of `AttentionMoment`.

    Parameters
    ----------
    curator : Curator
    model : Recommender
    counts : (n_items,)
        Noisy counts of the items, above 0.
    """
    n_users = curator.shape.n_users
    unit = curator.shape.quarter_range
    loadings = _loadings(model, counts)
    # a user adds the root of their number of ratings to the counts
    n_rated = max((float(counts.sum()) / n_users) ** 2, 1.0)
    typical = math.log1p(n_rated)
    known, directions = _known_shares(model, counts, n_rated, unit)
    n_features = loadings.shape[1] + 2
    n_sides = len(known)
    # features and sides then have equal norms, at which a row says most about their products
    scale = math.sqrt(n_features / known.sum())
    noise = curator.scale(AttentionMoment()) ** 2 / 2
    M = curator.release(AttentionMoment(), model, loadings, typical, scale)
    # equal offsets make no column, and later ones may be
    if not np.ptp(model.item_offsets):
        return model
    link = _regression(
        _attention_moment(M[:n_features, :n_features], n_users, noise),
        M[:n_features, n_features:] @ directions / scale,
        known,
        (noise + n_users / (4 * n_features * n_sides)) / scale**2,
    )
    link = link @ directions.T
    line = np.stack([link[0] - typical * link[1], link[1]])
    attention = (loadings @ link[2:]).astype(np.float32)
    return replace(model, attention=attention, attention_line=line.astype(np.float32))


def _loadings(model: Recommender, counts: Array) -> Array:
    """What an item adds to its raters' attention (n_items, k).

    Over users who rate by popularity alone, every column has mean 0 and variance 1, and the columns
    are uncorrelated.
    """
    columns = np.column_stack([model.item_sides, model.item_offsets, np.log(counts)])
    columns = scaled(finite(columns), counts)
    variances, Q = np.linalg.eigh((columns.T * (counts / counts.sum())) @ columns)
    is_kept = variances > LEAST_VARIANCE * variances.max()
    directions = with_fixed_signs(Q[:, is_kept])
    return np.asarray(columns @ (directions / np.sqrt(variances[is_kept])))


def _known_shares(
    model: Recommender, counts: Array, n_rated: float, unit: float
) -> tuple[Array, Array]:
    """How much `n_rated` ratings tell of a user's side: shares (s,) of the prior variance.

    They are those of orthonormal directions, the columns of (s, s).
    """
    V = np.column_stack([model.item_sides, np.full(len(counts), unit)]).astype(
        np.float64
    )
    V = finite(V)
    information, Q = np.linalg.eigh(
        (V.T * (counts / counts.sum())) @ V * (n_rated / model.ridge)
    )
    information = np.maximum(information, 0.0)
    return information / (1 + information), Q


def _attention_moment(M: Array, n_users: int, noise: float) -> tuple[Array, Array]:
    """Eigenvalues (q,) and eigenvectors (q, q) of a released moment of features.

    What differs from the mean of the diagonal counts as far as it lies above the noise's edge.
    """
    q = len(M)
    mean = max(float(np.trace(M)), LEAST_MOMENT * n_users) / q
    w, Q = np.linalg.eigh(M - mean * np.eye(q))
    w = np.sign(w) * np.sqrt(np.maximum(w**2 - 4 * q * noise, 0.0))
    return np.maximum(mean + w, LEAST_MOMENT * mean), Q


def _regression(
    moment: tuple[Array, Array], G: Array, known: Array, noise: float
) -> Array:
    """The link B (q, s) from features to sides. Cross moments G (q, s) show a part of it.

    In eigenvectors of the `moment`, G = H B + noise, where H is the eigenvalue times the known
    share of the side. Posterior means are as much smaller than sides as ratings leave unknown.
    Entries of B have one variance, which all of them show together (empirical Bayes).
    """
    eigenvalues, Q = moment
    G = Q.T @ G
    H = np.outer(eigenvalues, known)
    variance = max(float((H**2 * (G**2 - noise)).sum() / (H**4).sum()), 0.0)
    return Q @ (variance * H * G / (variance * H**2 + noise))
