"""Trivial predictors and biases against direct computations."""

import numpy as np
import pytest

from dpmf_core.algorithms.exact_sums import damped_biases, sums_over
from dpmf_core.data.ratings import Ratings
from tests.fitting import fit_by_name

N, M = 300, 17


@pytest.fixture(scope="module")
def data() -> Ratings:
    """Item and user offsets plus noise; user 0 empty, item 16 unrated, popularity uneven."""
    random = np.random.default_rng(3)
    users, items = np.nonzero(random.random((N, M)) < np.linspace(0.9, 0.1, M))
    keep = (users > 0) & (items < M - 1)
    users, items = users[keep], items[keep]
    offsets = random.normal(0, 0.5, M)
    values = (
        3 + offsets[items] + random.normal(0, 0.3, N)[users] + random.normal(0, 0.5, len(users))
    )
    return Ratings.of(users, items, values, n_users=N, n_items=M, bounds=(1.0, 5.0), public=True)


def test_trivial_predictors_by_hand(data: Ratings) -> None:
    everyone, item = np.arange(N), np.zeros(N, int)
    model = fit_by_name("global-mean", data).model
    np.testing.assert_allclose(
        model.predict(model.personal(data), everyone, item), data.values.mean(), rtol=1e-6
    )
    model = fit_by_name("user-mean", data).model
    predictions = model.predict(model.personal(data), everyone, item)
    assert predictions[0] == 3.0  # nobody's data: the declared mid-range
    for user in range(1, N):
        assert predictions[user] == pytest.approx(data.values[data.users == user].mean(), abs=1e-5)


def test_popularity_ranks_by_counts_and_predicts_the_mean(data: Ratings) -> None:
    model = fit_by_name("popularity", data).model
    personal = model.personal(data)
    counts = np.bincount(data.items, minlength=M)
    order = np.argsort(-model.scores(personal, np.array([0]))[0])
    assert (np.diff(counts[order]) <= 0).all()
    np.testing.assert_allclose(
        model.predict(personal, np.arange(9), np.arange(9)), data.values.mean(), atol=1e-5
    )


def test_damped_biases_solve_their_ridge_problem(data: Ratings) -> None:
    """min sum (x - mu - a_u - b_i)^2 + beta (|a|^2 + |b|^2), against dense least squares."""
    beta = 4.0
    centre, b = damped_biases(sums_over(data), data.shape, beta, rounds=60)
    design = np.zeros((len(data), N + M))
    design[np.arange(len(data)), data.users] = design[np.arange(len(data)), N + data.items] = 1
    expected = np.linalg.solve(
        design.T @ design + beta * np.eye(N + M), design.T @ (data.values.astype(float) - centre)
    )
    np.testing.assert_allclose(b, expected[N:], atol=1e-4)


def test_private_biases_do_not_depend_on_the_unit_of_the_ratings(data: Ratings) -> None:
    """Twice the scale, twice the offsets: sensitivities are in half-ranges."""
    twice_the_scale = Ratings.of(
        data.users, data.items, data.values * 2.0, n_users=N, n_items=M, bounds=(2.0, 10.0)
    )
    one, two = (
        fit_by_name("private-bias", ratings, 0.5).model.item_offsets
        for ratings in (data, twice_the_scale)
    )
    np.testing.assert_allclose(two, 2 * one, rtol=1e-4, atol=1e-5)
