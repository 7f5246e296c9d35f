"""The second moment of users' rows that are clipped to a norm."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from dpmf_core.algorithms.base import Array
from dpmf_core.curator import Block, Held, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.moments import add_second_moment, mirrored


def gridded_rows(block: Block, values: Array, bound: float) -> csr_array:
    """Rows A (n_users, n_items) of values (n_ratings,) within `bound`, on the grid of a product of
    two.
    """
    rows: Ratings = block.rows
    entries = on_grid(values, bound, block.n_units, factors=2)
    return csr_array((entries, rows.items, rows.by_user), shape=(rows.n_users, rows.n_items))


@dataclass(frozen=True)
class RowMoment(Statistic):
    """A^T A = sum_i a_i a_i^T (m, m) of rows of norm at most `bound`: a user adds a matrix of
    Frobenius norm ||a||^2 <= bound^2. m: every item, unless another number is given.

    Replaced by another: ||a a^T - b b^T||_F^2 <= ||a||^4 + ||b||^4 <= 2 bound^4.

    docs/PRIVACY.md, "Lemmas".
    """

    bound: float
    replace_one_factor: ClassVar[float] = math.sqrt(2)
    symmetric: ClassVar[bool] = True

    @property
    def sensitivity(self) -> float:
        return self.bound**2

    def empty(self, shape: Shape, A: Held, m: int | None = None) -> Totals:
        size = shape.n_items if m is None else m
        return (np.zeros((size, size)),)

    def add(self, block: Block, totals: Totals, A: csr_array, m: int | None = None) -> None:
        add_second_moment(A.indptr, A.indices, A.data, totals[0])

    def assemble(self, totals: Totals, A: Held, m: int | None = None) -> Array:
        return mirrored(totals[0])
