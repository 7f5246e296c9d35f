"""Frank-Wolfe on the nuclear-norm ball, and its private forms: Jain, Thakkar & Thakurta 2018 [J18], Alg. 1 and 2.

Y starts at 0. Each step needs one thing from all users: the top right singular vector v of their residuals A, and its singular value l.
Everything else is local: u_i = <A_i, v> / l and Y_i <- Pi_L((1 - eta) Y_i - eta kappa u_i v^T). So the shared model is the T vectors v_t and
the l_t, Y is never held in full, and a user finds her row by walking through the steps herself (joint DP).
A user's residual row is clipped to norm L, so she moves A^T A by at most L^2 in Frobenius norm and A^T A v by at most L^2 for a unit v
(privacy.md, section 3; the source takes 4 L^2).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from dpmf_core.algorithms.base import Algorithm, Array, Fit, Personal, Recommender, Streams, Watch, fits_in_memory, triangle, unwatched
from dpmf_core.algorithms.baselines import PUBLIC_FACTS, damped_biases
from dpmf_core.data import Ratings, Shape
from dpmf_core.kernels.moments import second_moment
from dpmf_core.kernels.replay import Rows, replay
from dpmf_core.privacy import Budget, Event, Gaussian, Guarantee, Noise, Status, sequence

COVARIANCE, PRODUCT = "residual second moment", "residual second moment times vector"
FAILURE = 0.01  # b of the source's slack


@dataclass(frozen=True)
class FrankWolfeModel(Recommender):
    """item_factors: v_t (n_items, T). inverse_singular: 1 / l_t (T,). rates: eta_t (T,). kappa: nuclear norm. row_bound: L, None for no bound.

    refit: a user regresses her residuals on all v_t in the end (ridge, offset mended) in place of the coefficients that the steps left her.
    """

    inverse_singular: Array = field(default_factory=lambda: np.zeros(0))
    rates: Array = field(default_factory=lambda: np.zeros(0))
    kappa: float = 0.0
    row_bound: float | None = None
    refit: bool = False

    def personal(self, history: Ratings) -> Personal:
        if self.refit:
            return super().personal(history)
        offsets, left = self.residuals(history)
        bound = math.inf if self.row_bound is None else self.row_bound
        factors = replay(history.by_user, history.items, left, self.item_factors, self.inverse_singular, self.rates, self.kappa, bound)
        return Personal(offsets, factors.astype(np.float32))


class _FrankWolfe(Algorithm):
    """The steps that all forms share. A form says how rows are centred and bounded, and where the top singular pair comes from."""

    fitted: ClassVar[type] = FrankWolfeModel
    twin: ClassVar[str] = "fw"
    version: ClassVar[int] = 3

    steps: int = Field(100, ge=1, le=1000, title="steps T", description="rank-one terms; the source takes 400 without privacy, at most 50 with")
    nuclear_norm: float = Field(0.45, gt=0, le=100, title="nuclear norm κ", description="radius of the ball, in √(n m) half-ranges of the rating scale")
    step_size: Literal["2/(t+2)", "1/T"] = Field("2/(t+2)", title="step size η", description="the source takes 1/T in private steps")

    def _rates(self) -> Array:
        t = np.arange(self.steps)
        return 2 / (t + 2.0) if self.step_size == "2/(t+2)" else np.full(self.steps, 1 / self.steps)

    def _empty(self, data: Ratings, centre: float, item_offsets: Array, damping: float, **parts: Any) -> FrankWolfeModel:
        shape = data.shape
        kappa = self.nuclear_norm * shape.half_range * math.sqrt(shape.n_users * shape.n_items)
        return FrankWolfeModel(data.bounds, centre, item_offsets, np.zeros((data.n_items, 0), np.float32), damping, kappa=kappa, **parts)

    def _centred(self, data: Ratings) -> FrankWolfeModel:
        """The model before the first step."""
        raise NotImplementedError

    def _top(self, X: csr_array, bound: float, noise: Noise, rng: Streams) -> tuple[Array, float]:
        """The top right singular vector (n_items,) of the residuals X (n_users, n_items), and its singular value."""
        raise NotImplementedError

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        model = self._centred(data)
        bound = math.inf if model.row_bound is None else model.row_bound
        rows = Rows(data.by_user, data.items, model.residuals(data)[1], bound)
        V, inverse, rates = np.zeros((data.n_items, self.steps), np.float32), np.zeros(self.steps), self._rates()
        for t in range(self.steps):
            X = csr_array((rows.residuals(), data.items, data.by_user), shape=(data.n_users, data.n_items))
            v, singular = self._top(X, bound, noise, rng)
            V[:, t], inverse[t] = v, 1 / singular if singular > 1e-9 else 0.0
            rows.advance(np.ascontiguousarray(V[:, t]), inverse[t], rates[t], model.kappa)
            model = replace(model, item_factors=V[:, : t + 1].copy(), inverse_singular=inverse[: t + 1].copy(), rates=rates[: t + 1])
            watch(t + 1, self.steps, model)
        return Fit(model, noise.spent)


class FW(_FrankWolfe):
    """Frank-Wolfe for the nuclear norm, without privacy: Jaggi & Sulovsky 2010."""

    id: ClassVar[str] = "fw"
    title: ClassVar[str] = "Frank-Wolfe"
    words: ClassVar[str] = "one rank-one term a step towards the best matrix of bounded nuclear norm"
    source: ClassVar[str] = "Jaggi & Sulovsky 2010; Jain, Thakkar & Thakurta 2018"

    biases: bool = Field(True, description="item offsets before the first step, as in the source; off: only each user's own mean is subtracted")

    def _centred(self, data: Ratings) -> FrankWolfeModel:
        if self.biases:
            return self._empty(data, *damped_biases(data, 5.0), 5.0)
        return self._empty(data, data.shape.mid_range, np.zeros(data.n_items, np.float32), 0.0)

    def _top(self, X: csr_array, bound: float, noise: Noise, rng: Streams) -> tuple[Array, float]:
        m = X.shape[1]
        if m < 3 or not X.data.any():
            squares, Q = np.linalg.eigh((X.T @ X).toarray())
            return Q[:, -1], math.sqrt(max(float(squares[-1]), 0.0))
        moment = LinearOperator((m, m), matvec=lambda v: X.T @ (X @ v), dtype=np.float64)
        squares, Q = eigsh(moment, k=1, which="LA", v0=np.sqrt(1.0 + np.arange(m)), tol=1e-12)  # ones would vanish on centred rows
        return Q[:, 0], math.sqrt(max(float(squares[0]), 0.0))


class DPFW(_FrankWolfe):
    """Private Frank-Wolfe: per step, the noisy second moment of the clipped residuals and its top eigenpair."""

    id: ClassVar[str] = "dpfw"
    title: ClassVar[str] = "DPFW"
    words: ClassVar[str] = "Frank-Wolfe on noisy second moments; every user walks through the steps herself"
    source: ClassVar[str] = "Jain, Thakkar & Thakurta 2018, Alg. 1"

    steps: int = Field(10, ge=1, le=200, title="steps T", description="rank-one terms; each is paid for")
    nuclear_norm: float = Field(0.45, gt=0, le=100, title="nuclear norm κ", description="radius of the ball, in √(n m) half-ranges of the rating scale")
    step_size: Literal["2/(t+2)", "1/T"] = Field("1/T", title="step size η", description="the source takes 1/T")
    row_clip: float = Field(
        0.08, gt=0, le=10, title="row clip L", description="largest L2 norm of a user's residual row and of her iterate, in half-ranges of the scale times √m"
    )
    slack: bool = Field(False, description="add √(σ ln(m/b)) m^¼ to the singular value, as in the source; it costs accuracy")
    noise_schedule: Literal["constant", "growing"] = Field("constant", description="noise of equal total: the same each step, or growing with √t")
    user_step: Literal["steps", "ridge"] = Field(
        "steps", title="user's own row", description="what the steps left her, as in the source; or a ridge regression on all directions in the end, at no cost"
    )
    prediction_ridge: float = Field(0.08, gt=0, le=1e6, title="prediction ridge", description="of a user's own regression on the directions")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Defaults from n, m and mu(epsilon, delta) alone: `signal` = n mu / m is what all users give an item over the noise of one release.

        More signal carries more steps and a wider clip. The ball grows with the steps: a step of kappa / T beyond 0.045 carries those who rated
        much past their target, and the next step only takes it back. Constants were chosen on MovieLens 1M; where every user rates alike, as in
        low-rank data, the true nuclear norm serves better.
        """
        if budget is None:
            return {}
        signal = shape.n_users * budget.mu / shape.n_items
        steps = cls._steps(signal)
        T = int(given.get("steps", steps))
        return {"steps": steps, "nuclear_norm": min(0.13 * T, max(0.25, 0.044 * T), 0.45), "row_clip": 0.08 + 0.04 * min(1.0, signal / 40)}

    @staticmethod
    def _steps(signal: float) -> int:
        return min(20, round(3 + signal / 6))

    def check(self, shape: Shape) -> None:
        fits_in_memory(self, shape, "--algorithm dpfw-oja")

    def _bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range * math.sqrt(shape.n_items)

    def _shares(self) -> Array:
        """Of mu^2, per step."""
        weights = 1 / np.arange(1.0, self.steps + 1) if self.noise_schedule == "growing" else np.ones(self.steps)
        return np.asarray(weights / weights.sum())

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """sigma^2 = 64 L^4 T ln(1/delta) / eps^2 [J18, Alg. 1, line 1], in units of our sensitivity L^2 and of one release."""
        return 8 * math.sqrt(-math.log(budget.delta)) / budget.epsilon

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def _centred(self, data: Ratings) -> FrankWolfeModel:
        zeros, bound, refit = np.zeros(data.n_items, np.float32), self._bound(data.shape), self.user_step == "ridge"
        return self._empty(data, data.shape.mid_range, zeros, 0.0, row_bound=bound, refit=refit, ridge=self.prediction_ridge, mended=refit)

    def _widened(self, square: float, scale: float, m: int) -> float:
        """l from a noisy l^2, with the source's slack on demand [J18, Alg. 1, line 6]."""
        return math.sqrt(max(square, 0.0)) + (math.sqrt(scale * math.log(m / FAILURE)) * m**0.25 if self.slack else 0.0)

    def plan(self, shape: Shape, level: float) -> Event:
        return sequence(*(Gaussian(level / math.sqrt(share), COVARIANCE, self._bound(shape) ** 2, math.sqrt(2)) for share in self._shares()))

    def coordinates(self, statistic: str, shape: Shape) -> int:
        return triangle(shape.n_items) if statistic == COVARIANCE else super().coordinates(statistic, shape)

    def _top(self, X: csr_array, bound: float, noise: Noise, rng: Streams) -> tuple[Array, float]:
        """A user's row a has norm at most L, so she moves the sum of a a^T by ||a||^2 <= L^2 in Frobenius norm."""
        m = X.shape[1]
        pen = noise.release(COVARIANCE, sensitivity=bound**2, size=m * (m + 1) // 2)
        W = pen.symmetric(second_moment(X.indptr, X.indices, X.data, m))
        squares, Q = eigsh(W, k=1, which="LA", v0=np.sqrt(1.0 + np.arange(m))) if m > 2 else np.linalg.eigh(W)
        return Q[:, -1], self._widened(float(squares[-1]), pen.scale, m)


class DPFWOja(DPFW):
    """The same without the item x item matrix: the top vector by noisy power iterations (Oja), in memory O(m + ratings)."""

    id: ClassVar[str] = "dpfw-oja"
    title: ClassVar[str] = "DPFW with Oja"
    words: ClassVar[str] = "Frank-Wolfe whose directions come from noisy products with a vector: no item x item matrix"
    source: ClassVar[str] = "Jain, Thakkar & Thakurta 2018, Alg. 2"

    steps: int = Field(5, ge=1, le=200, title="steps T", description="rank-one terms; each is paid for")
    inner_steps: int = Field(5, ge=1, le=200, title="inner steps Γ", description="noisy products to find one direction; one more gives its singular value")
    inner_rate: float = Field(1000.0, gt=0, le=1e4, title="inner rate c", description="v moves by c/Γ of the normalised noisy product; large: power iteration")

    @staticmethod
    def _steps(signal: float) -> int:
        """A product is noisier than the matrix: one direction, or enough for a handful; two are worse than one."""
        return 5 if signal > 20 else 1

    def check(self, shape: Shape) -> None:
        """Any number of items."""

    def plan(self, shape: Shape, level: float) -> Event:
        each = level * math.sqrt(self.inner_steps + 1)
        leaves = [Gaussian(each / math.sqrt(share), PRODUCT, self._bound(shape) ** 2, 1.0) for share in self._shares()]
        return sequence(*(leaf for leaf in leaves for _ in range(self.inner_steps + 1)))

    def _top(self, X: csr_array, bound: float, noise: Noise, rng: Streams) -> tuple[Array, float]:
        """v <- v + eta (A^T A v + z), normalised, with eta the inverse of the product's running norm times c / Gamma.

        l^2 is the norm of the last product: where v is no better than noise it is the noise's, so that nobody is moved far along v; v . (A^T A v + z)
        would be near 0 there, and 1 / l would throw everybody out. That product is released anyway, so v takes its step too.
        A user's row a has norm at most L, so she moves A^T A v by ||a|| |<a, v>| <= L^2 for a unit v, which is public.
        """
        m, mean_norm, norm = X.shape[1], 0.0, 0.0
        v = _unit(rng.init.standard_normal(m))
        for step in range(self.inner_steps + 1):
            pen = noise.release(PRODUCT, sensitivity=bound**2, size=m)
            product = pen.vector(X.T @ (X @ v))
            norm = float(np.linalg.norm(product))
            mean_norm += (norm - mean_norm) / (step + 1)
            v = _unit(v + self.inner_rate / self.inner_steps / max(mean_norm, 1e-300) * product)
        return v, self._widened(norm, pen.scale, m)


def _unit(v: Array) -> Array:
    return np.asarray(v / max(float(np.linalg.norm(v)), 1e-300))
