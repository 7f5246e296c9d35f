"""Alternating least squares, without privacy.

M (n_users x n_items) ~ U V^T. A user's row u solves a ridge regression on the shared V, and an
item's row v solves one on all users. `dpals` has the private forms.

Each regression is solved exactly or, with solver=cg, by a few steps of conjugate gradients from the
last step's solution [Takács, Pilászy & Tikk 2011; the method: Hestenes & Stiefel 1952]. Exact is
the default, because published and stored results were made with it, and at the usual 16 factors
other work takes most of a run's time.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms import exact_sums
from dpmf_core.algorithms.base import Algorithm, Recommender, Streams
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import LEAST, choice, parameter
from dpmf_core.base.arrays import Array
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Ratings, Shape, most_rated, rank_within_user

# ratings per user and item above which factors alone also find the offsets
PLENTY = 50.0
RIDGE = 0.08
BIAS_DAMPING = 5.0
COLUMN_STRENGTH = 0.3  # below 1, because factors hold part of what local columns say


def random_start(rng: Streams, m: int, r: int) -> Array:
    """Random item factors (m, r) with orthonormal columns.

    They use no data, so they cost nothing.
    """
    V, _ = np.linalg.qr(rng.init.standard_normal((m, r)))
    return np.asarray(V, np.float32)


class ALS(Algorithm):
    """Least squares over users and items in turn. Not private."""

    id = "als"
    uses_item_features = True
    title = "ALS"
    words = "alternating least squares without privacy"
    source = "Zhou et al. 2008; Hu, Koren & Volinsky 2008"
    version = 3

    rank: int = parameter(16, "rank r", "number of latent factors", (1, 512))
    steps: int = parameter(10, "steps T", "user and item half-steps", (1, 200))
    regularisation: float = parameter(
        0.0,
        "ridge λ",
        "pull of factors towards 0; 0: set from the number of ratings per user and item",
        (0, 1e6),
    )
    regularisation_exponent: float = parameter(
        1.0, "λ's exponent", "λ is multiplied by (number of ratings)^exponent", (0, 1)
    )
    biases: Literal["auto", "off", "user", "first", "joint"] = choice(
        "auto",
        "mean, item and user offsets before the factors: none, only each user's own mean, fitted"
        " once, or fitted jointly with the factors; auto: joint if ratings are few",
    )
    unobserved_weight: float = parameter(
        0.0, "λ₀", "pull of every unobserved cell towards 0, for recall tasks", (0, 100)
    )

    frequent_fraction: float = parameter(
        1.0,
        "frequent items β",
        "factors only for this share of the items, the most rated",
        (LEAST, 1),
    )
    ratings_per_user: int = parameter(
        0,
        "ratings per user k",
        "how many of a user's ratings enter the item step; 0: all",
        (0, 100_000),
    )
    sampling: Literal["uniform", "adaptive"] = choice(
        "uniform", "which k ratings: random, or those of the rarest items"
    )
    local_columns: bool = LOCAL_COLUMNS
    solver: Literal["exact", "cg"] = choice(
        "exact",
        "least squares in each step: exact, or faster by conjugate gradients started from the"
        " previous step; the last item step is always exact",
    )
    cg_steps: int = parameter(
        kernels.CG_STEPS,
        "CG steps",
        "steps of conjugate gradients for each row, with solver cg",
        (1, 100),
    )

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Recommender]:
        """The model after each step.

        Raises
        ------
        BadInput
            If the ratings are in parts and the least squares of all items would take too much
            memory.
        """
        if curator.has_rows:
            yield from self.alternate(curator.rows, rng)
        else:
            yield from self._alternate_by_sums(curator, rng)

    def asks_sums_alone(self) -> bool:
        return (
            self.solver == "exact"
            and self.frequent_fraction == 1
            and not self.ratings_per_user
        )

    def alternate(self, data: Ratings, rng: Streams) -> Iterator[Recommender]:
        """The model after each step on these ratings."""
        model = self._start(data.shape, len(data), exact_sums.sums_over(data), rng)
        b = model.item_offsets
        joint = model.mended
        starts, order = self._entries(data, rng)
        ridge = self._item_ridge(model, np.diff(starts))
        residuals = data.values - np.float32(model.centre) - b[data.items]
        unit = np.float32(data.shape.quarter_range)
        users, items = (  # the iterative solver of each side over all steps
            kernels.WarmStart(self.cg_steps) if self.solver == "cg" else None
            for _ in range(2)
        )
        for step in range(self.steps):
            if users:
                own = model.personal_by(users, data)
            else:
                own = model.personal(data)
            U = own.factors
            if joint:
                U = np.column_stack([U, np.full(data.n_users, unit)])
            if self.unobserved_weight:
                base = self.unobserved_weight * (U.T @ U)
            else:
                base = None
            targets = (residuals - own.offsets[data.users])[order]
            solve: Any = kernels.solve_rows
            if items and step < self.steps - 1:
                solve = items
            V = solve(starts, data.users[order], targets, U, ridge, base=base)
            model = self._with_sides(model, V, b, data.shape)
            yield self._with_columns(
                model, data.shape, len(data), exact_sums.sums_over(data)
            )

    def _alternate_by_sums(
        self, curator: OpenCurator, rng: Streams
    ) -> Iterator[Recommender]:
        """The model after each step on ratings in parts.

        Each item step is one exact sum over users; only its rounding differs from `alternate`.
        """
        counts = curator.total(exact_sums.NumberOfEach())
        shape = curator.shape
        n_ratings = int(counts.sum())
        model = self._start(shape, n_ratings, curator.total, rng)
        exact_sums.require_room(shape.n_items, self.rank + model.mended)
        b = model.item_offsets
        ridge = self._item_ridge(model, counts)
        for _ in range(self.steps):
            systems = curator.total(exact_sums.ItemSystems(), model, b)
            V = exact_sums.solve_items(systems, ridge, self.unobserved_weight)
            model = self._with_sides(model, V, b, shape)
            yield self._with_columns(model, shape, n_ratings, curator.total)

    def _start(
        self, shape: Shape, n_ratings: int, exact_sum: exact_sums.ExactSum, rng: Streams
    ) -> Recommender:
        """The model before the first step: offsets, and random factors."""
        per_row = n_ratings / (shape.n_users + shape.n_items)  # for each unknown
        biases = self._biases(shape, per_row)
        centre, b, damping = self._offsets(biases, shape, exact_sum)
        # stronger if ratings are few; chosen on MovieLens 1M cut to some items or users, and
        # checked on 100K and the cinema
        ridge = self.regularisation or RIDGE * max(1.0, PLENTY / max(per_row, 1.0)) ** (
            2 / 3
        )
        V = random_start(rng, shape.n_items, self.rank)
        joint = biases == "joint"
        pull = ridge, self.regularisation_exponent, self.unobserved_weight
        return Recommender(shape.bounds, centre, b, V, damping, *pull, mended=joint)

    def _item_ridge(self, model: Recommender, counts: Array) -> Array:
        """The ridge of each item (n_items,), by its number of ratings."""
        return model.ridge * np.maximum(counts, 1) ** self.regularisation_exponent

    def _with_sides(
        self, model: Recommender, V: Array, b: Array, shape: Shape
    ) -> Recommender:
        """The model with the items' sides of a step and the starting offsets b."""
        if model.mended:
            unit = np.float32(shape.quarter_range)
            model = replace(model, item_offsets=b + unit * V[:, -1])
        return replace(model, item_factors=np.ascontiguousarray(V[:, : self.rank]))

    def _with_columns(
        self,
        model: Recommender,
        shape: Shape,
        n_ratings: int,
        exact_sum: exact_sums.ExactSum,
    ) -> Recommender:
        """Add local columns to the factors, if users have offsets.

        The ridge of a typical user replaces the factors' prior.
        """
        if not self.local_columns or model.user_damping is None:
            return model
        typical = max(n_ratings / shape.n_users, 1.0)
        strength = float(COLUMN_STRENGTH * typical**self.regularisation_exponent)
        return with_local_columns(
            model, exact_sums.item_counts(exact_sum), shape, strength
        )

    def _offsets(
        self, biases: str, shape: Shape, exact_sum: exact_sums.ExactSum
    ) -> tuple[float, Array, float | None]:
        """Centre, item offsets (n_items,) and damping of user offsets (None: no user offsets)."""
        none = np.zeros(shape.n_items, np.float32)
        if biases == "off":
            return 0.0, none, None
        if biases == "user":
            return shape.mid_range, none, 0.0
        return *exact_sums.damped_biases(exact_sum, shape, BIAS_DAMPING), BIAS_DAMPING

    def _entries(self, data: Ratings, rng: Streams) -> tuple[Array, Array]:
        """The ratings in the item step, sorted by item, and where each item starts (n_items + 1,).

        There are at most k per user, of the frequent items.
        """
        if self.frequent_fraction == 1 and not self.ratings_per_user:
            return data.by_item
        counts = data.item_counts
        n_kept = max(1, math.ceil(self.frequent_fraction * data.n_items))
        kept_items = np.zeros(data.n_items, bool)
        kept_items[most_rated(counts, n_kept)] = True
        entries = np.flatnonzero(kept_items[data.items])
        if self.ratings_per_user:
            few = data.only(kept_items[data.items])
            place = keyed_uniform(rng.sampling, few.users, few.items)
            if self.sampling == "adaptive":
                place = place + counts[few.items]
            entries = entries[rank_within_user(few, place) < self.ratings_per_user]
        order = entries[np.argsort(data.items[entries], kind="stable")]
        starts = np.searchsorted(data.items[order], np.arange(data.n_items + 1))
        return starts.astype(np.int64), order

    def _biases(self, shape: Shape, per_row: float) -> str:
        """Choose the offsets. Without them, predictions for rarely rated items fall to 0.

        Likes all have one value, so they have no offsets.
        """
        if self.biases != "auto":
            return self.biases
        likes = self.unobserved_weight or shape.bounds == (0.0, 1.0)
        if likes or per_row >= PLENTY:
            return "off"
        return "joint"
