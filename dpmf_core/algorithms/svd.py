"""Private SVD from one noisy second moment: Jain, Thakkar & Thakurta 2018 [J18], Alg. 4.

Item directions V are the top eigenvectors of a noisy sum_i a_i a_i^T. Each user computes their own
row, by the source's scaled projection or a ridge regression on V.
docs/PRIVACY.md, "Item second moment".

SVD after cleansing [MM09, McSherry & Mironov 2009] first subtracts noisy averages from the ratings:
docs/PRIVACY.md, "McSherry and Mironov 2009".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.base import (
    INSIDE,
    Parameters,
    Personal,
    Recommender,
    Streams,
    clip_factors,
    fits_in_memory,
)
from dpmf_core.algorithms.baselines import ProvenForUsers, UserMeans, private_mean
from dpmf_core.algorithms.item_moments import RowMoment, gridded_rows, source_level
from dpmf_core.algorithms.item_offsets import NoisyCounts
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import LEAST, parameter, share_field
from dpmf_core.algorithms.spectrum import leading_eigenpairs, with_fixed_signs
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import Block, Curator, Statistic, Step, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape, rank_within_user
from dpmf_core.privacy import Budget, Event, sequence


@dataclass(frozen=True, repr=False)
class Subspace(Recommender):
    """A released subspace, and how a user's row is found in it.

    Attributes
    ----------
    item_factors : (n_items, r)
        Orthonormal V.
    projection : bool
        Whether a user's row is (1/p_i) (x_i V) V^T, where p_i is the user's share of the items. The
        source takes the share of all users [J18, Alg. 4], a count that is not released here.
    """

    projection: bool = False

    def personal(self, history: Ratings) -> Personal:
        if not self.projection or not self.item_factors.shape[1]:
            return super().personal(history)
        offsets, residuals = self.residuals(history)
        share = np.maximum(history.user_counts, 1) / history.n_items
        V = self.item_factors.astype(np.float64)
        X = history.matrix(residuals.astype(np.float64))
        factors = X @ V / share[:, None]
        return self.with_loadings(
            history, Personal(offsets, factors.astype(np.float32))
        )


def clipped_rows(data: Ratings, values: Array, bound: float) -> Array:
    """The values (n_ratings,), float64, with rows scaled to an L2 norm of at most `bound`."""
    values = values.astype(np.float64)
    norms = np.sqrt(kernels.segment_sums(data.by_user, values**2))
    return values * clip_factors(norms, bound)[data.users]


def top_directions(moment: Array, rank: int) -> Array:
    """The eigenvectors (m, rank) of the largest eigenvalues, largest first."""
    start = np.sqrt(1.0 + np.arange(len(moment)))
    _, Q = leading_eigenpairs(moment, rank, start)
    return with_fixed_signs(Q[:, ::-1][:, :rank])


@dataclass(frozen=True)
class ItemMoment(RowMoment):
    """sum_i a_i a_i^T (m, m) of users' rows of norm at most `bound`.

    docs/PRIVACY.md, "Item second moment".
    """

    name = "item second moment"


def centred_rows(block: Block, model: Subspace, bound: float) -> Any:
    """Users' residuals, clipped to norm `bound`, on the grid."""
    rows: Ratings = block.rows
    return gridded_rows(
        block, clipped_rows(rows, model.residuals(rows)[1], bound), bound
    )


class PrivateSVD(ProvenForUsers):
    """Top eigenvectors of one noisy second moment of the users' clipped rows.

    [J18, Alg. 4; Dwork et al. 2014].
    """

    id = "private-svd"
    colour = "pink"
    training_cost = 5
    is_usual_rival = True
    uses_item_features = True
    title = "Private SVD"
    words = "eigenvectors of one noisy second moment; each user projects their own row on them"
    source = "Jain, Thakkar & Thakurta 2018, Alg. 4"
    whole_triangle = True
    version = 4
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {
        "rank": 8,
        "row_clip": 10.0,
        "prediction_ridge": 0.16,
    }
    model_type = Subspace

    rank: int = parameter(5, "rank r", "number of eigenvectors", (1, 512))
    row_clip: float = parameter(
        0.1,
        "row clip L",
        "largest L2 norm of a user's row, in half-ranges of the rating scale times √m",
        (LEAST, 10),
    )
    user_step: Literal["ridge", "projection"] = parameter(
        "ridge",
        "user's own step",
        "a ridge regression on V, or the source's scaled projection",
    )
    prediction_ridge: float = parameter(
        0.08,
        "prediction ridge",
        "of a user's own regression on orthonormal V",
        (LEAST, 1e6),
    )
    local_columns: bool = LOCAL_COLUMNS

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """One direction for every 3 of users' signal n mu over m, at most 16."""
        rank = round(2 * math.sqrt(shape.n_users * budget.mu / shape.n_items))
        return {"rank": min(16, max(1, rank))}

    def check(self, shape: Shape) -> None:
        super().check(shape)
        fits_in_memory(self, shape)

    def _bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range * math.sqrt(shape.n_items)

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return (ItemMoment(self._bound(shape)),)

    def plan(self, shape: Shape, level: float) -> Event:
        (moment,) = self.statistics(shape)
        return moment.event(level)

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """sigma^2 = 64 L^4 ln(1/delta) / eps^2 [J18, Alg. 4], in units of our sensitivity L^2.

        Rows are projected to L there as here.
        """
        return source_level(budget, "L")

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Subspace]:
        shape: Shape = curator.shape
        subspace = self._with_directions(
            curator, Subspace.of_means(shape), centred_rows
        )
        if self.local_columns:
            yield with_local_columns(subspace, None, shape)
        else:
            yield subspace

    def _with_directions(
        self, curator: Curator, model: Subspace, rows: Step
    ) -> Subspace:
        """The model with the top eigenvectors of the noisy moment of users' rows."""
        bound = self._bound(curator.shape)
        W = curator.release(ItemMoment(bound), curator.hold(rows, model, bound))
        projection = self.user_step == "projection"
        return replace(
            model,
            item_factors=top_directions(W, self.rank).astype(np.float32),
            projection=projection,
            ridge=self.prediction_ridge,
            mended=not projection,
        )


def clamped_rows(block: Block, model: Subspace, bound: float) -> Any:
    """Users' residuals, each clamped to `bound` and divided by sqrt(n_i), on the grid.

    A row's norm is at most `bound`.
    """
    rows: Ratings = block.rows
    roots = np.sqrt(np.maximum(rows.user_counts, 1))
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
    name = "item sums"

    @property
    def sensitivity(self) -> float:
        return math.sqrt(self.most) * self.clip

    def add(self, block: Block, totals: Totals, entries: Array, centre: float) -> None:
        rows: Ratings = block.rows
        values = (rows.values[entries].astype(np.float64) - centre).clip(
            -self.clip, self.clip
        )
        values = on_grid(values, self.clip, block.n_units)
        totals[0][:] += np.bincount(rows.items[entries], values, rows.n_items)


@dataclass(frozen=True)
class CappedCounts(Statistic):
    """The number of ratings that entered, by item (n_items,).

    A user adds at most `most` ones, a vector of L2 norm at most sqrt(most) without negative
    entries. docs/PRIVACY.md, "Capped item counts".
    """

    most: int
    name = "item counts"
    replace_one_factor = math.sqrt(2)

    @property
    def sensitivity(self) -> float:
        return math.sqrt(self.most)

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
    is_usual_rival = False
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
        5.0,
        "user damping β_u",
        "pseudo-count that pulls a user's own average to 0",
        (0, 1e4),
    )
    average_share: float = share_field(
        0.3,
        "budget share of averages",
        "of the total mu²; a fifteenth of it for the global one",
    )

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """As for private SVD; many items and little signal give item averages a larger share."""
        defaults = super().recommend_for_budget(shape, budget, parameters)
        signal = shape.n_users * budget.mu
        return defaults | {
            "average_share": min(
                0.8, max(0.1, 3 * shape.n_items / (3 * shape.n_items + signal))
            ),
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
        return sequence(
            *(statistic.event(level / math.sqrt(share)) for statistic, share in each)
        )

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Subspace]:
        centre = private_mean(curator)
        offsets, counts = self._item_averages(curator, centre, rng)
        model = Subspace.of_means(
            curator.shape,
            centre=centre,
            item_offsets=offsets,
            user_damping=self.user_damping,
        )
        model = self._with_directions(curator, model, clamped_rows)
        if self.local_columns:
            yield with_local_columns(model, counts, curator.shape)
        else:
            yield model

    def _item_averages(
        self, curator: Curator, centre: float, rng: Streams
    ) -> tuple[Array, Array]:
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
