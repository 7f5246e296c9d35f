"""Refining gradients against dense sums, and what they gain on planted data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import dpmf
from dpmf_core import kernels
from dpmf_core.algorithms.base import Recommender
from dpmf_core.algorithms.refinement import (
    CONSTANT,
    GradientSizes,
    RefiningGradient,
    Sizes,
    user_sides,
)
from dpmf_core.algorithms.spectral import Spectral
from dpmf_core.testing.rating_worlds import world
from dpmf_datasets.simulated.cinema import cinema
from dpmf_datasets.simulated.low_rank import lowrank
from tests.fitting import trained
from tests.support.algebra import exact_curator
from tests.support.dense import dense


def dense_parts(data, rank=3):
    """A curator without noise, a model, and dense residuals (n, m) and sides (n, r + 1)."""
    shape = data.shape
    rng = np.random.default_rng(4)
    unit = shape.half_range / 2
    V = rng.normal(size=(shape.n_items, rank)).astype(np.float32)
    b = rng.normal(0, 0.3, shape.n_items).astype(np.float32)
    model = Recommender(shape.bounds, shape.mid_range, b, V, 0.0, 2.0, mended=True)
    own = model.personal(data)
    products = own.factors.astype(float) @ V.T
    predictions = model.centre + own.offsets[:, None] + b + products
    errors = data.values - predictions[data.users, data.items]
    residuals = dense(data, errors / unit)
    sides = np.column_stack([own.factors, np.full(data.n_users, CONSTANT)])
    return exact_curator(data, 3), model, residuals, sides


def test_the_gradient_is_the_sum_of_clipped_outer_products():
    data = world()
    curator, model, E, t = dense_parts(data)
    sides = curator.hold(user_sides, model, data.shape.half_range / 2)
    norms = np.linalg.norm(E, axis=1) * np.linalg.norm(t, axis=1)
    for clip in (float(np.median(norms[norms > 0])), 1e3):
        weights = np.minimum(1 / clip, 1 / np.maximum(norms, 1e-300))
        expected = (E * weights[:, None]).T @ t
        gradient = curator.total(RefiningGradient(), sides, clip, 3)
        tolerance = 1e-4 * np.abs(expected).max()
        assert_allclose(gradient, expected, atol=tolerance)


def test_sizes_are_geometric_means_over_users_with_ratings():
    data = lowrank(200, 30, rank=2, p=0.5, seed=3)
    curator, model, E, t = dense_parts(data)
    sides = curator.hold(user_sides, model, data.shape.half_range / 2)
    sizes = Sizes.of(curator.total(GradientSizes(), sides))
    counts = (E != 0).sum(axis=1)
    has_ratings = counts > 0
    n = counts[has_ratings].astype(float)
    e = np.linalg.norm(E[has_ratings], axis=1)
    t = t[has_ratings]

    def geometric_mean(values):
        return pytest.approx(float(np.exp(np.log(values).mean())), rel=1e-3)

    assert sizes.norm == geometric_mean(e * np.linalg.norm(t, axis=1))
    assert sizes.deviation == geometric_mean(e / np.sqrt(n))
    assert sizes.squares == geometric_mean(n * (t[:, :-1] ** 2).sum(axis=1))
    assert sizes.ratings == geometric_mean(n)


def test_without_factors_and_columns_nothing_outside_empty_arrays_is_read():
    """Compiled code that reads outside them gives what lies in memory there."""
    data = world()
    no_item_factors = np.zeros((data.n_items, 0), np.float32)
    no_user_factors = np.zeros((data.n_users, 0))
    junk = [np.full((data.n_users, 1), 3.0) for _ in range(64)]
    del junk
    pairs = kernels.predict_pairs(
        no_user_factors, no_item_factors, data.users, data.items
    )
    assert not pairs.any()
    assert pairs.shape == (len(data),)
    algorithm = Spectral(
        rank=5,
        shrinkage=1.5,
        refinement_steps=2,
        local_columns=False,
        release="covariance",
    )
    assert trained(algorithm, data, 1e4).item_sides.shape == (data.n_items, 0)


@pytest.mark.slow
def test_exact_sums_do_no_worse_than_noisy_ones_where_items_have_few_ratings():
    """500 people and 800 items, about 30 ratings an item: sampling noise alone."""
    data = cinema(500, 800, density=0.06, seed=3)

    def error(**choices):
        run = dpmf.fit(data, "spectral", keep=False, seed=1, **choices)
        return run.record.metrics["rmse"]

    exact = error(noise="none")
    assert exact < error(epsilon=20.0)
    assert exact < error(epsilon=50.0)
