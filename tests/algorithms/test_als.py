"""ALS against plain float64 numpy, and the rule for its parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core import kernels
from dpmf_core.algorithms import als
from dpmf_core.algorithms.exact_sums import damped_biases, sums_over
from tests.fitting import fit_by_name
from tests.support.algebra import orthonormal, predict, streams
from tests.support.dense import counts, rectangle, ridge_rows, user_means

N = 60
M = 23


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.4)


def start(rank):
    return orthonormal(np.random.default_rng(0), M, rank)


@pytest.mark.parametrize("unobserved_weight", [0.0, 0.3])
def test_als_equals_dense_least_squares(data, unobserved_weight):
    fit = fit_by_name(
        "als",
        data,
        rank=4,
        steps=3,
        biases="off",
        regularisation=0.2,
        regularisation_exponent=0.5,
        unobserved_weight=unobserved_weight,
    )
    users = data.users
    items = data.items
    x = data.values.astype(float)
    of_users = 0.2 * counts(users, N) ** 0.5
    of_items = 0.2 * counts(items, M) ** 0.5

    def user_step(V):
        unobserved = unobserved_weight * V.T @ V
        return ridge_rows(users, items, x, V, of_users, unobserved)

    V = start(4)
    for _ in range(3):
        U = user_step(V)
        unobserved = unobserved_weight * U.T @ U
        V = ridge_rows(items, users, x, U, of_items, unobserved)
    assert_allclose(fit.model.item_factors, V, rtol=5e-3, atol=5e-4)

    U = user_step(V)
    expected = (U[users] * V[items]).sum(1)
    predictions = predict(fit.model, data, users, items)
    assert_allclose(predictions, np.clip(expected, -4, 10), atol=5e-3)


@pytest.mark.parametrize("sampling", ["uniform", "adaptive"])
def test_als_on_a_sample_of_frequent_items_equals_dense_least_squares(data, sampling):
    """User steps use all ratings, item steps at most 4 a user of the 12 most rated items."""
    algorithm = als.ALS(
        rank=2,
        steps=2,
        biases="user",
        regularisation=0.2,
        frequent_fraction=0.5,
        ratings_per_user=4,
        sampling=sampling,
        local_columns=False,
    )
    _, entries = algorithm._entries(data, streams(sampling=0))
    popularity = np.bincount(data.items, minlength=M)
    most_rated = np.argsort(-popularity, kind="stable")[:12]
    is_frequent = np.isin(data.items, most_rated)
    users = data.users[entries]
    items = data.items[entries]
    for user in range(1, N):
        is_own = is_frequent & (data.users == user)
        own = np.sort(popularity[data.items[is_own]])
        sample = np.sort(popularity[items[users == user]])
        assert len(sample) == min(len(own), 4)
        if sampling == "adaptive":
            assert (sample == own[: len(sample)]).all()

    means = user_means(data, data.values - 3.0)
    residuals = data.values - 3.0 - means[data.users]
    of_users = 0.2 * counts(data.users, N)
    of_items = 0.2 * counts(items, M)
    V = start(2)
    for _ in range(2):
        U = ridge_rows(data.users, data.items, residuals, V, of_users)
        V = ridge_rows(items, users, residuals[entries], U, of_items)
    model = fit_by_name("als", data, **algorithm.model_dump()).model
    assert_allclose(model.item_factors, V, rtol=5e-3, atol=5e-4)

    rarest = int(np.argmin(popularity))
    predictions = predict(model, data, np.arange(N), np.full(N, rarest))
    assert_allclose(predictions, 3.0 + means, rtol=1e-5)


def test_als_with_joint_offsets_equals_dense_least_squares(data):
    """Each side's offset is one more column of its least squares, in float64 by numpy."""
    fit = fit_by_name(
        "als",
        data,
        rank=3,
        steps=2,
        biases="joint",
        regularisation=0.1,
    )
    users = data.users
    items = data.items
    x = data.values.astype(float)
    centre, first = damped_biases(sums_over(data), data.shape, als.BIAS_DAMPING)
    unit = data.shape.half_range / 2
    of_users = 0.1 * counts(users, N)
    of_items = 0.1 * counts(items, M)
    damped_counts = np.bincount(users, minlength=N) + als.BIAS_DAMPING

    def user_step(b, V):
        residuals = x - centre - b[items]
        a = np.bincount(users, residuals, N) / damped_counts
        residuals -= a[users]
        columns = np.column_stack([V, np.full(M, unit)])
        sides = ridge_rows(users, items, residuals, columns, of_users)
        return a + unit * sides[:, -1], sides[:, :-1]

    def item_step(a, U):
        residuals = x - centre - a[users] - first[items]
        columns = np.column_stack([U, np.full(N, unit)])
        sides = ridge_rows(items, users, residuals, columns, of_items)
        return first + unit * sides[:, -1], sides[:, :-1]

    b = first.astype(float)
    V = start(3)
    for _ in range(2):
        a, U = user_step(b, V)
        b, V = item_step(a, U)
    assert_allclose(fit.model.item_offsets, b, rtol=5e-3, atol=2e-3)

    a, U = user_step(b, V)
    products = (U[users] * V[items]).sum(1)
    expected = centre + a[users] + b[items] + products
    predictions = predict(fit.model, data, users, items)
    assert_allclose(predictions, np.clip(expected, -4, 10), atol=2e-2)


def test_the_last_item_step_is_exact(data):
    """One step whose users stop short of their solution."""
    fit = fit_by_name(
        "als",
        data,
        rank=4,
        steps=1,
        biases="off",
        regularisation=0.2,
        solver="cg",
        cg_steps=1,
    )
    V = als.random_start(streams(sampling=0), M, 4)
    rows = (data.by_user, data.items, data.values)
    of_users = 0.2 * counts(data.users, N)
    of_items = 0.2 * counts(data.items, M)
    at_zero = np.zeros((N, 4))
    U = kernels.refine_rows(*rows, V, of_users, at_zero, steps=1).astype(float)
    solution = kernels.solve_rows(*rows, V, of_users)
    assert np.abs(U - solution).max() > 0.05
    x = data.values.astype(float)
    expected = ridge_rows(data.items, data.users, x, U, of_items)
    assert_allclose(fit.model.item_factors, expected, rtol=1e-3, atol=1e-4)
