"""Non-negative factorisation without privacy: by scikit-learn, and with outliers separated.

Saha & Imtiaz 2022 [S22] write V (D x N) = W H + R with a sample in each column. Here X (N x D) ~ H
W + R, with a sample of norm 1 in each row and the components in W's rows.
"""

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from dpmf_core.algorithms import sample_statistics
from dpmf_core.algorithms.base import Streams
from dpmf_core.algorithms.components import Components, Factorisation, dense
from dpmf_core.algorithms.parameters import LEAST, parameter
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Held, OpenCurator
from dpmf_core.data.samples import Matrix
from dpmf_core.kernels import nmf_loops as kernel

MOST_FEATURES = (
    4_000  # of a second moment that is held if the rows are not in one memory
)
TOGETHER = 10  # iterations between two checks of the objective
COMPONENTS: Any = parameter(
    8, "components K", "number of components (topics)", (1, 512)
)
THRESHOLD: Any = parameter(
    0.01,
    "outlier threshold λ",
    "larger residuals count as outliers; rows have norm 1",
    (LEAST, 1),
)
LIMIT: Any = parameter(1.0, "outlier limit M", "largest outlier", (LEAST, 10))


class NMF(Factorisation):
    """scikit-learn's coordinate descent."""

    id = "nmf"
    title = "NMF"
    words = "non-negative factorisation by coordinate descent, without privacy"
    source = "Cichocki & Phan 2009; scikit-learn"

    n_components: int = COMPONENTS
    iterations: int = parameter(
        200, "iterations", "of coordinate descent, upper limit", (1, 10_000)
    )
    start: Literal["nndsvda", "nndsvd", "random"] = parameter(
        "nndsvda",
        "start",
        "non-negative parts of singular vectors, with the mean in place of zeros (nndsvda) or"
        " with zeros (nndsvd, Boutsidis & Gallopoulos 2008); or random",
    )

    @property
    def n_steps(self) -> int:
        return math.ceil(self.iterations / TOGETHER)

    def asks_sums_alone(self) -> bool:
        return True

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        if curator.has_rows:
            yield from self._descend(curator, rng)
        else:
            yield from self._alternate_by_sums(curator, rng)

    def _alternate_by_sums(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        """Solve components from two sums over rows, for rows that are not in one memory."""
        # non-negative components of norm 1: a row's coefficients are no longer than the row
        rows = curator.hold(sample_statistics.unit_samples)
        K = self.n_components
        model = Components(unit_components(self._start_by_sums(curator, rows, rng)))
        for _ in range(self.n_steps):
            sides = curator.hold(sample_statistics.local_sides, model, 1.0)
            A = curator.total(sample_statistics.CoefficientMoment(1.0), sides, K)
            B = curator.total(
                sample_statistics.CoefficientProducts(1.0), sides, K, rows
            )
            W = kernel.basis(A, B, model.basis.astype(np.float64), TOGETHER)
            model = Components(unit_components(W))
            yield model

    def _start_by_sums(self, curator: OpenCurator, rows: Held, rng: Streams) -> Array:
        """Halves of the second moment's eigenvectors if there are few features, else random."""
        K = self.n_components
        d = curator.shape.n_features
        W = rng.init.uniform(0, 1, (K, d))
        if self.start == "random" or d > MOST_FEATURES:
            return W
        moment = curator.total(sample_statistics.SampleMoment(), rows, None)
        if self.start == "nndsvd":
            least = 0.0
        else:
            least = 0.01 * W.mean() / math.sqrt(d)
        return signed_halves(moment, K, least)

    def _descend(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data = curator.rows
        X = data.scaled(data.X)
        H, W = starting_factors(
            X, self.n_components, self.start, int(rng.init.integers(2**31))
        )
        model = Components(unit_components(W))
        for step in range(self.n_steps):
            H, W, converged = descend(
                X, H, W, min(TOGETHER, self.iterations - step * TOGETHER)
            )
            model = Components(unit_components(W))
            yield model
            if converged:
                break


def starting_factors(X: Matrix, K: int, start: str, seed: int) -> tuple[Array, Array]:
    """Starting values; singular vectors only if there are enough of them."""
    from sklearn.decomposition._nmf import _initialize_nmf

    H, W = _initialize_nmf(
        X, K, init=start if min(X.shape) > K else "random", random_state=seed
    )
    return np.ascontiguousarray(H, X.dtype), np.ascontiguousarray(W, X.dtype)


def descend(
    X: Matrix, H: Array, W: Array, iterations: int
) -> tuple[Array, Array, bool]:
    """Run some more iterations; returns also whether they converged early."""
    from sklearn.decomposition import non_negative_factorization

    if not (H.any() and W.any()):  # all zero
        return H, W, True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged yet
        H, W, n_iterations = non_negative_factorization(
            X,
            W=H,
            H=W,
            n_components=len(W),
            init="custom",
            max_iter=iterations,
            tol=1e-4,
        )
    return H, W, n_iterations < iterations


def unit_components(W: Array) -> Array:
    """Rows of norm 1, float32: their size belongs to the coefficients."""
    norms = np.linalg.norm(W.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(W / np.maximum(norms, 1e-30), np.float32)


def signed_halves(moment: Array, K: int, least: float) -> Array:
    """The larger of each leading eigenvector's positive and negative half, plus a constant (K, d).

    Boutsidis & Gallopoulos 2008.
    """
    vectors = np.linalg.eigh(moment)[1][:, ::-1][:, :K].T
    up = np.maximum(vectors, 0)
    down = np.maximum(-vectors, 0)
    is_up = np.linalg.norm(up, axis=1) >= np.linalg.norm(down, axis=1)
    return np.asarray(np.where(is_up[:, None], up, down) + least)


class RobustNMF(Factorisation):
    """Components, coefficients and sparse outliers fitted together [S22, section 2.3]."""

    id = "robust-nmf"
    title = "Robust NMF"
    words = "non-negative factorisation that separates sparse outliers, without privacy"
    source = "Zhao & Tan 2017; Saha & Imtiaz 2022, section 2.3"

    n_components: int = COMPONENTS
    steps: int = parameter(20, "steps", "updates of the components", (1, 2000))
    passes: int = parameter(
        15, "passes", "updates of coefficients and outliers per step", (1, 200)
    )
    outlier_threshold: float = THRESHOLD
    outlier_limit: float = LIMIT

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[Any]:
        data = curator.rows
        X = dense(data)
        start = starting_factors(
            X, self.n_components, "nndsvda", int(rng.init.integers(2**31))
        )
        _, W, _ = descend(X, *start, TOGETHER)
        model = Components(
            unit_components(W), self.outlier_threshold, self.outlier_limit
        )
        H = None
        for _ in range(self.steps):
            W = np.asarray(model.basis)
            H, R = kernel.robust_coefficients(
                X, W, self.outlier_threshold, self.outlier_limit, H, passes=self.passes
            )
            A = (H.T @ H).astype(np.float64)
            B = (H.T @ (X - R)).astype(np.float64)
            model = replace(
                model,
                basis=kernel.basis(A, B, W.astype(np.float64), TOGETHER).astype(
                    np.float32
                ),
            )
            yield model
