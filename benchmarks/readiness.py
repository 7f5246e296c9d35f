"""Compile every kernel that a run may wait for."""

import numpy as np

from dpmf_core import kernels


def ready() -> None:
    """Compile every kernel that ALS and its evaluation need, or load it from the cache."""
    indptr, indices, values = np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32)
    for factors, weights in (
        (np.ones((2, 5), np.float32), None),
        (np.eye(2, dtype=np.float32), values),
    ):
        kernels.solve_rows(indptr, indices, values, factors, 1.0, weights=weights, base=None)
        # as released sums are computed
        wide = factors.astype(np.float64)
        grams = kernels.weighted_grams(indptr, indices, wide, 0, 1, weights=weights)
        if weights is not None:
            kernels.weighted_grams(indptr, indices, wide, 0, 1, weights=weights, step=0.5)
        rhs = kernels.right_sides(indptr, indices, values, wide, 0, 1)
        kernels.solve_psd(grams.astype(np.float32), rhs.astype(np.float32), 1.0)
        kernels.predict_pairs(factors, factors, indices, indices)
        sides = (0.0, values, values, factors, factors)
        kernels.error_sums(sides, (indptr, indices, values), (0.0, 1.0))
        kernels.predict_ratings(0.0, values, values, factors, factors, indices, indices, (0.0, 1.0))
    kernels.best_unseen(np.ones((1, 3)), np.zeros(1), indptr, indices, 1)
    kernels.best_unseen_products((values, factors, factors), np.zeros(1), indptr, indices, 1)
    kernels.residuals(np.array([0, 2]), indices, values, 0.0, values, 1.0)
    for kind in (np.float32, np.float64):
        kernels.segment_sums(indptr, np.ones(2, kind))
        kernels.round_towards_zero(np.ones(1, kind), 1.0, 0.5)
