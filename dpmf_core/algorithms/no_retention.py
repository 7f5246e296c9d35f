"""Factorisation without retaining what users did [V14, Vallet, Friedman & Berkovsky 2014], and what
it is compared with.

No differential privacy: it limits what the server stores, not what the model reveals. A share of
the ratings is known from the start and factorised; the others arrive one by one. `new` and `rated`
keep item factors only: whoever interacts brings her ratings, her vector is found for the moment,
item factors take a step, and vector and ratings are dropped.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from dpmf_core import kernels
from dpmf_core.algorithms.base import (
    LEAST,
    Algorithm,
    Array,
    Personal,
    Recommender,
    Streams,
    user_means,
)
from dpmf_core.curator import OpenCurator
from dpmf_core.data.hashing import keyed_uniform
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.data.splits import moments
from dpmf_core.kernels import descent as kernel
from dpmf_core.kernels.rows import shuffled_range
from dpmf_core.privacy import Budget

Variant = Literal["baseline", "static", "online", "new", "rated"]
BATCHES = 100  # in which the arriving ratings reach `online`
LOOKS = 10  # at the model while ratings arrive
NOT_HELD = np.zeros((0, 0), np.float32)


@dataclass(frozen=True)
class RetentionModel(Recommender):
    """user_factors (n_users, d): what the server holds of users; empty where it holds nothing,
    and a user's vector is found from her own history.
    """

    user_factors: Array = field(default_factory=lambda: NOT_HELD)
    passes: int = 10
    rate: float = 0.01
    penalty: float = 0.1

    def personal(self, history: Ratings) -> Personal:
        offsets = user_means(history, history.values - np.float32(self.centre))
        if len(self.user_factors):
            return Personal(offsets, self.user_factors)
        return Personal(
            offsets, _user_vectors(history, self.item_factors, self.passes, self.rate, self.penalty)
        )


def _user_vectors(
    data: Ratings, Q: Array, passes: int, rate: float, penalty: float, start: Array | None = None
) -> Array:
    """Every user's vector (n, d) from her own ratings less their mean."""
    P = np.zeros((data.n_users, Q.shape[1]), np.float32) if start is None else start
    return kernel.users(
        P, Q, data.items, data.values, data.by_user, iterations=passes, rate=rate, penalty=penalty
    )


def _residuals(data: Ratings) -> Array:
    """Ratings (n_ratings,) less their users' means."""
    residuals = data.values - np.float32(data.shape.mid_range)
    return np.asarray(residuals - user_means(data, residuals)[data.users])


class Server:
    """What a server without retention holds between two interactions: item factors, and nothing
    else.
    """

    __slots__ = ("all_rated", "item_factors", "item_rate", "passes", "penalty", "rate", "shared")

    def __init__(
        self,
        item_factors: Array,
        *,
        all_rated: bool,
        shared: bool = False,
        passes: int = 10,
        rate: float = 0.01,
        item_rate: float = 0.005,
        penalty: float = 0.1,
    ) -> None:
        self.item_factors = np.array(item_factors, np.float32)  # (m, d)
        self.all_rated, self.shared, self.passes = all_rated, shared, passes
        self.rate, self.item_rate, self.penalty = rate, item_rate, penalty

    def recommend(self, items: Array, values: Array, count: int) -> Array:
        """[V14, Alg. 1] The `count` best items for somebody who brings her ratings; neither
        they nor her vector are kept.
        """
        history = Ratings.of(
            np.zeros(len(items), int),
            items,
            values,
            n_users=1,
            n_items=len(self.item_factors),
            bounds=(-1e9, 1e9),
        )
        scores = (
            self.item_factors
            @ _user_vectors(history, self.item_factors, self.passes, self.rate, self.penalty)[0]
        )
        scores[np.asarray(items, int)] = -np.inf
        return np.argsort(-scores, kind="stable")[:count]

    def update(self, items: Array, values: Array) -> None:
        """[V14, Alg. 2] Somebody rates the last of `items`, bringing all she has rated, in order.

        Variant 4a (new) or 4b (rated).
        """
        last = len(items) - 1
        self.arrive(
            np.asarray(items, np.int32),
            np.asarray(values, np.float32),
            np.array([0, last + 1]),
            np.array([last]),
            np.array([0]),
        )

    def arrive(
        self, items: Array, values: Array, indptr: Array, position: Array, rows: Array
    ) -> None:
        """Many updates, one after the other: `position` in `items` of each arriving rating, and
        its user's row in `indptr`.
        """
        kernel.arrivals(
            self.item_factors,
            items,
            values,
            indptr,
            position,
            rows,
            iterations=self.passes,
            rate=self.rate,
            item_rate=self.item_rate,
            penalty=self.penalty,
            all_rated=self.all_rated,
            shared=self.shared,
        )


class NoRetention(Algorithm):
    """A share of the ratings is factorised, the others arrive one by one."""

    id: ClassVar[str] = "no-retention"
    title: ClassVar[str] = "No retention"
    words: ClassVar[str] = (
        "nothing is kept of users; item factors learn from each interaction as it passes"
    )
    source: ClassVar[str] = "Vallet, Friedman & Berkovsky 2014"
    model_type: ClassVar[type] = RetentionModel
    version: ClassVar[int] = 3

    variant: Variant = Field(
        "rated",
        title="variant",
        description=(
            "baseline: all is kept and trained on; static: frozen; online: all is kept, vectors are"
            " refitted; new, rated: nothing kept, the new item or all rated items take a step"
        ),
    )
    static_share: float = Field(
        0.5,
        ge=0,
        le=1,
        title="static share R_s",
        description="of the ratings, known before the others arrive",
    )
    arrival: Literal["random", "time"] = Field(
        "random",
        title="arrival",
        description="in random order, or in the order of time (where there is one)",
    )
    rank: int = Field(10, ge=1, le=256, title="dimension d", description="components of a factor")
    steps: int = Field(200, ge=1, le=2000, title="epochs", description="over the static ratings")
    rate: float = Field(
        0.01,
        ge=LEAST,
        le=1,
        title="rate",
        description="of the static training and of a user's vector",
    )
    item_rate: float = Field(
        0.0,
        ge=0,
        le=1,
        title="item rate",
        description=(
            "of item factors on arrival; 0: the source's, .05 for new and .005 for rated (.05 for a"
            " shared step)"
        ),
    )
    rated_step: Literal["whole", "shared"] = Field(
        "whole",
        title="step of rated",
        description=(
            "whole: every item that she rated takes a step; shared: one step is shared among them,"
            " so that every interaction weighs the same"
        ),
    )
    online_fit: Literal["least-squares", "gradients"] = Field(
        "least-squares",
        title="fit of online",
        description=(
            "least-squares: of users and items that a batch touches; gradients: the source's, of"
            " users and of items that are new since the start"
        ),
    )
    penalty: float = Field(
        0.1, ge=0, le=10, title="penalty λ", description="pull of factors towards 0"
    )
    user_passes: int = Field(
        10,
        ge=1,
        le=1000,
        title="user passes",
        description="over her own ratings, to find a user's vector",
    )

    @classmethod
    def recommend(
        cls, shape: Shape, budget: Budget | None, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"rank": min(10, shape.n_items)}

    @property
    def n_steps(self) -> int:
        return 1 if self.variant in ("baseline", "static") else LOOKS

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data = curator.rows
        arrival_times = self._arrivals(data, rng)
        known_ratings = (
            data.only(arrival_times < self.static_share) if self.variant != "baseline" else data
        )
        P, Q = (
            0.1 * rng.init.standard_normal((size, self.rank)).astype(np.float32)
            for size in (data.n_users, data.n_items)
        )
        start, residuals = (P.copy(), Q.copy()), _residuals(known_ratings)
        for step in range(self.steps):
            order = shuffled_range(len(known_ratings), rng.sampling + step)
            kernel.epoch(
                P,
                Q,
                known_ratings.users[order],
                known_ratings.items[order],
                residuals[order],
                rate=self.rate,
                penalty=self.penalty,
            )
        user_factors = NOT_HELD if self.variant in ("new", "rated") else P
        model = RetentionModel(
            data.bounds,
            data.shape.mid_range,
            np.zeros(data.n_items, np.float32),
            Q,
            user_factors=user_factors,
            passes=self.user_passes,
            rate=self.rate,
            penalty=self.penalty,
        )
        if self.variant == "online" and self.online_fit == "gradients":
            yield from self._retrain_batches(data, arrival_times, model, start)
        elif self.variant == "online":
            yield from self._refit_batches(data, arrival_times, model)
        elif self.variant in ("new", "rated"):
            yield from self._stream_arrivals(data, arrival_times, model)
        else:
            yield model

    def _arrivals(self, data: Ratings, rng: Streams) -> Array:
        """When each rating arrives (n_ratings,), in [0, 1)."""
        if self.arrival == "time" and data.order is not None:
            return moments(data, rng.sampling + 1_000_003)
        return keyed_uniform(rng.sampling + 1_000_003, data.users, data.items)

    def _refit_batches(
        self, data: Ratings, arrival_times: Array, model: RetentionModel
    ) -> Iterator[RetentionModel]:
        """[RS08] With each batch, the vectors of its users and then of its items are fitted again
        to all that is stored of them.

        By least squares: what its passes of stochastic gradients lead to, whose pull towards 0 is
        paid once a rating.
        """
        P, Q = model.user_factors.copy(), model.item_factors.copy()
        edges = np.linspace(self.static_share, 1, BATCHES + 1)
        for batch, (begin, end) in enumerate(itertools.pairwise(edges)):
            stored_ratings, new = (
                data.only(arrival_times < end),
                data.only((arrival_times >= begin) & (arrival_times < end)),
            )
            residuals = _residuals(stored_ratings)
            starts, order = stored_ratings.by_item
            users, items = np.unique(new.users), np.unique(new.items)
            P[users] = kernels.solve_rows(
                stored_ratings.by_user,
                stored_ratings.items,
                residuals,
                Q,
                self._pull(stored_ratings.by_user),
            )[users]
            Q[items] = kernels.solve_rows(
                starts, stored_ratings.users[order], residuals[order], P, self._pull(starts)
            )[items]
            model = replace(model, user_factors=P.copy(), item_factors=Q.copy())
            if (batch + 1) % (BATCHES // LOOKS) == 0:
                yield model

    def _retrain_batches(
        self, data: Ratings, arrival_times: Array, model: RetentionModel, start: tuple[Array, Array]
    ) -> Iterator[RetentionModel]:
        """[RS08] With each batch, the vectors of its users are found anew from where they started,
        by passes over all that is stored of them; then those of its items that were unknown at the
        start.

        In few batches: of a vector found anew, only the last fit counts.
        """
        P, Q = model.user_factors.copy(), model.item_factors.copy()
        unknown = np.bincount(data.items[arrival_times < self.static_share], minlength=len(Q)) == 0
        edges = np.linspace(self.static_share, 1, LOOKS + 1)
        passes: dict[str, Any] = {
            "iterations": self.steps,
            "rate": self.rate,
            "penalty": self.penalty,
            "centred": False,
        }
        for begin, end in itertools.pairwise(edges):
            stored_ratings, new = (
                data.only(arrival_times < end),
                data.only((arrival_times >= begin) & (arrival_times < end)),
            )
            to_refit = np.bincount(new.users, minlength=len(P)) > 0
            hers = stored_ratings.only(to_refit[stored_ratings.users])
            vectors = kernel.users(
                start[0], Q, hers.items, _residuals(hers), hers.by_user, **passes
            )
            P[to_refit] = vectors[to_refit]
            to_refit = unknown & (np.bincount(new.items, minlength=len(Q)) > 0)
            residuals, mask = _residuals(stored_ratings), to_refit[stored_ratings.items]
            its = stored_ratings.only(mask)
            starts, order = its.by_item
            vectors = kernel.users(
                start[1], P, its.users[order], residuals[mask][order], starts, **passes
            )
            Q[to_refit] = vectors[to_refit]
            model = replace(model, user_factors=P.copy(), item_factors=Q.copy())
            yield model

    def _pull(self, starts: Array) -> Array:
        return np.asarray(np.maximum(self.penalty * np.diff(starts), 1e-6))

    def _stream_arrivals(
        self, data: Ratings, arrival_times: Array, model: RetentionModel
    ) -> Iterator[RetentionModel]:
        """Ratings in order of arrival, each user's in her own; the server forgets each."""
        by_user = np.lexsort((arrival_times, data.users))
        items, values = data.items[by_user], data.values[by_user]
        late = np.flatnonzero(arrival_times[by_user] >= self.static_share)
        position = late[np.argsort(arrival_times[by_user][late], kind="stable")]
        rows = data.users[by_user][position]
        all_rated, shared = self.variant == "rated", self.rated_step == "shared"
        server = Server(
            model.item_factors,
            all_rated=all_rated,
            shared=shared,
            passes=self.user_passes,
            rate=self.rate,
            item_rate=self.item_rate or (0.005 if all_rated and not shared else 0.05),
            penalty=self.penalty,
        )
        for part in np.array_split(np.arange(len(position)), LOOKS):
            server.arrive(items, values, data.by_user, position[part], rows[part])
            model = replace(model, item_factors=server.item_factors.copy())
            yield model
