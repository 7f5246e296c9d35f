"""Laplace noise on every rating, then any factorisation: baselines of Saha & Imtiaz 2022, Table 4.

The unit is one rating: neighbours differ in one rating's value. It may move from one end of the
declared range to the other, so the vector of ratings moves by at most the range in L1 norm. Which
items a user rated is not protected: CONDITIONAL on that being public.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from dpmf_core.algorithms.als import ALS
from dpmf_core.algorithms.base import Parameters, PrivateAlgorithm, Recommender, Streams
from dpmf_core.algorithms.baselines import PUBLIC_FACTS
from dpmf_core.algorithms.parameters import LEAST, choice, parameter
from dpmf_core.base.arrays import Array
from dpmf_core.curator import CELLS_ARE_PUBLIC, Block, Curator, Statistic, Totals
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import VALUE, Budget, Event, Guarantee, Status


@dataclass(frozen=True)
class EveryRating(Statistic):
    """The value of every rating (n_ratings,), in the public order of the cells.

    Each coordinate holds one rating, which moves it by at most the range.
    docs/PRIVACY.md, "Every rating".
    """

    bounds: tuple[float, float]
    name = "every rating"
    norm: ClassVar[Literal["L1"]] = "L1"
    replace_one_factor = 1.0

    @property
    def sensitivity(self) -> float:
        return self.bounds[1] - self.bounds[0]

    def empty(self, shape: Shape, starts: Array) -> Totals:
        return (np.zeros(starts[-1]),)

    def add(self, block: Block, totals: Totals, starts: Array) -> None:
        """Add each user's ratings to their cells, which begin at `starts` (n_users + 1,)."""
        rows: Ratings = block.rows
        place = np.arange(len(rows)) - rows.by_user[rows.users]
        # float32 may round outside
        values = rows.values.astype(np.float64).clip(*self.bounds)
        totals[0][starts[block.ids][rows.users] + place] += values


class PerturbedInput(PrivateAlgorithm):
    """An algorithm that releases every rating with noise, and nothing else."""

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return (EveryRating(shape.bounds),)

    def plan(self, shape: Shape, level: float) -> Event:
        return EveryRating(shape.bounds).event(level)

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.CONDITIONAL, VALUE, (CELLS_ARE_PUBLIC,), PUBLIC_FACTS)


class InputPerturbation(PerturbedInput, ALS):
    """ALS on ratings with Laplace noise on each; nothing exact reaches the curator."""

    id = "input-perturbation"
    colour = "red"
    training_cost = 2
    title = "Input perturbation"
    words = (
        "Laplace noise on every rating, then ALS; protects a rating's value, not which items were"
        " rated"
    )
    source = "Friedman, Berkovsky & Kaafar 2016; Saha & Imtiaz 2022, Table 4"
    version = 3
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {  # the defaults of ALS
        name: ALS.model_fields[name].default
        for name in ("rank", "regularisation", "biases")
    }

    clamp: bool = choice(
        True, "clip noisy ratings to the declared range; post-processing"
    )

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """The more noise, the stronger the ridge: the noise's variance over a rating's own."""
        return {
            "rank": 4,
            "regularisation": 0.1 + 2 / budget.epsilon**2 * 0.2,
            "biases": "first",
        }

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        yield from self.alternate(noisy_ratings(curator, self.clamp), rng)


def noisy_ratings(curator: Curator, clamp: bool) -> Ratings:
    """The ratings with independent noise on each, in their cells."""
    shape = curator.shape
    cells = curator.cells()
    starts = np.searchsorted(cells.users, np.arange(shape.n_users + 1))
    values = curator.release(EveryRating(shape.bounds), starts)
    if clamp:
        values = values.clip(*shape.bounds)
    return Ratings(
        cells.users,
        cells.items,
        values.astype(np.float32),
        shape.n_users,
        shape.n_items,
        shape.bounds,
        item_features=shape.item_features,
    )


class DPNMFLaplace(PerturbedInput):
    """Non-negative factors of noisy ratings by multiplicative updates over the observed cells.

    Ran et al. 2022, as compared by Saha & Imtiaz 2022.
    """

    id = "dpnmf-laplace"
    colour = "red"
    marker = "diamond"
    training_cost = 10
    title = "DPNMF (Laplace)"
    words = "Laplace noise on every rating, then non-negative factors; protects a rating's value"
    source = "Ran et al. 2022; Saha & Imtiaz 2022, Table 4"
    version = 2
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {"steps": 300, "prediction_ridge": 4.0}

    rank: int = parameter(8, "rank r", "number of non-negative factors", (1, 512))
    steps: int = parameter(
        50,
        "steps",
        "multiplicative updates of both sides; they cost no budget",
        (1, 1000),
    )
    prediction_ridge: float = parameter(
        1.0,
        "prediction ridge",
        "of a user's own regression on the item factors, per rating",
        (LEAST, 1e6),
    )

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        noisy = noisy_ratings(curator, clamp=True)
        low = noisy.bounds[0]
        x = noisy.values.astype(np.float64) - low  # non-negative
        W, H = (
            rng.init.uniform(0.1, 1.0, (size, self.rank))
            for size in (noisy.n_users, noisy.n_items)
        )
        ridge = self.prediction_ridge
        model = Recommender.of_means(
            noisy.shape,
            centre=low,
            user_damping=None,
            ridge=ridge,
        )
        for _ in range(self.steps):
            W = _multiplicative_step(W, H, x, noisy.users, noisy.items)
            H = _multiplicative_step(H, W, x, noisy.items, noisy.users)
            model = replace(model, item_factors=H.astype(np.float32))
            yield model


def _multiplicative_step(
    A: Array, B: Array, x: Array, rows: Array, columns: Array
) -> Array:
    """A * (X B) / (A B^T B) over the observed cells (Lee & Seung 2001, with a mask)."""
    from scipy.sparse import coo_array

    from dpmf_core import kernels

    shape = (len(A), len(B))
    predictions = kernels.predict_pairs(A, B, rows, columns, dtype=np.float64)
    up, down = (
        coo_array((values, (rows, columns)), shape=shape).tocsr() @ B
        for values in (x, predictions)
    )
    return A * (up + 1e-9) / (down + 1e-9)
