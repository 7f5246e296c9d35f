"""Bayesian matrix factorisation against closed forms and independent computation."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpmf_core.algorithms.als import ALS
from dpmf_core.algorithms.base import Streams
from dpmf_core.algorithms.bayesian import BMF, _Side, user_features
from dpmf_core.data.ratings import Ratings

USERS = 300
ITEMS = 40
NOISE = 0.5


def simulated(seed, rated=12):
    """Training and held-out ratings of a matrix of rank two plus offsets plus noise."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(USERS, 2)) @ rng.normal(size=(2, ITEMS)) * 0.5
    truth += rng.normal(size=(USERS, 1)) * 0.3 + rng.normal(size=ITEMS) * 0.3 + 3
    chosen = np.stack([rng.permutation(ITEMS)[: rated + 4] for _ in range(USERS)])
    users = np.repeat(np.arange(USERS), rated + 4)
    items = chosen.ravel()
    values = truth[users, items] + NOISE * rng.normal(size=len(users))
    held_out = np.tile(np.arange(rated + 4) >= rated, USERS)

    everything = (users, items, values)
    return tuple(
        Ratings.of(
            *(part[mask] for part in everything),
            n_users=USERS,
            n_items=ITEMS,
            bounds=(-5, 11),
        )
        for mask in (~held_out, held_out)
    )


def fitted(algorithm, data, seed=0):
    curator = SimpleNamespace(rows=data, has_rows=True)
    return list(algorithm.fit(curator, Streams(np.random.default_rng(seed), seed)))[-1]


def error(model, train, test):
    predictions = model.predict(model.personal(train), test.users, test.items)
    return float(np.sqrt(np.mean((predictions - test.values) ** 2)))


def test_the_mean_and_precision_of_rows_have_their_closed_form():
    # without features U has a normal-Wishart posterior
    rng = np.random.default_rng(1)
    U = rng.normal(size=(60, 3)) @ np.diag([1.0, 2.0, 0.5]) + [0.5, 0, -1]
    side = _Side(np.ones((60, 1)), 2, Streams(np.random.default_rng(2), 0))
    side.rows = U.astype(np.float32)
    draws = []
    for _ in range(6000):
        side.draw_prior()
        draws.append((side.precision, side.link[0]))

    mean = U.mean(axis=0)
    n = len(U)
    pull = 2.0
    centred = U - mean
    scatter = (
        np.eye(3) + centred.T @ centred + pull * n / (pull + n) * np.outer(mean, mean)
    )
    expected = (3 + n) * np.linalg.inv(scatter)
    precisions, means = (np.array(draw) for draw in zip(*draws, strict=True))
    # standard errors are a fifth of a percent of the diagonal: 5% would be seen
    assert np.diag(precisions.mean(axis=0)) == pytest.approx(
        np.diag(expected), rel=0.015
    )
    assert means.mean(axis=0) == pytest.approx(n / (pull + n) * mean, abs=0.02)


def test_a_users_side_is_the_mean_over_draws_of_its_posterior_mean():
    train, _ = simulated(0)
    model = fitted(BMF(rank=2, steps=8, draws=3, attention=4), train)
    own = model.personal(train)
    user = 7
    rated = slice(train.by_user[user], train.by_user[user + 1])
    items = train.items[rated]
    unit = train.shape.half_range / 2
    x = user_features(train, model.loadings, model.mean_log_count)[user]
    predictions = []
    for draw in range(3):
        V = np.column_stack(
            [model.item_factors[:, 2 * draw : 2 * draw + 2], np.ones(ITEMS)]
        )
        P = model.precisions[draw]
        a = model.noise_precisions[draw]
        y = (train.values[rated] - model.centre) / unit - model.draw_offsets[
            items, draw
        ]
        side = np.linalg.solve(
            a * V[items].T @ V[items] + P,
            a * V[items].T @ y + P @ (x @ model.links[draw]),
        )
        predictions.append(
            model.centre + unit * (V @ side + model.draw_offsets[:, draw])
        )

    got = model.predict(own, np.full(ITEMS, user), np.arange(ITEMS))
    assert got == pytest.approx(np.mean(predictions, axis=0), abs=2e-3)


def test_on_its_own_model_it_errs_less_than_least_squares_and_finds_the_noise():
    train, test = simulated(1)
    model = fitted(BMF(rank=2, steps=120, draws=40, attention=0), train)
    bayesian = error(model, train, test)
    assert (
        NOISE
        < bayesian
        < 0.97 * error(fitted(ALS(rank=2, local_columns=False), train), train, test)
    )
    noise = train.shape.half_range / 2 / np.sqrt(model.noise_precisions.mean())
    assert noise == pytest.approx(NOISE, rel=0.05)
