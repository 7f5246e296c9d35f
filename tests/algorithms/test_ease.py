"""EASE against every item's own least squares, Slope One against its definition in plain loops."""

import numpy as np

from dpmf_core.algorithms import Streams, build, train
from dpmf_core.algorithms.ease import DAMPING
from dpmf_core.algorithms.exact_sums import damped_biases, sums_over
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing.worlds import low_rank
from tests.support.dense import dense, rated


def fit_model(data, ridge):
    algorithm = build("ease", {"regularisation": ridge}, data.shape, None)
    return train(algorithm, data, Noise(NOTHING), Streams(np.random.default_rng(0), 1))


def likes(n=60, m=9, chance=0.4):
    return rated(np.random.default_rng(3).random((n, m)) < chance)


def by_definition(X, ridge):
    """Column j: the ridge regression of item j on all the others, by stacked least squares."""
    m = X.shape[1]
    weights = np.zeros((m, m))
    for j in range(m):
        others = np.delete(np.arange(m), j)
        tall = np.vstack([X[:, others], np.sqrt(ridge) * np.eye(m - 1)])
        targets = np.concatenate([X[:, j], np.zeros(m - 1)])
        weights[others, j] = np.linalg.lstsq(tall, targets, rcond=None)[0]
    return weights


def test_every_item_is_regressed_on_all_the_others():
    data = likes()
    X = dense(data, 1)
    model = fit_model(data, 2.5)
    expected = by_definition(X, 2.5 * len(data) / 9)
    np.testing.assert_allclose(model.weights, expected, atol=1e-6)
    personal = model.personal(data)
    np.testing.assert_allclose(
        model.scores(personal, np.arange(60)), X @ expected, atol=1e-5
    )


def test_on_ratings_it_regresses_what_the_biases_leave():
    data = low_rank(n_users=40, n_items=8, density=0.5)
    centre, offsets = damped_biases(sums_over(data), data.shape, DAMPING)
    residuals = data.values - centre - offsets[data.items]
    own = np.bincount(data.users, residuals, 40) / (
        np.bincount(data.users, minlength=40) + DAMPING
    )
    table = dense(data, residuals - own[data.users])
    expected = (
        centre
        + own[:, None]
        + offsets
        + table @ by_definition(table, 1.5 * (table**2).sum() / 8)
    )
    model = fit_model(data, 1.5)
    users = np.tile(np.arange(40), 2)
    items = np.repeat([5, 2], 40)
    np.testing.assert_allclose(
        model.predict(model.personal(data), users, items),
        np.clip(expected, *data.bounds)[users, items],
        atol=1e-4,
    )


def slope_model(data):
    return train(
        build("slope-one", {}, data.shape, None),
        data,
        Noise(NOTHING),
        Streams(np.random.default_rng(0), 1),
    )


def slope_by_definition(data, user, item):
    """Their other ratings plus the average differences, weighted by how many rated both items."""
    table = np.full((data.n_users, data.n_items), np.nan)
    table[data.users, data.items] = data.values
    total = weight = 0.0
    for k in np.flatnonzero(~np.isnan(table[user])):
        both = ~np.isnan(table[:, item]) & ~np.isnan(table[:, k])
        if k != item and both.any():
            total += both.sum() * (
                table[user, k] + (table[both, item] - table[both, k]).mean()
            )
            weight += both.sum()
    return float(
        np.clip(total / weight if weight else np.nanmean(table[user]), *data.bounds)
    )


def test_every_prediction_is_the_definition():
    data = low_rank(n_users=30, n_items=12, density=0.3)
    data = data.only(data.items != 4)  # an item that nobody rated
    model = slope_model(data)
    users, items = (
        grid.ravel()
        for grid in np.meshgrid(np.arange(30), np.arange(12), indexing="ij")
    )
    busy = np.diff(data.by_user)[users] > 0
    users, items = users[busy], items[busy]
    personal = model.personal(data)
    expected = [
        slope_by_definition(data, user, item)
        for user, item in zip(users, items, strict=True)
    ]
    np.testing.assert_allclose(
        model.predict(personal, users, items), expected, atol=1e-4
    )
    each = np.unique(users)
    np.testing.assert_allclose(
        np.clip(model.scores(personal, each), *data.bounds).ravel(), expected, atol=1e-4
    )


def test_a_user_without_ratings_gets_the_mean_of_all():
    data = Ratings.of([0, 0], [0, 1], [1.0, 4.0], n_users=2, n_items=2, bounds=(0, 5))
    model = slope_model(data)
    np.testing.assert_allclose(model.scores(model.personal(data), np.array([1])), 2.5)
