"""Private Frank-Wolfe on the nuclear-norm ball: Jain, Thakkar & Thakurta 2018 [J18], Alg. 1 and 2.

A user's residual row is clipped to norm C. So a user moves A^T A by at most C^2 in Frobenius norm,
and A^T A v by at most C^2 for a unit v. The source does not clip residuals: rows of ratings and
iterates are within L, and C is 2L. docs/PRIVACY.md, "Residual second moment" and "Residual second
moment times vector".
"""

import math
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from dpmf_core.algorithms import item_moments
from dpmf_core.algorithms.base import Parameters, Streams, fits_in_memory, triangle
from dpmf_core.algorithms.baselines import ProvenForUsers
from dpmf_core.algorithms.frank_wolfe import (
    FrankWolfe,
    FrankWolfeModel,
    ResidualMoment,
    ResidualProduct,
)
from dpmf_core.algorithms.parameters import LEAST, choice, parameter
from dpmf_core.algorithms.spectrum import leading_eigenpairs
from dpmf_core.algorithms.svd import CappedCounts, capped_ratings
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Curator, Held, Statistic
from dpmf_core.data.ratings import Shape, most_rated
from dpmf_core.privacy import Budget, Calibration, Event, sequence

FAILURE = 0.01  # b of the source's slack
MOST_COUNTED = 50  # ratings of a user that count when the frequent items are chosen
COUNT_SHARE = 0.05  # of mu^2, for these counts
# clip of products, in squared row clips: few rows lie further along one direction
CLIP = 0.1


class DPFW(ProvenForUsers, FrankWolfe):
    """Private Frank-Wolfe: each step takes the top eigenpair of a noisy second moment.

    The moment is that of users' clipped residuals.
    """

    id = "dpfw"
    colour = "orange"
    training_cost = 13
    title = "DPFW"
    words = "Frank-Wolfe on noisy second moments; each user repeats the steps on their own row"
    source = "Jain, Thakkar & Thakurta 2018, Alg. 1"
    whole_triangle = True
    version = 6
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {
        "steps": 40,
        "row_clip": 1.0,
        "user_step": "ridge",
        "prediction_ridge": 0.3,
    }

    steps: int = parameter(10, "steps T", "rank-one terms; each costs budget", (1, 200))
    step_size: Literal["2/(t+2)", "1/T"] = parameter(
        "1/T", "step size η", "the source uses 1/T"
    )
    row_clip: float = parameter(
        0.08,
        "row clip",
        "largest L2 norm of a user's residual row and iterate, in half-ranges of the scale"
        " times √m",
        (LEAST, 10),
    )
    source_bound: Literal["2L", "ratings"] = choice(
        "2L",
        "2L: residual rows are clipped, and the row clip takes the place of the source's 2L;"
        " ratings: the row clip is the source's L, of rows of ratings and iterates, and residuals"
        " are within 2L without a clip",
    )
    slack: bool = choice(
        False,
        "add √(σ ln(m/b)) m^¼ to the singular value, as in the source; it costs accuracy",
    )
    frequent_fraction: float = parameter(
        1.0,
        "frequent items β",
        "factors only for this share of the items, by noisy counts; other items are predicted"
        " by the user's mean",
        (LEAST, 1),
    )
    noise_schedule: Literal["constant", "growing"] = choice(
        "constant", "how noise is divided between steps: equally, or growing with √t"
    )
    user_step: Literal["steps", "ridge"] = parameter(
        "steps",
        "user's own row",
        "the result of the steps, as in the source; or a final ridge regression on all"
        " directions, at no cost",
    )
    prediction_ridge: float = parameter(
        0.08,
        "prediction ridge",
        "of a user's own regression on the directions",
        (LEAST, 1e6),
    )

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """Defaults from n, m and mu(epsilon, delta).

        `signal` = n mu / m is what all users give an item over the noise of one release. More
        signal supports more steps and a wider clip. The ball grows with the steps. A step of kappa
        / T beyond 0.045 carries active users far past their target, and the next step only takes it
        back. Constants were chosen on MovieLens 1M. If all users rate in the same way, as in
        low-rank data, the true nuclear norm is better.
        """
        signal = cls._signal(shape, budget, parameters)
        steps = min(20, round(3 + signal / 6))
        T = int(parameters.get("steps", steps))
        return {
            "steps": steps,
            "nuclear_norm": min(0.13 * T, max(0.25, 0.044 * T), 0.45),
            "row_clip": 0.08 + 0.04 * min(1.0, signal / 40),
        }

    @staticmethod
    def _signal(shape: Shape, budget: Budget, parameters: Parameters) -> float:
        share = float(parameters.get("frequent_fraction", 1.0))
        return shape.n_users * budget.mu / (share * shape.n_items)

    def check(self, shape: Shape) -> None:
        kept_shape = replace(shape, n_items=self._n_kept(shape))
        fits_in_memory(self, kept_shape, "--algorithm dpfw-oja")

    def _n_kept(self, shape: Shape) -> int:
        return max(
            1, min(shape.n_items, math.ceil(self.frequent_fraction * shape.n_items))
        )

    def _row_bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range * math.sqrt(self._n_kept(shape))

    def _bound(self, shape: Shape) -> float:
        """The bound of residual rows."""
        return self._row_bound(shape) * (2.0 if self.source_bound == "ratings" else 1.0)

    def _counts(self, shape: Shape) -> tuple[CappedCounts, ...]:
        """The counts that choose the frequent items; none if all items have factors."""
        if self._n_kept(shape) == shape.n_items:
            return ()
        return (CappedCounts(min(MOST_COUNTED, shape.n_items)),)

    def _kept_items(self, curator: Curator, rng: Streams) -> Array:
        shape: Shape = curator.shape
        kept_items = np.arange(shape.n_items)
        for statistic in self._counts(shape):
            entries = curator.hold(capped_ratings, statistic.most, rng.sampling)
            counts = curator.release(statistic, entries)
            kept_items = np.sort(most_rated(counts, self._n_kept(shape)))
        return kept_items

    def _shares(self) -> Array:
        """Shares of mu^2, one for each step."""
        steps = np.arange(1.0, self.steps + 1)
        if self.noise_schedule == "growing":
            weights = 1 / steps
        else:
            weights = np.ones(self.steps)
        return np.asarray(weights / weights.sum())

    @property
    def _products(self) -> int:
        """The number of releases in a step."""
        return 1

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """sigma^2 = 64 L^4 T ln(1/delta) / eps^2 [J18, Alg. 1, line 1].

        It is in units of our sensitivity C^2 and of one release.
        """
        return item_moments.source_level(budget, "2L")

    def _start(self, curator: Curator) -> tuple[FrankWolfeModel, None]:
        refit = self.user_step == "ridge"
        model = self._empty(
            curator.shape,
            row_bound=self._row_bound(curator.shape),
            of_ratings=self.source_bound == "ratings",
            refit=refit,
            ridge=self.prediction_ridge,
            mended=refit,
        )
        return model, None

    def _length_bound(self, square: float, scale: float, m: int) -> float:
        """l from a noisy l^2, with the source's slack if chosen [J18, Alg. 1, line 6]."""
        return math.sqrt(max(square, 0.0)) + (
            math.sqrt(scale * math.log(m / FAILURE)) * m**0.25 if self.slack else 0.0
        )

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return *self._counts(shape), ResidualMoment(self._bound(shape))

    def plan(self, shape: Shape, level: float) -> Event:
        *counts, residuals = self.statistics(shape)
        remainder = 1.0 - COUNT_SHARE if counts else 1.0
        count_events = [
            statistic.event(level / math.sqrt(COUNT_SHARE)) for statistic in counts
        ]
        shares = remainder * self._shares() / self._products
        steps = [residuals.event(level / math.sqrt(share)) for share in shares]
        return sequence(
            *count_events, *(event for event in steps for _ in range(self._products))
        )

    def sizes(self, shape: Shape) -> dict[str, int]:
        return {ResidualMoment.name: triangle(self._n_kept(shape))}

    def _top(
        self, curator: Curator, A: Held, m: int, rng: Streams
    ) -> tuple[Array, float]:
        moment = ResidualMoment(self._bound(curator.shape))
        scale = curator.scale(moment)
        W = curator.release(moment, A, m)
        start = np.sqrt(1.0 + np.arange(m))
        squares, Q = leading_eigenpairs(W, 1, start)
        return Q[:, -1], self._length_bound(float(squares[-1]), scale, m)


class DPFWOja(DPFW):
    """Private Frank-Wolfe without the item x item matrix, in memory O(m + ratings).

    The top vector is found by noisy power iterations (Oja). Most of a user's contribution to a
    product is far below its bound, so it is clipped further.
    """

    id = "dpfw-oja"
    colour = "periwinkle"
    marker = "diamond"
    training_cost = 4
    is_usual_rival = True
    title = "DPFW with Oja"
    words = "Frank-Wolfe with directions from noisy matrix-vector products: no item x item matrix"
    source = "Jain, Thakkar & Thakurta 2018, Alg. 2; the clip of products is ours"
    version = 6
    exact_settings: ClassVar[Parameters] = {**DPFW.exact_settings, "product_clip": 1.0}

    steps: int = parameter(5, "steps T", "rank-one terms; each costs budget", (1, 200))
    inner_steps: int = parameter(
        5,
        "inner steps Γ",
        "noisy products per direction; one more gives its singular value",
        (1, 200),
    )
    inner_rate: float = parameter(
        1000.0,
        "inner rate c",
        "v moves by c/Γ of the normalised noisy product; large: power iteration",
        (LEAST, 1e4),
    )
    product_clip: float = parameter(
        1.0,
        "product clip",
        "largest L2 norm of a user's contribution to a product, as a share of the squared row"
        " clip; 1, as in the source: the clipped row's whole contribution",
        (LEAST, 1),
    )

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """Defaults from public values.

        Clipped products support one direction or more, by `signal`. Whole ones, as in the source,
        support one, or enough for a handful; two are worse than one. Constants were chosen on
        MovieLens 1M, the cinema and the low-rank set.
        """
        whole = (
            parameters.get("product_clip", CLIP) == 1
            or budget.calibration is Calibration.SOURCE
        )
        signal = cls._signal(shape, budget, parameters)
        handful = 5 if signal > 20 else 1
        if whole:
            steps = handful
        else:
            steps = min(30, max(1, round(1.2 * signal**0.7)))
        return {
            **super().recommend_for_budget(
                shape, budget, {"steps": steps, **parameters}
            ),
            "steps": steps,
            "product_clip": 1.0 if whole else CLIP,
            "user_step": "steps" if whole else "ridge",
        }

    def check(self, shape: Shape) -> None:
        """Accept any number of items."""

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """The source's noise, which is made for whole products."""
        return super().source_level(shape, budget) / self.product_clip

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return *self._counts(shape), self._product(shape)

    def _product(self, shape: Shape) -> ResidualProduct:
        return ResidualProduct(self._bound(shape), self.product_clip)

    @property
    def _products(self) -> int:
        return self.inner_steps + 1

    def _top(
        self, curator: Curator, A: Held, m: int, rng: Streams
    ) -> tuple[Array, float]:
        """v <- v + eta (A^T A v + z), normalised.

        eta is c / Gamma over the running norm of the product. l^2 is the norm of the last product.
        If v is no better than noise, l^2 is the noise's norm, so no user is moved far along v; v .
        (A^T A v + z) would be near 0, and 1 / l would move everyone too far. That product is
        released anyway, so v also takes its step.
        """
        statistic = self._product(curator.shape)
        v = _unit(rng.init.standard_normal(m))
        scale = curator.scale(statistic)
        mean_norm = 0.0
        norm = 0.0
        for step in range(self._products):
            product = curator.release(statistic, A, v)
            norm = float(np.linalg.norm(product))
            mean_norm += (norm - mean_norm) / (step + 1)
            v = _unit(
                v
                + self.inner_rate / self.inner_steps / max(mean_norm, 1e-300) * product
            )
        return v, self._length_bound(norm, scale, m)


def _unit(v: Array) -> Array:
    return v / max(float(np.linalg.norm(v)), 1e-300)
