"""Laplace noise on every rating, then any factorisation: the local baselines of Saha & Imtiaz 2022, Table 4.

The unit is one rating: two data sets are neighbours when one rating's value differs. It may move from one end of the declared range to the other,
so the vector of ratings moves by at most the range in L1 norm. Which items a user rated is not protected: CONDITIONAL on that being public.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from dpmf_core.algorithms.als import ALS
from dpmf_core.algorithms.base import Algorithm, Array, Fit, Recommender, Streams, Watch, unwatched
from dpmf_core.data import Ratings, Shape
from dpmf_core.privacy import VALUE, Budget, Event, Guarantee, Laplace, Noise, Status

RATINGS = "every rating"
WHICH_IS_PUBLIC = "which items were rated is public"


class InputPerturbation(ALS):
    """ALS on ratings that each carry Laplace noise: nothing exact ever reaches the curator."""

    id: ClassVar[str] = "input-perturbation"
    title: ClassVar[str] = "Input perturbation"
    words: ClassVar[str] = "Laplace noise on every single rating, then ALS; protects one rating's value, not which items were rated"
    source: ClassVar[str] = "Friedman, Berkovsky & Kaafar 2016; Saha & Imtiaz 2022, Table 4"

    clamp: bool = Field(True, description="noisy ratings back into the declared range; post-processing")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """More noise, stronger ridge: the noise's variance in units of a rating's own."""
        if budget is None:
            return {"rank": min(8, shape.n_items)}
        return {"rank": min(4, shape.n_items), "regularisation": 0.1 + 2 / budget.epsilon**2 * 0.2, "biases": "first"}

    def plan(self, shape: Shape, level: float) -> Event:
        return Laplace(level, RATINGS, 2 * shape.half_range, 1.0)

    def guarantee(self) -> Guarantee:
        public = ("the number of users", "the item set", "the rating bounds")
        return Guarantee(Status.CONDITIONAL, VALUE, assumptions=(WHICH_IS_PUBLIC,), taken_as_public=public)

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        noisy = perturbed(data, noise, self.clamp)
        return replace(super().fit(noisy, noise=noise, rng=rng, watch=watch), spent=noise.spent)


def perturbed(data: Ratings, noise: Noise, clamp: bool) -> Ratings:
    """The same cells, each rating with noise of its own."""
    values = noise.vector(RATINGS, data.values.astype(np.float64), sensitivity=2 * data.shape.half_range)
    return replace(data, values=(values.clip(*data.bounds) if clamp else values).astype(np.float32))


class DPNMFLaplace(Algorithm):
    """Non-negative factors of noisy ratings by multiplicative updates over the observed cells (Ran et al. 2022, as compared by Saha & Imtiaz 2022)."""

    id: ClassVar[str] = "dpnmf-laplace"
    title: ClassVar[str] = "DPNMF (Laplace)"
    words: ClassVar[str] = "Laplace noise on every single rating, then non-negative factors; protects one rating's value"
    source: ClassVar[str] = "Ran et al. 2022; Saha & Imtiaz 2022, Table 4"

    rank: int = Field(8, ge=1, le=512, title="rank r", description="number of non-negative factors")
    steps: int = Field(50, ge=1, le=1000, title="steps", description="multiplicative updates of both sides; free after the noise")
    prediction_ridge: float = Field(1.0, gt=0, le=1e6, title="prediction ridge", description="of a user's own regression on the item factors, per rating")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"rank": min(8, shape.n_items)}

    def plan(self, shape: Shape, level: float) -> Event:
        return Laplace(level, RATINGS, 2 * shape.half_range, 1.0)

    def guarantee(self) -> Guarantee:
        return InputPerturbation().guarantee()

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        noisy = perturbed(data, noise, clamp=True)
        low = data.bounds[0]
        x = noisy.values.astype(np.float64) - low  # non-negative
        W, H = (rng.init.uniform(0.1, 1.0, (size, self.rank)) for size in (data.n_users, data.n_items))
        model = Recommender(data.bounds, low, np.zeros(data.n_items, np.float32), H.astype(np.float32), None, self.prediction_ridge)
        for step in range(self.steps):
            W = _multiplied(W, H, noisy, x, noisy.users, noisy.items)
            H = _multiplied(H, W, noisy, x, noisy.items, noisy.users)
            watch(step + 1, self.steps, model := replace(model, item_factors=H.astype(np.float32)))
        return Fit(model, noise.spent)


def _multiplied(A: Array, B: Array, data: Ratings, x: Array, rows: Array, columns: Array) -> Array:
    """A * (X B) / (A B^T B) over the observed cells (Lee & Seung 2001, with a mask)."""
    from scipy.sparse import coo_array

    from dpmf_core import kernels

    shape = (len(A), len(B))
    predicted = kernels.predict_pairs(A, B, rows, columns, dtype=np.float64)
    up, down = (coo_array((values, (rows, columns)), shape=shape).tocsr() @ B for values in (x, predicted))
    return np.asarray(A * (up + 1e-9) / (down + 1e-9))
