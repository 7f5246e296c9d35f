"""Projected gradient descent on the nuclear-norm ball, and its private form.

This is Jain, Thakkar & Thakurta 2018 [J18], App. E, read as follows. Z = Y - eta P_Omega(Y - Y*),
and rows of Z are clipped to norm L. The second moment Z^T Z is released (sensitivity L^2 in
Frobenius norm). Its eigenvectors Q and the square roots s of its eigenvalues stand for the right
singular pairs of Z. Projecting s on the l1 ball of radius kappa gives s', and every user maps their
own row: Y_i = Z_i Q diag(s'/s) Q^T. Y is kept as n x r coefficients of the r directions that
survive, so no n x m matrix is held. docs/PRIVACY.md, "Second moment of the iterate".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from dpmf_core import kernels
from dpmf_core.algorithms.base import (
    INSIDE,
    Algorithm,
    Parameters,
    Personal,
    Recommender,
    Streams,
    fits_in_memory,
)
from dpmf_core.algorithms.baselines import ProvenForUsers
from dpmf_core.algorithms.exact_sums import damped_biases, item_counts
from dpmf_core.algorithms.item_moments import (
    RowBound,
    RowMoment,
    nuclear_norm_field,
    source_level,
)
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import LEAST, choice, parameter
from dpmf_core.base.arrays import Array
from dpmf_core.curator import (
    Block,
    Curator,
    Held,
    OpenCurator,
    Statistic,
    Totals,
    on_grid,
)
from dpmf_core.curator.grid import grid_step
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.sparse_moments import add_second_moment, mirrored
from dpmf_core.privacy import Budget, Event, Repeat


@dataclass(frozen=True)
class Iterate:
    """Users' rows Z_i = C_i Q^T + S_i.

    Attributes
    ----------
    C : (n_users, r)
        Coefficients of shared orthonormal directions Q (n_items, r).
    S : (n_users, n_items)
        It is 0 outside the observed cells.
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
        """Round to the grid.

        Parameters
        ----------
        bound : float
            L, the bound of rows.
        rate : float
            eta of the step that led to S.
        n_units : int
        """
        C = on_grid(self.C, _most_coefficient(bound), n_units, factors=2)
        cells = on_grid(self.S.data, _most_residual(bound, rate), n_units, factors=2)
        return Iterate(C, _with_values(self.S, cells))

    def map_to(self, Q: Array, directions: Array, shrink: Array) -> Array:
        """Coefficients (n_users, k) of Y_i = Z_i V diag(shrink) V^T.

        Parameters
        ----------
        Q : (n_items, r)
            The directions of this iterate.
        directions : (n_items, k)
            V.
        shrink : (k,)
            At most 1.
        """
        # exact: C also has at most 25 bits
        turn = on_grid(Q.T @ directions, 1.0, 2, factors=2)
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


def take_gradient_step(
    rows: Ratings, target: Array, C: Array, Q: Array, rate: float
) -> Iterate:
    """Z = Y - eta P_Omega(Y - Y*) of Y_i = C_i Q^T.

    Parameters
    ----------
    rows : Ratings
        The observed cells Omega.
    target : (n_ratings,)
        Y* on the observed cells.
    C : (n_users, r)
    Q : (n_items, r)
    rate : float
        eta.
    """
    predictions: Array = np.zeros(len(rows))
    if C.shape[1]:
        predictions = kernels.predict_pairs(
            C, Q, rows.users, rows.items, dtype=np.float64
        )
    S = rate * (target.astype(np.float64) - predictions)
    return Iterate(C, rows.matrix(S))


@dataclass(frozen=True, repr=False)
class GradientModel(Recommender):
    """The directions of all steps, from which a user repeats them.

    Attributes
    ----------
    item_factors : (m, r_T)
        Those of the last step.
    directions : (m, sum of r_t)
        Eigenvectors of every step, side by side.
    shrinkages : (sum of r_t,)
    ranks : (T,)
        r_t.
    rate : float
        eta.
    row_bound : float or None
        L; None for no bound.
    """

    directions: Array = field(default_factory=lambda: np.zeros((0, 0)))
    shrinkages: Array = field(default_factory=lambda: np.zeros(0))
    ranks: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    rate: float = 1.0
    row_bound: float | None = None

    def personal(self, history: Ratings) -> Personal:
        offsets, residuals = self.residuals(history)
        C = np.zeros((history.n_users, 0))
        Q = np.zeros((history.n_items, 0))
        stops = np.cumsum(self.ranks)
        for start, stop in zip(stops - self.ranks, stops, strict=True):
            Z = take_gradient_step(history, residuals, C, Q, self.rate)
            if self.row_bound is not None:
                Z = Z.clip_rows(Q, self.row_bound * INSIDE)
            directions = self.directions[:, start:stop]
            C = Z.map_to(Q, directions, self.shrinkages[start:stop])
            Q = directions
        return self.with_loadings(history, Personal(offsets, C.astype(np.float32)))

    def extend(self, directions: Array, shrink: Array) -> "GradientModel":
        """The model after one more step.

        Parameters
        ----------
        directions : (m, r_t)
        shrink : (r_t,)
        """
        return replace(
            self,
            item_factors=directions.astype(np.float32),
            directions=np.hstack([self.directions, directions]),
            shrinkages=np.append(self.shrinkages, shrink),
            ranks=np.append(self.ranks, len(shrink)),
        )


def first_iterate(block: Block, model: GradientModel) -> Iterate:
    """The rows after a step from Y = 0, clipped."""
    rows: Ratings = block.rows
    return _clipped_step(
        block, model, np.zeros((rows.n_users, 0)), np.zeros((rows.n_items, 0))
    )


def next_iterate(
    block: Block,
    Z: Iterate,
    model: GradientModel,
    Q: Array,
    directions: Array,
    shrink: Array,
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
    slack = _rounding(rows.user_counts, C.shape[1], L, model.rate, block.n_units)
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
    if of_C:
        joining = 44 * max(1.0, rate**2) * r**1.5 * n_units * 2.0**-53 * bound
    else:
        joining = 0.0
    return np.asarray(math.sqrt(r) * of_C + np.sqrt(counts) * of_S + joining)


@dataclass(frozen=True)
class IterateMoment(RowMoment):
    """sum_i z_i z_i^T (m, m) of rows z_i = Q c_i + s_i of norm at most `bound`.

    docs/PRIVACY.md, "Second moment of the iterate".
    """

    name = "iterate's second moment"

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
        return (M + M.T) / 2


def onto_l1_ball(s: Array, radius: float) -> Array:
    """The projection of s >= 0 onto {x >= 0, sum x <= radius} (Duchi et al. 2008)."""
    if s.sum() <= radius:
        return s
    descending = np.sort(s)[::-1]
    thresholds = (np.cumsum(descending) - radius) / np.arange(1, len(s) + 1)
    theta = thresholds[np.flatnonzero(descending > thresholds)[-1]]
    return np.asarray(np.maximum(s - theta, 0.0))


def project_singular_values(moment: Array, radius: float) -> tuple[Array, Array]:
    """Project a second moment (m, m) on the nuclear-norm ball.

    Returns
    -------
    directions : (m, r)
        The directions that survive.
    shares : (r,)
        The share of its singular value that each keeps.
    """
    squares, Q = np.linalg.eigh(moment)
    s = np.sqrt(np.maximum(squares, 0.0))
    projection = onto_l1_ball(s, radius)
    alive = projection > 1e-9 * max(float(s[-1]), 1e-300)
    return Q[:, alive], projection[alive] / s[alive]


class PGD(Algorithm):
    """Projected gradient descent on the nuclear-norm ball, without privacy."""

    id = "pgd"
    version = 2
    uses_item_features = True
    title = "Projected gradient"
    words = "gradient steps, each projected onto the matrices of bounded nuclear norm"
    source = "Cai, Candès & Shen 2010; Jain, Thakkar & Thakurta 2018, App. E"
    model_type = GradientModel

    steps: int = parameter(
        20,
        "steps T",
        "gradient steps; each costs budget in the private version",
        (1, 200),
    )
    nuclear_norm: float = nuclear_norm_field(0.4)
    step_size: float = parameter(
        1.0,
        "step size η",
        "1 fills unobserved entries with the last step's prediction",
        (LEAST, 100),
    )
    biases: bool = choice(
        True, "item offsets before the first step; a user's own mean is always local"
    )
    local_columns: bool = LOCAL_COLUMNS

    def check(self, shape: Shape) -> None:
        fits_in_memory(self, shape)

    def _kappa(self, shape: Shape) -> float:
        return (
            self.nuclear_norm
            * shape.half_range
            * math.sqrt(shape.n_users * shape.n_items)
        )

    def _bound(self, shape: Shape) -> float:
        return math.inf

    def _start(self, curator: Curator) -> tuple[GradientModel, Array | None]:
        """The model before the first step, and counts (n_items,) if it may know them."""
        empty = self._empty(curator.shape)
        if not self.biases:
            return empty, None
        assert isinstance(curator, OpenCurator)
        centre, offsets = damped_biases(curator.total, curator.shape, 5.0)
        model = replace(
            empty,
            centre=centre,
            item_offsets=offsets,
            user_damping=5.0,
        )
        return model, item_counts(curator.total)

    def _empty(self, shape: Shape) -> GradientModel:
        bound = self._bound(shape)
        return GradientModel.of_means(
            shape,
            directions=np.zeros((shape.n_items, 0)),
            rate=self.step_size,
            row_bound=bound if math.isfinite(bound) else None,
        )

    def _moment(self, curator: Curator, rows: Held, Q: Array) -> Array:
        """Z^T Z (n_items, n_items)."""
        assert isinstance(curator, OpenCurator)
        return curator.total(IterateMoment(math.inf), rows, Q)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[GradientModel]:
        shape: Shape = curator.shape
        start_model, counts = self._start(curator)
        model = start_model
        Q = np.zeros((shape.n_items, 0))
        rows = curator.hold(first_iterate, start_model)
        for step in range(self.steps):
            directions, shrink = project_singular_values(
                self._moment(curator, rows, Q), self._kappa(shape)
            )
            model = model.extend(directions, shrink)
            if self.local_columns:
                yield with_local_columns(model, counts, shape)
            else:
                yield model
            if step + 1 < self.steps:
                rows = curator.hold(
                    next_iterate, rows, start_model, Q, directions, shrink
                )
                Q = directions


class PrivatePGD(ProvenForUsers, PGD):
    """Projected gradient steps from noisy moments; one user moves Z^T Z by at most L^2."""

    id = "private-pgd"
    whole_triangle = True
    colour = "brown"
    marker = "cross"
    training_cost = 14
    title = "Private projected gradient"
    words = "projected gradient steps through noisy second moments; each user maps their own row"
    source = "Jain, Thakkar & Thakurta 2018, App. E"
    version = 4
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {
        "steps": 20,
        "row_clip": 10.0,
        "nuclear_norm": 0.3,
        "step_size": 1.0,
    }

    steps: int = parameter(5, "steps T", "gradient steps; each costs budget", (1, 50))
    step_size: float = parameter(
        3.0,
        "step size η",
        "1 fills unobserved entries with the last step's prediction",
        (LEAST, 100),
    )
    biases: bool = choice(
        False,
        "not available in the private version: each user's own mean is subtracted",
    )
    row_clip: float = parameter(
        0.1,
        "row clip L",
        "largest L2 norm of a user's row of Z, in half-ranges of the rating scale times √m",
        (LEAST, 10),
    )
    source_bound: RowBound = parameter(
        "2L",
        "row clip in the source's L",
        "with --calibration source only: 2L, which residuals cannot exceed and which the"
        " source's noise assumes; or L, with noise four times as large",
    )

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """More steps, as far as users' signal n mu per item allows."""
        return {
            "steps": int(
                np.clip(
                    round(math.sqrt(shape.n_users * budget.mu / shape.n_items)), 2, 8
                )
            )
        }

    def _bound(self, shape: Shape) -> float:
        return self.row_clip * shape.half_range * math.sqrt(shape.n_items)

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return (IterateMoment(self._bound(shape)),)

    def plan(self, shape: Shape, level: float) -> Event:
        (moment,) = self.statistics(shape)
        return Repeat(moment.event(level * math.sqrt(self.steps)), self.steps)

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """sigma^2 = 64 L^4 T ln(1/delta) / eps^2 [J18], in units of our sensitivity."""
        return source_level(budget, self.source_bound)

    def _start(self, curator: Curator) -> tuple[GradientModel, None]:
        return self._empty(curator.shape), None

    def _moment(self, curator: Curator, rows: Held, Q: Array) -> Array:
        return curator.release(IterateMoment(self._bound(curator.shape)), rows, Q)
