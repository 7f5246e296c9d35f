"""Means and damped biases from exact sums over users: for what promises nothing, in one memory or
in parts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpmf_core.algorithms.base import Array, user_means
from dpmf_core.curator import Block, Statistic, Totals
from dpmf_core.data.ratings import Ratings, Shape

ExactSum = Callable[..., Array]  # exact_sum(statistic, *shared), as `OpenCurator.total`


class ExactStatistic(Statistic):
    """A sum that is never released: nothing bounds what a user adds."""

    sensitivity: ClassVar[float] = math.inf


@dataclass(frozen=True)
class ValuesAndNumber(ExactStatistic):
    """The sum of all ratings, and how many there are (2,)."""

    name: ClassVar[str] = "exact sum of ratings"

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(2),)

    def add(self, block: Block, totals: Totals) -> None:
        totals[0][:] += (block.rows.values.sum(dtype=np.float64), len(block.rows))


@dataclass(frozen=True)
class NumberOfEach(ExactStatistic):
    """How many ratings each item has (n_items,)."""

    name: ClassVar[str] = "exact item counts"

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals) -> None:
        totals[0][:] += np.bincount(block.rows.items, minlength=len(totals[0]))


@dataclass(frozen=True)
class LeftOver(ExactStatistic):
    """What users' damped means leave of each item's ratings (n_items,), about a centre and item
    offsets.
    """

    damping: float
    name: ClassVar[str] = "exact residuals"

    def empty(self, shape: Shape, centre: float, b: Array) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals, centre: float, b: Array) -> None:
        rows: Ratings = block.rows
        a = user_means(rows, rows.values - centre - b[rows.items], self.damping)
        totals[0][:] += np.bincount(rows.items, rows.values - centre - a[rows.users], len(b))


def sums_over(rows: Ratings) -> ExactSum:
    """Sums over the users of ratings in one memory."""
    block = Block(np.arange(rows.n_users), {"train": rows}, rows.n_users)

    def exact_sum(statistic: Statistic, *shared: object) -> Array:
        totals = statistic.empty(rows.shape, *shared)
        statistic.add(block, totals, *shared)
        return statistic.assemble(totals, *shared)

    return exact_sum


def mean_rating(exact_sum: ExactSum, shape: Shape) -> float:
    """Of all ratings; mid-range where there is none."""
    total, number = exact_sum(ValuesAndNumber())
    return float(total / number) if number else shape.mid_range


def damped_biases(
    exact_sum: ExactSum, shape: Shape, damping: float, rounds: int = 5
) -> tuple[float, Array]:
    """Global mean and item offsets (n_items,) of the damped bias model: alternating ridge
    solutions (Koren, Bell & Volinsky 2009, eq. 3).
    """
    centre, counts = mean_rating(exact_sum, shape), exact_sum(NumberOfEach())
    b = np.zeros(shape.n_items, np.float32)
    for _ in range(rounds):
        residual_sums = exact_sum(LeftOver(damping), centre, b)
        b = (residual_sums / np.maximum(counts + damping, 1e-9)).astype(np.float32)
    return centre, b


def item_counts(exact_sum: ExactSum) -> Array:
    """How many ratings each item has (n_items,), and one more: above 0. Exact."""
    return exact_sum(NumberOfEach()) + 1.0
