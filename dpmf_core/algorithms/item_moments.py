"""Sums over users' rows of norm 1: their second moment, whole or in part, and weighted counts."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from dpmf_core.algorithms.base import INSIDE, Array, Recommender
from dpmf_core.algorithms.row_moments import RowMoment
from dpmf_core.curator import Block, Held, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.moments import add_second_moment, second_moment

MOMENT = "item second moment"


@dataclass(frozen=True)
class Rows:
    """Users' rows over the kept items, scaled to norm 1.

    Row u has `values` (n,) at `items` (n,) in `indptr[u]:indptr[u + 1]`.
    """

    indptr: Array
    items: Array
    values: Array
    n_items: int

    @classmethod
    def of(cls, data: Ratings, values: Array, kept_items: Array, weights: Array) -> "Rows":
        """Make rows of values (n_ratings,); an empty row stays empty.

        kept_items: ascending ids (n_kept,). weights: theirs (n_kept,).
        """
        new = np.full(data.n_items, -1)
        new[kept_items] = np.arange(len(kept_items))
        entries = np.flatnonzero(new[data.items] >= 0)
        users, items = data.users[entries], new[data.items[entries]]
        scaled_values = values[entries].astype(np.float64) * weights[items]
        norms = np.sqrt(np.bincount(users, scaled_values**2, data.n_users))
        scaled_values *= np.where(norms > 0, INSIDE / np.maximum(norms, 1e-300), 0.0)[users]
        indptr = np.searchsorted(users, np.arange(data.n_users + 1)).astype(np.int64)
        return cls(indptr, items, scaled_values, len(kept_items))

    def moment(self) -> Array:
        """sum_u a_u a_u^T, (n_kept, n_kept).

        One user adds a matrix of Frobenius norm ||a||^2 <= 1.
        """
        return second_moment(self.indptr, self.items, self.values, self.n_items)

    def add_moment(self, upper: Array) -> None:
        """Add the moment's upper triangle to `upper` (n_kept, n_kept)."""
        add_second_moment(self.indptr, self.items, self.values, upper)

    @property
    def matrix(self) -> csr_array:
        shape = (len(self.indptr) - 1, self.n_items)
        return csr_array((self.values, self.items, self.indptr), shape=shape)


def kept_rows(block: Block, model: Recommender | None, kept_items: Array, weights: Array) -> Rows:
    """Users' residuals over the kept items, weighted and scaled to norm 1, on the grid.

    Without a model the rows are ones for rated items.
    """
    data: Ratings = block.rows
    values = np.ones(len(data)) if model is None else model.residuals(data)[1]
    rows = Rows.of(data, values, kept_items, weights)
    return replace(rows, values=on_grid(rows.values, 1.0, block.n_units, factors=2))


@dataclass(frozen=True)
class SecondMoment(RowMoment):
    """sum_u a_u a_u^T (n_kept, n_kept) of `Rows`. docs/PRIVACY.md, "Item second moment"."""

    bound: float = 1.0
    name: ClassVar[str] = MOMENT

    def add(self, block: Block, totals: Totals, A: Rows, m: int | None = None) -> None:
        A.add_moment(totals[0])


@dataclass(frozen=True)
class MomentColumns(Statistic):
    """Columns `column_ids` of the second moment (n_kept, n_columns).

    A user adds a times a part of a, of Frobenius norm at most 1.
    docs/PRIVACY.md, "Columns of the item second moment".
    """

    name: ClassVar[str] = "columns of the item second moment"
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor: ClassVar[float] = math.sqrt(2)

    def empty(self, shape: Shape, rows: Held, n_kept: int, column_ids: Array) -> Totals:
        return (np.zeros((n_kept, len(column_ids))),)

    def add(self, block: Block, totals: Totals, rows: Rows, n_kept: int, column_ids: Array) -> None:
        A = rows.matrix
        for start in range(0, len(column_ids), 256):
            totals[0][:, start : start + 256] += (
                A.T @ A[:, column_ids[start : start + 256]]
            ).toarray()


@dataclass(frozen=True)
class MomentTimesSubspace(Statistic):
    """The second moment times Q (n_kept, K) with orthonormal columns.

    A user adds f a (a^T Q), of Frobenius norm f ||a|| ||Q^T a|| <= `clip`, with f <= 1; at clip 1
    no f is below 1. rounding: the largest norm by which the grid moves f Q^T a.
    docs/PRIVACY.md, "Second moment times subspace" and Lemma 3.
    """

    clip: float
    rounding: float
    name: ClassVar[str] = "second moment times subspace"

    @property
    def sensitivity(self) -> float:
        return self.clip

    @property
    def replace_one_factor(self) -> float:  # type: ignore[override]
        c2 = self.clip**2
        squared = 4 * c2 * (1 - c2) if 3 * c2 <= 1 else (1 + c2) ** 2 / 2
        return min(2.0, math.sqrt(squared + 4 * self.clip * self.rounding) / self.clip)

    def empty(self, shape: Shape, rows: Held, Q: Array) -> Totals:
        return (np.zeros(Q.shape),)

    def add(self, block: Block, totals: Totals, rows: Rows, Q: Array) -> None:
        A = rows.matrix
        P = A @ Q
        if self.clip < 1:  # no row is longer than 1
            norms = np.linalg.norm(P, axis=1, keepdims=True)
            P *= np.minimum(1.0, self.clip * INSIDE / np.maximum(norms, 1e-300))
        totals[0][:] += A.T @ on_grid(P, 1.0, block.n_units, factors=2)


@dataclass(frozen=True)
class RatedCounts(Statistic):
    """sum_u of 1 / sqrt(n_u) for each of a user's n_u items (n_items,).

    A user adds a vector of L2 norm at most 1 without negative entries.
    docs/PRIVACY.md, "Weighted item counts".
    """

    name: ClassVar[str] = "item counts"
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor: ClassVar[float] = math.sqrt(2)

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals) -> None:
        data: Ratings = block.rows
        weight = on_grid(INSIDE / np.sqrt(np.maximum(np.diff(data.by_user), 1)), 1.0, block.n_units)
        totals[0][:] += np.bincount(data.items, weight[data.users], data.n_items)
