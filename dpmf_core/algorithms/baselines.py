"""Trivial and bias predictors, which a factorisation must beat, and strong private biases."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpmf_core.algorithms import item_offsets
from dpmf_core.algorithms.base import (
    Algorithm,
    PrivateAlgorithm,
    Recommender,
    Streams,
    user_means,
)
from dpmf_core.algorithms.exact_sums import damped_biases, item_counts, mean_rating
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import LEAST, parameter
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import (
    Block,
    Curator,
    Held,
    OpenCurator,
    Range,
    Statistic,
    Totals,
    on_grid,
)
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Event, Guarantee, Repeat, Status

PUBLIC_FACTS = ("the number of users", "the item set", "the rating bounds")


class ProvenForUsers(PrivateAlgorithm):
    """A private algorithm with a proof for one user, whatever its parameters."""

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)


class GlobalMean(Algorithm):
    """One number for everyone: the trivial predictor."""

    id = "global-mean"
    is_trivial = True
    title = "Global mean"
    words = "predicts the mean of all ratings"
    source = "trivial predictor"

    def asks_sums_alone(self) -> bool:
        return True

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        centre = mean_rating(curator.total, curator.shape)
        yield Recommender.of_means(curator.shape, centre=centre, user_damping=None)


class UserMean(Algorithm):
    """Each user's own mean, or mid-range without ratings; nothing private is released."""

    id = "user-mean"
    colour = "grey"
    is_trivial = True
    title = "User mean"
    words = "predicts each user's own mean; no data are shared between users"
    source = "trivial predictor"

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        yield Recommender.of_means(curator.shape)


class Popularity(Algorithm):
    """Ranks items by how many users rated them; predicts the global mean as a rating."""

    id = "popularity"
    is_trivial = True
    title = "Popularity"
    words = "the same list for everyone: most rated first"
    source = "trivial recommender"

    def asks_sums_alone(self) -> bool:
        return True

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        shape: Shape = curator.shape
        rank = np.argsort(
            np.argsort(item_counts(curator.total), kind="stable"), kind="stable"
        )
        # the counts order lists and leave predicted ratings alone
        tiny = (rank / max(shape.n_items, 1) * 1e-6).astype(np.float32)
        centre = mean_rating(curator.total, shape)
        yield Recommender.of_means(
            shape,
            centre=centre,
            item_offsets=tiny,
            user_damping=None,
        )


class Bias(Algorithm):
    """Global mean, item offset and user offset, each pulled towards 0 by a pseudo-count."""

    id = "bias"
    uses_item_features = True
    title = "Damped biases"
    words = "mean, item offset and user offset, no factors"
    source = "Koren, Bell & Volinsky 2009"

    damping: float = parameter(
        5.0, "damping β", "pseudo-count that pulls offsets towards 0", (0, 1000)
    )
    local_columns: bool = LOCAL_COLUMNS

    def asks_sums_alone(self) -> bool:
        return True

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        shape: Shape = curator.shape
        centre, b = damped_biases(curator.total, shape, self.damping)
        model = Recommender.of_means(
            shape,
            centre=centre,
            item_offsets=b,
            user_damping=self.damping,
        )
        if self.local_columns:
            model = with_local_columns(model, item_counts(curator.total), shape)
        yield model


@dataclass(frozen=True)
class UserMeans(Statistic):
    """(sum of x_u, number of non-empty users) (2,).

    x_u is a user's mean minus mid-range, in half-ranges, |x_u| <= 1. A user moves the sums by at
    most sqrt(2), and from (-1, 1) to (1, 1) by 2. docs/PRIVACY.md, "Mean of user means".
    """

    name = "mean of user means"
    replace_one_factor = math.sqrt(2)
    sensitivity: ClassVar[float] = math.sqrt(2)

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(2),)

    def add(self, block: Block, totals: Totals) -> None:
        rows: Ratings = block.rows
        present = rows.user_counts > 0
        means = (
            user_means(rows, rows.values - np.float32(rows.shape.mid_range))
            / rows.shape.half_range
        ).clip(-1, 1)
        totals[0][:] += (
            on_grid(means[present], 1.0, block.n_units).sum(dtype=float),
            present.sum(),
        )


def private_mean(curator: Curator) -> float:
    """The mean of user means: each non-empty user sends their mean and a 1."""
    shape = curator.shape
    total, count = curator.release(UserMeans())
    return float(
        shape.mid_range + shape.half_range * np.clip(total / max(count, 1.0), -1, 1)
    )


class OffsetsAlone(ProvenForUsers):
    """Released item offsets; a user's own offset is never shared."""

    uses_item_features = True

    prior_deviation: float = parameter(
        0.5,
        "prior deviation of item offsets",
        "in quarters of the rating range; controls shrinkage",
        (LEAST, 10),
    )
    local_columns: bool = LOCAL_COLUMNS

    def model(self, biases: item_offsets.ReleasedBiases, shape: Shape) -> Recommender:
        """The model of released offsets, without factors."""
        model = Recommender.of_means(shape, item_offsets=biases.offsets)
        if not self.local_columns:
            return model
        return with_local_columns(model, biases.counts.expected, shape)


class PrivateBias(OffsetsAlone):
    """Item offsets from two noisy sums over users."""

    id = "private-bias"
    colour = "green"
    training_cost = 1
    is_usual_rival = True
    title = "Private biases"
    words = "item offsets from noisy sums and counts, user offsets local"
    source = "ours, after McSherry & Mironov 2009"
    version = 5

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return (item_offsets.SumsAndCounts(),)

    def plan(self, shape: Shape, level: float) -> Event:
        return item_offsets.bias_plan(level, 1.0)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        biases = item_offsets.release_biases(
            curator, unit=shape.quarter_range, prior_deviation=self.prior_deviation
        )
        yield self.model(biases, shape)


class OwnContent(UserMean):
    """Each user's own ridge regression on the public item features, or the user's mean."""

    id = "content"
    colour = "grey"
    marker = "diamond"
    is_trivial = True
    needs_item_features = True
    uses_item_features = True
    title = "Own content"
    words = "each user's own regression on public item features; no data are shared between users"
    source = "trivial predictor"

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        yield with_local_columns(
            Recommender.of_means(curator.shape), None, curator.shape
        )


# ---- without a curator ---------------------------------------------------------------------------
#
# The server holds every user's message, so all messages are released, each with its own noise. It
# adds them up and continues as private biases do; their second sum takes a second message.

AT_ONCE = 1 << 22  # numbers in messages that are held together
MOST = 4_000_000_000  # numbers in all messages; drawing their noise takes a minute


@dataclass(frozen=True)
class Messages(Statistic):
    """Every user's message, a row of (n_users, 2 n_items): the user's `offset_rows`.

    A message has norm at most 1, and each coordinate belongs to one user. Two messages lie within 2
    of each other. That is the sensitivity, so removing a row costs no less than replacing it.
    docs/PRIVACY.md, "Every user's message".
    """

    name = "every user's message"
    replace_one_factor = 1.0
    sensitivity: ClassVar[float] = 2.0

    def empty(self, shape: Shape, rows: Held, at: Range) -> Totals:
        return (np.zeros((at[1] - at[0], 2 * shape.n_items)),)

    def add(
        self, block: Block, totals: Totals, rows: tuple[Array, Array], at: Range
    ) -> None:
        """Add the messages of users low to high (exclusive), numbered in the whole population."""
        users = block.ids[block.rows.users]
        low, high = at
        inside = (users >= low) & (users < high)
        place = users[inside] - low
        items = block.rows.items[inside]
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
    words = (
        "item offsets from messages to which each user adds noise: no trusted curator"
    )
    source = "ours, after Kasiviswanathan et al. 2011 and McSherry & Mironov 2009"
    version = 3

    def check(self, shape: Shape) -> None:
        super().check(shape)
        if (size := item_offsets.RELEASES * shape.n_users * 2 * shape.n_items) > MOST:
            raise BadInput(
                f"{self.title} draws four random numbers for each user and item, at most {MOST:,}"
                f" in all. Got {size:,}. Use --top-items."
            )

    def sizes(self, shape: Shape) -> dict[str, int]:
        return {Messages.name: shape.n_users * 2 * shape.n_items}

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return (Messages(),)

    def plan(self, shape: Shape, level: float) -> Event:
        return Repeat(
            Messages().event(level * math.sqrt(item_offsets.RELEASES)),
            item_offsets.RELEASES,
        )

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        unit = shape.quarter_range

        def release(weights: Array, offsets: Array) -> Array:
            return added_up(
                curator, curator.hold(item_offsets.offset_rows, unit, weights, offsets)
            )

        noise = curator.scale(Messages()) * math.sqrt(shape.n_users)
        biases = item_offsets.biases_from(
            release, noise, shape, unit, self.prior_deviation
        )
        yield self.model(biases, shape)


def added_up(curator: Curator, rows: Held) -> Array:
    """The sum of all messages (2 n_items,); its noise is sqrt(n) times that of one message."""
    total = np.zeros(2 * curator.shape.n_items)
    for _, messages in curator.release_parts(
        Messages(), user_ranges(curator.shape), rows
    ):
        total += messages.sum(axis=0)
    return total


def user_ranges(shape: Shape) -> list[Range]:
    """Ranges of users whose messages are held together."""
    many = max(1, AT_ONCE // (2 * shape.n_items))
    return [
        (low, min(low + many, shape.n_users)) for low in range(0, shape.n_users, many)
    ]
