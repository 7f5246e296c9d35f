"""The second moment of users' clipped rows, and its noise in Jain, Thakkar & Thakurta 2018 [J18].

Alg. 1: sigma^2 = 64 L^4 T ln(1/delta) / eps^2 on each of T sums of a a^T. There, ratings and
iterates are rows within L, so a residual is within 2L and moves the sum by 4 L^2. Alg. 4 draws the
same noise with T = 1, on rows that it projects to L. docs/PRIVACY.md, "Jain et al. 2018".
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from dpmf_core.algorithms.base import Array
from dpmf_core.algorithms.parameters import LEAST
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Block, Held, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.moments import add_second_moment, mirrored
from dpmf_core.privacy import Budget

RowBound = Literal["2L", "L"]
SENSITIVITIES: dict[RowBound, float] = {"2L": 4.0, "L": 1.0}  # of the sum, in L^2


def noise_level(epsilon: float, delta: float, row_bound: RowBound) -> float:
    """sigma / sqrt(T), in units of what one user moves the sum by.

    row_bound: how long a row in the sum may be, in the source's L.
    """
    return 8 * math.sqrt(-math.log(delta)) / epsilon / SENSITIVITIES[row_bound]


def source_level(budget: Budget, row_bound: RowBound) -> float:
    """`noise_level` for a run's budget.

    Raises BadInput if epsilon is above 2 ln(1/delta), for which the source states no noise [J18,
    Alg. 1, input].
    """
    if budget.epsilon > (largest := -2 * math.log(budget.delta)):
        raise BadInput(
            "The noise of Jain et al. 2018 needs an epsilon of at most 2 ln(1/delta), here"
            f" {largest:.1f}. Got {budget.epsilon:g}. Lower it, or use --calibration exact."
        )
    return noise_level(budget.epsilon, budget.delta, row_bound)


def row_bound_field() -> Any:
    """The parameter that tells which of the source's bounds an algorithm's row clip is."""
    return Field(
        "2L",
        title="row clip in the source's L",
        description=(
            "with --calibration source only: 2L, which residuals cannot exceed and which the"
            " source's noise assumes; or L, with noise four times as large"
        ),
    )


def nuclear_norm_field(default: float) -> Any:
    """The parameter that is the nuclear norm's bound."""
    words = "radius of the ball, in √(n m) half-ranges of the rating scale"
    return Field(default, ge=LEAST, le=100, title="nuclear norm κ", description=words)


def gridded_rows(block: Block, values: Array, bound: float) -> Any:
    """Rows A (n_users, n_items) of values (n_ratings,) within `bound`, on a grid for products."""
    rows: Ratings = block.rows
    entries = on_grid(values, bound, block.n_units, factors=2)
    return rows.matrix(entries)


@dataclass(frozen=True)
class RowMoment(Statistic):
    """A^T A = sum_i a_i a_i^T (m, m) of rows of norm at most `bound`.

    A user adds a matrix of Frobenius norm ||a||^2 <= bound^2. m: every item, unless given. Replaced
    by another: ||a a^T - b b^T||_F^2 <= ||a||^4 + ||b||^4 <= 2 bound^4. docs/PRIVACY.md, "Lemmas".
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

    def add(self, block: Block, totals: Totals, A: Any, m: int | None = None) -> None:
        """Add the upper triangle. A: a `csr_array` on the grid."""
        add_second_moment(A.indptr, A.indices, A.data, totals[0])

    def assemble(self, totals: Totals, *shared: Any) -> Array:
        return mirrored(totals[0])
