"""Weighted Slope One [Lemire & Maclachlan 2005]: mean rating differences of pairs of items."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpmf_core.algorithms.base import (
    Algorithm,
    Array,
    Personal,
    Recommender,
    Streams,
    fits_in_memory,
    user_means,
)
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels import slope as kernel


@dataclass(frozen=True)
class OwnRatings(Personal):
    """A user's side: their ratings, and their mean where no ratings apply."""

    history: Ratings


@dataclass(frozen=True, repr=False)
class SlopeOneModel(Recommender):
    """pairs (n_items, n_items): differences above the diagonal, counts below it.

    Above: sums of r_uj - r_uk, j < k. Below: the number of users who rated both.
    """

    pairs: Array = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def personal(self, history: Ratings) -> OwnRatings:
        means = self.centre + user_means(history, history.values - np.float32(self.centre))
        return OwnRatings(means, np.zeros((history.n_users, 0), np.float32), history)

    def predict(self, personal: Personal, users: Array, items: Array) -> Array:
        assert isinstance(personal, OwnRatings)
        own = personal.history
        predictions = kernel.predict_items(
            self.pairs, own.by_user, own.items, own.values, np.asarray(users), np.asarray(items)
        )
        predictions = np.where(np.isnan(predictions), personal.offsets[users], predictions)
        return np.asarray(np.clip(predictions, *self.bounds))

    def scores(self, personal: Personal, users: Array) -> Array:
        assert isinstance(personal, OwnRatings)
        own = personal.history
        predictions = kernel.everything(
            self.pairs, own.by_user, own.items, own.values, np.asarray(users)
        )
        return np.where(np.isnan(predictions), personal.offsets[users][:, None], predictions)


class SlopeOne(Algorithm):
    """A difference and a count for every pair of items, applied to each user's own ratings."""

    id = "slope-one"
    title = "Slope One"
    words = "how much higher one item is rated than another, by users who rated both"
    source = "Lemire & Maclachlan 2005"
    model_type = SlopeOneModel

    def check(self, shape: Shape) -> None:
        fits_in_memory(self, shape)

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data = curator.rows
        centre = float(data.values.mean(dtype=np.float64)) if len(data) else data.shape.mid_range
        square = kernel.pairs(data.by_user, data.items, data.values, data.by_item, data.users)
        parts = {"centre": centre, "user_damping": None, "pairs": square}
        yield SlopeOneModel.of_means(data.shape, **parts)
