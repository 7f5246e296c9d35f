"""Factors in a count sketch [B16, Balu & Furon 2016]: a compact model, claimed to be private.

The factors of users and items live in one table of k rows of w cells. Hashes give the cell and the
sign of each component, so vectors collide. Ratings with a large squared error are skipped. The
source calls that threshold epsilon and argues by analogy with posterior sampling. The update is
deterministic given the hashes and uses every exact rating, so this argument proves nothing:
docs/PRIVACY.md, "Balu and Furon 2016".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dpmf_core.algorithms.base import Algorithm, Streams, no_matrix
from dpmf_core.algorithms.parameters import AS_PRINTED, LEAST, UNCLIPPED, parameter
from dpmf_core.algorithms.sgd import LearntUsers, means_and_residuals
from dpmf_core.base.arrays import Array
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Shape
from dpmf_core.kernels import sketch as kernel
from dpmf_core.kernels.rating_loops import shuffled_range
from dpmf_core.privacy import Guarantee, Status

START = 0.42  # standard deviation of a starting component, times sqrt(d)


@dataclass(frozen=True, repr=False)
class SketchModel(LearntUsers):
    """The table, the hashes and the factors they give for users (n_users, d) and items.

    All of it is shared; user_offsets are exact means.
    """

    table: Array = field(default_factory=no_matrix)


class Sketch(Algorithm):
    """Stochastic gradients on factors that are held in a count sketch [B16, section 3]."""

    id = "sketch"
    colour = "teal"
    title = "Count sketch"
    words = "factors in a count sketch, skipping large errors; its claimed privacy is not proved"
    source = "Balu & Furon 2016"
    model_type = SketchModel
    version = 5

    rank: int = parameter(
        16,
        "dimension d",
        "components of a factor; the source uses 8, 16 and 32",
        (1, 512),
    )
    depth: int = parameter(
        4, "depth k", "rows of the sketch; 1 is feature hashing", (1, 16)
    )
    space_gain: float = parameter(
        1.0,
        "space gain γ",
        "size of the factors divided by the size of the table",
        (0.1, 1000),
    )
    threshold: float = parameter(
        4.0,
        "threshold ε of the source",
        "ratings with a larger loss are skipped or clipped; this is not a privacy loss",
        (LEAST, 1e6),
    )
    loss: Literal["half", "whole"] = parameter(
        "half",
        "loss",
        "half: ratings with a larger half of the squared error are skipped (section 3.2 of the"
        " source); whole: the squared error is clipped, which leaves the pull towards 0 (section"
        " 4.3)",
    )
    query: Literal["mean", "median"] = parameter(
        "mean",
        "query",
        "how the rows of the table give a component: their mean, which the source uses, or"
        " their median, which it names as more robust to noise",
    )
    learning_rate: float = parameter(
        0.05,
        "learning rate η",
        "of the first epoch, for ratings in units of a star",
        (LEAST, 1),
    )
    decay: float = parameter(
        1.0, "decay b", "the rate of epoch t is η / (1 + b t / T)", (0, 100)
    )
    regularisation: float = parameter(
        0.04, "regularisation λ", "pull of factors towards 0 at every rating", (0, 100)
    )
    steps: int = parameter(
        20, "epochs T", "passes over the ratings; the source uses 100", (1, 1000)
    )
    as_printed: bool = AS_PRINTED

    def guarantee(self) -> Guarantee:
        why = (
            "every exact rating enters a deterministic update, and the clipped likelihood that the"
            " argument needs is not a distribution"
        )
        claim = "implicitly provide the differential privacy guarantees"
        return Guarantee(Status.UNPROVEN, "rating", claim=claim, reason=why)

    def width(self, shape: Shape) -> int:
        """The cells of a row of the table."""
        size = (shape.n_users + shape.n_items) * self.rank
        return max(1, math.ceil(size / (self.space_gain * self.depth)))

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        """Fit in units of a star, a quarter of the rating range, unless as printed."""
        data = curator.rows
        d = self.rank
        w = self.width(data.shape)
        by_median = self.query == "median"
        model, residuals = means_and_residuals(data)
        unit = data.shape.quarter_range
        if self.as_printed:
            unit = 1.0
            model = replace(model, bounds=UNCLIPPED)
        values = (residuals / unit).astype(np.float32)
        user_keys = hash_keys(rng.init, self.depth)
        item_keys = hash_keys(rng.init, self.depth)
        # a factor of 0 would stay 0
        C = (
            rng.init.standard_normal(self.depth * w) * START * math.sqrt(self.depth / d)
        ).astype(np.float32)
        limit = self.threshold * (2 if self.loss == "half" else 1) / unit**2
        for step in range(self.steps):
            order = shuffled_range(len(data), rng.sampling + step)
            rate = self.learning_rate / (1 + self.decay * step / self.steps)
            rows = (data.users[order], data.items[order], values[order])
            kernel.epoch(
                C, (user_keys, item_keys), *rows, d, w, by_median, rate, self.regularisation,
                limit, clipped=self.loss == "whole", shortened=not self.as_printed,
            )  # fmt: skip
            users, items = (
                kernel.vectors(C, keys, count, d, w, by_median)
                for keys, count in (
                    (user_keys, data.n_users),
                    (item_keys, data.n_items),
                )
            )
            yield SketchModel(
                model.bounds,
                model.centre,
                model.item_offsets,
                items,
                table=C.reshape(self.depth, -1).copy(),
                user_factors=users * np.float32(unit),
                user_offsets=model.user_offsets,
            )


def hash_keys(rng: np.random.Generator, depth: int) -> Array:
    """Odd multipliers and shifts of the hashes (k, 2)."""
    keys = rng.integers(0, 2**63, (depth, 2), dtype=np.uint64) * np.uint64(2)
    return keys + np.array([1, 0], np.uint64)
