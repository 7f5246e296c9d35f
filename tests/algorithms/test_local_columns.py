"""Local columns: what a user regresses her ratings on beside the factors."""

from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.item_offsets import regress_offsets
from dpmf_core.algorithms.local_columns import with_local_columns
from dpmf_core.data.item_features import ItemFeatures
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
FEATURES = ItemFeatures(
    ("war", "length"),
    np.column_stack([np.arange(M) % 3 == 0, np.linspace(60, 200, M)]).astype(
        np.float32
    ),
)


def test_a_user_s_loadings_solve_one_ridge_regression_with_her_factors(data):
    """Against a dense solution with the prior variances written out, for two ridges."""
    for ridge in (0.8, 3.0):
        model = with_local_columns(
            recommender(ridge), COUNTS, replace_features(data.shape)
        )
        own = model.personal(data)
        for u in (0, 7):
            hers = data.users == u
            items = data.items[hers]
            b = model.item_offsets
            V = model.item_factors
            mean = (data.values[hers] - 3.0 - b[items]).mean()
            residuals = data.values[hers] - 3.0 - b[items] - mean
            weights = COUNTS / COUNTS.sum()

            def centred(x):
                return np.asarray(x - weights @ x)  # noqa: B023

            def scaled(x):
                c = centred(x)
                return np.asarray(c / np.sqrt(weights @ c**2))  # noqa: B023

            war, length = FEATURES.values.T.astype(float)
            X = np.column_stack(
                [
                    V,
                    centred(b),
                    scaled(np.log(COUNTS)),
                    centred(war),
                    scaled(length),
                    np.ones(M),
                ]
            )
            loadings = np.array([0.1, 0.005, 0.03, 0.02])
            penalty = np.concatenate([np.full(R, ridge), 0.8 / loadings, [ridge]])
            x = np.linalg.solve(
                X[items].T @ X[items] + np.diag(penalty), X[items].T @ residuals
            )
            expected = 3.0 + mean + b + X @ x
            predictions = model.predict(own, np.full(M, u), np.arange(M))
            np.testing.assert_allclose(predictions, expected.clip(1, 5), atol=2e-4)


def replace_features(shape):
    return replace(shape, item_features=FEATURES)


def test_loadings_after_other_steps_are_a_ridge_regression_of_what_these_leave(data):
    model = with_local_columns(recommender(), COUNTS, data.shape)
    own = replace(model, local_columns=np.zeros((0, 0), np.float32)).personal(data)
    both = model.with_loadings(data, own)
    np.testing.assert_array_equal(both.factors[:, :R], own.factors)
    u = 3
    items = data.items[data.users == u]
    before = (
        3.0 + own.offsets[u] + model.item_offsets + model.item_factors @ own.factors[u]
    )
    residuals = data.values[data.users == u] - before[items]
    L = np.column_stack([model.local_columns, np.ones(M)]).astype(float)
    x = np.linalg.solve(L[items].T @ L[items] + 0.8 * np.eye(3), L[items].T @ residuals)
    np.testing.assert_allclose(both.factors[u, R:], x[:2], atol=1e-4)
    assert both.offsets[u] == pytest.approx(own.offsets[u] + x[2], abs=1e-4)


@pytest.mark.parametrize("features", [None, FEATURES])
def test_offsets_are_pulled_towards_the_posterior_mean_of_a_linear_model(features):
    """The Gaussian posterior, written out with its full covariance matrix."""
    random = np.random.default_rng(7)
    estimates = random.standard_normal(M)
    variance = random.uniform(0.01, 0.5, M)
    x = np.log(COUNTS)
    mean, deviation_about_mean = regress_offsets(estimates, variance, x, features, 0.5)
    deviation = 0.5 if features is None else 0.3
    assert deviation_about_mean == pytest.approx(deviation)
    first = 1 / (0.25 + variance)
    w = 1 / (deviation**2 + variance)
    columns = [np.ones(M), x - np.average(x, weights=first)]
    deviations = [0.5, 0.5]
    if features is not None:
        war, length = features.values.T.astype(float)
        c = length - np.average(length, weights=w)
        columns += [
            war - np.average(war, weights=w),
            c / np.sqrt(np.average(c**2, weights=w)),
        ]
        deviations += [0.2, 0.15]
    X = np.column_stack(columns)
    P = np.diag(np.square(deviations))
    covariance = X @ P @ X.T + np.diag(deviation**2 + variance)
    expected = X @ P @ X.T @ np.linalg.solve(covariance, estimates)
    np.testing.assert_allclose(mean, expected, atol=1e-10)
