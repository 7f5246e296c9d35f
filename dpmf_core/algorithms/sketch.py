"""Factors kept in a count sketch [B16, Balu & Furon 2016]: a compact model whose authors claim privacy that nobody has proved.

Users' and items' factors live in one table of k rows of w cells; hashes say where each component is and with which sign, so that vectors collide.
Ratings whose squared error is large are passed over: the source calls that threshold epsilon and argues by analogy with posterior sampling. The update is
deterministic given the hashes, and every exact rating enters it, so there is no proof to be had this way; privacy.md, section 3.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from dpmf_core.algorithms.base import Algorithm, Array, Fit, Personal, Recommender, Streams, Watch, unwatched, user_means
from dpmf_core.data import Ratings, Shape
from dpmf_core.kernels import sketch as kernel
from dpmf_core.kernels.shuffle import shuffled
from dpmf_core.privacy import Budget, Guarantee, Noise, Status

NOTHING_HELD = np.zeros((0, 0), np.float32)
START = 0.3  # deviation of a starting component times sqrt(d)


@dataclass(frozen=True)
class SketchModel(Recommender):
    """All of it is shared: the table, the hashes, and what they say of every user (n_users, d) and item; user_offsets are exact means."""

    table: Array = field(default_factory=lambda: NOTHING_HELD)
    user_factors: Array = field(default_factory=lambda: NOTHING_HELD)
    user_offsets: Array = field(default_factory=lambda: NOTHING_HELD)

    def personal(self, history: Ratings) -> Personal:
        """From the shared table, not from a user's own history."""
        return Personal(self.user_offsets, self.user_factors)


class Sketch(Algorithm):
    """Stochastic gradients on factors that are held in a count sketch [B16, section 3]."""

    id: ClassVar[str] = "sketch"
    title: ClassVar[str] = "Count sketch"
    words: ClassVar[str] = "factors in a count sketch, large errors passed over; the privacy that is claimed for it is not proved"
    source: ClassVar[str] = "Balu & Furon 2016"
    fitted: ClassVar[type] = SketchModel
    version: ClassVar[int] = 3
    twin: ClassVar[str] = "sgd-mf"

    rank: int = Field(16, ge=1, le=512, title="dimension d", description="components of a factor; the source takes 8, 16 and 32")
    depth: int = Field(4, ge=1, le=16, title="depth k", description="rows of the sketch; 1 is feature hashing")
    space_gain: float = Field(1.0, ge=0.1, le=1000, title="space gain γ", description="how many times smaller than the factors the table is")
    threshold: float = Field(4.0, gt=0, le=1e6, title="threshold ε of the source", description="ratings with a larger loss are passed over; not a privacy loss")
    loss: Literal["half", "whole"] = Field("half", title="loss", description="half the squared error (section 3.2 of the source), or the whole (section 4.3)")
    hashing: Literal["component", "vector"] = Field(
        "component", title="hashing", description="component: each has a place of its own, as in the source; vector: side by side, as rarely shared, faster"
    )
    rate: float = Field(0.1, gt=0, le=1, title="rate η", description="of the first epoch")
    decay: float = Field(1.0, ge=0, le=100, title="decay b", description="the rate of epoch t is η / (1 + b t / T)")
    penalty: float = Field(0.02, ge=0, le=10, title="penalty λ", description="pull of factors towards 0 in each step")
    steps: int = Field(20, ge=1, le=1000, title="epochs T", description="passes over the ratings; the source takes 100")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"rank": min(16, shape.n_items)}

    def guarantee(self) -> Guarantee:
        why = "every exact rating enters a deterministic update, and the clipped likelihood that the argument needs is no distribution"
        return Guarantee(Status.UNPROVEN, "rating", claim="implicitly provide the differential privacy guarantees", reason=why)

    def width(self, shape: Shape) -> int:
        """Cells of a row of the table."""
        return max(1, math.ceil((shape.n_users + shape.n_items) * self.rank / (self.space_gain * self.depth)))

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        d, w, together, scale = self.rank, self.width(data.shape), self.hashing == "vector", data.shape.half_range
        model, left = _centred(data)
        values = (left / scale).astype(np.float32)
        user_keys, item_keys = hash_keys(rng.init, self.depth), hash_keys(rng.init, self.depth)
        cells = kernel.size(self.depth, w, d, together)
        C = (rng.init.standard_normal(cells) * START * math.sqrt(self.depth / d)).astype(np.float32)  # 0 would stay 0
        limit = self.threshold * (2 if self.loss == "half" else 1) / scale**2  # in the units of `values`
        for step in range(self.steps):
            order = shuffled(len(data), rng.sampling + step)
            rate = self.rate / (1 + self.decay * step / self.steps)
            rows = (data.users[order], data.items[order], values[order])
            kernel.epoch(C, (user_keys, item_keys), *rows, d, w, together, rate, self.penalty, limit)
            users, items = (kernel.vectors(C, keys, count, d, w, together) for keys, count in ((user_keys, data.n_users), (item_keys, data.n_items)))
            model = replace(model, table=C.reshape(self.depth, -1).copy(), user_factors=users * np.float32(scale), item_factors=items)
            watch(step + 1, self.steps, model)
        return Fit(model, noise.spent)


def _centred(data: Ratings) -> tuple[SketchModel, Array]:
    """Global, item and user means, exact; and what they leave of the ratings (n_ratings,) [B16, section 4]."""
    values = data.values.astype(np.float64)
    centre = float(values.mean()) if len(values) else data.shape.mid_range
    counts = np.maximum(np.bincount(data.items, minlength=data.n_items), 1)
    b = np.bincount(data.items, values - centre, data.n_items) / counts
    a = user_means(data, values - centre - b[data.items])
    empty = np.zeros((data.n_items, 0), np.float32)
    model = SketchModel(data.bounds, centre, b.astype(np.float32), empty, user_factors=np.zeros((data.n_users, 0), np.float32), user_offsets=a)
    return model, values - centre - b[data.items] - a[data.users]


def hash_keys(rng: np.random.Generator, depth: int) -> Array:
    """Multipliers, which are odd, and shifts of the hashes (k, 2)."""
    keys = rng.integers(0, 2**63, (depth, 2), dtype=np.uint64) * np.uint64(2)
    return np.asarray(keys + np.array([1, 0], np.uint64))
