"""What every non-negative factorisation fits: components, and the local step for coefficients."""

from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.base import INSIDE, Algorithm, Model, Parameters
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import on_grid
from dpmf_core.data.samples import Matrix, Samples, SampleShape, by_row, is_sparse
from dpmf_core.privacy import Budget

PUBLIC_FACTS = ("the number of samples", "the features")
MOST_CELLS = 250_000_000  # dense float32 residuals: 1 GB


@dataclass(frozen=True)
class Own:
    """What each unit computes from its own row and never shares.

    Attributes
    ----------
    coefficients : (n_samples, K)
    outliers : (n_samples, D) or None
    """

    coefficients: Array
    outliers: Array | None = None


@dataclass(frozen=True, repr=False)
class Components(Model):
    """The shared side of a fitted factorisation.

    A row of norm 1 is explained as h basis + r, with h >= 0 and r sparse.

    Attributes
    ----------
    basis : (n_components, n_features)
        Entries are at least 0, and rows lie in the unit ball.
    threshold : float or None
        The threshold of outliers; None for no outliers.
    limit : float
        The largest size of an outlier.
    passes : int
        Updates of each row's coefficients and outliers; used only with a threshold.
    """

    basis: Array
    threshold: float | None = None
    limit: float = 1.0
    passes: int = 30

    def personal(self, samples: Samples) -> Own:
        """Every unit's own side, in units of its norm: a row is about norm x (h basis + r)."""
        from dpmf_core.kernels import nmf_loops as kernel  # loaded when first needed

        if self.threshold is not None:
            X = dense(samples)
            W = self.basis.astype(np.float32)
            bounds = self.threshold, self.limit
            return Own(*kernel.robust_coefficients(X, W, *bounds, passes=self.passes))
        return Own(
            coefficients(samples.scaled(samples.X), self.basis).astype(np.float32)
        )


def coefficients(X: Matrix, basis: Array, start: Array | None = None) -> Array:
    """Non-negative least squares of rows of norm at most 1 on the basis, float64 (n, K)."""
    from dpmf_core.kernels import nmf_loops as kernel

    W = basis.astype(np.float64)
    # a row's products are exact, so its digits do not depend on the number of rows
    products = matrix_on_grid(X, 2, factors=2) @ on_grid(W, 1.0, 2, factors=2).T
    return kernel.coefficients(np.asarray(products), W @ W.T, start)


def matrix_on_grid(X: Matrix, n_units: int, factors: int = 1) -> Matrix:
    """`on_grid` of a dense or sparse matrix with magnitudes up to 1."""
    if not is_sparse(X):
        return on_grid(X, 1.0, n_units, factors)
    from scipy.sparse import csr_array  # loaded when first needed

    values = on_grid(X.data, 1.0, n_units, factors)
    return csr_array((values, X.indices, X.indptr), shape=X.shape)


def dense(samples: Samples) -> Array:
    """Rows of norm 1 as a dense array, float32.

    Raises
    ------
    BadInput
        If the array would exceed 1 GB.
    """
    n, d = samples.X.shape
    if n * d > MOST_CELLS:
        raise BadInput(
            f"Outliers need the residual of every cell: {n:,} x {d:,} is more than"
            f" {MOST_CELLS:,} cells. Use fewer samples or words, or outliers=off."
        )
    X = samples.scaled(samples.X)
    return np.asarray(X.toarray() if is_sparse(X) else X)


def unit_rows(samples: Samples) -> Matrix:
    """The rows that enter a release, float64, of norm just below 1; empty rows stay empty."""
    return samples.scaled(samples.X, np.float64) * INSIDE


def weight_rows(samples: Samples, rows: Matrix, power: float = 1.0) -> Matrix:
    """Rows as they enter a sum over all: multiplied by a power of their weights.

    The power is 1/2 for rows that are multiplied by themselves. Rows without weights are returned
    unchanged.

    The weights of a person's rows are 1 / (number of rows) and add up to 1. So |sum w x| <= max
    |x|, |sum w x x^T| <= max |x|^2 and |sum w h x^T| <= max |h| |x|. One person with any number of
    rows moves a sum by no more than one row's bound. One row does not determine the weight; all
    rows of a person together do.
    """
    if samples.weights is None:
        return rows
    return by_row(rows, samples.weights**power, np.float64)


class Factorisation(Algorithm):
    """A non-negative factorisation of samples."""

    task = "samples"
    model_type = Components

    @classmethod
    def recommend(
        cls, shape: SampleShape, budget: Budget | None, parameters: Parameters
    ) -> Parameters:
        """At most as many components as features."""
        settings = super().recommend(shape, budget, parameters)
        return {"n_components": cls.most_components(shape)} | settings

    @classmethod
    def most_components(cls, shape: SampleShape) -> int:
        """The default number of components, if there are as many features and samples."""
        default = int(cls.model_fields["n_components"].default)
        return max(1, min(default, shape.n_features, shape.n_samples))

    def check(self, shape: SampleShape) -> None:
        K = getattr(self, "n_components", 1)
        if K > shape.n_features:
            raise BadInput(
                f"The 'n_components' parameter of {self.title} must be at most the number of"
                f" features, {shape.n_features}. Got {K}."
            )
