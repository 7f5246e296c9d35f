"""EASE against every item's own least squares, Slope One against its definition in plain loops."""

import numpy as np
from numpy.testing import assert_allclose

from dpmf_core.algorithms import build, train
from dpmf_core.algorithms.ease import DAMPING
from dpmf_core.algorithms.exact_sums import damped_biases, sums_over
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.algebra import predict, streams
from tests.support.dense import dense, rated


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


def fitted(data, method, **parameters):
    algorithm = build(method, parameters, data.shape, None)
    return train(algorithm, data, Noise(NOTHING), streams())


def test_every_item_is_regressed_on_all_the_others():
    data = likes()
    X = dense(data, 1)
    model = fitted(data, "ease", regularisation=2.5)
    expected = by_definition(X, 2.5 * len(data) / 9)
    assert_allclose(model.weights, expected, atol=1e-6)
    scores = model.scores(model.personal(data), np.arange(60))
    assert_allclose(scores, X @ expected, atol=1e-5)


def test_on_ratings_it_regresses_what_the_biases_leave():
    data = low_rank(n_users=40, n_items=8, density=0.5)
    centre, offsets = damped_biases(sums_over(data), data.shape, DAMPING)
    residuals = data.values - centre - offsets[data.items]
    damped_counts = np.bincount(data.users, minlength=40) + DAMPING
    own = np.bincount(data.users, residuals, 40) / damped_counts
    table = dense(data, residuals - own[data.users])
    weights = by_definition(table, 1.5 * (table**2).sum() / 8)
    expected = centre + own[:, None] + offsets + table @ weights
    expected = np.clip(expected, *data.bounds)
    users = np.tile(np.arange(40), 2)
    items = np.repeat([5, 2], 40)
    model = fitted(data, "ease", regularisation=1.5)
    predictions = predict(model, data, users, items)
    assert_allclose(predictions, expected[users, items], atol=1e-4)


def slope_by_definition(data, user, item):
    """Their other ratings plus the average differences, weighted by how many rated both items."""
    table = np.full((data.n_users, data.n_items), np.nan)
    table[data.users, data.items] = data.values
    is_rated = ~np.isnan(table)
    total = 0.0
    weight = 0.0
    for other in np.flatnonzero(is_rated[user]):
        both = is_rated[:, item] & is_rated[:, other]
        if other != item and both.any():
            difference = (table[both, item] - table[both, other]).mean()
            total += both.sum() * (table[user, other] + difference)
            weight += both.sum()
    if weight:
        prediction = total / weight
    else:
        prediction = np.nanmean(table[user])
    return float(np.clip(prediction, *data.bounds))


def test_every_prediction_of_slope_one_is_its_definition():
    data = low_rank(n_users=30, n_items=12, density=0.3)
    data = data.only(data.items != 4)  # an item that nobody rated
    model = fitted(data, "slope-one")
    raters = np.flatnonzero(np.diff(data.by_user))
    users = np.repeat(raters, 12)
    items = np.tile(np.arange(12), len(raters))
    expected = []
    for user, item in zip(users, items, strict=True):
        expected.append(slope_by_definition(data, user, item))
    assert_allclose(predict(model, data, users, items), expected, atol=1e-4)
    scores = model.scores(model.personal(data), raters)
    assert_allclose(scores.clip(*data.bounds).ravel(), expected, atol=1e-4)


def test_slope_one_gives_a_user_without_ratings_the_mean_of_all():
    data = Ratings.of(
        [0, 0],
        [0, 1],
        [1.0, 4.0],
        n_users=2,
        n_items=2,
        bounds=(0, 5),
    )
    model = fitted(data, "slope-one")
    assert_allclose(model.scores(model.personal(data), np.array([1])), 2.5)
