"""Frank-Wolfe on the nuclear-norm ball: Jaggi & Sulovsky 2010; Jain, Thakkar & Thakurta 2018.

Y starts at 0. Each step needs one thing from all users: the top right singular vector v of their
residuals A, and its singular value l. The rest is local: u_i = <A_i, v> / l and Y_i <- Pi_L((1 -
eta) Y_i - eta kappa u_i v^T). So the shared model is the T vectors v_t and the l_t, Y is never held
in full, and users compute their rows by repeating the steps (joint DP).
"""

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from dpmf_core.algorithms.base import INSIDE, Algorithm, Personal, Recommender, Streams
from dpmf_core.algorithms.exact_sums import damped_biases, item_counts
from dpmf_core.algorithms.item_moments import RowMoment, nuclear_norm_field
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import choice, parameter
from dpmf_core.algorithms.svd import clipped_rows
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
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.kernels.replay import Rows, replay


@dataclass(frozen=True, repr=False)
class FrankWolfeModel(Recommender):
    """The shared directions of all steps, from which a user repeats them.

    Attributes
    ----------
    item_factors : (n_items, T)
        The directions v_t.
    inverse_singular : (T,)
        1 / l_t.
    rates : (T,)
        eta_t.
    kappa : float
        The nuclear norm.
    row_bound : float or None
        The bound of residuals and iterates; None for no bound.
    of_ratings : bool
        Whether `row_bound` is the source's L, which bounds rows of ratings and of iterates.
        Residuals are then within 2 L.
    refit : bool
        Whether a user's residuals are finally regressed on all v_t (ridge, offset fitted again).
        Otherwise the coefficients of the steps are used.
    partial : bool
        Whether only some items have factors. Then only ratings of these items take the steps.
    """

    inverse_singular: Array = field(default_factory=lambda: np.zeros(0))
    rates: Array = field(default_factory=lambda: np.zeros(0))
    kappa: float = 0.0
    row_bound: float | None = None
    of_ratings: bool = False
    refit: bool = False
    partial: bool = False

    def rows(self, ratings: Ratings, residuals: Array) -> Rows:
        """Users' targets (n_ratings,), within their bound, and iterates of 0."""
        if self.row_bound is None:
            bound = math.inf
        else:
            bound = self.row_bound
        if not self.of_ratings:
            return Rows(ratings.by_user, ratings.items, residuals, bound, bound)
        targets = clipped_rows(ratings, residuals, bound)
        return Rows(ratings.by_user, ratings.items, targets, bound, 2 * bound)

    def personal(self, history: Ratings) -> Personal:
        if self.refit:
            return super().personal(history)
        offsets, residuals = self.residuals(history)
        history_part = history
        if self.partial:
            frequent = np.asarray(self.item_factors.any(axis=1))[history.items]
            history_part = history.only(frequent)
            residuals = residuals[frequent]
        rows = self.rows(history_part, residuals)
        factors = replay(
            rows, self.item_factors, self.inverse_singular, self.rates, self.kappa
        )
        return self.with_loadings(
            history, Personal(offsets, factors.astype(np.float32))
        )


# ---- what users hold and add ---------------------------------------------------------------------


def starting_rows(block: Block, model: FrankWolfeModel, kept_items: Array) -> Rows:
    """Users' targets on the kept items, numbered as in `kept_items` (ascending ids); iterates 0."""
    rows: Ratings = block.rows
    new = np.full(rows.n_items, -1)
    new[kept_items] = np.arange(len(kept_items))
    mask = new[rows.items] >= 0
    targets = model.rows(rows.only(mask), model.residuals(rows)[1][mask])
    return targets.of_items(new)


def advanced_rows(
    block: Block, rows: Rows, v: Array, inverse: float, rate: float, kappa: float
) -> Rows:
    """The rows after a step along v (m,)."""
    new = copy.copy(rows)
    new.iterate = rows.iterate.copy()
    new.advance(v, inverse, rate, kappa)
    return new


def residual_rows(block: Block, rows: Rows, m: int) -> csr_array:
    """The residual rows A (n_users, m), within their bound and on the grid."""
    entries = on_grid(rows.residuals(), rows.residual_bound, block.n_units, factors=2)
    return csr_array(
        (entries, rows.items, rows.indptr), shape=(len(rows.indptr) - 1, m)
    )


@dataclass(frozen=True)
class ResidualMoment(RowMoment):
    """A^T A (m, m) of users' residuals on m items, rows of norm at most `bound`.

    docs/PRIVACY.md, "Residual second moment".
    """

    name = "residual second moment"


@dataclass(frozen=True)
class ResidualProduct(Statistic):
    """The sum of f <a, v> a (m,) over the same rows, for a unit v.

    f <= 1 keeps the norm of a user's contribution within `clip` bound^2. At clip 1, f is always 1,
    so the sum is A^T A v. docs/PRIVACY.md, "Residual second moment times vector" and Lemma 4.
    """

    bound: float
    clip: float = 1.0
    name = "residual second moment times vector"

    @property
    def sensitivity(self) -> float:
        return self.clip * self.bound**2

    @property
    def replace_one_factor(self) -> float:  # type: ignore[override]
        c2 = self.clip**2
        if 2 * c2 <= 1:
            return 2 * math.sqrt(1 - c2)
        return 1 / self.clip

    def empty(self, shape: Shape, A: Held, v: Array) -> Totals:
        return (np.zeros(len(v)),)

    def add(self, block: Block, totals: Totals, A: csr_array, v: Array) -> None:
        products = A @ v
        if self.clip < 1:
            norms = np.sqrt(A.multiply(A).sum(axis=1))
            most = self.sensitivity * INSIDE / np.maximum(norms, 1e-300)
            products = np.clip(products, -most, most)
        totals[0][:] += A.T @ on_grid(products, self.bound, block.n_units, factors=2)


# ---- the steps -----------------------------------------------------------------------------------


class FrankWolfe(Algorithm):
    """The steps that all forms share.

    A form decides how rows are centred and bounded, and how the top singular pair is found.
    """

    model_type = FrankWolfeModel
    uses_item_features = True
    version = 4

    steps: int = parameter(
        100,
        "steps T",
        "rank-one terms; the source uses 400 without privacy, at most 50 with it",
        (1, 1000),
    )
    nuclear_norm: float = nuclear_norm_field(0.45)
    step_size: Literal["2/(t+2)", "1/T"] = parameter(
        "2/(t+2)", "step size η", "the source uses 1/T in private steps"
    )
    local_columns: bool = LOCAL_COLUMNS

    def _rates(self) -> Array:
        t = np.arange(self.steps)
        if self.step_size == "2/(t+2)":
            return 2 / (t + 2.0)
        return np.full(self.steps, 1 / self.steps)

    def _n_kept(self, shape: Shape) -> int:
        """The public number of items that have factors."""
        return shape.n_items

    def _kept_items(self, curator: Curator, rng: Streams) -> Array:
        """Ascending ids of the items that have factors."""
        return np.arange(curator.shape.n_items)

    def _empty(self, shape: Shape, **parts: Any) -> FrankWolfeModel:
        """A model without directions; by default mid-range and each user's own mean."""
        n_kept = self._n_kept(shape)
        kappa = self.nuclear_norm * shape.half_range * math.sqrt(shape.n_users * n_kept)
        partial = n_kept < shape.n_items
        return FrankWolfeModel.of_means(shape, kappa=kappa, partial=partial, **parts)

    def _start(self, curator: Curator) -> tuple[FrankWolfeModel, Array | None]:
        """The model before the first step, and counts (n_items,) if it may know them."""
        raise NotImplementedError

    def _top(
        self, curator: Curator, A: Held, m: int, rng: Streams
    ) -> tuple[Array, float]:
        """The top right singular vector (m,) of the residuals A (n_users, m), and its value."""
        raise NotImplementedError

    def fit(self, curator: Curator, rng: Streams) -> Iterator[FrankWolfeModel]:
        shape: Shape = curator.shape
        model, counts = self._start(curator)
        rates = self._rates()
        kept_items = self._kept_items(curator, rng)
        rows = curator.hold(starting_rows, model, kept_items)
        m = len(kept_items)
        V = np.zeros((shape.n_items, self.steps), np.float32)
        inverse = np.zeros(self.steps)
        for t in range(self.steps):
            v, singular = self._top(
                curator, curator.hold(residual_rows, rows, m), m, rng
            )
            V[kept_items, t] = v
            inverse[t] = 1 / singular if singular > 1e-9 else 0.0
            model = replace(
                model,
                item_factors=V[:, : t + 1].copy(),
                inverse_singular=inverse[: t + 1].copy(),
                rates=rates[: t + 1],
            )
            if self.local_columns:
                yield with_local_columns(model, counts, shape)
            else:
                yield model
            if t + 1 < self.steps:
                step = V[kept_items, t], inverse[t], rates[t], model.kappa
                rows = curator.hold(advanced_rows, rows, *step)


class FW(FrankWolfe):
    """Frank-Wolfe for the nuclear norm, without privacy: Jaggi & Sulovsky 2010."""

    id = "fw"
    title = "Frank-Wolfe"
    words = "adds one rank-one term per step, towards the best matrix of bounded nuclear norm"
    source = "Jaggi & Sulovsky 2010; Jain, Thakkar & Thakurta 2018"

    biases: bool = choice(
        True,
        "item offsets before the first step, as in the source; off: only each user's own mean is"
        " subtracted",
    )

    def _start(self, curator: Curator) -> tuple[FrankWolfeModel, Array | None]:
        if not self.biases:
            return self._empty(curator.shape), None
        assert isinstance(curator, OpenCurator)
        centre, b = damped_biases(curator.total, curator.shape, 5.0)
        model = self._empty(
            curator.shape,
            centre=centre,
            item_offsets=b,
            user_damping=5.0,
        )
        return model, item_counts(curator.total)

    def _top(
        self, curator: Curator, A: Held, m: int, rng: Streams
    ) -> tuple[Array, float]:
        assert isinstance(curator, OpenCurator)
        total = curator.total
        # a start of ones would vanish on centred rows
        start = np.sqrt(1.0 + np.arange(m))
        product = ResidualProduct(math.inf)
        if m < 3 or not total(product, A, start).any():
            squares, Q = np.linalg.eigh(total(ResidualMoment(math.inf), A, m))
        else:
            moment = LinearOperator(
                (m, m), lambda v: total(product, A, v), dtype=np.float64
            )
            squares, Q = eigsh(
                moment,
                k=1,
                which="LA",
                v0=start,
                tol=1e-12,
            )
        return Q[:, -1], math.sqrt(max(float(squares[-1]), 0.0))
