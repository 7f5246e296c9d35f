"""Factorisation without retaining what users did, and its rivals.

[V14] is Vallet, Friedman & Berkovsky 2014. This is not differential privacy: it limits what the
server stores, not what the model reveals. A share of the ratings is known from the start and
factorised; the others arrive one by one. `new` and `rated` keep item factors and item biases only.
A user who interacts brings all their ratings. Their vector is computed, item factors take a step,
and vector and ratings are dropped.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from dpmf_core.algorithms.base import Algorithm, Array, Streams
from dpmf_core.algorithms.parameters import LEAST, parameter
from dpmf_core.algorithms.retention_server import (
    NOT_HELD,
    Biases,
    RetentionModel,
    Server,
    Step,
    arrival_times,
)
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Ratings
from dpmf_core.kernels import descent as kernel
from dpmf_core.kernels.rows import shuffled_range

Variant = Literal["baseline", "static", "online", "new", "rated"]
LOOKS = 10  # models yielded while ratings arrive, and batches of them for `online`


class NoRetention(Algorithm):
    """A share of the ratings is factorised, the others arrive one by one."""

    id = "no-retention"
    title = "No retention"
    words = "stores nothing about users; updates item factors from each interaction and discards it"
    source = "Vallet, Friedman & Berkovsky 2014"
    model_type = RetentionModel
    version = 5

    variant: Variant = parameter(
        "rated",
        "variant",
        "baseline: keeps all data and retrains; static: frozen; online: keeps all data and"
        " refits vectors; new, rated: keeps nothing and updates the new item, or all rated"
        " items",
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
        10, "user passes", "over a user's own ratings, to compute their vector", (1, 1000)
    )

    @property
    def n_steps(self) -> int:
        return 1 if self.variant in ("baseline", "static") else LOOKS

    @property
    def _now(self) -> float:
        """The time in [0, 1] up to which ratings have arrived."""
        return self.static_share + (1 - self.static_share) * self.arrived_share

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data, seed = curator.rows, rng.sampling + 1_000_003
        times = arrival_times(data, self.arrival, seed)
        if self.variant != "baseline" and self._now < 1:
            data, times = data.only(times < self._now), times[times < self._now]
        known_ratings = data.only(times < self.static_share) if self.variant != "baseline" else data
        P, Q = (
            0.1 * rng.init.standard_normal((size, self.rank)).astype(np.float32)
            for size in (data.n_users, data.n_items)
        )
        start, biases = (P.copy(), Q.copy()), Biases.of(known_ratings, self.item_biases)
        self._train(P, Q, known_ratings, biases.residuals, rng.sampling)
        own: dict[str, Any] = {
            "user_factors": NOT_HELD if self.variant in ("new", "rated") else P,
            "arrived": 1.0 if self.variant == "baseline" else self._now,
            **{"passes": self.user_passes, "rate": self.rate, "penalty": self.penalty},
        }
        means = data.bounds, data.shape.mid_range, biases.of_items
        model = RetentionModel(*means, Q, arrival=self.arrival, arrival_seed=seed, **own)
        if self.variant == "online":
            yield from self._retrain_batches(data, times, model, start)
        elif self.variant in ("new", "rated"):
            yield from self._stream_arrivals(data, times, model, biases)
        else:
            yield model

    def _train(self, P: Array, Q: Array, data: Ratings, residuals: Array, seed: int) -> None:
        """Epochs of stochastic gradients over ratings minus biases; changes P and Q in place."""
        for step in range(self.steps):
            order = shuffled_range(len(data), seed + step)
            users, items = data.users[order], data.items[order]
            kernel.epoch(P, Q, users, items, residuals[order], rate=self.rate, penalty=self.penalty)

    def _batches(self, data: Ratings, times: Array) -> Iterator[tuple[Ratings, Ratings]]:
        """After each batch: all ratings stored so far, and the batch."""
        edges = np.linspace(self.static_share, self._now, LOOKS + 1)
        for begin, end in itertools.pairwise(edges):
            yield data.only(times < end), data.only((times >= begin) & (times < end))

    def _retrain_batches(
        self, data: Ratings, times: Array, model: RetentionModel, start: tuple[Array, Array]
    ) -> Iterator[RetentionModel]:
        """[RS08; V14, section 4.1] After each batch, refit its vectors from their starting values.

        They are fitted by passes over all stored data. Few batches suffice: a vector is fitted
        anew, so only its last fit counts.
        """
        P, Q = model.user_factors.copy(), model.item_factors.copy()
        passes: Any = {"iterations": self.steps, "rate": self.rate, "penalty": self.penalty}
        for stored_ratings, new in self._batches(data, times):
            biases = Biases.of(stored_ratings, self.item_biases)
            to_refit = np.bincount(new.users, minlength=len(P)) > 0
            mask = to_refit[stored_ratings.users]
            own = stored_ratings.only(mask)
            vectors = kernel.users(
                start[0], Q, own.items, biases.residuals[mask], own.by_user, **passes
            )
            P[to_refit] = vectors[to_refit]
            to_refit = np.bincount(new.items, minlength=len(Q)) > 0
            mask = to_refit[stored_ratings.items]
            own = stored_ratings.only(mask)
            starts, order = own.by_item
            vectors = kernel.users(
                start[1], P, own.users[order], biases.residuals[mask][order], starts, **passes
            )
            Q[to_refit] = vectors[to_refit]
            model = replace(
                model, item_offsets=biases.of_items, user_factors=P.copy(), item_factors=Q.copy()
            )
            yield model

    def _stream_arrivals(
        self, data: Ratings, times: Array, model: RetentionModel, biases: Biases
    ) -> Iterator[RetentionModel]:
        """Send ratings in order of arrival, also within each user; the server forgets each."""
        by_user = np.lexsort((times, data.users))
        items, values = data.items[by_user], data.values[by_user]
        late = np.flatnonzero(times[by_user] >= self.static_share)
        position = late[np.argsort(times[by_user][late], kind="stable")]
        rows = data.users[by_user][position]
        step: Step = "new" if self.variant == "new" else "rated"
        if step == "rated" and self.rated_step == "shared":
            step = "shared"
        item_rate = self.item_rate or (0.005 if step == "rated" else 0.05)
        how: Any = {"passes": self.user_passes, "rate": self.rate, "penalty": self.penalty}
        start = model.item_factors, biases if self.item_biases else None
        server = Server(*start, step=step, item_rate=item_rate, **how)
        for part in np.array_split(np.arange(len(position)), LOOKS):
            server.arrive(items, values, data.by_user, position[part], rows[part])
            model = replace(
                model, item_offsets=server.item_biases, item_factors=server.item_factors.copy()
            )
            yield model
