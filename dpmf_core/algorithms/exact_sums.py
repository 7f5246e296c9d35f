"""Exact sums for methods without a guarantee: means, damped biases, and the item step of ALS."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.base import Recommender, user_means
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Block, Statistic, Totals
from dpmf_core.data.ratings import Ratings, Shape

ExactSum = Callable[..., Array]  # exact_sum(statistic, *shared), as `OpenCurator.total`


class ExactStatistic(Statistic):
    """A sum that is never released: a user's contribution has no bound."""

    sensitivity: ClassVar[float] = math.inf


@dataclass(frozen=True)
class ValuesAndNumber(ExactStatistic):
    """The sum of all ratings and their number (2,)."""

    name = "exact sum of ratings"

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(2),)

    def add(self, block: Block, totals: Totals) -> None:
        totals[0][:] += (block.rows.values.sum(dtype=np.float64), len(block.rows))


@dataclass(frozen=True)
class NumberOfEach(ExactStatistic):
    """The number of ratings of each item (n_items,)."""

    name = "exact item counts"

    def add(self, block: Block, totals: Totals) -> None:
        totals[0][:] += block.rows.item_counts


@dataclass(frozen=True)
class LeftOver(ExactStatistic):
    """Each item's sum of ratings minus centre, offsets and users' damped means (n_items,)."""

    damping: float
    name = "exact residuals"

    def add(self, block: Block, totals: Totals, centre: float, b: Array) -> None:
        rows: Ratings = block.rows
        a = user_means(rows, rows.values - centre - b[rows.items], self.damping)
        totals[0][:] += rows.item_sums(rows.values - centre - a[rows.users])


def sums_over(rows: Ratings) -> ExactSum:
    """Sums over the users of ratings in memory."""
    block = Block(np.arange(rows.n_users), {"train": rows}, rows.n_users)

    def exact_sum(statistic: Statistic, *shared: object) -> Array:
        totals = statistic.empty(rows.shape, *shared)
        statistic.add(block, totals, *shared)
        return statistic.assemble(totals, *shared)

    return exact_sum


def mean_rating(exact_sum: ExactSum, shape: Shape) -> float:
    """The mean of all ratings; mid-range without ratings."""
    total, number = exact_sum(ValuesAndNumber())
    if number:
        return float(total / number)
    return shape.mid_range


def damped_biases(
    exact_sum: ExactSum, shape: Shape, damping: float, rounds: int = 5
) -> tuple[float, Array]:
    """Global mean and item offsets (n_items,) of the damped bias model.

    Alternating ridge solutions (Koren, Bell & Volinsky 2009, eq. 3).
    """
    centre = mean_rating(exact_sum, shape)
    counts = exact_sum(NumberOfEach())
    b = np.zeros(shape.n_items, np.float32)
    for _ in range(rounds):
        residual_sums = exact_sum(LeftOver(damping), centre, b)
        b = (residual_sums / np.maximum(counts + damping, 1e-9)).astype(np.float32)
    return centre, b


def item_counts(exact_sum: ExactSum) -> Array:
    """The exact number of ratings of each item (n_items,), plus 1, so that it is above 0."""
    return exact_sum(NumberOfEach()) + 1.0


MOST_BYTES = 2e9  # for the least squares of all items
AT_ONCE = 1024  # items that are solved together


@dataclass(frozen=True)
class ItemSystems(ExactStatistic):
    """Each item's least squares on the sides s of its raters: (n_items + 1, r, r + 1).

    It holds sum s s^T next to sum s y. The last one is over all users, whatever they rated. A
    user's side is the factor, and a constant if offsets are fitted with the factors. y is the
    user's rating minus the centre, minus the item offset b (n_items,) at the start, and minus the
    user's offset.
    """

    name = "exact item least squares"

    def empty(self, shape: Shape, model: Recommender, b: Array) -> Totals:
        r = model.item_factors.shape[1] + model.mended
        return (np.zeros((shape.n_items + 1, r, r + 1)),)

    def add(self, block: Block, totals: Totals, model: Recommender, b: Array) -> None:
        data: Ratings = block.rows
        own = model.personal(data)
        m = data.n_items
        sides = own.factors.astype(np.float64)
        if model.mended:
            sides = np.column_stack(
                [sides, np.full(data.n_users, data.shape.quarter_range)]
            )
        residuals = (
            data.values
            - np.float32(model.centre)
            - b[data.items]
            - own.offsets[data.users]
        )
        starts, order = data.by_item
        users = data.users[order]
        targets = residuals[order].astype(np.float64)
        r = sides.shape[1]
        totals[0][:m, :, :r] += kernels.weighted_grams(starts, users, sides, 0, m)
        totals[0][:m, :, r] += kernels.right_sides(starts, users, targets, sides, 0, m)
        totals[0][m, :, :r] += sides.T @ sides


def solve_items(systems: Array, ridge: Array, unobserved_weight: float) -> Array:
    """The items' sides that solve `ItemSystems`.

    Parameters
    ----------
    systems : (n_items + 1, r, r + 1)
    ridge : (n_items,)
        Above 0.
    unobserved_weight : float

    Returns
    -------
    float32 (n_items, r)
    """
    n_items = len(systems) - 1
    r = systems.shape[1]
    base = unobserved_weight * systems[-1, :, :r]
    sides = np.empty((n_items, r), np.float32)
    for start in range(0, n_items, AT_ONCE):
        some = slice(start, min(start + AT_ONCE, n_items))
        grams = systems[some, :, :r] + base + ridge[some, None, None] * np.eye(r)
        sides[some] = np.linalg.solve(grams, systems[some, :, r:])[:, :, 0]
    return sides


def require_room(n_items: int, r: int) -> None:
    """Raise BadInput if the least squares of all items would take too much memory."""
    if (n_bytes := 8.0 * (n_items + 1) * r * (r + 1)) > MOST_BYTES:
        raise BadInput(
            "ALS on partitioned ratings keeps the least-squares sums of all items in memory, here"
            f" {n_bytes / 1e9:.1f} GB; the limit is {MOST_BYTES / 1e9:.0f} GB. Use a smaller rank"
            " (--param rank=16) or fewer items (--top-items)."
        )
