"""Matrix factorisation by stochastic gradients: SGD-MF without privacy, and SGLD, private by the noise of its steps. privacy.md, section 3."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array

from dpmf_core import kernels
from dpmf_core.algorithms.base import Algorithm, Array, Fit, Recommender, Streams, Watch, unwatched
from dpmf_core.algorithms.baselines import PUBLIC_FACTS, bias_plan, release_biases, share_of_biases
from dpmf_core.algorithms.gradient import GRADIENT, clipped_gradient
from dpmf_core.data import Ratings, Shape, keyed_uniform, rank_within_user
from dpmf_core.kernels.sgd import epoch
from dpmf_core.privacy import Budget, Event, Gaussian, Guarantee, Noise, PosteriorSample, Repeat, Status, sequence

ITEM_FACTORS = "item factors"
START = 0.3  # deviation of the starting factors of a posterior sample


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
    """Stochastic gradient Langevin dynamics on the item factors: half a step of length eta up the gradient, and noise of variance eta (temperature 1;
    Balu & Furon 2016, eq. 11-12, add that noise to a whole step, which is temperature 1/2).

    reading "steps", PROVEN: her own factor found, user i's log-likelihood is f_i(V) = max_u -||x_i - V u||^2 / 2 - ridge ||u||^2 / 2, whose gradient has
    rows e_ij u_i. It is clipped as one vector to C, and every step releases the sum over all users with Gaussian noise of deviation s = C z (Abadi et
    al. 2016; Wang, Fienberg & Smola 2015). That noise is the chain's: where the likelihood counts to the power beta = 2 / (s sqrt(eta)), half a step
    carries it with variance eta, and no other is drawn. So beta follows from the plan. Where a large budget would allow a beta above `likelihood_power`,
    that is taken, and the chain is colder than temperature 1: else factors would fit their users too closely. Any function of the states is free: the
    mean of the last ones is less noisy than a single one.

    reading "posterior-sample", UNPROVEN: user i adds f_i = -R min(||e_i||^2 / L^2, 1) to the log posterior, e_i her residuals on at most k ratings:
    between -R and 0. Without her the density of a sample changes by at most e^R, if the last state is one: R would be epsilon (Liu, Wang & Smola 2015).
    After any number of steps worth waiting for it is none: see `prior_variance`.
    """

    id: ClassVar[str] = "sgld"
    title: ClassVar[str] = "SGLD"
    words: ClassVar[str] = "Langevin dynamics on the item factors: gradient steps whose noise is accounted; user factors stay with their owners"
    source: ClassVar[str] = "Wang, Fienberg & Smola 2015; Liu, Wang & Smola 2015"
    twin: ClassVar[str] = "sgd-mf"
    version: ClassVar[int] = 2

    reading: Literal["steps", "posterior-sample"] = Field(
        "steps", description="what is accounted: the noise of every step (proven), or one sample of a posterior that the chain may not have reached (unproven)"
    )
    rank: int = Field(4, ge=1, le=512, title="rank r", description="number of latent factors")
    steps: int = Field(40, ge=1, le=5000, title="steps T", description="of the chain, each with all ratings; accounted by steps, each is paid for")
    step_size: float = Field(
        0.3, gt=0, le=2, title="step size", description="η times the prior precision, for a posterior sample times what the curvature of the posterior allows"
    )
    prior_precision: float = Field(10.0, gt=0, le=1e6, title="prior precision", description="of every factor")
    prediction_ridge: float = Field(20.0, gt=0, le=1e6, title="user ridge", description="of a user's own regression, in quarters of the rating range")
    biases: bool = Field(True, description="steps: private item offsets first, factors on what they leave over")
    bias_share: float = Field(0.2, gt=0, lt=1, title="budget share of biases", description="of the total mu²")
    gradient_clip: float = Field(
        1.0, gt=0, le=1e4, title="gradient clip norm C", description="steps: largest norm of one user's gradient, for ratings in quarters of the range"
    )
    likelihood_power: float = Field(
        2.0,
        gt=0,
        le=1e6,
        title="likelihood power β",
        description="steps: how much the likelihood counts at most; where the noise would allow more, the chain is colder",
    )
    averaged_share: float = Field(0.5, ge=0, le=1, title="averaged share", description="steps: of the last states, whose mean is the result; 0: the last alone")
    ratings_per_user: int = Field(
        50, ge=1, le=100_000, title="ratings per user k", description="posterior sample: how many of a user's ratings enter her likelihood"
    )
    error_clip: float = Field(
        1.5, gt=0, le=100, title="error clip",
        description="posterior sample: mean squared error of a user at which her likelihood is clipped, in quarters of the range, squared",
    )  # fmt: skip

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Of steps: a rank by the signal n mu that all users give for each item. Constants were chosen on MovieLens 1M."""
        if given.get("reading") == "posterior-sample":
            return {"rank": min(4, shape.n_items), "steps": 150, "step_size": 1.0, "prior_precision": 4.0, "prediction_ridge": 2.0}
        if budget is None:
            return {"rank": min(4, shape.n_items)}
        share = {"bias_share": share_of_biases(shape, budget)} if given.get("biases", True) else {}
        rank = round(1.5 * math.sqrt(shape.n_users * budget.mu / shape.n_items))
        return share | {"rank": min(shape.n_items, 8, max(1, rank))}

    # -- what it spends ----------------------------------------------------------------------------------------------

    def coordinates(self, statistic: str, shape: Shape) -> int:
        return shape.n_items * self.rank if statistic == GRADIENT else super().coordinates(statistic, shape)

    def plan(self, shape: Shape, level: float) -> Event:
        if self.reading == "posterior-sample":
            return PosteriorSample(level, ITEM_FACTORS)
        share = self.bias_share if self.biases else 0.0
        first = (bias_plan(level, share),) if self.biases else ()
        z = level * math.sqrt(self.steps / (1 - share))
        return sequence(*first, Repeat(Gaussian(z, GRADIENT, self._sensitivity(shape), 2.0), self.steps))

    def _sensitivity(self, shape: Shape) -> float:
        """C in units of a residual times a user's factor: a star to the power 3/2."""
        return float(self.gradient_clip * (shape.half_range / 2) ** 1.5)

    def guarantee(self) -> Guarantee:
        if self.reading == "steps":
            return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)
        return self._unproven("")

    def guarantee_of_run(self, shape: Shape, level: float) -> Guarantee:
        if self.reading == "steps":
            return self.guarantee()
        prior, has = 1 / self.prior_precision, self.prior_variance(shape, level)
        return self._unproven(f": after {self.steps} steps an item that nobody rated, which must keep the prior's variance {prior:.3f}, has {has:.3f}")

    def _unproven(self, seen: str) -> Guarantee:
        reason = f"the sample is private only if the chain has reached its posterior, which cannot be shown{seen}"
        return Guarantee(Status.UNPROVEN, taken_as_public=PUBLIC_FACTS, claim="provably differentially private", reason=reason)

    def prior_variance(self, shape: Shape, level: float) -> float:
        """Of the factors of an item that nobody rated, after the steps of a posterior sample; at the posterior it is 1 / prior precision.

        Such an item's chain is theta' = a theta + sqrt(eta) xi with a = 1 - eta precision / 2: v' = a^2 v + eta from the start's variance. Nothing private.
        """
        eta = self._rates(shape, 1 / level)[1]
        shrink = (1 - eta * self.prior_precision / 2) ** 2
        kept = shrink**self.steps
        return float(kept * START**2 + eta * (1 - kept) / (1 - shrink))

    # -- what it computes --------------------------------------------------------------------------------------------

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        found = self._paid_for(data, noise, rng) if self.reading == "steps" else self._one_sample(data, noise, rng)
        for step, model in enumerate(found):
            watch(step + 1, self.steps, model)
        return Fit(model, noise.spent)

    def _model(self, data: Ratings, offsets: Array) -> Recommender:
        shape = data.shape
        no_factors = np.zeros((shape.n_items, self.rank), np.float32)
        return Recommender(data.bounds, shape.mid_range, offsets, no_factors, 0.0, self.prediction_ridge * shape.half_range / 2, mended=True)

    def _paid_for(self, data: Ratings, noise: Noise, rng: Streams) -> Iterator[Recommender]:
        """The model after every step. V is the chain's state in units of the prior; a star's square root is the unit of factors in ratings."""
        star = data.shape.half_range / 2
        offsets = release_biases(data, noise, unit=star).offsets if self.biases else np.zeros(data.n_items, np.float32)
        model, C = self._model(data, offsets), self._sensitivity(data.shape)
        V = rng.init.standard_normal((data.n_items, self.rank)) / math.sqrt(self.prior_precision)
        eta, mean, averaged = self.step_size / self.prior_precision, np.zeros_like(V), 0
        for step in range(self.steps):
            pen = noise.release(GRADIENT, sensitivity=C, size=V.size)
            state = replace(model, item_factors=(V * math.sqrt(star)).astype(np.float32), mended=False)
            gradient = pen.vector(clipped_gradient(data, state, C)) / star**1.5
            beta = min(self.likelihood_power, 2 / (pen.scale / star**1.5 * math.sqrt(eta)))  # eta / 2 times the gradient's noise has variance eta, or less
            V = V - eta / 2 * (beta * gradient + self.prior_precision * V)
            if step >= min(self.steps - 1, round(self.steps * (1 - self.averaged_share))):
                averaged += 1
                mean = mean + (V - mean) / averaged
            result = mean if averaged else V
            yield replace(model, item_factors=(result * math.sqrt(star)).astype(np.float32))

    def _one_sample(self, data: Ratings, noise: Noise, rng: Streams) -> Iterator[Recommender]:
        """The model after every step; only the last state is the sample."""
        star = data.shape.half_range / 2
        model = self._model(data, np.zeros(data.n_items, np.float32))
        R = 1 / noise.planned(ITEM_FACTORS).noise_multiplier
        chosen = rank_within_user(data, keyed_uniform(rng.sampling, data.users, data.items)) < self.ratings_per_user
        few = data.only(chosen)
        x = model.residuals(data)[1][chosen].astype(np.float64) / star
        langevin = noise.sampler(ITEM_FACTORS)
        U, V = (rng.init.normal(0, START, (size, self.rank)) for size in (data.n_users, data.n_items))
        rates = self._rates(data.shape, R)
        for _ in range(self.steps):
            ascent = self._gradients(few, x, U, V, self._weight(R))
            U, V = (self._moved(theta, up, rate, langevin) for theta, up, rate in zip((U, V), ascent, rates, strict=True))
            yield replace(model, item_factors=(V * math.sqrt(star)).astype(np.float32))

    def _weight(self, R: float) -> float:
        return 2 * R / (self.ratings_per_user * self.error_clip)

    def _rates(self, shape: Shape, R: float) -> tuple[float, float]:
        """Lengths of a step for users and for items, of which an item has n k / m raters by public figures."""
        crowd = shape.n_users * self.ratings_per_user / shape.n_items
        user, item = (self.step_size / (self.prior_precision + self._weight(R) * size) for size in (self.ratings_per_user, 4 * crowd))
        return user, item

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
