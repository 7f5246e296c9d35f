"""Item offsets without a curator: every user adds noise to her own message before it leaves her.

What the server holds is every user's message, so what is released is all of them, each with noise
of its own. The server adds them up and goes on as private biases do: post-processing.
docs/PRIVACY.md, "Every user's message".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from dpmf_core import kernels
from dpmf_core.algorithms.base import INSIDE, Array, Recommender, Streams, user_means
from dpmf_core.algorithms.baselines import OffsetsAlone
from dpmf_core.algorithms.item_offsets import Estimates
from dpmf_core.algorithms.noisy_counts import NoisyCounts
from dpmf_core.curator import Block, Curator, Held, Range, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.errors import BadInput
from dpmf_core.language import phrase
from dpmf_core.privacy import Event

MESSAGES = phrase("every user's message")
AT_ONCE = 1 << 22  # numbers of messages that are held at a time
MOST = 4_000_000_000  # numbers of all messages: noise for so many takes a minute


@dataclass(frozen=True)
class Messages(Statistic):
    """Every user's message, a row of (n_users, 2 n_items): her weighted ratings, then her weights.

    A message has norm 1 at most, and no coordinate holds anything of another user. Any two messages
    lie within 2 of each other: that is the sensitivity, so that removing a row costs no less than
    replacing it. docs/PRIVACY.md, "Every user's message".
    """

    name: ClassVar[str] = MESSAGES
    replace_one_factor: ClassVar[float] = 1.0
    sensitivity: ClassVar[float] = 2.0

    def size(self, shape: Shape, rows: Held, **part: Any) -> int:
        return shape.n_users * 2 * shape.n_items

    def empty(self, shape: Shape, rows: Held, at: Range) -> Totals:
        return (np.zeros((at[1] - at[0], 2 * shape.n_items)),)

    def add(self, block: Block, totals: Totals, rows: tuple[Array, Array], at: Range) -> None:
        """at: the users, by their numbers in the whole population."""
        users, (low, high) = block.ids[block.rows.users], at
        hers = (users >= low) & (users < high)
        place, items = users[hers] - low, block.rows.items[hers]
        for half, values in zip(np.hsplit(totals[0], 2), rows, strict=True):
            half[place, items] += values[hers]


def message_rows(block: Block, unit: float, count_weight: float) -> tuple[Array, Array]:
    """w_u x_u and w_u `count_weight` for each rating (n_ratings,), on the grid; w_u makes the norm
    of both together 1. x_u: user u's row less her own mean, in units of `unit`.
    """
    rows: Ratings = block.rows
    x = ((rows.values - user_means(rows, rows.values)[rows.users]) / unit).astype(np.float64)
    squares = kernels.segment_sums(rows.by_user, x**2 + count_weight**2)
    weight = (INSIDE / np.sqrt(np.maximum(squares, 1e-300)))[rows.users]
    both = weight * x, weight * count_weight
    return on_grid(both[0], 1.0, block.n_units), on_grid(both[1], 1.0, block.n_units)


class LocalBias(OffsetsAlone):
    """Private biases that trust nobody: the noise is in every message, not in their sum, which so
    carries the root of n times as much.
    """

    id: ClassVar[str] = "local-bias"
    colour: ClassVar[str] = "orange"
    marker: ClassVar[str] = "triangle-up"
    training_cost: ClassVar[int] = 3
    trusts_nobody: ClassVar[bool] = True
    title: ClassVar[str] = "Local biases"
    words: ClassVar[str] = (
        "item offsets from messages to which every user adds noise herself: no curator is trusted"
    )
    source: ClassVar[str] = "ours, after Kasiviswanathan et al. 2011 and McSherry & Mironov 2009"
    version: ClassVar[int] = 3

    count_weight: float = Field(
        0.25,
        ge=0.01,
        le=1,
        title="count weight κ",
        description="what a rated item adds beside its rating, in quarters of the rating range",
    )

    def check(self, shape: Shape) -> None:
        super().check(shape)
        if (size := shape.n_users * 2 * shape.n_items) > MOST:
            raise BadInput(
                phrase(
                    "{title} draws noise for two numbers of each user and item: at most {most:,}"
                    " numbers. Got {size:,}. Use --top-items.",
                    title=phrase(self.title),
                    most=MOST,
                    size=size,
                )
            )

    def coordinates(self, statistic: str, shape: Shape) -> int:
        return shape.n_users * 2 * shape.n_items

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return (Messages(),)

    def plan(self, shape: Shape, level: float) -> Event:
        return Messages().event(level)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        unit = shape.half_range / 2
        S, C = self._added_up(curator, unit)
        estimates = Estimates.of(S, C.expected, C.noise * self.count_weight)
        yield self.model(estimates.shrunk(C, shape, unit, self.prior_deviation), shape)

    def _added_up(self, curator: Curator, unit: float) -> tuple[Array, NoisyCounts]:
        """What the server makes of the messages: sums (n_items,), and counts. Their noise adds up
        to sqrt(n) times that of one.
        """
        shape: Shape = curator.shape
        rows = curator.hold(message_rows, unit, self.count_weight)
        scale = curator.scale(Messages()) * np.sqrt(shape.n_users)
        total = np.zeros(2 * shape.n_items)
        for _, messages in curator.release_parts(Messages(), user_ranges(shape), rows):
            total += messages.sum(axis=0)
        S, C = np.split(total, 2)
        return S, NoisyCounts(C / self.count_weight, scale / self.count_weight)


def user_ranges(shape: Shape) -> list[Range]:
    """Users whose messages are held together."""
    many = max(1, AT_ONCE // (2 * shape.n_items))
    return [(low, min(low + many, shape.n_users)) for low in range(0, shape.n_users, many)]
