"""Sums over samples that private non-negative factorisations release.

The unit is a row, or a person with all their rows, which enter with weights (`weight_rows`).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpmf_core.algorithms.base import clip_factors, unit_factors
from dpmf_core.algorithms.components import (
    Components,
    dense,
    matrix_on_grid,
    unit_rows,
    weight_rows,
)
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Block, Held, Statistic, Totals, on_grid
from dpmf_core.data.samples import Matrix, SampleShape, by_row, energies, is_sparse

START = "second moment of the samples"


def unit_samples(block: Block) -> Matrix:
    """Rows of norm at most 1, on the grid for products, which is coarser than one for sums."""
    return matrix_on_grid(unit_rows(block.rows), block.n_units, factors=2)


def residual_samples(block: Block, centre: Array, reach: float) -> Matrix:
    """Dense rows minus their part along the unit vector `centre` (n_features,).

    They are in units of `reach`, clipped to norm 1, and on the grid for products.
    """
    rows = unit_rows(block.rows)
    X = rows.toarray() if is_sparse(rows) else rows
    # a row's products are exact, so its digits do not depend on the number of rows
    along = on_grid(X, 1.0, 2, factors=2) @ on_grid(centre, 1.0, 2, factors=2)
    residuals = (X - np.outer(along, centre)) / reach
    return on_grid(clip_norms(residuals, 1.0), 1.0, block.n_units, factors=2)


@dataclass(frozen=True)
class SampleSum(Statistic):
    """sum of x (n_features,) over rows of norm at most 1 without negative entries.

    A row adds a vector of norm at most 1, and so do a person's weighted rows together.
    docs/PRIVACY.md, "Sum of the samples".
    """

    name = "sum of the samples"
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor = math.sqrt(2)

    def add(self, block: Block, totals: Totals, rows: Matrix) -> None:
        """Add rows of `unit_samples`."""
        if block.rows.weights is not None:
            rows = matrix_on_grid(weight_rows(block.rows, rows), block.n_units)
        totals[0][:] += np.asarray(rows.sum(axis=0)).ravel()


@dataclass(frozen=True)
class SampleMoment(Statistic):
    """sum of x x^T (d, d) over rows of norm at most 1, of the `kept_features` or of all.

    x is a sample of norm 1, or its residual about a released row, in released units and clipped to
    1. A row adds a matrix of Frobenius norm ||x||^2 <= 1, and so do a person's weighted rows
    together. Replaced by another: ||A - B||_F^2 <= ||A||_F^2 + ||B||_F^2, because both are positive
    semi-definite. docs/PRIVACY.md, "Second moment of the samples".
    """

    name = START
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor = math.sqrt(2)
    symmetric = True

    def empty(
        self, shape: SampleShape, rows: Held, kept_features: Array | None
    ) -> Totals:
        if kept_features is None:
            d = shape.n_features
        else:
            d = len(kept_features)
        return (np.zeros((d, d)),)

    def add(
        self, block: Block, totals: Totals, rows: Matrix, kept_features: Array | None
    ) -> None:
        """Add rows of `unit_samples`, or of `residual_samples` of all features."""
        if kept_features is None:
            X = rows
        else:
            X = renormalise(columns(rows, kept_features))
        if kept_features is not None or block.rows.weights is not None:
            roots = weight_rows(block.rows, X, 0.5)
            X = matrix_on_grid(roots, block.n_units, factors=2)
        product = X.T @ X
        totals[0][:] += product.toarray() if is_sparse(product) else product

    def assemble(
        self, totals: Totals, rows: Held, kept_features: Array | None
    ) -> Array:
        return symmetrise(totals[0])


def columns(X: Matrix, kept_features: Array) -> Matrix:
    """Some columns; rows of a dense matrix stay contiguous."""
    if is_sparse(X):
        return X[:, kept_features]
    return np.take(X, kept_features, axis=1)


def renormalise(X: Matrix) -> Matrix:
    """Rows back to norm just below 1 after features were left out; each row does it alone."""
    norms = np.sqrt(energies(X))
    return by_row(X, unit_factors(norms), np.float64)


def symmetrise(product: Array) -> Array:
    return (product + product.T) / 2


# ---- coefficients on shared components -----------------------------------------------------------


@dataclass(frozen=True)
class LocalSides:
    """What rows compute on shared components.

    Coefficients (n_rows, K) have norm at most the clip. If outliers are separated, the rows minus
    their outliers, clipped to norm 1, are a second part.
    """

    coefficients: Array
    clean_rows: Array | None = None


def local_sides(block: Block, model: Components, clip: float) -> LocalSides:
    """Every row's own side on these components; cleaned rows are on the grid."""
    own = model.personal(block.rows)
    H = clip_norms(own.coefficients.astype(np.float64), clip)
    if own.outliers is None:
        return LocalSides(H)
    clean_rows = clip_norms(dense(block.rows).astype(np.float64) - own.outliers, 1.0)
    return LocalSides(H, on_grid(clean_rows, 1.0, block.n_units, factors=2))


def clip_norms(rows: Array, bound: float) -> Array:
    """Clip rows to a norm just below `bound`."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * clip_factors(norms, bound))


@dataclass(frozen=True)
class CoefficientMoment(Statistic):
    """sum of h h^T (K, K) of coefficients of norm at most `clip`.

    A row adds a matrix of Frobenius norm ||h||^2 <= clip^2, and so do a person's weighted rows
    together. Replaced by another: ||A - B||_F^2 <= ||A||_F^2 + ||B||_F^2, because both are positive
    semi-definite. docs/PRIVACY.md, "Second moment of the coefficients".
    """

    clip: float
    name = "second moment of the coefficients"
    replace_one_factor = math.sqrt(2)
    symmetric = True

    @property
    def sensitivity(self) -> float:
        return self.clip * self.clip

    def empty(self, shape: SampleShape, sides: Held, K: int) -> Totals:
        return (np.zeros((K, K)),)

    def add(self, block: Block, totals: Totals, sides: LocalSides, K: int) -> None:
        roots = weight_rows(block.rows, sides.coefficients, 0.5)
        H = on_grid(roots, self.clip, block.n_units, factors=2)
        totals[0][:] += H.T @ H

    def assemble(self, totals: Totals, sides: Held, K: int) -> Array:
        return symmetrise(totals[0])


@dataclass(frozen=True)
class CoefficientProducts(Statistic):
    """sum of h x^T (K, n_features), ||h|| <= `clip` and ||x|| <= 1.

    x is a row of `rows`, or the cleaned one. A row adds a matrix of Frobenius norm ||h|| ||x|| <=
    clip without negative entries, and so do a person's weighted rows together.
    docs/PRIVACY.md, "Coefficients times samples".
    """

    clip: float
    name = "coefficients times samples"
    replace_one_factor = math.sqrt(2)

    @property
    def sensitivity(self) -> float:
        return self.clip

    def empty(
        self, shape: SampleShape, sides: Held, K: int, rows: Held | None
    ) -> Totals:
        return (np.zeros((K, shape.n_features)),)

    def add(
        self,
        block: Block,
        totals: Totals,
        sides: LocalSides,
        K: int,
        rows: Matrix | None,
    ) -> None:
        weights = weight_rows(block.rows, sides.coefficients)
        H = on_grid(weights, self.clip, block.n_units, factors=2)
        if sides.clean_rows is None:
            X: Any = rows
        else:
            X = sides.clean_rows
        totals[0][:] += np.asarray((X.T @ H).T)


@dataclass(frozen=True)
class CleanedProducts(CoefficientProducts):
    """sum of h x^T of rows minus their outliers, which may have negative entries.

    docs/PRIVACY.md, "Coefficients times samples".
    """

    replace_one_factor = 2.0
