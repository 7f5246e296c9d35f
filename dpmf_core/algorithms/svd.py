"""Recommenders from one noisy second moment, as published: private SVD and SVD after cleansing.

Jain, Thakkar & Thakurta 2018 [J18], Alg. 4; McSherry & Mironov 2009 [MM09]. Item directions V are the top eigenvectors of a noisy
sum_i a_i a_i^T; a user's row is her own affair: the source's scaled projection, or a ridge regression on V. privacy.md, section 3.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from dpmf_core.algorithms.base import INSIDE, Algorithm, Array, Fit, Personal, Recommender, Streams, Watch, fits_in_memory, triangle, unwatched
from dpmf_core.algorithms.baselines import COUNTS, PUBLIC_FACTS, SUMS, private_mean, private_mean_plan
from dpmf_core.data import Ratings, Shape, keyed_uniform, rank_within_user
from dpmf_core.errors import BadInput
from dpmf_core.kernels.moments import second_moment
from dpmf_core.privacy import Budget, Event, Gaussian, Guarantee, Noise, Status, sequence

MOMENT = "item second moment"


@dataclass(frozen=True)
class Subspace(Recommender):
    """item_factors: orthonormal V (n_items, r). projection: a user's row is (1/p_i) (x_i V) V^T with p_i her share of the items [J18, Alg. 4]."""

    projection: bool = False

    def personal(self, history: Ratings) -> Personal:
        if not self.projection or not self.item_factors.shape[1]:
            return super().personal(history)
        offsets, left = self.residuals(history)
        share = np.maximum(np.diff(history.by_user), 1) / history.n_items
        X = csr_array((left.astype(np.float64), history.items, history.by_user), shape=(history.n_users, history.n_items))
        return Personal(offsets, np.asarray(X @ self.item_factors.astype(np.float64) / share[:, None], np.float32))


def clipped_rows(data: Ratings, values: Array, bound: float) -> Array:
    """The values (n_ratings,), float64, with every user's row scaled to an L2 norm of at most `bound`."""
    values = values.astype(np.float64)
    norms = np.sqrt(np.bincount(data.users, values**2, data.n_users))
    return np.asarray(values * np.minimum(1.0, bound * INSIDE / np.maximum(norms, 1e-300))[data.users])


def top_directions(moment: Array, rank: int) -> Array:
    """The eigenvectors (m, rank) of the largest eigenvalues, largest first."""
    m = len(moment)
    _, Q = eigsh(moment, k=rank, which="LA", v0=np.sqrt(1.0 + np.arange(m))) if rank < m - 1 else np.linalg.eigh(moment)
    return np.asarray(Q[:, ::-1][:, :rank])


class PrivateSVD(Algorithm):
    """Top eigenvectors of one noisy second moment of the users' clipped rows [J18, Alg. 4; Dwork et al. 2014]."""

    id: ClassVar[str] = "private-svd"
    title: ClassVar[str] = "Private SVD"
    words: ClassVar[str] = "eigenvectors of one noisy second moment; each user projects her own row on them"
    source: ClassVar[str] = "Jain, Thakkar & Thakurta 2018, Alg. 4"
    fitted: ClassVar[type] = Subspace

    rank: int = Field(5, ge=1, le=512, title="rank r", description="number of eigenvectors")
    row_clip: float = Field(0.1, gt=0, le=10, title="row clip L", description="largest L2 norm of a user's row, in half-ranges of the rating scale times √m")
    user_step: Literal["ridge", "projection"] = Field(
        "ridge", title="user's own step", description="a ridge regression on V, or the source's scaled projection"
    )
    prediction_ridge: float = Field(0.08, gt=0, le=1e6, title="prediction ridge", description="of a user's own regression on orthonormal V")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """A direction for every three items' worth of users' signal n mu over m, at most 16."""
        rank = 5 if budget is None else round(2 * math.sqrt(shape.n_users * budget.mu / shape.n_items))
        return {"rank": min(shape.n_items, 16, max(1, rank))}

    def check(self, shape: Shape) -> None:
        super().check(shape)
        fits_in_memory(self, shape)

    def _bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range * math.sqrt(shape.n_items)

    def plan(self, shape: Shape, level: float) -> Event:
        return Gaussian(level, MOMENT, self._bound(shape) ** 2, math.sqrt(2))

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """sigma^2 = 64 L^4 ln(1/delta) / eps^2 [J18, with T = 1], in units of our sensitivity L^2."""
        return 8 * math.sqrt(-math.log(budget.delta)) / budget.epsilon

    def coordinates(self, statistic: str, shape: Shape) -> int:
        return triangle(shape.n_items) if statistic == MOMENT else super().coordinates(statistic, shape)

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        """One user's row a has norm at most L, so she moves the sum of a a^T by ||a||^2 <= L^2 in Frobenius norm."""
        shape = data.shape
        empty = np.zeros((data.n_items, 0), np.float32)
        model = Subspace(data.bounds, shape.mid_range, np.zeros(data.n_items, np.float32), empty, 0.0)
        rows = clipped_rows(data, model.residuals(data)[1], self._bound(shape))
        W = noise.symmetric(MOMENT, second_moment(data.by_user, data.items, rows, data.n_items), sensitivity=self._bound(shape) ** 2)
        model = _with_directions(model, top_directions(W, self.rank), self.user_step == "projection", self.prediction_ridge)
        watch(1, 1, model)
        return Fit(model, noise.spent)


def _with_directions(model: Subspace, V: Array, projection: bool, ridge: float) -> Subspace:
    return replace(model, item_factors=V.astype(np.float32), projection=projection, ridge=ridge, mended=not projection)


class SVDCleansing(PrivateSVD):
    """Private averages first, then the second moment of what they leave, every user weighing alike [MM09, section 5]."""

    id: ClassVar[str] = "svd-cleansing"
    title: ClassVar[str] = "SVD after cleansing"
    words: ClassVar[str] = "noisy averages are taken out first; eigenvectors of the noisy covariance of the rest"
    source: ClassVar[str] = "McSherry & Mironov 2009"
    version: ClassVar[int] = 2

    row_clip: float = Field(
        0.5, gt=0, le=2, title="residual clamp B", description="largest residual that enters the covariance, in half-ranges of the rating scale"
    )
    ratings_per_user: int = Field(50, ge=1, le=100_000, title="ratings per user k", description="how many of a user's ratings enter the item averages")
    item_damping: float = Field(15.0, ge=0, le=1e4, title="item damping β_m", description="pseudo-count that pulls item averages to the global one")
    user_damping: float = Field(5.0, ge=0, le=1e4, title="user damping β_u", description="pseudo-count that pulls a user's own average to 0")
    average_share: float = Field(0.3, gt=0, lt=1, title="budget share of averages", description="of the total mu²; a fifteenth of it for the global one")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """As private SVD; item averages get more where there are many items for few users' signal."""
        chosen = super().recommend(shape, budget, given)
        if budget is None:
            return chosen
        signal = shape.n_users * budget.mu
        return chosen | {"average_share": min(0.8, max(0.1, 3 * shape.n_items / (3 * shape.n_items + signal))), "ratings_per_user": max(10, shape.n_items // 8)}

    def _bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range

    def _root_counted(self, shape: Shape) -> float:
        """sqrt(min(k, m)): by so much a user moves the vector of item counts."""
        return math.sqrt(min(self.ratings_per_user, shape.n_items))

    def source_level(self, shape: Shape, budget: Budget) -> float:
        raise BadInput(f"{self.title} has no calibration of its own source that holds for users. Use --calibration exact.")

    def plan(self, shape: Shape, level: float) -> Event:
        root_k, first = self._root_counted(shape), self.average_share
        return sequence(
            private_mean_plan(level / math.sqrt(first / 15)),
            Gaussian(level / math.sqrt(first * 10 / 15), SUMS, root_k * shape.half_range, 2.0),
            Gaussian(level / math.sqrt(first * 4 / 15), COUNTS, root_k, math.sqrt(2)),
            Gaussian(level / math.sqrt(1 - first), MOMENT, self._bound(shape) ** 2, math.sqrt(2)),
        )

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        """Residuals are clamped to B and weigh 1/sqrt(n_i), so a row has norm at most B and moves the covariance by at most B^2."""
        shape = data.shape
        centre = private_mean(data, noise)
        empty = np.zeros((data.n_items, 0), np.float32)
        model = Subspace(data.bounds, centre, self._item_averages(data, centre, noise, rng), empty, self.user_damping)
        B = self._bound(shape)
        clamped = model.residuals(data)[1].clip(-B, B) / np.sqrt(np.maximum(np.diff(data.by_user), 1))[data.users]
        rows = clamped.astype(np.float64) * INSIDE
        W = noise.symmetric(MOMENT, second_moment(data.by_user, data.items, rows, data.n_items), sensitivity=B**2)
        model = _with_directions(model, top_directions(W, self.rank), self.user_step == "projection", self.prediction_ridge)
        watch(1, 1, model)
        return Fit(model, noise.spent)

    def _item_averages(self, data: Ratings, centre: float, noise: Noise, rng: Streams) -> Array:
        """Damped item offsets (n_items,) from noisy sums and counts of at most k ratings a user.

        A rating less the centre is clipped to the half-range h: sensitivities sqrt(k) h and sqrt(k), k no more than the items there are.
        """
        root_k, h = self._root_counted(data.shape), data.shape.half_range
        entered = rank_within_user(data, keyed_uniform(rng.sampling, data.users, data.items)) < self.ratings_per_user
        items, values = data.items[entered], (data.values[entered].astype(np.float64) - centre).clip(-h, h)
        sums = noise.vector(SUMS, np.bincount(items, values, data.n_items), sensitivity=root_k * h)
        counts = noise.vector(COUNTS, np.bincount(items, minlength=data.n_items).astype(float), sensitivity=root_k)
        offsets = sums / (np.maximum(counts, 1.0) + self.item_damping)
        return np.asarray(offsets.clip(-h, h), np.float32)
