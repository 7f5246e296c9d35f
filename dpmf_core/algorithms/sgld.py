"""Stochastic gradient Langevin dynamics (SGLD) on item factors, private by the noise of its steps.

Proof: docs/PRIVACY.md, "Item gradient".
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.base import Parameters, PrivateAlgorithm, Recommender, Streams
from dpmf_core.algorithms.baselines import PUBLIC_FACTS
from dpmf_core.algorithms.gradient import ItemGradient, gradient_plan, private_offsets
from dpmf_core.algorithms.item_offsets import SumsAndCounts, recommended_biases
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import LEAST, choice, parameter, share_field
from dpmf_core.base.arrays import Array
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import Curator, OpenCurator, Statistic
from dpmf_core.data.ratings import Ratings, Shape, rank_within_user
from dpmf_core.privacy import Budget, Event, Guarantee, PosteriorSample, Status

ITEM_FACTORS = "item factors"
START = 0.3  # standard deviation of the starting factors of a posterior sample
NOT_SHOWN = (
    "the sample is private only if the chain has reached its posterior, "
    "which cannot be shown"
)


class SGLD(PrivateAlgorithm):
    """Stochastic gradient Langevin dynamics on the item factors.

    A step moves half a step length eta up the gradient and adds noise of variance eta (temperature
    1). Balu & Furon 2016, eq. 11-12, add that noise to a whole step, which is temperature 1/2.

    The reading "steps" is PROVEN. With the user's own factor fitted, user i's log-likelihood is
    f_i(V) = max_u -||x_i - V u||^2 / 2 - ridge ||u||^2 / 2. Its gradient has rows e_ij u_i. The
    gradient is clipped as one vector to C, and every step releases the sum over all users with
    Gaussian noise of deviation s = C z (Abadi et al. 2016; Wang, Fienberg & Smola 2015). The chain
    needs only this noise: if the likelihood counts to the power beta = 2 / (s sqrt(eta)), half a
    step has noise of variance eta. So beta follows from the plan. If a large budget would allow a
    beta above `likelihood_power`, that is used instead, and the chain is colder than temperature 1.
    Otherwise factors would fit their users too closely. Any function of the states is free, and the
    mean of the last ones is less noisy than a single one.

    The reading "posterior-sample" is UNPROVEN. User i adds f_i = -R min(||e_i||^2 / L^2, 1) to the
    log posterior, where e_i are the user's residuals on at most k ratings. f_i is between -R and 0.
    Without the user the density of a sample changes by at most e^R. So R would be epsilon if the
    last state were a sample (Liu, Wang & Smola 2015). It is not a sample after any practical number
    of steps: see `prior_variance`.
    """

    id = "sgld"
    colour = "olive"
    training_cost = 12
    is_usual_rival = True
    title = "SGLD"
    words = (
        "Langevin dynamics on the item factors: noisy gradient steps, each accounted for; user"
        " factors are never shared"
    )
    source = "Wang, Fienberg & Smola 2015; Liu, Wang & Smola 2015"
    version = 6
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {"gradient_clip": 10.0}
    uses_item_features = True

    reading: Literal["steps", "posterior-sample"] = choice(
        "steps",
        "what the account is based on: the noise of every step (proven), or one sample of a"
        " posterior that the chain may not have reached (unproven)",
    )
    rank: int = parameter(4, "rank r", "number of latent factors", (1, 512))
    steps: int = parameter(
        40,
        "steps T",
        "of the chain, each with all ratings; with accounting by steps, each costs budget",
        (1, 5000),
    )
    step_size: float = parameter(
        0.3,
        "step size",
        "η times the prior precision; for a posterior sample, times what the curvature of the"
        " posterior allows",
        (LEAST, 2),
    )
    prior_precision: float = parameter(
        10.0, "prior precision", "of every factor", (LEAST, 1e6)
    )
    prediction_ridge: float = parameter(
        20.0,
        "user ridge",
        "of a user's own regression, in quarters of the rating range",
        (LEAST, 1e6),
    )
    biases: bool = choice(
        True, "steps: private item offsets first, then factors on the residuals"
    )
    bias_share: float = share_field(0.2, "budget share of biases", "of the total mu²")
    local_columns: bool = LOCAL_COLUMNS
    gradient_clip: float = parameter(
        1.0,
        "gradient clip norm C",
        "steps: largest norm of one user's gradient, for ratings in quarters of the range",
        (LEAST, 1e4),
    )
    likelihood_power: float = parameter(
        2.0,
        "likelihood power β",
        "steps: largest weight of the likelihood; if the noise would allow more, the chain is"
        " colder",
        (LEAST, 1e6),
    )
    averaged_share: float = parameter(
        0.5,
        "averaged share",
        "steps: share of the last states, averaged for the result; 0: the last state only",
        (0, 1),
    )
    ratings_per_user: int = parameter(
        50,
        "ratings per user k",
        "posterior sample: how many of a user's ratings enter their likelihood",
        (1, 100_000),
    )
    error_clip: float = parameter(
        1.5,
        "error clip",
        "posterior sample: a user's mean squared error at which their likelihood is clipped, in"
        " squared quarters of the range",
        (LEAST, 100),
    )

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """For "steps", choose a rank by the signal n mu that all users give for each item.

        Constants were chosen on MovieLens 1M.
        """
        if parameters.get("reading") == "posterior-sample":
            return {
                "rank": 4,
                "steps": 150,
                "step_size": 1.0,
                "prior_precision": 4.0,
                "prediction_ridge": 2.0,
            }
        rank = round(1.5 * math.sqrt(shape.n_users * budget.mu / shape.n_items))
        share = recommended_biases(shape, budget, parameters)
        return share | {"rank": min(8, max(1, rank))}

    # -- what it spends ----------------------------------------------------------------------------

    def sizes(self, shape: Shape) -> dict[str, int]:
        return {ItemGradient.name: shape.n_items * self.rank}

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        if self.reading == "posterior-sample":
            return ()
        offsets = (SumsAndCounts(),) if self.biases else ()
        return *offsets, ItemGradient(self._sensitivity(shape))

    def plan(self, shape: Shape, level: float) -> Event:
        if self.reading == "posterior-sample":
            return PosteriorSample(level, ITEM_FACTORS)
        share = self.bias_share * self.biases
        gradient = ItemGradient(self._sensitivity(shape))
        return gradient_plan(gradient, self.steps, level, share)

    def _sensitivity(self, shape: Shape) -> float:
        """C in units of a residual times a user's factor: a star to the power 3/2."""
        return float(self.gradient_clip * shape.quarter_range**1.5)

    def guarantee(self) -> Guarantee:
        if self.reading == "steps":
            return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)
        claim = "provably differentially private"
        return Guarantee(Status.UNPROVEN, "user", (), PUBLIC_FACTS, claim, NOT_SHOWN)

    def guarantee_of_run(self, shape: Shape, level: float) -> Guarantee:
        if self.reading == "steps":
            return self.guarantee()
        prior = 1 / self.prior_precision
        has = self.prior_variance(shape, level)
        reason = (
            f"{NOT_SHOWN}: after {self.steps} steps an unrated item, which must keep the prior's"
            f" variance {prior:.3f}, has {has:.3f}"
        )
        return replace(self.guarantee(), reason=reason)

    def prior_variance(self, shape: Shape, level: float) -> float:
        """The variance of an unrated item's factors after the steps of a posterior sample.

        At the posterior it is 1 / prior precision. Such an item's chain is theta' = a theta +
        sqrt(eta) xi with a = 1 - eta precision / 2, so v' = a^2 v + eta from the start's variance.
        Nothing private enters.
        """
        eta = self._rates(shape, 1 / level)[1]
        shrink = (1 - eta * self.prior_precision / 2) ** 2
        total_shrink = shrink**self.steps
        return float(total_shrink * START**2 + eta * (1 - total_shrink) / (1 - shrink))

    # -- what it computes --------------------------------------------------------------------------

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        if self.reading == "steps":
            yield from self._noisy_chain(curator, rng)
        else:
            assert isinstance(curator, OpenCurator)  # this reading has no guarantee
            yield from self._posterior_sample(curator, rng)

    def _model(self, shape: Shape, offsets: Array) -> Recommender:
        ridge = self.prediction_ridge * shape.quarter_range
        return Recommender.of_means(
            shape,
            item_offsets=offsets,
            ridge=ridge,
            mended=True,
        )

    def _noisy_chain(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        """The model after every step.

        V is the chain's state in units of the prior; factors in ratings have the unit of a star's
        square root.
        """
        shape: Shape = curator.shape
        star = shape.quarter_range
        offsets, counts = private_offsets(curator, self.biases)
        model = self._model(shape, offsets)
        statistic = ItemGradient(self._sensitivity(shape))
        V = rng.init.standard_normal((shape.n_items, self.rank)) / math.sqrt(
            self.prior_precision
        )
        eta = self.step_size / self.prior_precision
        mean = np.zeros_like(V)
        n_averaged = 0
        for step in range(self.steps):
            noise = curator.scale(statistic) / star**1.5
            factors = (V * math.sqrt(star)).astype(np.float32)
            state = replace(model, item_factors=factors, mended=False)
            gradient = curator.release(statistic, state) / star**1.5
            # eta / 2 times the gradient's noise has a variance of at most eta
            beta = min(self.likelihood_power, 2 / (noise * math.sqrt(eta)))
            V = V - eta / 2 * (beta * gradient + self.prior_precision * V)
            if step >= min(
                self.steps - 1, round(self.steps * (1 - self.averaged_share))
            ):
                n_averaged += 1
                mean = mean + (V - mean) / n_averaged
            result = mean if n_averaged else V
            mean_model = replace(
                model, item_factors=(result * math.sqrt(star)).astype(np.float32)
            )
            if self.local_columns:
                yield with_local_columns(mean_model, counts, shape)
            else:
                yield mean_model

    def _posterior_sample(
        self, curator: OpenCurator, rng: Streams
    ) -> Iterator[Recommender]:
        """The model after every step; only the last state is the sample.

        Its gradients are exact sums that are not released, so rows must be in memory.
        """
        data: Ratings = curator.rows
        star = data.shape.quarter_range
        model = self._model(data.shape, np.zeros(data.n_items, np.float32))
        places = rank_within_user(
            data, keyed_uniform(rng.sampling, data.users, data.items)
        )
        mask = places < self.ratings_per_user
        few = data.only(mask)
        x = model.residuals(data)[1][mask].astype(np.float64) / star
        multiplier, langevin = curator.sample(ITEM_FACTORS)
        R = 1 / multiplier
        U, V = (
            rng.init.normal(0, START, (size, self.rank))
            for size in (data.n_users, data.n_items)
        )
        rates = self._rates(data.shape, R)
        for _ in range(self.steps):
            ascent = self._gradients(few, x, U, V, self._weight(R))
            U, V = (
                self._langevin_step(theta, up, rate, langevin)
                for theta, up, rate in zip((U, V), ascent, rates, strict=True)
            )
            yield replace(model, item_factors=(V * math.sqrt(star)).astype(np.float32))

    def _weight(self, R: float) -> float:
        return 2 * R / (self.ratings_per_user * self.error_clip)

    def _rates(self, shape: Shape, R: float) -> tuple[float, float]:
        """Step lengths for users and for items; an item has n k / m raters by public values."""
        crowd = shape.n_users * self.ratings_per_user / shape.n_items

        def rate(size: float) -> float:
            return self.step_size / (self.prior_precision + self._weight(R) * size)

        return rate(self.ratings_per_user), rate(4 * crowd)

    def _langevin_step(
        self,
        theta: Array,
        ascent: Array,
        rate: float,
        langevin: Callable[[tuple[int, ...]], Array],
    ) -> Array:
        """One Langevin step: half a step up the log posterior, and noise of the step's variance."""
        drift = rate / 2 * (ascent - self.prior_precision * theta)
        return theta + drift + math.sqrt(rate) * langevin(theta.shape)

    def _gradients(
        self, data: Ratings, x: Array, U: Array, V: Array, weight: float
    ) -> tuple[Array, Array]:
        """Gradients of the sum of the f_i by U and V; zero for users whose error is clipped."""
        e = x - kernels.predict_pairs(U, V, data.users, data.items, dtype=np.float64)
        square = kernels.segment_sums(data.by_user, e**2)
        inside = square <= self.ratings_per_user * self.error_clip
        E = data.matrix(weight * e * inside[data.users])
        return np.asarray(E @ V), np.asarray(E.T @ U)
