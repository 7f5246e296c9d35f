"""Trivial predictors, biases and noisy ratings against direct computations."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from dpmf_core.algorithms import curator_for
from dpmf_core.algorithms.base import Recommender
from dpmf_core.algorithms.exact_sums import damped_biases, sums_over
from dpmf_core.algorithms.input_perturbation import (
    EveryRating,
    InputPerturbation,
    noisy_ratings,
)
from dpmf_core.privacy import Budget, Noise, calibrate
from dpmf_core.testing.worlds import world
from tests.fitting import fit_by_name
from tests.support.dense import rated

N = 300
M = 17


@pytest.fixture(scope="module")
def data():
    """Item and user offsets plus noise; user 0 empty, item 16 unrated, popularity uneven."""
    random = np.random.default_rng(3)
    where = random.random((N, M)) < np.linspace(0.9, 0.1, M)
    where[0] = where[:, M - 1] = False
    offsets = random.normal(0, 0.5, M)
    own = random.normal(0, 0.3, (N, 1))
    return rated(where, 3 + offsets + own + random.normal(0, 0.5, (N, M)), (1.0, 5.0))


def test_trivial_predictors_by_hand(data):
    everyone = np.arange(N)
    item = np.zeros(N, int)
    model = fit_by_name("global-mean", data).model
    np.testing.assert_allclose(
        model.predict(model.personal(data), everyone, item),
        data.values.mean(),
        rtol=1e-6,
    )
    model = fit_by_name("user-mean", data).model
    predictions = model.predict(model.personal(data), everyone, item)
    assert predictions[0] == 3.0  # nobody's data: the declared mid-range
    for user in range(1, N):
        assert predictions[user] == pytest.approx(
            data.values[data.users == user].mean(), abs=1e-5
        )


def test_damped_biases_solve_their_ridge_problem(data):
    """min sum (x - mu - a_u - b_i)^2 + beta (|a|^2 + |b|^2), against dense least squares."""
    beta = 4.0
    centre, b = damped_biases(sums_over(data), data.shape, beta, rounds=60)
    design = np.zeros((len(data), N + M))
    design[np.arange(len(data)), data.users] = design[
        np.arange(len(data)), N + data.items
    ] = 1
    expected = np.linalg.solve(
        design.T @ design + beta * np.eye(N + M),
        design.T @ (data.values.astype(float) - centre),
    )
    np.testing.assert_allclose(b, expected[N:], atol=1e-4)


def test_every_rating_carries_laplace_noise_of_the_range_over_epsilon():
    data = rated(np.ones((200, 50), bool), 3.0, (1, 5))
    algorithm = InputPerturbation()
    level = calibrate(
        lambda at: algorithm.plan(data.shape, at), Budget(epsilon=2.0, delta=1e-9)
    )
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(0))
    noise_sizes = np.abs(
        noisy_ratings(curator_for(algorithm, data, noise), clamp=False).values.astype(
            float
        )
        - 3.0
    )
    scale = 4 / 2.0  # range over epsilon
    assert noise_sizes.mean() == pytest.approx(scale, rel=4 / np.sqrt(10_000))
    assert noise_sizes.mean() != pytest.approx(scale * 1.05, rel=4 / np.sqrt(10000))
    assert noise.ledger[0][0].statistic == EveryRating.name


def model_of(data, seed):
    factors = (
        np.random.default_rng(seed)
        .standard_normal((data.n_items, 3))
        .astype(np.float32)
    )
    return Recommender(data.bounds, 3.0, np.zeros(data.n_items, np.float32), factors)


def test_the_model_holds_nothing_of_it_and_it_goes_with_the_model():
    data = world()
    model = model_of(world(), 0)
    before = pickle.dumps(model)
    factors = weakref.ref(model.personal(data).factors)
    assert pickle.dumps(model) == before
    assert factors() is not None
    del model
    gc.collect()
    assert factors() is None
