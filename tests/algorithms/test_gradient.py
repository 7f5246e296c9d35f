"""Projected gradient descent and DP-SGD against dense computations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from dpmf_core.algorithms.gradient import DPSGD, ItemGradient
from dpmf_core.algorithms.projected_gradient import (
    PGD,
    GradientModel,
    PrivatePGD,
    first_iterate,
    next_iterate,
    onto_l1_ball,
)
from dpmf_core.curator import Block, grid
from dpmf_core.testing.rating_worlds import low_rank
from tests.fitting import trained
from tests.support.algebra import exact_curator, shortened
from tests.support.dense import centred, dense


@pytest.mark.parametrize("radius", [0.5, 2.0, 100.0])
def test_the_projection_on_the_simplex_is_the_nearest_point(radius):
    s = np.array([3.0, 1.0, 0.2, 0.0, 2.5])
    projection = onto_l1_ball(s, radius)
    best = minimize(
        lambda x: ((x - s) ** 2).sum(),
        np.full(5, radius / 10),
        bounds=[(0, None)] * 5,
        constraints={"type": "ineq", "fun": lambda x: radius - x.sum()},
    )
    assert_allclose(projection, best.x, atol=1e-3)


@pytest.mark.parametrize("radius", [0.1, 0.4, 5.0])
def test_descent_agrees_with_dense_singular_values_projected_step_by_step(radius):
    data = low_rank()
    algorithm = PGD(
        steps=6,
        nuclear_norm=radius,
        step_size=1.3,
        biases=False,
    )
    model = trained(algorithm, data)
    is_rated = dense(data, 1) > 0
    M = dense(data, centred(data))
    kappa = radius * data.shape.half_range * np.sqrt(M.size)
    Y = np.zeros_like(M)
    for _ in range(6):
        gradient = is_rated * (Y - M)
        Y = onto_nuclear_ball(Y - 1.3 * gradient, kappa)
    iterate = model.personal(data).factors.astype(float) @ model.item_factors.T
    assert_allclose(iterate, Y, atol=2e-5 * np.abs(Y).max())


def onto_nuclear_ball(matrix, kappa):
    """The nearest matrix with nuclear norm kappa at most."""
    U, s, Vt = np.linalg.svd(matrix, full_matrices=False)
    return U @ np.diag(onto_l1_ball(s, kappa)) @ Vt


def test_private_descent_without_noise_clips_rows_of_the_whole_iterate():
    data = low_rank()
    algorithm = PrivatePGD(
        steps=4,
        nuclear_norm=0.3,
        step_size=2.0,
        row_clip=0.2,
    )
    model = trained(algorithm, data)
    is_rated = dense(data, 1) > 0
    M = dense(data, centred(data))
    L = 0.2 * data.shape.half_range * np.sqrt(data.n_items)
    kappa = 0.3 * data.shape.half_range * np.sqrt(M.size)
    Y = np.zeros_like(M)
    for _ in range(4):
        gradient = is_rated * (Y - M)
        Y = onto_nuclear_ball(shortened(Y - 2.0 * gradient, L), kappa)
    iterate = model.personal(data).factors.astype(float) @ model.item_factors.T
    assert_allclose(iterate, Y, atol=1e-4)


@pytest.mark.parametrize("n_units", [60, 2**24, 2**36])
def test_rows_on_the_grid_stay_within_their_bound(n_units, monkeypatch):
    """Also where the grid is coarse: the whole row Q c + s, built densely, and its parts."""
    monkeypatch.setattr(grid, "ON", True)
    data = low_rank()
    bound = 0.1 * data.shape.half_range * np.sqrt(data.n_items)
    rate = 3.0
    model = GradientModel(
        data.bounds,
        data.shape.mid_range,
        np.zeros(data.n_items, np.float32),
        np.zeros((data.n_items, 0), np.float32),
        rate=rate,
        row_bound=bound,
    )
    block = Block(np.arange(data.n_users), {"train": data}, n_units)
    Z = first_iterate(block, model)
    Q = np.zeros((data.n_items, 0))
    for seed in range(3):
        random = np.random.default_rng(seed).standard_normal((data.n_items, 4))
        directions = np.linalg.qr(random)[0]
        Z = next_iterate(block, Z, model, Q, directions, np.full(4, 0.9))
        Q = directions
        assert np.linalg.norm(Z.C @ Q.T + Z.S.toarray(), axis=1).max() <= bound
        assert np.linalg.norm(Z.C, axis=1).max() <= bound
        assert np.linalg.norm(Z.S.toarray(), axis=1).max() <= 2 * rate * bound
    if n_units == 60:
        assert np.linalg.norm(Z.C @ Q.T + Z.S.toarray(), axis=1).max() > 0.999 * bound


def test_the_released_gradient_is_the_sum_of_clipped_dense_ones():
    data = low_rank()
    rng = np.random.default_rng(1)
    V = rng.normal(size=(data.n_items, 3)).astype(np.float32)
    of_data = trained(
        DPSGD(
            rank=3,
            steps=1,
            biases=False,
        ),
        data,
    )
    model = type(of_data)(
        data.bounds,
        data.shape.mid_range,
        np.zeros(data.n_items, np.float32),
        V,
        0.0,
        2.0,
    )
    C = 0.3 * data.shape.half_range
    is_rated = dense(data, 1) > 0
    M = dense(data, centred(data))
    expected = np.zeros((data.n_items, 3))
    for i in range(data.n_users):
        own = is_rated[i]
        F = V[own].astype(float)
        x = M[i, own]
        u = np.linalg.solve(F.T @ F + 2.0 * np.eye(3), F.T @ x)
        G = np.outer(F @ u - x, u)
        expected[own] += G * min(1.0, C / max(np.linalg.norm(G), 1e-300))
    gradient = exact_curator(data, 3).total(ItemGradient(C), model)
    assert_allclose(gradient, expected, rtol=1e-3, atol=1e-4)
