"""SVD after cleansing: McSherry & Mironov 2009 [MM09].

Noisy averages are subtracted from the ratings; item directions are the top eigenvectors of a noisy
second moment of the rest. docs/PRIVACY.md, "McSherry and Mironov 2009".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpmf_core.algorithms.base import INSIDE, Array, Parameters, Streams
from dpmf_core.algorithms.baselines import UserMeans, private_mean
from dpmf_core.algorithms.item_offsets import NoisyCounts
from dpmf_core.algorithms.local_columns import with_local_columns
from dpmf_core.algorithms.parameters import LEAST, parameter, share_field
from dpmf_core.algorithms.row_moments import gridded_rows
from dpmf_core.algorithms.svd import ItemMoment, PrivateSVD, Subspace
from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import Block, Curator, Held, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape, rank_within_user
from dpmf_core.privacy import Budget, Event, sequence


def clamped_rows(block: Block, model: Subspace, bound: float) -> Any:
    """Users' residuals, each clamped to `bound` and divided by sqrt(n_i), on the grid.

    A row's norm is at most `bound`.
    """
    rows: Ratings = block.rows
    roots = np.sqrt(np.maximum(np.diff(rows.by_user), 1))
    clamped_values = model.residuals(rows)[1].clip(-bound, bound) / roots[rows.users]
    return gridded_rows(block, clamped_values.astype(np.float64) * INSIDE, bound)


def capped_ratings(block: Block, most: int, key: int) -> Array:
    """Which ratings enter (n_ratings,): at most `most` of each user, drawn by a hash."""
    rows: Ratings = block.rows
    draws = keyed_uniform(key, block.draw_keys[rows.users], rows.items)
    return rank_within_user(rows, draws) < most


@dataclass(frozen=True)
class CappedSums(Statistic):
    """Sum of ratings minus `centre`, clipped to +-`clip`, by item (n_items,).

    A user adds at most `most` numbers of that size, of L2 norm at most sqrt(most) clip.
    docs/PRIVACY.md, "Capped item sums".
    """

    most: int
    clip: float
    name: ClassVar[str] = "item sums"

    @property
    def sensitivity(self) -> float:
        return math.sqrt(self.most) * self.clip

    def empty(self, shape: Shape, entries: Held, centre: float) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals, entries: Array, centre: float) -> None:
        rows: Ratings = block.rows
        values = (rows.values[entries].astype(np.float64) - centre).clip(-self.clip, self.clip)
        values = on_grid(values, self.clip, block.n_units)
        totals[0][:] += np.bincount(rows.items[entries], values, rows.n_items)


@dataclass(frozen=True)
class CappedCounts(Statistic):
    """The number of ratings that entered, by item (n_items,).

    A user adds at most `most` ones, a vector of L2 norm at most sqrt(most) without negative
    entries. docs/PRIVACY.md, "Capped item counts".
    """

    most: int
    name: ClassVar[str] = "item counts"
    replace_one_factor: ClassVar[float] = math.sqrt(2)

    @property
    def sensitivity(self) -> float:
        return math.sqrt(self.most)

    def empty(self, shape: Shape, entries: Held) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals, entries: Array) -> None:
        rows: Ratings = block.rows
        totals[0][:] += np.bincount(rows.items[entries], minlength=rows.n_items)


class SVDCleansing(PrivateSVD):
    """Private averages first, then the second moment of the rest, with equal weight for users.

    [MM09, section 5].
    """

    id = "svd-cleansing"
    colour = "magenta"
    marker = "diamond"
    training_cost = 6
    title = "SVD after cleansing"
    words = "subtracts noisy averages, then takes eigenvectors of the residuals' noisy covariance"
    source = "McSherry & Mironov 2009"
    version = 6
    exact_settings: ClassVar[Parameters] = {
        "rank": 8,
        "row_clip": 0.5,
        "prediction_ridge": 0.3,
        "ratings_per_user": 100_000,
        "item_damping": 5.0,
    }

    row_clip: float = parameter(
        0.25,
        "residual clamp B",
        "largest residual that enters the covariance, in half-ranges of the rating scale; the"
        " papers' figures use 0.5",
        (LEAST, 2),
    )
    ratings_per_user: int = parameter(
        50,
        "ratings per user k",
        "how many of a user's ratings enter the item averages",
        (1, 100_000),
    )
    item_damping: float = parameter(
        15.0,
        "item damping β_m",
        "pseudo-count that pulls item averages to the global one",
        (0, 1e4),
    )
    user_damping: float = parameter(
        5.0, "user damping β_u", "pseudo-count that pulls a user's own average to 0", (0, 1e4)
    )
    average_share: float = share_field(
        0.3, "budget share of averages", "of the total mu²; a fifteenth of it for the global one"
    )

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, parameters: Parameters) -> Parameters:
        """As for private SVD; many items and little signal give item averages a larger share."""
        defaults = super().recommend(shape, budget, parameters)
        if budget is None:
            return defaults
        signal = shape.n_users * budget.mu
        return defaults | {
            "average_share": min(0.8, max(0.1, 3 * shape.n_items / (3 * shape.n_items + signal))),
            "ratings_per_user": max(10, shape.n_items // 8),
        }

    def _bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range

    def _averages(self, shape: Shape) -> tuple[CappedSums, CappedCounts]:
        """Sums and counts of at most k ratings per user; k is at most the number of items."""
        most = min(self.ratings_per_user, shape.n_items)
        return CappedSums(most, shape.half_range), CappedCounts(most)

    def source_level(self, shape: Shape, budget: Budget) -> float:
        raise BadInput(
            f"{self.title} has no calibration from its source that holds for users. Use"
            " --calibration exact."
        )

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return UserMeans(), *self._averages(shape), ItemMoment(self._bound(shape))

    def plan(self, shape: Shape, level: float) -> Event:
        first = self.average_share
        shares = first / 15, first * 10 / 15, first * 4 / 15, 1 - first
        each = zip(self.statistics(shape), shares, strict=True)
        return sequence(*(it.event(level / math.sqrt(share)) for it, share in each))

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Subspace]:
        centre = private_mean(curator)
        offsets, counts = self._item_averages(curator, centre, rng)
        parts = {"item_offsets": offsets, "user_damping": self.user_damping}
        model = Subspace.of_means(curator.shape, centre=centre, **parts)
        model = self._with_directions(curator, model, clamped_rows)
        yield with_local_columns(model, counts, curator.shape) if self.local_columns else model

    def _item_averages(self, curator: Curator, centre: float, rng: Streams) -> tuple[Array, Array]:
        """Damped item offsets (n_items,), within the half-range; and positive counts (n_items,)."""
        totals, count_statistic = self._averages(curator.shape)
        entries = curator.hold(capped_ratings, totals.most, rng.sampling)
        count_noise = curator.scale(count_statistic)
        sums = curator.release(totals, entries, centre)
        counts = curator.release(count_statistic, entries)
        h = totals.clip
        offsets = sums / (np.maximum(counts, 1.0) + self.item_damping)
        expected = NoisyCounts(counts, count_noise).expected
        return np.asarray(offsets.clip(-h, h), np.float32), expected
