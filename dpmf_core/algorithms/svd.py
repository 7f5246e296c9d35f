"""Private SVD from one noisy second moment: Jain, Thakkar & Thakurta 2018 [J18], Alg. 4.

Item directions V are the top eigenvectors of a noisy sum_i a_i a_i^T. Each user computes their own
row, by the source's scaled projection or a ridge regression on V.
docs/PRIVACY.md, "Item second moment".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse.linalg import eigsh

from dpmf_core import kernels
from dpmf_core.algorithms.base import (
    INSIDE,
    Array,
    Parameters,
    Personal,
    PrivateAlgorithm,
    Recommender,
    Streams,
    fits_in_memory,
)
from dpmf_core.algorithms.baselines import proven_for_users
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import LEAST, parameter
from dpmf_core.algorithms.row_moments import RowMoment, gridded_rows, source_level
from dpmf_core.curator import Block, Curator, Statistic, Step
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Budget, Event


@dataclass(frozen=True, repr=False)
class Subspace(Recommender):
    """item_factors: orthonormal V (n_items, r), and how a user's row is found.

    projection: a user's row is (1/p_i) (x_i V) V^T with p_i the user's share of the items [J18,
    Alg. 4, which takes the share of all users, a count that is not released here].
    """

    projection: bool = False

    def personal(self, history: Ratings) -> Personal:
        if not self.projection or not self.item_factors.shape[1]:
            return super().personal(history)
        offsets, residuals = self.residuals(history)
        share = np.maximum(np.diff(history.by_user), 1) / history.n_items
        V, X = self.item_factors.astype(np.float64), history.matrix(residuals.astype(np.float64))
        factors = X @ V / share[:, None]
        return self.with_loadings(history, Personal(offsets, factors.astype(np.float32)))


def clipped_rows(data: Ratings, values: Array, bound: float) -> Array:
    """The values (n_ratings,), float64, with rows scaled to an L2 norm of at most `bound`."""
    values = values.astype(np.float64)
    norms = np.sqrt(kernels.segment_sums(data.by_user, values**2))
    return np.asarray(
        values * np.minimum(1.0, bound * INSIDE / np.maximum(norms, 1e-300))[data.users]
    )


def top_directions(moment: Array, rank: int) -> Array:
    """The eigenvectors (m, rank) of the largest eigenvalues, largest first."""
    m = len(moment)
    if rank < m - 1:
        _, Q = eigsh(moment, k=rank, which="LA", v0=np.sqrt(1.0 + np.arange(m)))
    else:
        _, Q = np.linalg.eigh(moment)
    return np.asarray(Q[:, ::-1][:, :rank])


@dataclass(frozen=True)
class ItemMoment(RowMoment):
    """sum_i a_i a_i^T (m, m) of users' rows of norm at most `bound`.

    docs/PRIVACY.md, "Item second moment".
    """

    name: ClassVar[str] = "item second moment"


def centred_rows(block: Block, model: Subspace, bound: float) -> Any:
    """Users' residuals, clipped to norm `bound`, on the grid."""
    rows: Ratings = block.rows
    return gridded_rows(block, clipped_rows(rows, model.residuals(rows)[1], bound), bound)


class PrivateSVD(PrivateAlgorithm):
    """Top eigenvectors of one noisy second moment of the users' clipped rows.

    [J18, Alg. 4; Dwork et al. 2014].
    """

    id = "private-svd"
    colour = "pink"
    training_cost = 5
    uses_item_features = True
    title = "Private SVD"
    words = "eigenvectors of one noisy second moment; each user projects their own row on them"
    source = "Jain, Thakkar & Thakurta 2018, Alg. 4"
    version = 3
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {"rank": 8, "row_clip": 10.0, "prediction_ridge": 0.16}
    model_type = Subspace

    rank: int = parameter(5, "rank r", "number of eigenvectors", (1, 512))
    row_clip: float = parameter(
        0.1,
        "row clip L",
        "largest L2 norm of a user's row, in half-ranges of the rating scale times √m",
        (LEAST, 10),
    )
    user_step: Literal["ridge", "projection"] = parameter(
        "ridge", "user's own step", "a ridge regression on V, or the source's scaled projection"
    )
    prediction_ridge: float = parameter(
        0.08, "prediction ridge", "of a user's own regression on orthonormal V", (LEAST, 1e6)
    )
    local_columns: bool = LOCAL_COLUMNS

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, parameters: Parameters) -> Parameters:
        """One direction for every 3 of users' signal n mu over m, at most 16."""
        rank = (
            5 if budget is None else round(2 * math.sqrt(shape.n_users * budget.mu / shape.n_items))
        )
        return {"rank": min(shape.n_items, 16, max(1, rank))}

    def check(self, shape: Shape) -> None:
        super().check(shape)
        fits_in_memory(self, shape)

    def _bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range * math.sqrt(shape.n_items)

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return (ItemMoment(self._bound(shape)),)

    def plan(self, shape: Shape, level: float) -> Event:
        (moment,) = self.statistics(shape)
        return moment.event(level)

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """sigma^2 = 64 L^4 ln(1/delta) / eps^2 [J18, Alg. 4], in units of our sensitivity L^2.

        Rows are projected to L there as here.
        """
        return source_level(budget, "L")

    guarantee = proven_for_users

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Subspace]:
        shape: Shape = curator.shape
        subspace = self._with_directions(curator, Subspace.of_means(shape), centred_rows)
        yield with_local_columns(subspace, None, shape) if self.local_columns else subspace

    def _with_directions(self, curator: Curator, model: Subspace, rows: Step) -> Subspace:
        """The model with the top eigenvectors of the noisy moment of users' rows.

        rows: makes these from the model's residuals.
        """
        bound = self._bound(curator.shape)
        W = curator.release(ItemMoment(bound), curator.hold(rows, model, bound))
        projection = self.user_step == "projection"
        V = top_directions(W, self.rank).astype(np.float32)
        how: Any = {"ridge": self.prediction_ridge, "mended": not projection}
        return replace(model, item_factors=V, projection=projection, **how)
