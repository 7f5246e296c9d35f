"""Factorisation without retaining what users did, and its rivals.

[V14] is Vallet, Friedman & Berkovsky 2014. This is not differential privacy: it limits what the
server stores, not what the model reveals. A share of the ratings is known from the start and
factorised; the others arrive one by one. `new` and `rated` keep only item factors and item biases.
A user who interacts brings all their ratings. Their vector is computed, item factors take a step,
and vector and ratings are dropped.
"""

import functools
import itertools
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
from dpmf_core.algorithms.parameters import AS_PRINTED, LEAST, UNCLIPPED, parameter
from dpmf_core.base.arrays import Array
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import moments
from dpmf_core.kernels import descent as kernel
from dpmf_core.kernels.rating_loops import shuffled_range

MovedItems = Literal["new", "rated", "shared"]


@dataclass(frozen=True, repr=False)
class RetentionModel(Recommender):
    """A model that also has what the server holds of users.

    Attributes
    ----------
    user_factors : (n_users, d)
        Empty if the server holds nothing. A user's vector is then computed from their own history.
    arrived : float
        A user's mean and vector are those of the ratings that have arrived by this time.
    arrival, arrival_seed
        These set when a rating arrives.
    """

    user_factors: Array = field(default_factory=no_matrix)
    passes: int = 10
    rate: float = 0.01
    penalty: float = 0.1
    shortened: bool = True
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
        factors = kernel.users(
            start, self.item_factors, *rows, iterations=self.passes,
            rate=self.rate, penalty=self.penalty, shortened=self.shortened,
        )  # fmt: skip
        return Personal(offsets, factors)


def arrival_times(data: Ratings, arrival: str, seed: int) -> Array:
    """When each rating arrives (n_ratings,), in [0, 1); by time if ratings have times."""
    if arrival == "time" and data.order is not None:
        return moments(data, seed)
    return keyed_uniform(seed, data.users, data.items)


@dataclass(frozen=True)
class Biases:
    """Ratings minus biases, and the biases of items.

    An item's bias is the mean of its ratings minus their users' means.

    Attributes
    ----------
    residuals : (n_ratings,)
        Ratings minus each user's mean and each item's bias.
    sums, counts : (n_items,)
        The sum and the number of an item's ratings minus their users' means.
    """

    residuals: Array
    sums: Array
    counts: Array

    @classmethod
    def of(cls, data: Ratings, of_items: bool) -> "Biases":
        """Compute the biases from all ratings; without `of_items`, those of items are 0."""
        residuals = data.values - np.float32(data.shape.mid_range)
        residuals = residuals - user_means(data, residuals)[data.users]
        if of_items:
            weights = residuals
        else:
            weights = np.zeros_like(residuals)
        sums = data.item_sums(weights)
        counts = data.item_counts * of_items
        biases = item_biases(sums, counts)
        return cls(np.asarray(residuals - biases[data.items], np.float32), sums, counts)

    @classmethod
    def none(cls, n_items: int) -> "Biases":
        """Biases of items without ratings so far."""
        return cls(
            np.zeros(0, np.float32), np.zeros(n_items), np.zeros(n_items, np.int64)
        )

    @property
    def of_items(self) -> Array:
        """(n_items,) float32."""
        return item_biases(self.sums, self.counts)


def item_biases(sums: Array, counts: Array) -> Array:
    """Means (n_items,), float32; 0 for an item without ratings."""
    return (sums / np.maximum(counts, 1)).astype(np.float32)


@dataclass(slots=True)
class Server:
    """What a server without retention holds between two interactions.

    Attributes
    ----------
    item_factors : (m, d)
    bias_sums, bias_counts : (m,)
        The sum and the count behind each item's bias.
    biased : bool
        Whether items have biases.
    step : {"new", "rated", "shared"}
        Which items move when a rating arrives. "new" moves its item (variant 4a). "rated" moves
        every item that the user rated (4b). "shared" moves these too, and divides one step among
        them.
    """

    item_factors: Array
    bias_sums: Array
    bias_counts: Array
    biased: bool
    step: MovedItems
    passes: int = 10
    rate: float = 0.01
    item_rate: float = 0.005
    penalty: float = 0.1
    shortened: bool = True

    @classmethod
    def of(
        cls, item_factors: Array, biases: Biases | None, **settings: Any
    ) -> "Server":
        """Start from copies.

        Parameters
        ----------
        item_factors : (m, d)
        biases : Biases or None
            Those of items; None for a server without item biases.
        **settings
            The other fields.
        """
        factors = np.array(item_factors, np.float32)
        start = biases or Biases.none(len(item_factors))
        return cls(
            factors,
            start.sums.copy(),
            start.counts.copy(),
            biases is not None,
            **settings,
        )

    @property
    def item_biases(self) -> Array:
        """(m,)."""
        return item_biases(self.bias_sums, self.bias_counts)

    def recommend(self, items: Array, values: Array, count: int) -> Array:
        """[V14, Alg. 1] The `count` best items for a user who brings their ratings.

        Neither the ratings nor the user's vector are kept.
        """
        Q = self.item_factors
        users = np.zeros(len(items), int)
        model = RetentionModel(
            UNCLIPPED, 0.0, self.item_biases, Q, passes=self.passes,
            rate=self.rate, penalty=self.penalty, shortened=self.shortened,
        )  # fmt: skip
        history = Ratings.of(
            users,
            items,
            values,
            n_users=1,
            n_items=len(Q),
            bounds=UNCLIPPED,
        )
        scores = (
            self.item_biases + self.item_factors @ model.personal(history).factors[0]
        )
        scores[np.asarray(items, int)] = -np.inf
        return np.argsort(-scores, kind="stable")[:count]

    def update(self, items: Array, values: Array) -> None:
        """[V14, Alg. 2] A user rates the last of `items` and brings all their ratings, in order.

        Variant 4a (new) or 4b (rated).
        """
        n = len(items)
        rows = (np.asarray(items, np.int32), np.asarray(values, np.float32))
        self.arrive(*rows, np.array([0, n]), np.array([n - 1]), np.array([0]))

    def arrive(
        self, items: Array, values: Array, indptr: Array, position: Array, rows: Array
    ) -> None:
        """Apply many updates, one after the other.

        Parameters
        ----------
        items, values : (n_ratings,)
            The ratings of all users, in order of arrival.
        indptr : (n_users + 1,)
            Where each user's ratings start.
        position : (n_arriving,)
            The place of each arriving rating in `items`.
        rows : (n_arriving,)
            The row of its user in `indptr`.
        """
        state = self.item_factors, self.bias_sums, self.bias_counts
        kernel.arrivals(
            *state, items, values, indptr, position, rows, iterations=self.passes,
            rate=self.rate, item_rate=self.item_rate, penalty=self.penalty,
            shortened=self.shortened, all_rated=self.step != "new", shared=self.step == "shared",
            biased=self.biased,
        )  # fmt: skip


Variant = Literal["baseline", "static", "online", "new", "rated"]
LOOKS = 10  # models yielded while ratings arrive, and batches of them for `online`


class NoRetention(Algorithm):
    """A share of the ratings is factorised, the others arrive one by one."""

    id = "no-retention"
    title = "No retention"
    words = "stores nothing about users; updates item factors from each interaction and discards it"
    source = "Vallet, Friedman & Berkovsky 2014"
    model_type = RetentionModel
    version = 6

    variant: Variant = parameter(
        "rated",
        "variant",
        "baseline: keeps all data and retrains; static: knows the static ratings alone; online:"
        " keeps all data and refits vectors; new, rated: keeps nothing and updates the new item,"
        " or all rated items",
    )
    static_share: float = parameter(
        0.5, "static share R_s", "of the ratings, known before the rest arrive", (0, 1)
    )
    arrival: Literal["random", "time"] = parameter(
        "random", "arrival", "in random order, or by time if the data have times"
    )
    arrived_share: float = parameter(
        1.0,
        "arrived share",
        "share of the arriving ratings that come before the model is used; 1: all",
        (0, 1),
    )
    item_biases: bool = parameter(
        True,
        "item biases",
        "subtract each item's mean rating less its raters' means, and keep this offset with the"
        " item",
    )
    rank: int = parameter(10, "dimension d", "components of a factor", (1, 256))
    steps: int = parameter(200, "epochs", "over the static ratings", (1, 2000))
    rate: float = parameter(
        0.01, "rate", "of the static training and of a user's vector", (LEAST, 1)
    )
    item_rate: float = parameter(
        0.0,
        "item rate",
        "of item factors on arrival; 0: the source's, .05 for new and .005 for rated (.05 for a"
        " shared step)",
        (0, 1),
    )
    rated_step: Literal["whole", "shared"] = parameter(
        "whole",
        "step of rated",
        "whole: every item the user rated takes a full step; shared: they share one step, as"
        " the source suggests against a bias to active users",
    )
    penalty: float = parameter(0.1, "penalty λ", "pull of factors towards 0", (0, 10))
    user_passes: int = parameter(
        10,
        "user passes",
        "over a user's own ratings, to compute their vector",
        (1, 1000),
    )
    as_printed: bool = AS_PRINTED

    @property
    def n_steps(self) -> int:
        if self.variant in ("baseline", "static"):
            return 1
        return LOOKS

    @property
    def _now(self) -> float:
        """The time in [0, 1] up to which the variant learns from ratings."""
        if self.variant == "baseline":
            return 1.0
        if self.variant == "static":
            return self.static_share
        return self.static_share + (1 - self.static_share) * self.arrived_share

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data = curator.rows
        seed = rng.sampling + 1_000_003
        times = arrival_times(data, self.arrival, seed)
        if self._now < 1:
            data = data.only(times < self._now)
            times = times[times < self._now]
        if self.variant != "baseline":
            known_ratings = data.only(times < self.static_share)
        else:
            known_ratings = data
        P, Q = (
            0.1 * rng.init.standard_normal((size, self.rank)).astype(np.float32)
            for size in (data.n_users, data.n_items)
        )
        start = (P.copy(), Q.copy())
        biases = Biases.of(known_ratings, self.item_biases)
        self._train(P, Q, known_ratings, biases.residuals, rng.sampling)
        bounds = UNCLIPPED if self.as_printed else data.bounds
        means = bounds, data.shape.mid_range, biases.of_items
        model = RetentionModel(
            *means, Q, user_factors=no_matrix() if self.variant in ("new", "rated") else P,
            passes=self.user_passes, rate=self.rate, penalty=self.penalty,
            shortened=not self.as_printed,
            arrival=self.arrival, arrival_seed=seed, arrived=self._now,
        )  # fmt: skip
        if self.variant == "online":
            yield from self._retrain_batches(data, times, model, start)
        elif self.variant in ("new", "rated"):
            yield from self._stream_arrivals(data, times, model, biases)
        else:
            yield model

    def _train(
        self, P: Array, Q: Array, data: Ratings, residuals: Array, seed: int
    ) -> None:
        """Epochs of stochastic gradients over ratings minus biases; changes P and Q in place."""
        for step in range(self.steps):
            order = shuffled_range(len(data), seed + step)
            users = data.users[order]
            items = data.items[order]
            kernel.epoch(
                P, Q, users, items, residuals[order],
                rate=self.rate, penalty=self.penalty, shortened=not self.as_printed,
            )  # fmt: skip

    def _batches(
        self, data: Ratings, times: Array
    ) -> Iterator[tuple[Ratings, Ratings]]:
        """After each batch: all ratings stored so far, and the batch."""
        edges = np.linspace(self.static_share, self._now, LOOKS + 1)
        for begin, end in itertools.pairwise(edges):
            yield data.only(times < end), data.only((times >= begin) & (times < end))

    def _retrain_batches(
        self,
        data: Ratings,
        times: Array,
        model: RetentionModel,
        start: tuple[Array, Array],
    ) -> Iterator[RetentionModel]:
        """[RS08; V14, section 4.1] After each batch, refit its vectors from their starting values.

        They are fitted by passes over all stored data. Few batches suffice: a vector is fitted
        anew, so only its last fit counts.
        """
        P = model.user_factors.copy()
        Q = model.item_factors.copy()
        fit_vectors = functools.partial(
            kernel.users, iterations=self.steps, rate=self.rate, penalty=self.penalty,
            shortened=not self.as_printed,
        )  # fmt: skip
        for stored_ratings, new in self._batches(data, times):
            biases = Biases.of(stored_ratings, self.item_biases)
            to_refit = new.user_counts > 0
            mask = to_refit[stored_ratings.users]
            own = stored_ratings.only(mask)
            vectors = fit_vectors(
                start[0], Q, own.items, biases.residuals[mask], own.by_user
            )
            P[to_refit] = vectors[to_refit]
            to_refit = new.item_counts > 0
            mask = to_refit[stored_ratings.items]
            own = stored_ratings.only(mask)
            starts, order = own.by_item
            residuals = biases.residuals[mask][order]
            vectors = fit_vectors(start[1], P, own.users[order], residuals, starts)
            Q[to_refit] = vectors[to_refit]
            model = replace(
                model,
                item_offsets=biases.of_items,
                user_factors=P.copy(),
                item_factors=Q.copy(),
            )
            yield model

    def _stream_arrivals(
        self, data: Ratings, times: Array, model: RetentionModel, biases: Biases
    ) -> Iterator[RetentionModel]:
        """Send ratings in order of arrival, also within each user; the server forgets each."""
        by_user = np.lexsort((times, data.users))
        items = data.items[by_user]
        values = data.values[by_user]
        late = np.flatnonzero(times[by_user] >= self.static_share)
        position = late[np.argsort(times[by_user][late], kind="stable")]
        rows = data.users[by_user][position]
        if self.variant == "new":
            step: MovedItems = "new"
        else:
            step = "rated"
        if step == "rated" and self.rated_step == "shared":
            step = "shared"
        item_rate = self.item_rate or (0.005 if step == "rated" else 0.05)
        start = model.item_factors, biases if self.item_biases else None
        server = Server.of(
            *start, step=step, passes=self.user_passes, rate=self.rate, item_rate=item_rate,
            penalty=self.penalty, shortened=not self.as_printed,
        )  # fmt: skip
        for part in np.array_split(np.arange(len(position)), LOOKS):
            server.arrive(items, values, data.by_user, position[part], rows[part])
            model = replace(
                model,
                item_offsets=server.item_biases,
                item_factors=server.item_factors.copy(),
            )
            yield model
