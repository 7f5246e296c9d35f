"""ALS against plain float64 numpy, and the rule for its parameters."""

import numpy as np
import pytest

from dpmf_core import kernels
from dpmf_core.algorithms import Streams, als
from dpmf_core.algorithms.exact_sums import damped_biases, sums_over
from tests.fitting import fit_by_name
from tests.support.dense import counts, rectangle, ridge_rows, user_means

N = 60
M = 23


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.4)


def start(rank):
    return np.linalg.qr(np.random.default_rng(0).standard_normal((M, rank)))[0]


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
    x = data.values.astype(float)
    V = start(4)
    of_users = 0.2 * counts(data.users, N) ** 0.5
    of_items = 0.2 * counts(data.items, M) ** 0.5

    def people(V):
        return ridge_rows(
            data.users, data.items, x, V, of_users, unobserved_weight * V.T @ V
        )

    for _ in range(3):
        U = people(V)
        V = ridge_rows(
            data.items, data.users, x, U, of_items, unobserved_weight * U.T @ U
        )
    np.testing.assert_allclose(fit.model.item_factors, V, rtol=5e-3, atol=5e-4)
    expected = np.clip((people(V)[data.users] * V[data.items]).sum(1), -4, 10)
    predictions = fit.model.predict(fit.model.personal(data), data.users, data.items)
    np.testing.assert_allclose(predictions, expected, atol=5e-3)


@pytest.mark.parametrize("sampling", ["uniform", "adaptive"])
def test_als_on_a_sample_of_frequent_items_equals_dense_least_squares(data, sampling):
    """User steps use all ratings, item steps at most 4 a user of the 12 most rated items."""
    options = {
        "frequent_fraction": 0.5,
        "ratings_per_user": 4,
        "sampling": sampling,
        "local_columns": False,
    }
    fit = fit_by_name(
        "als", data, rank=2, steps=2, biases="user", regularisation=0.2, **options
    )
    rng = Streams(np.random.default_rng(0), 0)
    _, entries = als.ALS.model_validate(options)._entries(data, rng)
    popularity = np.bincount(data.items, minlength=M)
    frequent = np.isin(data.items, np.argsort(-popularity, kind="stable")[:12])
    for user in range(1, N):
        own = np.sort(popularity[data.items[frequent & (data.users == user)]])
        sample = np.sort(popularity[data.items[entries[data.users[entries] == user]]])
        assert len(sample) == min(len(own), 4)
        assert sampling == "uniform" or (sample == own[: len(sample)]).all()
    means = user_means(data, data.values - 3.0)
    residuals = data.values - 3.0 - means[data.users]
    V = start(2)
    users = data.users[entries]
    items = data.items[entries]
    for _ in range(2):
        U = ridge_rows(
            data.users, data.items, residuals, V, 0.2 * counts(data.users, N)
        )
        V = ridge_rows(items, users, residuals[entries], U, 0.2 * counts(items, M))
    np.testing.assert_allclose(fit.model.item_factors, V, rtol=5e-3, atol=5e-4)
    rare = int(np.argmin(popularity))
    predictions = fit.model.predict(
        fit.model.personal(data), np.arange(N), np.full(N, rare)
    )
    np.testing.assert_allclose(predictions, 3.0 + means, rtol=1e-5)


def test_als_with_joint_offsets_equals_dense_least_squares(data):
    """Each side's offset is one more column of its least squares, in float64 by numpy."""
    fit = fit_by_name("als", data, rank=3, steps=2, biases="joint", regularisation=0.1)
    users = data.users
    items = data.items
    x = data.values.astype(float)
    centre, first = damped_biases(sums_over(data), data.shape, als.BIAS_DAMPING)
    unit = data.shape.half_range / 2
    b = first.astype(float)
    V = start(3)

    def people(b, V):
        residuals = x - centre - b[items]
        damped_counts = np.bincount(users, minlength=N) + als.BIAS_DAMPING
        a = np.bincount(users, residuals, N) / damped_counts
        columns = np.column_stack([V, np.full(M, unit)])
        U = ridge_rows(
            users, items, residuals - a[users], columns, 0.1 * counts(users, N)
        )
        return a + unit * U[:, -1], U[:, :-1]

    for _ in range(2):
        a, U = people(b, V)
        columns = np.column_stack([U, np.full(N, unit)])
        residuals = x - centre - a[users] - first[items]
        W = ridge_rows(items, users, residuals, columns, 0.1 * counts(items, M))
        b = first + unit * W[:, -1]
        V = W[:, :-1]
    np.testing.assert_allclose(fit.model.item_offsets, b, rtol=5e-3, atol=2e-3)
    a, U = people(b, V)
    expected = np.clip(
        centre + a[users] + b[items] + (U[users] * V[items]).sum(1), -4, 10
    )
    predictions = fit.model.predict(fit.model.personal(data), users, items)
    np.testing.assert_allclose(predictions, expected, atol=2e-2)


def test_the_last_item_step_is_exact(data):
    """One step whose users stop short of their solution."""
    factors = fit_by_name(
        "als",
        data,
        rank=4,
        steps=1,
        biases="off",
        regularisation=0.2,
        solver="cg",
        cg_steps=1,
    ).model.item_factors
    V = als.random_start(Streams(np.random.default_rng(0), 0), M, 4)
    at = (data.by_user, data.items, data.values)
    of_users = 0.2 * counts(data.users, N)
    U = kernels.refine_rows(*at, V, of_users, np.zeros((N, 4)), steps=1).astype(float)
    assert np.abs(U - kernels.solve_rows(*at, V, of_users)).max() > 0.05
    x = data.values.astype(float)
    of_items = 0.2 * counts(data.items, M)
    expected = ridge_rows(data.items, data.users, x, U, of_items)
    np.testing.assert_allclose(factors, expected, rtol=1e-3, atol=1e-4)
