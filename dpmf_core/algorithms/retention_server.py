"""A server that keeps nothing about users [V14, Vallet, Friedman & Berkovsky 2014], its model."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dpmf_core.algorithms.base import Array, Personal, Recommender, user_means
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import moments
from dpmf_core.kernels import descent as kernel

Step = Literal["new", "rated", "shared"]
NOT_HELD = np.zeros((0, 0), np.float32)


@dataclass(frozen=True, repr=False)
class RetentionModel(Recommender):
    """A model with user_factors (n_users, d): what the server holds of users.

    They are empty if it holds nothing; then a user's vector is computed from their own history.
    arrived: users bring what has arrived by this time; `arrival` and `arrival_seed` set when a
    rating arrives.
    """

    user_factors: Array = field(default_factory=lambda: NOT_HELD)
    passes: int = 10
    rate: float = 0.01
    penalty: float = 0.1
    arrival: str = "random"
    arrival_seed: int = 0
    arrived: float = 1.0

    def personal(self, history: Ratings) -> Personal:
        if self.arrived < 1:
            times = arrival_times(history, self.arrival, self.arrival_seed)
            history = history.only(times < self.arrived)
        values = history.values - np.float32(self.centre)
        offsets = user_means(history, values)
        if len(self.user_factors):
            return Personal(offsets, self.user_factors)
        residuals = values - offsets[history.users] - self.item_offsets[history.items]
        start = np.zeros((history.n_users, self.item_factors.shape[1]), np.float32)
        rows = history.items, np.asarray(residuals, np.float32), history.by_user
        how: Any = {"iterations": self.passes, "rate": self.rate, "penalty": self.penalty}
        return Personal(offsets, kernel.users(start, self.item_factors, *rows, **how))


def arrival_times(data: Ratings, arrival: str, seed: int) -> Array:
    """When each rating arrives (n_ratings,), in [0, 1); by time if ratings have times."""
    if arrival == "time" and data.order is not None:
        return moments(data, seed)
    return keyed_uniform(seed, data.users, data.items)


@dataclass(frozen=True)
class Biases:
    """Ratings minus biases, and the biases of items.

    residuals: (n_ratings,) minus each user's mean and each item's bias. sums, counts: (n_items,) of
    an item's ratings minus their users' means. An item's bias is their mean.
    """

    residuals: Array
    sums: Array
    counts: Array

    @classmethod
    def of(cls, data: Ratings, of_items: bool) -> "Biases":
        """Compute from all ratings of the data. of_items: whether items have biases."""
        residuals = data.values - np.float32(data.shape.mid_range)
        residuals = residuals - user_means(data, residuals)[data.users]
        weights = residuals if of_items else np.zeros_like(residuals)
        sums = np.bincount(data.items, weights, data.n_items)
        counts = np.bincount(data.items, minlength=data.n_items) * of_items
        biases = item_biases(sums, counts)
        return cls(np.asarray(residuals - biases[data.items], np.float32), sums, counts)

    @classmethod
    def none(cls, n_items: int) -> "Biases":
        """Biases of items without ratings so far."""
        return cls(np.zeros(0, np.float32), np.zeros(n_items), np.zeros(n_items, np.int64))

    @property
    def of_items(self) -> Array:
        """(n_items,) float32."""
        return item_biases(self.sums, self.counts)


def item_biases(sums: Array, counts: Array) -> Array:
    """Means (n_items,), float32; 0 for an item without ratings."""
    return (sums / np.maximum(counts, 1)).astype(np.float32)


class Server:
    """What a server without retention holds between two interactions.

    It holds item factors, and a sum and a count for each item's bias. step: which items move when a
    rating arrives. new: its item (variant 4a); rated: every item that the user rated (4b); shared:
    every such item, with one step shared among them. biases: those of items at the start; None for
    a server without item biases.
    """

    __slots__ = (
        "bias_counts",
        "bias_sums",
        "biased",
        "item_factors",
        "item_rate",
        "passes",
        "penalty",
        "rate",
        "step",
    )

    def __init__(
        self,
        item_factors: Array,
        biases: Biases | None = None,
        *,
        step: Step,
        passes: int = 10,
        rate: float = 0.01,
        item_rate: float = 0.005,
        penalty: float = 0.1,
    ) -> None:
        self.item_factors = np.array(item_factors, np.float32)  # (m, d)
        self.biased = biases is not None
        biases = biases or Biases.none(len(self.item_factors))
        self.bias_sums, self.bias_counts = biases.sums.copy(), biases.counts.copy()  # (m,), (m,)
        self.step, self.passes, self.penalty = step, passes, penalty
        self.rate, self.item_rate = rate, item_rate

    @property
    def item_biases(self) -> Array:
        """(m,)."""
        return item_biases(self.bias_sums, self.bias_counts)

    def recommend(self, items: Array, values: Array, count: int) -> Array:
        """[V14, Alg. 1] The `count` best items for a user who brings their ratings.

        Neither the ratings nor the user's vector are kept.
        """
        bounds, Q, users = (-1e9, 1e9), self.item_factors, np.zeros(len(items), int)
        how: Any = {"passes": self.passes, "rate": self.rate, "penalty": self.penalty}
        model = RetentionModel(bounds, 0.0, self.item_biases, Q, **how)
        history = Ratings.of(users, items, values, n_users=1, n_items=len(Q), bounds=bounds)
        scores = self.item_biases + self.item_factors @ model.personal(history).factors[0]
        scores[np.asarray(items, int)] = -np.inf
        return np.argsort(-scores, kind="stable")[:count]

    def update(self, items: Array, values: Array) -> None:
        """[V14, Alg. 2] A user rates the last of `items` and brings all their ratings, in order.

        Variant 4a (new) or 4b (rated).
        """
        n, rows = len(items), (np.asarray(items, np.int32), np.asarray(values, np.float32))
        self.arrive(*rows, np.array([0, n]), np.array([n - 1]), np.array([0]))

    def arrive(
        self, items: Array, values: Array, indptr: Array, position: Array, rows: Array
    ) -> None:
        """Many updates, one after the other.

        position: of each arriving rating in `items`. rows: its user's row in `indptr`.
        """
        state = self.item_factors, self.bias_sums, self.bias_counts
        arrivals = items, values, indptr, position, rows
        how: Any = {"rate": self.rate, "item_rate": self.item_rate, "penalty": self.penalty}
        how |= {"all_rated": self.step != "new", "shared": self.step == "shared"}
        kernel.arrivals(*state, *arrivals, iterations=self.passes, biased=self.biased, **how)
