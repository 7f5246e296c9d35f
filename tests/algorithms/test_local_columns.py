"""Local columns: what a user regresses her ratings on beside the factors."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.item_offsets import regress_offsets
from dpmf_core.algorithms.local_columns import with_local_columns
from dpmf_core.data.item_features import ItemFeatures
from tests.support.algebra import predict
from tests.support.dense import rated

N = 40
M = 15
R = 3


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(5)
    return rated(random.random((N, M)) < 0.5, random.uniform(1, 5, (N, M)), (1.0, 5.0))


def recommender(ridge=0.8):
    random = np.random.default_rng(6)
    V = random.standard_normal((M, R)).astype(np.float32)
    b = random.standard_normal(M).astype(np.float32)
    return Recommender((1.0, 5.0), 3.0, b, V, 0.0, ridge)


COUNTS = np.geomspace(2, 300, M)
KINDS = np.column_stack([np.arange(M) % 3 == 0, np.linspace(60, 200, M)])


FEATURES = ItemFeatures(("war", "length"), KINDS.astype(np.float32))


def columns_by_hand(offsets):
    """The columns (M, 4) by which ratings differ: offsets, popularity and two features."""
    weights = COUNTS / COUNTS.sum()

    def centred(x):
        return x - weights @ x

    def scaled(x):
        return centred(x) / np.sqrt(weights @ centred(x) ** 2)

    war, length = FEATURES.values.T.astype(float)
    popularity = np.log(COUNTS)
    columns = [centred(offsets), scaled(popularity), centred(war), scaled(length)]
    return np.column_stack(columns)


@pytest.mark.parametrize("ridge", [0.8, 3.0])
def test_a_user_s_loadings_solve_one_ridge_regression_with_her_factors(data, ridge):
    """Against a dense solution with the prior variances written out."""
    shape = replace(data.shape, item_features=FEATURES)
    model = with_local_columns(recommender(ridge), COUNTS, shape)
    b = model.item_offsets
    columns = columns_by_hand(b)
    X = np.column_stack([model.item_factors, columns, np.ones(M)])
    variances = np.array([0.1, 0.005, 0.03, 0.02])
    penalties = np.concatenate([np.full(R, ridge), 0.8 / variances, [ridge]])
    for user in (0, 7):
        own = data.only(data.users == user)
        residuals = own.values - 3.0 - b[own.items]
        mean = residuals.mean()
        F = X[own.items]
        system = F.T @ F + np.diag(penalties)
        side = np.linalg.solve(system, F.T @ (residuals - mean))
        expected = 3.0 + mean + b + X @ side
        predictions = predict(model, data, np.full(M, user), np.arange(M))
        assert_allclose(predictions, expected.clip(1, 5), atol=2e-4)


def test_loadings_after_other_steps_are_a_ridge_regression_of_what_these_leave(data):
    model = with_local_columns(recommender(), COUNTS, data.shape)
    without = replace(model, local_columns=np.zeros((0, 0), np.float32))
    own = without.personal(data)
    both = model.with_loadings(data, own)
    assert_array_equal(both.factors[:, :R], own.factors)
    user = 3
    hers = data.only(data.users == user)
    before = 3.0 + own.offsets[user] + model.item_offsets
    before = before + model.item_factors @ own.factors[user]
    residuals = hers.values - before[hers.items]
    columns = np.column_stack([model.local_columns, np.ones(M)])
    L = columns[hers.items].astype(float)
    x = np.linalg.solve(L.T @ L + 0.8 * np.eye(3), L.T @ residuals)
    assert_allclose(both.factors[user, R:], x[:2], atol=1e-4)
    assert both.offsets[user] == pytest.approx(own.offsets[user] + x[2], abs=1e-4)


@pytest.mark.parametrize("features", [None, FEATURES])
def test_offsets_are_pulled_towards_the_posterior_mean_of_a_linear_model(features):
    """The Gaussian posterior, written out with its full covariance matrix."""
    random = np.random.default_rng(7)
    estimates = random.standard_normal(M)
    variance = random.uniform(0.01, 0.5, M)
    x = np.log(COUNTS)
    mean, deviation_about_mean = regress_offsets(estimates, variance, x, features, 0.5)

    def centred(values, deviation):
        weights = 1 / (deviation**2 + variance)
        return values - np.average(values, weights=weights)

    deviation = 0.5
    columns = [np.ones(M), centred(x, 0.5)]
    deviations = [0.5, 0.5]
    if features is not None:
        deviation = 0.3
        war, length = features.values.T.astype(float)
        c = centred(length, deviation)
        size = np.sqrt(np.average(c**2, weights=1 / (deviation**2 + variance)))
        columns += [centred(war, deviation), c / size]
        deviations += [0.2, 0.15]
    assert deviation_about_mean == pytest.approx(deviation)
    X = np.column_stack(columns)
    explained = X @ np.diag(np.square(deviations)) @ X.T
    covariance = explained + np.diag(deviation**2 + variance)
    expected = explained @ np.linalg.solve(covariance, estimates)
    assert_allclose(mean, expected, atol=1e-10)
