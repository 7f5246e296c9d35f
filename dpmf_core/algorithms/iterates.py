"""Users' rows in projected gradient descent: the local step and projection, and their moment.

docs/PRIVACY.md, "Second moment of the iterate".
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from dpmf_core import kernels
from dpmf_core.algorithms.base import INSIDE, Array, Personal, Recommender
from dpmf_core.algorithms.row_moments import RowMoment
from dpmf_core.curator import Block, Held, Totals, on_grid
from dpmf_core.curator.grid import grid_step
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.moments import add_second_moment, mirrored


@dataclass(frozen=True)
class Iterate:
    """Users' rows Z_i = C_i Q^T + S_i.

    C (n_users, r) are coefficients of shared orthonormal directions Q (n_items, r), and S (n_users,
    n_items) is 0 outside the observed cells.
    """

    C: Array
    S: csr_array

    def squared_norms(self, Q: Array) -> Array:
        """||Z_i||^2 (n_users,), by the orthonormal columns of Q."""
        along = np.asarray(self.S @ Q)
        users = np.repeat(np.arange(len(self.C)), np.diff(self.S.indptr))
        square = np.bincount(users, self.S.data**2, len(self.C))
        return np.asarray((self.C * (self.C + 2 * along)).sum(axis=1) + square)

    def clip_rows(self, Q: Array, bound: float | Array) -> "Iterate":
        """Clip every row to `bound`, one for all or (n_users,)."""
        norms = np.sqrt(np.maximum(self.squared_norms(Q), 1e-300))
        shrink = np.minimum(1.0, bound / norms)
        cells = self.S.data * np.repeat(shrink, np.diff(self.S.indptr))
        return Iterate(self.C * shrink[:, None], _with_values(self.S, cells))

    def round_to_grid(self, bound: float, rate: float, n_units: int) -> "Iterate":
        """Round to the grid. bound: L, of the rows; rate: eta of the step that led to S."""
        C = on_grid(self.C, _most_coefficient(bound), n_units, factors=2)
        cells = on_grid(self.S.data, _most_residual(bound, rate), n_units, factors=2)
        return Iterate(C, _with_values(self.S, cells))

    def map_to(self, Q: Array, directions: Array, shrink: Array) -> Array:
        """Coefficients (n_users, k) of Y_i = Z_i V diag(shrink) V^T.

        V is `directions` (n_items, k). shrink: (k,), at most 1.
        """
        turn = on_grid(Q.T @ directions, 1.0, 2, factors=2)  # exact: C also has at most 25 bits
        return np.asarray((self.C @ turn + np.asarray(self.S @ directions)) * shrink)


def _with_values(cells: csr_array, values: Array) -> csr_array:
    return csr_array((values, cells.indices, cells.indptr), shape=cells.shape)


def _most_coefficient(bound: float) -> float:
    """A bound on a clipped row's coefficients: twice ||c|| <= L, as it is part of a former row."""
    return 2 * bound


def _most_residual(bound: float, rate: float) -> float:
    """A bound on a clipped row's residuals: twice ||s|| <= 2 max(1, eta) L.

    docs/PRIVACY.md, "Second moment of the iterate".
    """
    return 4 * max(1.0, rate) * bound


def take_gradient_step(rows: Ratings, target: Array, C: Array, Q: Array, rate: float) -> Iterate:
    """Z = Y - eta P_Omega(Y - Y*) of Y_i = C_i Q^T.

    target: Y* on the observed cells (n_ratings,). rate: eta.
    """
    predictions: Array = np.zeros(len(rows))
    if C.shape[1]:
        predictions = kernels.predict_pairs(C, Q, rows.users, rows.items, dtype=np.float64)
    S = rate * (target.astype(np.float64) - predictions)
    return Iterate(C, rows.matrix(S))


@dataclass(frozen=True, repr=False)
class GradientModel(Recommender):
    """The directions of all steps, from which a user repeats them.

    directions: (m, sum of r_t) eigenvectors of every step side by side. shrinkages: (sum of r_t,).
    ranks: r_t (T,). item_factors: the last step's. rate: eta. row_bound: L, None for no bound.
    """

    directions: Array = field(default_factory=lambda: np.zeros((0, 0)))
    shrinkages: Array = field(default_factory=lambda: np.zeros(0))
    ranks: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    rate: float = 1.0
    row_bound: float | None = None

    def personal(self, history: Ratings) -> Personal:
        offsets, residuals = self.residuals(history)
        C, Q = np.zeros((history.n_users, 0)), np.zeros((history.n_items, 0))
        stops = np.cumsum(self.ranks)
        for start, stop in zip(stops - self.ranks, stops, strict=True):
            Z = take_gradient_step(history, residuals, C, Q, self.rate)
            if self.row_bound is not None:
                Z = Z.clip_rows(Q, self.row_bound * INSIDE)
            directions = self.directions[:, start:stop]
            C, Q = Z.map_to(Q, directions, self.shrinkages[start:stop]), directions
        return self.with_loadings(history, Personal(offsets, C.astype(np.float32)))

    def extend(self, directions: Array, shrink: Array) -> "GradientModel":
        """The model after one more step. directions: (m, r_t). shrink: (r_t,)."""
        all_directions = np.hstack([self.directions, directions])
        shrinkages, ranks = np.append(self.shrinkages, shrink), np.append(self.ranks, len(shrink))
        steps: Any = {"directions": all_directions, "shrinkages": shrinkages, "ranks": ranks}
        return replace(self, item_factors=directions.astype(np.float32), **steps)


def first_iterate(block: Block, model: GradientModel) -> Iterate:
    """The rows after a step from Y = 0, clipped."""
    rows: Ratings = block.rows
    return _clipped_step(block, model, np.zeros((rows.n_users, 0)), np.zeros((rows.n_items, 0)))


def next_iterate(
    block: Block, Z: Iterate, model: GradientModel, Q: Array, directions: Array, shrink: Array
) -> Iterate:
    """The rows after a projection to new directions and one more step, clipped."""
    return _clipped_step(block, model, Z.map_to(Q, directions, shrink), directions)


def _clipped_step(block: Block, model: GradientModel, C: Array, Q: Array) -> Iterate:
    """The rows after a step from Y_i = C_i Q^T.

    If they have a bound, they are clipped far enough below it that rounding cannot exceed it.
    """
    rows: Ratings = block.rows
    Z = take_gradient_step(rows, model.residuals(rows)[1], C, Q, model.rate)
    if model.row_bound is None:
        return Z
    L = model.row_bound
    slack = _rounding(np.diff(rows.by_user), C.shape[1], L, model.rate, block.n_units)
    return Z.clip_rows(Q, np.maximum(L * INSIDE - slack, 0.0)).round_to_grid(
        L, model.rate, block.n_units
    )


def _rounding(counts: Array, r: int, bound: float, rate: float, n_units: int) -> Array:
    """How far rounding may lengthen rows (n_users,) of so many ratings and r coefficients.

    It is less than one step of the grid for each number, plus the float64 error of joining the
    three sums. docs/PRIVACY.md, "Second moment of the iterate".
    """
    of_C = grid_step(_most_coefficient(bound), n_units, factors=2)
    of_S = grid_step(_most_residual(bound, rate), n_units, factors=2)
    joining = 44 * max(1.0, rate**2) * r**1.5 * n_units * 2.0**-53 * bound if of_C else 0.0
    return np.asarray(math.sqrt(r) * of_C + np.sqrt(counts) * of_S + joining)


@dataclass(frozen=True)
class IterateMoment(RowMoment):
    """sum_i z_i z_i^T (m, m) of rows z_i = Q c_i + s_i of norm at most `bound`.

    docs/PRIVACY.md, "Second moment of the iterate".
    """

    name: ClassVar[str] = "iterate's second moment"

    def empty(self, shape: Shape, Z: Held, Q: Array) -> Totals:  # type: ignore[override]
        """The sums of s s^T, s c^T and c c^T over no rows."""
        m, r = Q.shape
        return np.zeros((m, m)), np.zeros((m, r)), np.zeros((r, r))

    def add(self, block: Block, totals: Totals, Z: Iterate, Q: Array) -> None:  # type: ignore[override]
        add_second_moment(Z.S.indptr, Z.S.indices, Z.S.data, totals[0])
        if Q.shape[1]:
            totals[1][:] += Z.S.T @ Z.C
            totals[2][:] += Z.C.T @ Z.C

    def assemble(self, totals: Totals, Z: Held, Q: Array) -> Array:
        M = mirrored(totals[0])
        if Q.shape[1]:
            cross = totals[1] @ Q.T
            M = M + cross + cross.T + Q @ totals[2] @ Q.T
        return np.asarray((M + M.T) / 2)
