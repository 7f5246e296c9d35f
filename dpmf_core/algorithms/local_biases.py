"""Item offsets without a curator: every user adds noise to their own messages before sending them.

The server holds every user's message, so all messages are released, each with its own noise. The
server adds them up and continues as private biases do; their second sum takes a second message.
docs/PRIVACY.md, "Every user's message".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpmf_core.algorithms.base import Array, Recommender, Streams
from dpmf_core.algorithms.baselines import OffsetsAlone
from dpmf_core.algorithms.item_offsets import RELEASES, biases_from, offset_rows
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Block, Curator, Held, Range, Statistic, Totals
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Event, Repeat

AT_ONCE = 1 << 22  # numbers in messages that are held together
MOST = 4_000_000_000  # numbers in all messages, for which drawing noise takes a minute


@dataclass(frozen=True)
class Messages(Statistic):
    """Every user's message, a row of (n_users, 2 n_items): the user's `offset_rows`.

    A message has norm at most 1, and each coordinate belongs to one user. Two messages lie within 2
    of each other. That is the sensitivity, so removing a row costs no less than replacing it.
    docs/PRIVACY.md, "Every user's message".
    """

    name: ClassVar[str] = "every user's message"
    replace_one_factor: ClassVar[float] = 1.0
    sensitivity: ClassVar[float] = 2.0

    def size(self, shape: Shape, rows: Held, **part: Any) -> int:
        return shape.n_users * 2 * shape.n_items

    def empty(self, shape: Shape, rows: Held, at: Range) -> Totals:
        return (np.zeros((at[1] - at[0], 2 * shape.n_items)),)

    def add(self, block: Block, totals: Totals, rows: tuple[Array, Array], at: Range) -> None:
        """at: the users, by their numbers in the whole population."""
        users, (low, high) = block.ids[block.rows.users], at
        inside = (users >= low) & (users < high)
        place, items = users[inside] - low, block.rows.items[inside]
        for half, values in zip(np.hsplit(totals[0], 2), rows, strict=True):
            half[place, items] += values[inside]


class LocalBias(OffsetsAlone):
    """Private biases without a trusted curator.

    The noise is in every message, so their sum has sqrt(n) times as much.
    """

    id = "local-bias"
    colour = "teal"
    marker = "triangle-up"
    training_cost = 3
    trusts_nobody = True
    title = "Local biases"
    words = "item offsets from messages to which each user adds noise: no trusted curator"
    source = "ours, after Kasiviswanathan et al. 2011 and McSherry & Mironov 2009"
    version = 3

    def check(self, shape: Shape) -> None:
        super().check(shape)
        if (size := RELEASES * shape.n_users * 2 * shape.n_items) > MOST:
            raise BadInput(
                f"{self.title} draws four random numbers for each user and item, at most {MOST:,}"
                f" in all. Got {size:,}. Use --top-items."
            )

    def coordinates(self, statistic: str, shape: Shape) -> int:
        return shape.n_users * 2 * shape.n_items

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return (Messages(),)

    def plan(self, shape: Shape, level: float) -> Event:
        return Repeat(Messages().event(level * math.sqrt(RELEASES)), RELEASES)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        unit = shape.half_range / 2

        def release(weights: Array, offsets: Array) -> Array:
            return added_up(curator, curator.hold(offset_rows, unit, weights, offsets))

        noise = curator.scale(Messages()) * math.sqrt(shape.n_users)
        biases = biases_from(release, noise, shape, unit, self.prior_deviation)
        yield self.model(biases, shape)


def added_up(curator: Curator, rows: Held) -> Array:
    """The sum of all messages (2 n_items,), whose noise is sqrt(n) times that of one."""
    total = np.zeros(2 * curator.shape.n_items)
    for _, messages in curator.release_parts(Messages(), user_ranges(curator.shape), rows):
        total += messages.sum(axis=0)
    return total


def user_ranges(shape: Shape) -> list[Range]:
    """Ranges of users whose messages are held together."""
    many = max(1, AT_ONCE // (2 * shape.n_items))
    return [(low, min(low + many, shape.n_users)) for low in range(0, shape.n_users, many)]
