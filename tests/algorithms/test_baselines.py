"""Trivial predictors, biases and noisy ratings against direct computations."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms import curator_for
from dpmf_core.algorithms.base import Recommender
from dpmf_core.algorithms.exact_sums import damped_biases, sums_over
from dpmf_core.algorithms.input_perturbation import (
    EveryRating,
    InputPerturbation,
    noisy_ratings,
)
from dpmf_core.privacy import Budget, Noise, calibrate
from dpmf_core.testing.rating_worlds import world
from tests.fitting import fit_by_name
from tests.support.algebra import predict
from tests.support.dense import rated

N = 300
M = 17


@pytest.fixture(scope="module")
def data():
    """Item and user offsets plus noise; user 0 empty, item 16 unrated, popularity uneven."""
    random = np.random.default_rng(3)
    popularity = np.linspace(0.9, 0.1, M)
    where = random.random((N, M)) < popularity
    where[0] = False
    where[:, M - 1] = False
    offsets = random.normal(0, 0.5, M)
    own = random.normal(0, 0.3, (N, 1))
    noise = random.normal(0, 0.5, (N, M))
    return rated(where, 3 + offsets + own + noise, (1.0, 5.0))


def test_trivial_predictors_are_means(data):
    everyone = np.arange(N)
    item = np.zeros(N, int)
    model = fit_by_name("global-mean", data).model
    predictions = predict(model, data, everyone, item)
    assert_allclose(predictions, data.values.mean(), rtol=1e-6)

    model = fit_by_name("user-mean", data).model
    predictions = predict(model, data, everyone, item)
    assert predictions[0] == 3.0  # nobody's data: the declared mid-range
    for user in range(1, N):
        own = data.values[data.users == user]
        assert predictions[user] == pytest.approx(own.mean(), abs=1e-5)


def test_damped_biases_solve_their_ridge_problem(data):
    """min sum (x - mu - a_u - b_i)^2 + beta (|a|^2 + |b|^2), against dense least squares."""
    beta = 4.0
    centre, b = damped_biases(sums_over(data), data.shape, beta, rounds=60)
    design = np.zeros((len(data), N + M))
    rows = np.arange(len(data))
    design[rows, data.users] = 1
    design[rows, N + data.items] = 1
    system = design.T @ design + beta * np.eye(N + M)
    residuals = data.values.astype(float) - centre
    expected = np.linalg.solve(system, design.T @ residuals)
    assert_allclose(b, expected[N:], atol=1e-4)


def test_every_rating_carries_laplace_noise_of_the_range_over_epsilon():
    data = rated(np.ones((200, 50), bool), 3.0, (1, 5))
    algorithm = InputPerturbation()
    budget = Budget(epsilon=2.0, delta=1e-9)
    level = calibrate(lambda at: algorithm.plan(data.shape, at), budget)
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(0))
    curator = curator_for(algorithm, data, noise)
    noisy = noisy_ratings(curator, clamp=False)
    mean_size = np.abs(noisy.values.astype(float) - 3.0).mean()
    scale = 4 / 2.0  # range over epsilon
    tolerance = 4 / np.sqrt(10_000)
    assert mean_size == pytest.approx(scale, rel=tolerance)
    assert mean_size != pytest.approx(scale * 1.05, rel=tolerance)
    assert noise.ledger[0][0].statistic == EveryRating.name


def random_model(data):
    random = np.random.default_rng(0)
    factors = random.standard_normal((data.n_items, 3)).astype(np.float32)
    offsets = np.zeros(data.n_items, np.float32)
    return Recommender(data.bounds, 3.0, offsets, factors)


def test_personal_factors_are_not_in_the_model_and_are_dropped_with_it():
    data = world()
    model = random_model(data)
    before = pickle.dumps(model)
    factors = weakref.ref(model.personal(data).factors)
    assert pickle.dumps(model) == before
    assert factors() is not None
    del model
    gc.collect()
    assert factors() is None
