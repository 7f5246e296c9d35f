"""Bayesian matrix factorisation against closed forms and independent computation."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpmf_core.algorithms.als import ALS
from dpmf_core.algorithms.bayesian import BMF, GibbsSide, user_features
from dpmf_core.data.ratings import Ratings
from tests.support.algebra import predict, streams

USERS = 300
ITEMS = 40
NOISE = 0.5


def simulated(seed, n_rated=12):
    """Training and held-out ratings of a matrix of rank two plus offsets plus noise."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(USERS, 2)) @ rng.normal(size=(2, ITEMS)) * 0.5
    truth += rng.normal(size=(USERS, 1)) * 0.3
    truth += rng.normal(size=ITEMS) * 0.3
    truth += 3
    n_own = n_rated + 4
    chosen = [rng.permutation(ITEMS)[:n_own] for _ in range(USERS)]
    users = np.repeat(np.arange(USERS), n_own)
    items = np.concatenate(chosen)
    values = truth[users, items] + NOISE * rng.normal(size=len(users))
    is_held_out = np.tile(np.arange(n_own) >= n_rated, USERS)

    def part(mask):
        return Ratings.of(
            users[mask],
            items[mask],
            values[mask],
            n_users=USERS,
            n_items=ITEMS,
            bounds=(-5, 11),
        )

    return part(~is_held_out), part(is_held_out)


def fitted(algorithm, data):
    curator = SimpleNamespace(rows=data, has_rows=True)
    *_, model = algorithm.fit(curator, streams(sampling=0))
    return model


def error(model, train, test):
    predictions = predict(model, train, test.users, test.items)
    return float(np.sqrt(np.mean((predictions - test.values) ** 2)))


def test_the_mean_and_precision_of_rows_have_their_closed_form():
    # without features U has a normal-Wishart posterior
    rng = np.random.default_rng(1)
    U = rng.normal(size=(60, 3)) @ np.diag([1.0, 2.0, 0.5]) + [0.5, 0, -1]
    side = GibbsSide(np.ones((60, 1)), 2, streams(2, sampling=0))
    side.rows = U.astype(np.float32)
    precisions = []
    means = []
    for _ in range(6000):
        side.draw_prior()
        precisions.append(side.precision)
        means.append(side.link[0])

    mean = U.mean(axis=0)
    n = len(U)
    pull = 2.0
    shrinkage = n / (pull + n)
    centred = U - mean
    scatter = np.eye(3) + centred.T @ centred
    scatter += pull * shrinkage * np.outer(mean, mean)
    expected = (3 + n) * np.linalg.inv(scatter)
    # standard errors are a fifth of a percent of the diagonal: 5% would be seen
    diagonal = np.diag(np.mean(precisions, axis=0))
    assert diagonal == pytest.approx(np.diag(expected), rel=0.015)
    assert np.mean(means, axis=0) == pytest.approx(shrinkage * mean, abs=0.02)


def test_a_users_side_is_the_mean_over_draws_of_its_posterior_mean():
    train, _ = simulated(0)
    model = fitted(
        BMF(
            rank=2,
            steps=8,
            draws=3,
            attention=4,
        ),
        train,
    )
    user = 7
    own = train.only(train.users == user)
    unit = train.shape.half_range / 2
    features = user_features(train, model.loadings, model.mean_log_count)[user]
    predictions = []
    for draw in range(3):
        factors = model.item_factors[:, 2 * draw : 2 * draw + 2]
        offsets = model.draw_offsets[:, draw]
        V = np.column_stack([factors, np.ones(ITEMS)])
        P = model.precisions[draw]
        a = model.noise_precisions[draw]
        prior = features @ model.links[draw]
        F = V[own.items]
        y = (own.values - model.centre) / unit - offsets[own.items]
        side = np.linalg.solve(a * F.T @ F + P, a * F.T @ y + P @ prior)
        predictions.append(model.centre + unit * (V @ side + offsets))

    everything = np.arange(ITEMS)
    shown = predict(model, train, np.full(ITEMS, user), everything)
    assert shown == pytest.approx(np.mean(predictions, axis=0), abs=2e-3)


def test_bayesian_factors_err_less_than_least_squares_and_find_the_noise():
    train, test = simulated(1)
    model = fitted(
        BMF(
            rank=2,
            steps=120,
            draws=40,
            attention=0,
        ),
        train,
    )
    least_squares = fitted(ALS(rank=2, local_columns=False), train)
    bayesian = error(model, train, test)
    assert bayesian > NOISE
    assert bayesian < 0.97 * error(least_squares, train, test)
    unit = train.shape.half_range / 2
    noise = unit / np.sqrt(model.noise_precisions.mean())
    assert noise == pytest.approx(NOISE, rel=0.05)
