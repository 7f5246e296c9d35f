"""Second moments of users' clipped rows, whole or in part, and weighted counts.

The noise of Jain, Thakkar & Thakurta 2018 [J18] on them: Alg. 1 has sigma^2 = 64 L^4 T ln(1/delta)
/ eps^2 on each of T sums of a a^T. There, ratings and iterates are rows within L, so a residual is
within 2L and moves the sum by 4 L^2. Alg. 4 draws the same noise with T = 1, on rows that it
projects to L. docs/PRIVACY.md, "Jain et al. 2018".
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_array

from dpmf_core.algorithms.base import INSIDE, Recommender, clip_factors, unit_factors
from dpmf_core.algorithms.parameters import LEAST, parameter
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Block, Held, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.sparse_moments import add_second_moment, mirrored
from dpmf_core.privacy import Budget

RowBound = Literal["2L", "L"]
SENSITIVITIES: dict[RowBound, float] = {"2L": 4.0, "L": 1.0}  # of the sum, in L^2


def noise_level(epsilon: float, delta: float, row_bound: RowBound) -> float:
    """sigma / sqrt(T), in units of what one user moves the sum by.

    Parameters
    ----------
    epsilon, delta : float
    row_bound : RowBound
        How long a row in the sum may be, in the source's L.
    """
    return 8 * math.sqrt(-math.log(delta)) / epsilon / SENSITIVITIES[row_bound]


def source_level(budget: Budget, row_bound: RowBound) -> float:
    """`noise_level` for a run's budget.

    Raises
    ------
    BadInput
        If epsilon is above 2 ln(1/delta). The source states no noise for it [J18, Alg. 1, input].
    """
    if budget.epsilon > (largest := -2 * math.log(budget.delta)):
        raise BadInput(
            "The noise of Jain et al. 2018 needs an epsilon of at most 2 ln(1/delta), here"
            f" {largest:.1f}. Got {budget.epsilon:g}. Lower it, or use --calibration exact."
        )
    return noise_level(budget.epsilon, budget.delta, row_bound)


def nuclear_norm_field(default: float) -> Any:
    """The parameter that is the nuclear norm's bound."""
    words = "radius of the ball, in √(n m) half-ranges of the rating scale"
    return parameter(default, "nuclear norm κ", words, (LEAST, 100))


def gridded_rows(block: Block, values: Array, bound: float) -> Any:
    """Rows A (n_users, n_items) of values (n_ratings,) within `bound`, on a grid for products."""
    rows: Ratings = block.rows
    entries = on_grid(values, bound, block.n_units, factors=2)
    return rows.matrix(entries)


@dataclass(frozen=True)
class RowMoment(Statistic):
    """A^T A = sum_i a_i a_i^T (m, m) of rows of norm at most `bound`.

    A user adds a matrix of Frobenius norm ||a||^2 <= bound^2. If the user is replaced by another,
    ||a a^T - b b^T||_F^2 <= ||a||^4 + ||b||^4 <= 2 bound^4. The m columns are all items, unless m
    is given. docs/PRIVACY.md, "Lemmas".
    """

    bound: float
    replace_one_factor = math.sqrt(2)
    symmetric = True

    @property
    def sensitivity(self) -> float:
        return self.bound**2

    def empty(self, shape: Shape, A: Held, m: int | None = None) -> Totals:
        size = shape.n_items if m is None else m
        return (np.zeros((size, size)),)

    def add(self, block: Block, totals: Totals, A: Any, m: int | None = None) -> None:
        """Add the upper triangle for a `csr_array` A on the grid."""
        add_second_moment(A.indptr, A.indices, A.data, totals[0])

    def assemble(self, totals: Totals, *shared: Any) -> Array:
        return mirrored(totals[0])


MOMENT = "item second moment"


@dataclass(frozen=True)
class ItemRows:
    """Users' rows over the kept items, scaled to norm 1.

    Row u has `values` (n,) at `items` (n,) in `indptr[u]:indptr[u + 1]`.
    """

    indptr: Array
    items: Array
    values: Array
    n_items: int

    @classmethod
    def of(
        cls, data: Ratings, values: Array, kept_items: Array, weights: Array
    ) -> "ItemRows":
        """Make rows of values; an empty row stays empty.

        Parameters
        ----------
        data : Ratings
        values : (n_ratings,)
        kept_items : (n_kept,)
            Ascending ids.
        weights : (n_kept,)
            Weights of the kept items.
        """
        new = np.full(data.n_items, -1)
        new[kept_items] = np.arange(len(kept_items))
        entries = np.flatnonzero(new[data.items] >= 0)
        users = data.users[entries]
        items = new[data.items[entries]]
        scaled_values = values[entries].astype(np.float64) * weights[items]
        norms = np.sqrt(np.bincount(users, scaled_values**2, data.n_users))
        scaled_values *= unit_factors(norms)[users]
        indptr = np.searchsorted(users, np.arange(data.n_users + 1)).astype(np.int64)
        return cls(indptr, items, scaled_values, len(kept_items))

    def add_moment(self, upper: Array) -> None:
        """Add the moment's upper triangle to `upper` (n_kept, n_kept)."""
        add_second_moment(self.indptr, self.items, self.values, upper)

    @property
    def matrix(self) -> csr_array:
        shape = (len(self.indptr) - 1, self.n_items)
        return csr_array((self.values, self.items, self.indptr), shape=shape)


def kept_rows(
    block: Block, model: Recommender | None, kept_items: Array, weights: Array
) -> ItemRows:
    """Users' residuals over the kept items, weighted and scaled to norm 1, on the grid.

    Without a model the rows are ones for rated items.
    """
    data: Ratings = block.rows
    if model is None:
        values = np.ones(len(data))
    else:
        values = model.residuals(data)[1]
    rows = ItemRows.of(data, values, kept_items, weights)
    return replace(rows, values=on_grid(rows.values, 1.0, block.n_units, factors=2))


@dataclass(frozen=True)
class SecondMoment(RowMoment):
    """sum_u a_u a_u^T (n_kept, n_kept) of `ItemRows`. docs/PRIVACY.md, "Item second moment"."""

    bound: float = 1.0
    name = MOMENT

    def add(
        self, block: Block, totals: Totals, A: ItemRows, m: int | None = None
    ) -> None:
        A.add_moment(totals[0])


@dataclass(frozen=True)
class MomentColumns(Statistic):
    """Columns `column_ids` of the second moment (n_kept, n_columns).

    A user adds a times a part of a, of Frobenius norm at most 1.
    docs/PRIVACY.md, "Columns of the item second moment".
    """

    name = "columns of the item second moment"
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor = math.sqrt(2)

    def empty(self, shape: Shape, rows: Held, n_kept: int, column_ids: Array) -> Totals:
        return (np.zeros((n_kept, len(column_ids))),)

    def add(
        self,
        block: Block,
        totals: Totals,
        rows: ItemRows,
        n_kept: int,
        column_ids: Array,
    ) -> None:
        A = rows.matrix
        for start in range(0, len(column_ids), 256):
            totals[0][:, start : start + 256] += (
                A.T @ A[:, column_ids[start : start + 256]]
            ).toarray()


@dataclass(frozen=True)
class MomentTimesSubspace(Statistic):
    """The second moment times Q (n_kept, K) with orthonormal columns.

    A user adds f a (a^T Q), of Frobenius norm f ||a|| ||Q^T a|| <= `clip`, with f <= 1. At clip 1,
    f is always 1. `rounding` is the largest norm by which the grid moves f Q^T a.

    docs/PRIVACY.md, "Second moment times subspace" and Lemma 3.
    """

    clip: float
    rounding: float
    name = "second moment times subspace"

    @property
    def sensitivity(self) -> float:
        return self.clip

    @property
    def replace_one_factor(self) -> float:  # type: ignore[override]
        c2 = self.clip**2
        if 3 * c2 <= 1:
            squared = 4 * c2 * (1 - c2)
        else:
            squared = (1 + c2) ** 2 / 2
        return min(2.0, math.sqrt(squared + 4 * self.clip * self.rounding) / self.clip)

    def empty(self, shape: Shape, rows: Held, Q: Array) -> Totals:
        return (np.zeros(Q.shape),)

    def add(self, block: Block, totals: Totals, rows: ItemRows, Q: Array) -> None:
        A = rows.matrix
        P = A @ Q
        if self.clip < 1:  # no row is longer than 1
            norms = np.linalg.norm(P, axis=1, keepdims=True)
            P *= clip_factors(norms, self.clip)
        totals[0][:] += A.T @ on_grid(P, 1.0, block.n_units, factors=2)


@dataclass(frozen=True)
class RatedCounts(Statistic):
    """sum_u of 1 / sqrt(n_u) for each of a user's n_u items (n_items,).

    A user adds a vector of L2 norm at most 1 without negative entries.
    docs/PRIVACY.md, "Weighted item counts".
    """

    name = "item counts"
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor = math.sqrt(2)

    def add(self, block: Block, totals: Totals) -> None:
        data: Ratings = block.rows
        weight = on_grid(
            INSIDE / np.sqrt(np.maximum(data.user_counts, 1)), 1.0, block.n_units
        )
        totals[0][:] += data.item_sums(weight[data.users])
