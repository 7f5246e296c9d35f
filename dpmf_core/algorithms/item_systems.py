"""What DPALS asks of users: the sums in the items' least squares, and counts.

Each user's own side (`user_factors`) and entries (`item_entries`) stay with the user's rows.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.base import INSIDE, Recommender, clip_factors, finite
from dpmf_core.algorithms.item_moments import RowMoment
from dpmf_core.base.arrays import Array
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import Block, Held, Range, Statistic, Totals, grid_step, on_grid
from dpmf_core.data.ratings import Ratings, Shape, rank_within_user
from dpmf_core.privacy import Event, Gaussian
from dpmf_core.privacy.mechanisms import joint_gain

GRAMS = "item Grams"
RIGHT_SIDES = "item right-hand sides"
SECOND_MOMENT = "user second moment"


@dataclass(frozen=True)
class Entries:
    """The ratings of a block in the item step, sorted by item.

    Each user has at most k of them. With weights, a user's squared weights add up to at most k.

    Attributes
    ----------
    starts : (n_kept + 1,)
        Where each item's ratings start.
    raters : (n_entries,)
        The users.
    values : (n_entries,)
        Clipped residuals.
    weights : (n_entries,) or None
        w_ij; None for weights of 1.
    """

    starts: Array
    raters: Array
    values: Array
    weights: Array | None


@dataclass(frozen=True)
class EntryRule:
    """Which of a user's ratings enter the item step: at most k, each with weight 1.

    Attributes
    ----------
    ratings_per_user : int
        The largest number k of a user's ratings.
    rating_clip : float
        The largest residual.
    rarest : bool
        Take the k items that are rarest by noisy counts, instead of any k.
    """

    ratings_per_user: int
    rating_clip: float
    rarest: bool = False

    def mask(
        self, ratings: Ratings, users: Array, counts: Array | None, key: int
    ) -> Array:
        """A mask over the ratings of one block.

        Parameters
        ----------
        ratings : Ratings
        users : (n_ratings,)
            The keys of the users' draws.
        counts : (n_items,) or None
            Noisy counts.
        key : int
            The key of this draw.
        """
        place = keyed_uniform(key, users, ratings.items)
        if self.rarest and counts is not None:
            place = counts[ratings.items] + 1e-9 * place
        return rank_within_user(ratings, place) < self.ratings_per_user

    def weights(
        self, data: Ratings, entries: Array, order: Array, counts: Array | None
    ) -> Array | None:
        """w_ij of the entries, in item order; None for weights of 1."""
        return None


@dataclass(frozen=True)
class RarityWeights(EntryRule):
    """All ratings enter, with w_ij proportional to max(noisy count_j, 1)^-mu'.

    Weights are scaled so that sum_j w_ij^2 = root_entries^2 for every user [K23, section 3].
    """

    exponent: float = 0.5
    root_entries: float = 1.0

    def mask(
        self, ratings: Ratings, users: Array, counts: Array | None, key: int
    ) -> Array:
        return np.ones(len(ratings), bool)

    def weights(
        self, data: Ratings, entries: Array, order: Array, counts: Array | None
    ) -> Array | None:
        assert counts is not None  # released with the biases, or on their own
        raw = np.maximum(counts, 1.0) ** -self.exponent
        squares = np.bincount(
            data.users[entries], raw[data.items[entries]] ** 2, data.n_users
        )
        scale = self.root_entries / np.sqrt(np.maximum(squares, 1e-300)) * INSIDE
        return (raw[data.items[order]] * scale[data.users[order]]).astype(np.float32)


def item_entries(
    block: Block,
    rule: EntryRule,
    model: Recommender,
    counts: Array | None,
    kept_items: Array,
    key: int,
) -> Entries:
    """The entries of the kept items, chosen by each user's own row and released counts alone."""
    data: Ratings = block.rows
    new = np.full(data.n_items, -1)
    new[kept_items] = np.arange(len(kept_items))
    frequent = new[data.items] >= 0
    few = data.only(frequent)
    mask = rule.mask(few, block.draw_keys[few.users], counts, key)
    entries = np.flatnonzero(frequent)[mask]
    order = entries[np.argsort(data.items[entries], kind="stable")]
    starts = np.searchsorted(
        new[data.items[order]], np.arange(len(kept_items) + 1)
    ).astype(np.int64)
    residuals = model.residuals(data)[1][order].astype(np.float64)
    values = residuals.clip(-rule.rating_clip, rule.rating_clip)
    return Entries(
        starts, data.users[order], values, rule.weights(data, entries, order, counts)
    )


def user_factors(
    block: Block, clip_norm: float, model: Recommender, share: float = 1.0, key: int = 0
) -> Array:
    """Users' own factors (n_users, r) on the model, within the clip norm, on the grid.

    They are float64. In float32, rounding the sums of other users adds up to three quarters to what
    one of a million users moves.

    Parameters
    ----------
    block : Block
    clip_norm : float
    model : Recommender
    share : float
        Each factor is learned from this share of its user's ratings.
    key : int
        The key by which that share is drawn.
    """
    data: Ratings = block.rows
    if share < 1:
        place = keyed_uniform(key, block.draw_keys[data.users], data.items)
        enough = np.ceil(share * data.user_counts)
        data = data.only(rank_within_user(data, place) < enough[data.users])
    U = clipped(model.personal(data).factors, clip_norm)
    return on_grid(U, clip_norm, block.n_units, factors=2)


def clipped(U: Array, clip_norm: float) -> Array:
    """Clip rows to the norm, in float64, because a smaller type could round them beyond it.

    [C21] prints max instead of min. Values that overflowed count as 0, so they show in no sum.
    """
    U = finite(U).astype(np.float64)
    norms = np.linalg.norm(U, axis=1, keepdims=True)
    return np.asarray(U * clip_factors(norms, clip_norm))


@dataclass(frozen=True)
class UserMoment(RowMoment):
    """sum_u u u^T (r, r) of factors within the clip norm. docs/PRIVACY.md, "User second moment"."""

    name = SECOND_MOMENT

    def add(self, block: Block, totals: Totals, A: Array, m: int | None = None) -> None:
        totals[0][:] += np.triu(A.T @ A)


@dataclass(frozen=True)
class ItemGrams(Statistic):
    """sum_u w_uj u u^T of every kept item j (m, r, r).

    A user's weights have a sum of squares of at most root_entries^2, so all of a user's matrices
    together have Frobenius norm at most root_entries clip_norm^2. docs/PRIVACY.md, "Item Grams".
    """

    clip_norm: float
    root_entries: float

    name = GRAMS
    replace_one_factor = math.sqrt(2)
    symmetric = True

    @property
    def sensitivity(self) -> float:
        return self.root_entries * self.clip_norm**2

    def empty(self, shape: Shape, entries: Held, U: Held, r: int, at: Range) -> Totals:
        return (np.zeros((at[1] - at[0], r, r)),)

    def add(
        self,
        block: Block,
        totals: Totals,
        entries: Entries,
        U: Array,
        r: int,
        at: Range,
    ) -> None:
        step = 0.0
        if entries.weights is not None:  # sqrt(w) u is multiplied with itself
            step = grid_step(
                math.sqrt(self.root_entries) * self.clip_norm, block.n_units, 2
            )
        totals[0][:] += kernels.weighted_grams(
            entries.starts, entries.raters, U, *at, weights=entries.weights, step=step
        )


@dataclass(frozen=True)
class ItemRightSides(Statistic):
    """sum_u w_uj v_uj u of every kept item j (m, r), |v| at most rating_clip.

    A user adds a matrix of Frobenius norm at most root_entries rating_clip clip_norm.
    docs/PRIVACY.md, "Item right-hand sides".
    """

    clip_norm: float
    root_entries: float
    rating_clip: float

    name = RIGHT_SIDES

    @property
    def sensitivity(self) -> float:
        return self.root_entries * self.clip_norm * self.rating_clip

    def next_to_grams(self, ratio: float, rounding: float, z: float) -> Event:
        """Its planned release, counted next to the Grams of the same step.

        docs/PRIVACY.md, "Lemmas", 8.

        Parameters
        ----------
        ratio : float
            1 / z^2 of this release over that of the Grams.
        rounding : float
            What the grid adds to the squared distance of two users' Grams, in squared
            sensitivities.
        z : float
            The noise multiplier.
        """
        square = 2 + 2 * joint_gain(ratio) + rounding / ratio
        joint = min(self.replace_one_factor, math.sqrt(square))
        leaf = Gaussian(z, self.name, self.sensitivity, self.replace_one_factor)
        return replace(leaf, companion=GRAMS, joint_factor=joint)

    def empty(self, shape: Shape, entries: Held, U: Held, r: int, at: Range) -> Totals:
        return (np.zeros((at[1] - at[0], r)),)

    def add(
        self,
        block: Block,
        totals: Totals,
        entries: Entries,
        U: Array,
        r: int,
        at: Range,
    ) -> None:
        values = entries.values
        if entries.weights is not None:
            values = entries.weights * values
        values = on_grid(
            values, self.root_entries * self.rating_clip, block.n_units, factors=2
        )
        totals[0][:] += kernels.right_sides(
            entries.starts, entries.raters, values, U, *at
        )
