"""Full-gradient methods: projected gradient descent on the nuclear-norm ball, and gradient descent on item factors (DP-SGD).

PGD: Jain, Thakkar & Thakurta 2018 [J18], App. E, in this reading: Z = Y - eta P_Omega(Y - Y*), rows of Z clipped to norm L; the second moment
Z^T Z is released (sensitivity L^2 in Frobenius norm); its eigenvectors Q and the square roots s of its eigenvalues stand for the right
singular pairs of Z; projecting s on the l1 ball of radius kappa gives s', and every user maps her own row: Y_i = Z_i Q diag(s'/s) Q^T.
Y is kept as n x r coefficients of the r directions that survive: nothing is ever n x m.
DP-SGD (Abadi et al. 2016) on item factors: every user, every step, her gradient clipped as one vector. privacy.md, section 3.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array

from dpmf_core import kernels
from dpmf_core.algorithms.base import INSIDE, Algorithm, Array, Fit, Personal, Recommender, Streams, Watch, fits_in_memory, triangle, unwatched
from dpmf_core.algorithms.baselines import PUBLIC_FACTS, bias_plan, damped_biases, release_biases, share_of_biases
from dpmf_core.data import Ratings, Shape
from dpmf_core.kernels.moments import second_moment
from dpmf_core.privacy import Budget, Event, Gaussian, Guarantee, Noise, Repeat, Status, sequence

MOMENT, GRADIENT = "iterate's second moment", "item gradient"


class _Iterate:
    """Every user's row: Y_i = C_i Q^T with Q (m, r) orthonormal, and after `descend` Z_i = C_i Q^T + S_i with S on the observed cells."""

    def __init__(self, data: Ratings, target: Array, rate: float, bound: float) -> None:
        self.data, self.target, self.rate, self.bound = data, target.astype(np.float64), rate, bound
        self.Q, self.C = np.zeros((data.n_items, 0)), np.zeros((data.n_users, 0))

    def descend(self) -> None:
        """Y becomes Z = Y - eta P_Omega(Y - Y*), its rows within the bound; their norms follow from Q's orthonormal columns."""
        data = self.data
        seen = kernels.predict_pairs(self.C, self.Q, data.users, data.items, dtype=np.float64) if self.C.shape[1] else np.zeros(len(data))
        S = self.rate * (self.target - seen)
        if math.isfinite(self.bound):
            along = np.asarray(self._sparse(S) @ self.Q)
            square = (self.C * (self.C + 2 * along)).sum(axis=1) + np.bincount(data.users, S**2, data.n_users)
            shrink = np.minimum(1.0, self.bound * INSIDE / np.sqrt(np.maximum(square, 1e-300)))
            self.C, S = self.C * shrink[:, None], S * shrink[data.users]
        self.S = self._sparse(S)

    def _sparse(self, values: Array) -> csr_array:
        return csr_array((values, self.data.items, self.data.by_user), shape=(self.data.n_users, self.data.n_items))

    def moment(self) -> Array:
        """Z^T Z (m, m), exactly symmetric."""
        M = second_moment(self.data.by_user, self.data.items, self.S.data, self.data.n_items)
        if self.C.shape[1]:
            cross = np.asarray(self.S.T @ self.C) @ self.Q.T
            M = M + cross + cross.T + self.Q @ (self.C.T @ self.C) @ self.Q.T
        return np.asarray((M + M.T) / 2)

    def map(self, Q: Array, shrink: Array) -> None:
        """Z becomes Y_i = Z_i Q diag(shrink) Q^T, row by row."""
        self.C = (self.C @ (self.Q.T @ Q) + np.asarray(self.S @ Q)) * shrink
        self.Q = Q


@dataclass(frozen=True)
class GradientModel(Recommender):
    """directions: (m, sum of r_t) eigenvectors of every step side by side; shrinkages: (sum of r_t,); ranks: r_t (T,). item_factors: the last step's."""

    directions: Array = field(default_factory=lambda: np.zeros((0, 0)))
    shrinkages: Array = field(default_factory=lambda: np.zeros(0))
    ranks: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    rate: float = 1.0
    row_bound: float | None = None

    def personal(self, history: Ratings) -> Personal:
        offsets, left = self.residuals(history)
        rows = _Iterate(history, left, self.rate, math.inf if self.row_bound is None else self.row_bound)
        stops = np.cumsum(self.ranks)
        for start, stop in zip(stops - self.ranks, stops, strict=True):
            rows.descend()
            rows.map(self.directions[:, start:stop], self.shrinkages[start:stop])
        return Personal(offsets, rows.C.astype(np.float32))


def onto_l1_ball(s: Array, radius: float) -> Array:
    """The projection of s >= 0 onto {x >= 0, sum x <= radius}: a common threshold (Duchi et al. 2008)."""
    if s.sum() <= radius:
        return np.asarray(s)
    ordered = np.sort(s)[::-1]
    thresholds = (np.cumsum(ordered) - radius) / np.arange(1, len(s) + 1)
    theta = thresholds[np.flatnonzero(ordered > thresholds)[-1]]
    return np.asarray(np.maximum(s - theta, 0.0))


class PGD(Algorithm):
    """Projected gradient descent on the nuclear-norm ball, without privacy."""

    id: ClassVar[str] = "pgd"
    title: ClassVar[str] = "Projected gradient"
    words: ClassVar[str] = "gradient steps, each projected onto the matrices of bounded nuclear norm"
    source: ClassVar[str] = "Cai, Candès & Shen 2010; Jain, Thakkar & Thakurta 2018, App. E"
    fitted: ClassVar[type] = GradientModel
    twin: ClassVar[str] = "pgd"

    steps: int = Field(20, ge=1, le=200, title="steps T", description="gradient steps; in private each is paid for")
    nuclear_norm: float = Field(0.4, gt=0, le=100, title="nuclear norm κ", description="radius of the ball, in √(n m) half-ranges of the rating scale")
    step_size: float = Field(1.0, gt=0, le=100, title="step size η", description="1 fills in what is not observed by the last step's prediction")
    biases: bool = Field(True, description="item offsets before the first step; a user's own mean is always local")

    def check(self, shape: Shape) -> None:
        fits_in_memory(self, shape)

    def _kappa(self, shape: Shape) -> float:
        return self.nuclear_norm * shape.half_range * math.sqrt(shape.n_users * shape.n_items)

    def _bound(self, shape: Shape) -> float:
        return math.inf

    def _centred(self, data: Ratings) -> GradientModel:
        centre, b = damped_biases(data, 5.0) if self.biases else (data.shape.mid_range, np.zeros(data.n_items, np.float32))
        return self._empty(data, centre, b, 5.0 if self.biases else 0.0)

    def _empty(self, data: Ratings, centre: float, offsets: Array, damping: float) -> GradientModel:
        bound = self._bound(data.shape)
        no_factors = np.zeros((data.n_items, 0), np.float32)
        return GradientModel(
            data.bounds, centre, offsets, no_factors, damping, directions=np.zeros((data.n_items, 0)), rate=self.step_size,
            row_bound=bound if math.isfinite(bound) else None,
        )  # fmt: skip

    def _release(self, moment: Array, shape: Shape, noise: Noise) -> Array:
        return moment

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        model, shape = self._centred(data), data.shape
        rows = _Iterate(data, model.residuals(data)[1], self.step_size, self._bound(shape))
        for step in range(self.steps):
            rows.descend()
            squares, Q = np.linalg.eigh(self._release(rows.moment(), shape, noise))
            s = np.sqrt(np.maximum(squares, 0.0))
            left = onto_l1_ball(s, self._kappa(shape))
            alive = left > 1e-9 * max(float(s[-1]), 1e-300)
            rows.map(Q[:, alive], left[alive] / s[alive])
            model = replace(
                model, item_factors=Q[:, alive].astype(np.float32), directions=np.hstack([model.directions, Q[:, alive]]),
                shrinkages=np.append(model.shrinkages, left[alive] / s[alive]), ranks=np.append(model.ranks, int(alive.sum())),
            )  # fmt: skip
            watch(step + 1, self.steps, model)
        return Fit(model, noise.spent)


class PrivatePGD(PGD):
    """The same from noisy second moments of clipped rows: one user moves Z^T Z by at most L^2."""

    id: ClassVar[str] = "private-pgd"
    title: ClassVar[str] = "Private projected gradient"
    words: ClassVar[str] = "projected gradient steps through noisy second moments; every user maps her own row"
    source: ClassVar[str] = "Jain, Thakkar & Thakurta 2018, App. E"

    steps: int = Field(5, ge=1, le=50, title="steps T", description="gradient steps; each is paid for")
    step_size: float = Field(3.0, gt=0, le=100, title="step size η", description="1 fills in what is not observed by the last step's prediction")
    biases: bool = Field(False, description="not offered in private: each user's own mean is subtracted")
    row_clip: float = Field(
        0.1, gt=0, le=10, title="row clip L", description="largest L2 norm of a user's row of Z, in half-ranges of the rating scale times √m"
    )

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """More steps where users' signal n mu over the items leaves room for them."""
        if budget is None:
            return {}
        return {"steps": int(np.clip(round(math.sqrt(shape.n_users * budget.mu / shape.n_items)), 2, 8))}

    def _bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range * math.sqrt(shape.n_items)

    def plan(self, shape: Shape, level: float) -> Event:
        return Repeat(Gaussian(level * math.sqrt(self.steps), MOMENT, self._bound(shape) ** 2, math.sqrt(2)), self.steps)

    def coordinates(self, statistic: str, shape: Shape) -> int:
        return triangle(shape.n_items) if statistic == MOMENT else super().coordinates(statistic, shape)

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """As for private Frank-Wolfe: sigma^2 = 64 L^4 T ln(1/delta) / eps^2 [J18], in units of our sensitivity L^2."""
        return 8 * math.sqrt(-math.log(budget.delta)) / budget.epsilon

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def _centred(self, data: Ratings) -> GradientModel:
        return self._empty(data, data.shape.mid_range, np.zeros(data.n_items, np.float32), 0.0)

    def _release(self, moment: Array, shape: Shape, noise: Noise) -> Array:
        return noise.symmetric(MOMENT, moment, sensitivity=self._bound(shape) ** 2)


class DPSGD(Algorithm):
    """Gradient descent on item factors: per step one noisy sum of the users' clipped gradients; user factors solved locally.

    With u_i her ridge solution and e_i her residuals, user i's gradient with respect to V has rows e_ij u_i: norm ||e_i|| ||u_i||, clipped to C.
    """

    id: ClassVar[str] = "dp-sgd"
    title: ClassVar[str] = "DP-SGD"
    words: ClassVar[str] = "noisy gradients of the item factors, clipped user by user; user factors stay with their owners"
    source: ClassVar[str] = "Abadi et al. 2016; the comparison left open by Chien et al. 2021, remark 8"

    rank: int = Field(5, ge=1, le=512, title="rank r", description="number of latent factors")
    steps: int = Field(40, ge=1, le=500, title="steps T", description="gradient steps; each is paid for")
    biases: bool = Field(True, description="private item offsets first, factors on what they leave over")
    bias_share: float = Field(0.2, gt=0, lt=1, title="budget share of biases", description="of the total mu²")
    clip_norm: float = Field(
        0.5, gt=0, le=1e4, title="gradient clip norm C", description="largest norm of one user's gradient, in half-ranges of the rating scale"
    )
    learning_rate: float = Field(
        0.3, gt=0, le=1e3, title="learning rate", description="length of the first step, in norms of the starting factors; it falls to 0 along a line"
    )
    user_regularisation: float = Field(20.0, gt=0, le=1e6, title="user ridge", description="of a user's own least squares")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        if budget is None:
            return {"rank": min(shape.n_items, 5)}
        signal = shape.n_users * budget.mu
        share = {"bias_share": share_of_biases(shape, budget)} if given.get("biases", True) else {}
        return share | {"rank": min(shape.n_items, 6, max(1, round(2 * math.sqrt(signal / shape.n_items))))}

    def _sensitivity(self, shape: Shape) -> float:
        return self.clip_norm * shape.half_range

    def plan(self, shape: Shape, level: float) -> Event:
        first = (bias_plan(level, self.bias_share),) if self.biases else ()
        z = level * math.sqrt(self.steps / (1 - (self.bias_share if self.biases else 0.0)))
        return sequence(*first, Repeat(Gaussian(z, GRADIENT, self._sensitivity(shape), 2.0), self.steps))

    def coordinates(self, statistic: str, shape: Shape) -> int:
        return shape.n_items * self.rank if statistic == GRADIENT else super().coordinates(statistic, shape)

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        shape, C = data.shape, self._sensitivity(data.shape)
        offsets = release_biases(data, noise, unit=shape.half_range / 2).offsets if self.biases else np.zeros(data.n_items, np.float32)
        V = rng.init.standard_normal((data.n_items, self.rank)) * 0.3
        size = float(np.linalg.norm(V))
        model = Recommender(data.bounds, shape.mid_range, offsets, V.astype(np.float32), 0.0, self.user_regularisation)
        for step in range(self.steps):
            pen = noise.release(GRADIENT, sensitivity=C, size=V.size)
            G = pen.vector(clipped_gradient(data, model, C))
            V = V - self.learning_rate * (1 - step / self.steps) * size * G / max(float(np.linalg.norm(G)), 1e-300)
            model = replace(model, item_factors=V.astype(np.float32))
            watch(step + 1, self.steps, model)
        return Fit(replace(model, mended=True), noise.spent)


def clipped_gradient(data: Ratings, model: Recommender, C: float) -> Array:
    """sum_i f_i e_i u_i^T (m, r), f_i = min(1, C / (||e_i|| ||u_i||)): one user moves it by at most C."""
    personal = model.personal(data)
    _, left = model.residuals(data)
    U = np.where(np.isfinite(personal.factors), personal.factors, 0.0).astype(np.float64)
    e = kernels.predict_pairs(U, model.item_factors, data.users, data.items, dtype=np.float64) - left
    norms = np.sqrt(np.bincount(data.users, e**2, data.n_users)) * np.linalg.norm(U, axis=1)
    U *= np.minimum(1.0, C * INSIDE / np.maximum(norms, 1e-300))[:, None]
    return np.asarray(csr_array((e, data.items, data.by_user), shape=(data.n_users, data.n_items)).T @ U)
