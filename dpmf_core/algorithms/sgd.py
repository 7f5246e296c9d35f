"""Matrix factorisation by stochastic gradients, without privacy."""

import math
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dpmf_core.algorithms.base import (
    Algorithm,
    Personal,
    Recommender,
    Streams,
    no_matrix,
    user_means,
)
from dpmf_core.algorithms.parameters import (
    AS_PRINTED_WORDS,
    LEAST,
    UNCLIPPED,
    choice,
    parameter,
)
from dpmf_core.base.arrays import Array
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Ratings
from dpmf_core.kernels.descent import biased_epoch
from dpmf_core.kernels.rating_loops import shuffled_range

# what SGD has learned: mean, offsets a (n,), b (m,), factors P (n, r), Q (m, r)
Descent = namedtuple("Descent", "mean a b P Q")


@dataclass(frozen=True, repr=False)
class LearntUsers(Recommender):
    """A recommender that may hold learned factors (n_users, d) and offsets (n_users,) of users.

    Without them a user's side is computed from their ratings.
    """

    user_factors: Array = field(default_factory=no_matrix)
    user_offsets: Array = field(default_factory=no_matrix)

    def personal(self, history: Ratings) -> Personal:
        if len(self.user_factors):
            return Personal(self.user_offsets, self.user_factors)
        return super().personal(history)


def means_and_residuals(data: Ratings) -> tuple[LearntUsers, Array]:
    """Exact global, item and user means, and the ratings minus these (n_ratings,).

    Balu & Furon 2016, section 4.
    """
    values = data.values.astype(np.float64)
    if len(values):
        centre = float(values.mean())
    else:
        centre = data.shape.mid_range
    counts = np.maximum(data.item_counts, 1)
    b = data.item_sums(values - centre) / counts
    a = user_means(data, values - centre - b[data.items])
    model = LearntUsers.of_means(
        data.shape,
        centre=centre,
        item_offsets=b.astype(np.float32),
        user_damping=None,
        user_factors=np.zeros((data.n_users, 0), np.float32),
        user_offsets=a,
    )
    return model, values - centre - b[data.items] - a[data.users]


class SGDMF(Algorithm):
    """Matrix factorisation by stochastic gradient descent.

    The biased model learns offsets with the factors. A user's offset and factor are then refitted
    by ridge regression on the items' side. The centred model subtracts means first and learns only
    factors, and users keep theirs [Balu & Furon 2016, eq. 4 and 5, with the sign of the gradient
    corrected].
    """

    id = "sgd-mf"
    title = "SGD-MF"
    model_type = LearntUsers
    words = "offsets and factors by stochastic gradient descent, without privacy"
    source = "Koren, Bell & Volinsky 2009"

    rank: int = parameter(16, "rank r", "number of latent factors", (1, 512))
    steps: int = parameter(20, "epochs", "passes over all ratings", (1, 500))
    model: Literal["biased", "centred"] = parameter(
        "biased",
        "model",
        "biased: learns offsets, and each user's factor is refitted; centred: subtracts means"
        " and keeps users' factors (regular factorisation of Balu & Furon 2016)",
    )
    learning_rate: float = parameter(
        0.005,
        "learning rate",
        "length of a step, for ratings in units of a star",
        (LEAST, 1),
    )
    decay: float = parameter(
        0.0,
        "decay b",
        "the learning rate of epoch t is that of the first epoch / (1 + b t / T)",
        (0, 100),
    )
    regularisation: float = parameter(
        0.02,
        "regularisation",
        "pull of factors and offsets towards 0 at every rating",
        (0, 100),
    )
    start_deviation: float = parameter(
        0.1,
        "starting deviation",
        "standard deviation of the starting factors",
        (LEAST, 10),
    )
    prediction_ridge: float = parameter(
        0.12,
        "prediction ridge",
        "of a user's own regression, per rating; biased only",
        (LEAST, 1e6),
    )
    as_printed: bool = choice(False, f"centred only: {AS_PRINTED_WORDS}")

    def _rate(self, step: int) -> float:
        return self.learning_rate / (1 + self.decay * step / self.steps)

    def descend(self, data: Ratings, rng: Streams) -> Iterator[Descent]:
        """The state of the biased model after every epoch, with ratings in order of their users.

        In units of a star: a quarter of the rating range.
        """
        unit = data.shape.quarter_range
        values = data.values.astype(np.float64) / unit
        if len(values):
            mean = float(values.mean())
        else:
            mean = data.shape.mid_range / unit
        P, Q = self._start(data, rng)
        a = np.zeros(data.n_users)
        b = np.zeros(data.n_items)
        rows = (data.users, data.items, values)
        for step in range(self.steps):
            biased_epoch(*rows, mean, P, Q, a, b, self._rate(step), self.regularisation)
            yield Descent(
                mean * unit,
                a * unit,
                b * unit,
                P * math.sqrt(unit),
                Q * math.sqrt(unit),
            )

    def _start(self, data: Ratings, rng: Streams) -> tuple[Array, Array]:
        """Random factors of users (n, r) and items (m, r)."""
        P, Q = (
            rng.init.normal(0, self.start_deviation, (size, self.rank))
            for size in (data.n_users, data.n_items)
        )
        return P, Q

    def _fit_centred(self, data: Ratings, rng: Streams) -> Iterator[LearntUsers]:
        """The centred model after every epoch, ratings shuffled, in units of a star.

        As printed: in units of the ratings.
        """
        model, residuals = means_and_residuals(data)
        unit = data.shape.quarter_range
        if self.as_printed:
            unit = 1.0
            model = replace(model, bounds=UNCLIPPED)
        P, Q = self._start(data, rng)
        # these stay 0
        a = np.zeros(data.n_users)
        b = np.zeros(data.n_items)
        for step in range(self.steps):
            order = shuffled_range(len(data), rng.sampling + step)
            rows = (data.users[order], data.items[order], residuals[order] / unit)
            biased_epoch(
                *rows, 0.0, P, Q, a, b, self._rate(step), self.regularisation,
                biased=False, shortened=not self.as_printed,
            )  # fmt: skip
            yield replace(
                model,
                user_factors=(P * unit).astype(np.float32),
                item_factors=Q.astype(np.float32),
            )

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data = curator.rows
        if self.model == "centred":
            yield from self._fit_centred(data, rng)
            return
        for state in self.descend(data, rng):
            yield LearntUsers(
                data.bounds,
                state.mean,
                state.b.astype(np.float32),
                state.Q.astype(np.float32),
                user_damping=5.0,
                ridge=self.prediction_ridge * data.shape.quarter_range,
                ridge_exponent=1.0,
                mended=True,
            )
