"""Matrix factorisation by stochastic gradients: SGD-MF without privacy, and SGLD, whose sample of the posterior is private if its chain has converged."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array

from dpmf_core import kernels
from dpmf_core.algorithms.base import Algorithm, Array, Fit, Recommender, Streams, Watch, unwatched
from dpmf_core.algorithms.baselines import PUBLIC_FACTS
from dpmf_core.data import Ratings, Shape, keyed_uniform, rank_within_user
from dpmf_core.kernels.sgd import epoch
from dpmf_core.privacy import Budget, Event, Guarantee, Noise, PosteriorSample, Status

ITEM_FACTORS = "item factors"


@dataclass(frozen=True)
class Descent:
    """What SGD has learnt: mean, offsets a (n,), b (m,), factors P (n, r), Q (m, r)."""

    mean: float
    a: Array
    b: Array
    P: Array
    Q: Array

    def predict(self, users: Array, items: Array, bounds: tuple[float, float]) -> Array:
        """Predicted ratings (len(users),), float64, within bounds."""
        return np.asarray(np.clip(self.mean + self.a[users] + self.b[items] + np.einsum("ij,ij->i", self.P[users], self.Q[items]), *bounds))


class SGDMF(Algorithm):
    """Biased matrix factorisation by stochastic gradient descent. A user finds her offset and factor again by ridge regression on the items' side."""

    id: ClassVar[str] = "sgd-mf"
    title: ClassVar[str] = "SGD-MF"
    words: ClassVar[str] = "offsets and factors by stochastic gradient descent, without privacy"
    source: ClassVar[str] = "Koren, Bell & Volinsky 2009"
    twin: ClassVar[str] = "sgd-mf"

    rank: int = Field(16, ge=1, le=512, title="rank r", description="number of latent factors")
    steps: int = Field(20, ge=1, le=500, title="epochs", description="passes over all ratings")
    learning_rate: float = Field(0.005, gt=0, le=1, title="learning rate", description="length of a step, for ratings in units of a star")
    regularisation: float = Field(0.02, gt=0, le=100, title="regularisation", description="pull of factors and offsets towards 0 at every rating")
    start_deviation: float = Field(0.1, gt=0, le=10, title="starting deviation", description="standard deviation of the starting factors")
    prediction_ridge: float = Field(0.12, gt=0, le=1e6, title="prediction ridge", description="of a user's own regression, per rating")

    def descend(self, data: Ratings, rng: Streams) -> Iterator[Descent]:
        """The state after every epoch; ratings in the order of their users. In units of a star: a quarter of the rating range."""
        unit = data.shape.half_range / 2
        values = data.values.astype(np.float64) / unit
        mean = float(values.mean()) if len(values) else data.shape.mid_range / unit
        P, Q = (rng.init.normal(0, self.start_deviation, (size, self.rank)) for size in (data.n_users, data.n_items))
        a, b = np.zeros(data.n_users), np.zeros(data.n_items)
        for _ in range(self.steps):
            epoch(data.users, data.items, values, mean, P, Q, a, b, self.learning_rate, self.regularisation)
            yield Descent(mean * unit, a * unit, b * unit, P * math.sqrt(unit), Q * math.sqrt(unit))

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        for step, found in enumerate(self.descend(data, rng)):
            ridge = self.prediction_ridge * data.shape.half_range / 2
            model = Recommender(data.bounds, found.mean, found.b.astype(np.float32), found.Q.astype(np.float32), 5.0, ridge, 1.0, mended=True)
            watch(step + 1, self.steps, model)
        return Fit(model)


class SGLD(Algorithm):
    """One sample of the item factors' posterior by stochastic gradient Langevin dynamics, which is private by itself (Wang, Fienberg & Smola 2015).

    User i adds f_i = -R min(||e_i||^2 / L^2, 1) to the log posterior, e_i her residuals on at most k ratings: between -R and 0. Adding or removing
    her changes the unnormalised density by a factor from e^-R to 1, and the normalising constant by one of the same range, so the density of
    every sample changes by at most e^R: epsilon = R at delta = 0; replacing her, 2R. (With |log p| <= B, R = 2B: privacy.md, section 3.) Her own factor is
    integrated out and found again locally. A chain that has not converged breaks the claim: CONDITIONAL.
    """

    id: ClassVar[str] = "sgld"
    title: ClassVar[str] = "SGLD"
    words: ClassVar[str] = "one sample of the item factors from a tempered posterior, by Langevin dynamics"
    source: ClassVar[str] = "Liu, Wang & Smola 2015"
    twin: ClassVar[str] = "sgd-mf"

    rank: int = Field(4, ge=1, le=512, title="rank r", description="number of latent factors")
    steps: int = Field(150, ge=1, le=5000, title="steps", description="of the chain; each sees all ratings. Only the last state is released")
    step_size: float = Field(1.0, gt=0, le=100, title="step size", description="in units of what the curvature of the posterior allows")
    ratings_per_user: int = Field(50, ge=1, le=100_000, title="ratings per user k", description="how many of a user's ratings enter her likelihood")
    error_clip: float = Field(
        1.5, gt=0, le=100, title="error clip", description="mean squared error of a user at which her likelihood is clipped, in quarters of the range, squared"
    )
    prior_precision: float = Field(4.0, gt=0, le=1e6, title="prior precision", description="of every factor")
    prediction_ridge: float = Field(2.0, gt=0, le=1e6, title="prediction ridge", description="of a user's own regression on the released factors")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"rank": min(4, shape.n_items)}

    def plan(self, shape: Shape, level: float) -> Event:
        return PosteriorSample(level, ITEM_FACTORS)

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.CONDITIONAL, assumptions=("the chain has reached the posterior",), taken_as_public=PUBLIC_FACTS)

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        unit = data.shape.half_range / 2
        empty = np.zeros((data.n_items, self.rank), np.float32)
        model = Recommender(data.bounds, data.shape.mid_range, np.zeros(data.n_items, np.float32), empty, 0.0, self.prediction_ridge * unit, mended=True)
        R = 1 / noise.planned(ITEM_FACTORS).noise_multiplier
        chosen = rank_within_user(data, keyed_uniform(rng.sampling, data.users, data.items)) < self.ratings_per_user
        few = data.only(chosen)
        x = model.residuals(data)[1][chosen].astype(np.float64) / unit
        langevin = noise.sampler(ITEM_FACTORS)
        U, V = (rng.init.normal(0, 0.3, (size, self.rank)) for size in (data.n_users, data.n_items))
        weight = 2 * R / (self.ratings_per_user * self.error_clip)
        crowd = data.n_users * self.ratings_per_user / data.n_items  # of raters an item has, from public figures
        rates = [self.step_size / (self.prior_precision + weight * size) for size in (self.ratings_per_user, 4 * crowd)]
        for step in range(self.steps):
            ascent = self._gradients(few, x, U, V, weight)
            U, V = (self._moved(theta, up, rate, langevin) for theta, up, rate in zip((U, V), ascent, rates, strict=True))
            model = Recommender(**{**vars(model), "item_factors": (V * math.sqrt(unit)).astype(np.float32)})
            watch(step + 1, self.steps, model)
        return Fit(model, noise.spent)

    def _moved(self, theta: Array, ascent: Array, rate: float, langevin: Callable[[tuple[int, ...]], Array]) -> Array:
        """One Langevin step: half a step up the log posterior, and noise of the step's variance."""
        return np.asarray(theta + rate / 2 * (ascent - self.prior_precision * theta) + math.sqrt(rate) * langevin(theta.shape))

    def _gradients(self, data: Ratings, x: Array, U: Array, V: Array, weight: float) -> tuple[Array, Array]:
        """Of the sum of the f_i with respect to U and V: zero for users whose error is beyond the clip."""
        e = x - kernels.predict_pairs(U, V, data.users, data.items, dtype=np.float64)
        square = np.bincount(data.users, e**2, data.n_users)
        inside = square <= self.ratings_per_user * self.error_clip
        E = csr_array((weight * e * inside[data.users], data.items, data.by_user), shape=(data.n_users, data.n_items))
        return np.asarray(E @ V), np.asarray(E.T @ U)
