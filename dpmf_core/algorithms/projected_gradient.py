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
from dataclasses import replace
from typing import ClassVar

import numpy as np

from dpmf_core.algorithms.base import (
    Algorithm,
    Array,
    Parameters,
    PrivateAlgorithm,
    Streams,
    fits_in_memory,
)
from dpmf_core.algorithms.baselines import proven_for_users
from dpmf_core.algorithms.exact_sums import damped_biases, item_counts
from dpmf_core.algorithms.iterates import GradientModel, IterateMoment, first_iterate, next_iterate
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import LEAST, choice, parameter
from dpmf_core.algorithms.row_moments import (
    RowBound,
    nuclear_norm_field,
    row_bound_field,
    source_level,
)
from dpmf_core.curator import Curator, Held, OpenCurator, Statistic
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Budget, Event, Repeat


def onto_l1_ball(s: Array, radius: float) -> Array:
    """The projection of s >= 0 onto {x >= 0, sum x <= radius} (Duchi et al. 2008)."""
    if s.sum() <= radius:
        return np.asarray(s)
    descending = np.sort(s)[::-1]
    thresholds = (np.cumsum(descending) - radius) / np.arange(1, len(s) + 1)
    theta = thresholds[np.flatnonzero(descending > thresholds)[-1]]
    return np.asarray(np.maximum(s - theta, 0.0))


def project_singular_values(moment: Array, radius: float) -> tuple[Array, Array]:
    """Project a second moment (m, m) on the nuclear-norm ball.

    Returns the directions (m, r) that survive, and the share of its singular value that each keeps
    (r,).
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
        20, "steps T", "gradient steps; each costs budget in the private version", (1, 200)
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
        return self.nuclear_norm * shape.half_range * math.sqrt(shape.n_users * shape.n_items)

    def _bound(self, shape: Shape) -> float:
        return math.inf

    def _start(self, curator: Curator) -> tuple[GradientModel, Array | None]:
        """The model before the first step, and counts (n_items,) if it may know them."""
        empty = self._empty(curator.shape)
        if not self.biases:
            return empty, None
        assert isinstance(curator, OpenCurator)
        centre, offsets = damped_biases(curator.total, curator.shape, 5.0)
        model = replace(empty, centre=centre, item_offsets=offsets, user_damping=5.0)
        return model, item_counts(curator.total)

    def _empty(self, shape: Shape) -> GradientModel:
        bound, directions = self._bound(shape), np.zeros((shape.n_items, 0))
        row_bound = bound if math.isfinite(bound) else None
        how = {"rate": self.step_size, "row_bound": row_bound}
        return GradientModel.of_means(shape, directions=directions, **how)

    def _moment(self, curator: Curator, rows: Held, Q: Array) -> Array:
        """Z^T Z (n_items, n_items)."""
        assert isinstance(curator, OpenCurator)
        return curator.total(IterateMoment(math.inf), rows, Q)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[GradientModel]:
        shape: Shape = curator.shape
        start_model, counts = self._start(curator)
        model, Q = start_model, np.zeros((shape.n_items, 0))
        rows = curator.hold(first_iterate, start_model)
        for step in range(self.steps):
            directions, shrink = project_singular_values(
                self._moment(curator, rows, Q), self._kappa(shape)
            )
            model = model.extend(directions, shrink)
            yield with_local_columns(model, counts, shape) if self.local_columns else model
            if step + 1 < self.steps:
                rows = curator.hold(next_iterate, rows, start_model, Q, directions, shrink)
                Q = directions


class PrivatePGD(PrivateAlgorithm, PGD):
    """Projected gradient steps from noisy moments; one user moves Z^T Z by at most L^2."""

    id = "private-pgd"
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
        False, "not available in the private version: each user's own mean is subtracted"
    )
    row_clip: float = parameter(
        0.1,
        "row clip L",
        "largest L2 norm of a user's row of Z, in half-ranges of the rating scale times √m",
        (LEAST, 10),
    )
    source_bound: RowBound = row_bound_field()

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, parameters: Parameters) -> Parameters:
        """More steps, as far as users' signal n mu per item allows."""
        if budget is None:
            return {}
        return {
            "steps": int(np.clip(round(math.sqrt(shape.n_users * budget.mu / shape.n_items)), 2, 8))
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

    guarantee = proven_for_users

    def _start(self, curator: Curator) -> tuple[GradientModel, None]:
        return self._empty(curator.shape), None

    def _moment(self, curator: Curator, rows: Held, Q: Array) -> Array:
        return curator.release(IterateMoment(self._bound(curator.shape)), rows, Q)
