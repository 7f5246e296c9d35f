"""Gradient descent on item factors, private by noise on the sum of the users' gradients (DP-SGD).

Abadi et al. 2016: for every user and step, the gradient is clipped as one vector.
docs/PRIVACY.md, "Item gradient".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.base import (
    Parameters,
    Recommender,
    Streams,
    clip_factors,
    finite,
)
from dpmf_core.algorithms.baselines import ProvenForUsers
from dpmf_core.algorithms.item_offsets import (
    SumsAndCounts,
    bias_plan,
    recommended_biases,
    release_biases,
)
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import LEAST, choice, parameter, share_field
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Block, Curator, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Budget, Event, Repeat, sequence


def clipped_gradients(
    rows: Ratings, model: Recommender, clip: float
) -> tuple[Array, Array]:
    """Each user's clipped gradient e_i u_i^T as two factors: e (n_ratings,) and U (n_users, r).

    Both are scaled by a power of two, which changes no digit: ||e_i|| <= 1 and ||u_i|| <= 2 `clip`.
    Values that overflowed count as 0, so they show in no sum.
    """
    personal = model.personal(rows)
    _, residuals = model.residuals(rows)
    U = finite(personal.factors).astype(np.float64)
    V = model.item_factors
    e = (
        kernels.predict_pairs(U, V, rows.users, rows.items, dtype=np.float64)
        - residuals
    )
    e = finite(e)
    sizes = np.sqrt(kernels.segment_sums(rows.by_user, e**2))
    norms = sizes * np.linalg.norm(U, axis=1)
    scales = np.ldexp(1.0, np.frexp(sizes)[1])
    U *= (clip_factors(norms, clip) * scales)[:, None]
    e *= (1 / scales)[rows.users]
    return e, U


@dataclass(frozen=True)
class ItemGradient(Statistic):
    """sum_i f_i e_i u_i^T (m, r), f_i = min(1, clip / (||e_i|| ||u_i||)).

    A user adds a matrix of Frobenius norm ||f_i e_i|| ||u_i|| <= clip, and may be replaced by one
    who adds its opposite. docs/PRIVACY.md, "Item gradient".
    """

    clip: float
    name = "item gradient"

    @property
    def sensitivity(self) -> float:
        return self.clip

    def empty(self, shape: Shape, model: Recommender) -> Totals:
        return (np.zeros(model.item_factors.shape),)

    def add(self, block: Block, totals: Totals, model: Recommender) -> None:
        rows: Ratings = block.rows
        e, U = clipped_gradients(rows, model, self.clip)
        e = on_grid(e, 1.0, block.n_units, factors=2)
        U = on_grid(U, 2 * self.clip, block.n_units, factors=2)
        totals[0][:] += rows.matrix(e).T @ U


def gradient_plan(
    gradient: ItemGradient, steps: int, level: float, bias_share: float
) -> Event:
    """The releases of biases, which take `bias_share` of mu^2 = 1 / level^2, and of all steps."""
    step = Repeat(gradient.event(level * math.sqrt(steps / (1 - bias_share))), steps)
    if not bias_share:
        return sequence(step)
    return sequence(bias_plan(level, bias_share), step)


def private_offsets(curator: Curator, biases: bool) -> tuple[Array, Array | None]:
    """Item offsets (n_items,), and counts (n_items,) if private ones are released."""
    if not biases:
        return np.zeros(curator.shape.n_items, np.float32), None
    released_biases = release_biases(curator, unit=curator.shape.quarter_range)
    return released_biases.offsets, released_biases.counts.expected


class DPSGD(ProvenForUsers):
    """Gradient descent on item factors by noisy sums of clipped gradients; user factors are local.

    u_i is the ridge solution and e_i the residuals of user i. The user's gradient with respect to V
    has rows e_ij u_i. It has norm ||e_i|| ||u_i|| and is clipped to C.
    """

    id = "dp-sgd"
    colour = "violet"
    marker = "triangle-up"
    training_cost = 11
    uses_item_features = True
    title = "DP-SGD"
    words = "noisy gradients of the item factors, clipped per user; user factors are never shared"
    source = (
        "Abadi et al. 2016; the comparison left open by Chien et al. 2021, remark 8"
    )
    version = 5
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {
        "clip_norm": 8.0,
        "user_regularisation": 80.0,
    }

    rank: int = parameter(5, "rank r", "number of latent factors", (1, 512))
    steps: int = parameter(40, "steps T", "gradient steps; each costs budget", (1, 500))
    biases: bool = choice(
        True, "private item offsets first, then factors on the residuals"
    )
    bias_share: float = share_field(0.2, "budget share of biases", "of the total mu²")
    clip_norm: float = parameter(
        0.5,
        "gradient clip norm C",
        "largest norm of one user's gradient, in half-ranges of the rating scale",
        (LEAST, 1e4),
    )
    learning_rate: float = parameter(
        0.3,
        "learning rate",
        "length of the first step, in norms of the starting factors; it decreases linearly to 0",
        (LEAST, 1e3),
    )
    user_regularisation: float = parameter(
        20.0, "user ridge", "of a user's own least squares", (LEAST, 1e6)
    )
    local_columns: bool = LOCAL_COLUMNS

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        rank = round(2 * math.sqrt(shape.n_users * budget.mu / shape.n_items))
        share = recommended_biases(shape, budget, parameters)
        return share | {"rank": min(6, max(1, rank))}

    def _sensitivity(self, shape: Shape) -> float:
        return self.clip_norm * shape.half_range

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        gradient = ItemGradient(self._sensitivity(shape))
        if self.biases:
            return (SumsAndCounts(), gradient)
        return (gradient,)

    def plan(self, shape: Shape, level: float) -> Event:
        share = self.bias_share * self.biases
        gradient = ItemGradient(self._sensitivity(shape))
        return gradient_plan(gradient, self.steps, level, share)

    def sizes(self, shape: Shape) -> dict[str, int]:
        return {ItemGradient.name: shape.n_items * self.rank}

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        gradient = ItemGradient(self._sensitivity(shape))
        offsets, counts = private_offsets(curator, self.biases)
        V = rng.init.standard_normal((shape.n_items, self.rank)) * 0.3
        size = float(np.linalg.norm(V))
        ridge = self.user_regularisation
        start = V.astype(np.float32)
        model = Recommender.of_means(
            shape,
            item_offsets=offsets,
            item_factors=start,
            ridge=ridge,
        )
        for step in range(self.steps):
            G = curator.release(gradient, model)
            V = V - self.learning_rate * (1 - step / self.steps) * size * G / max(
                float(np.linalg.norm(G)), 1e-300
            )
            model = replace(model, item_factors=V.astype(np.float32))
            yield model
        model = replace(model, mended=True)
        if self.local_columns:
            yield with_local_columns(model, counts, shape)
        else:
            yield model
