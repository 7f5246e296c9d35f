"""Slope One against its definition in plain loops."""

import numpy as np

from dpmf_core.algorithms import Streams, build, train
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing.worlds import low_rank


def fit_model(data: Ratings):
    return train(
        build("slope-one", {}, data.shape, None),
        data,
        Noise(NOTHING),
        Streams(np.random.default_rng(0), 1),
    )


def by_definition(data: Ratings, user: int, item: int) -> float:
    """Mean over her other items, weighted by how many rated both, of her rating plus the
    average difference; her mean where nobody did.
    """
    table = np.full((data.n_users, data.n_items), np.nan)
    table[data.users, data.items] = data.values
    total = weight = 0.0
    for k in np.flatnonzero(~np.isnan(table[user])):
        both = ~np.isnan(table[:, item]) & ~np.isnan(table[:, k])
        if k != item and both.any():
            total += both.sum() * (table[user, k] + (table[both, item] - table[both, k]).mean())
            weight += both.sum()
    return float(np.clip(total / weight if weight else np.nanmean(table[user]), *data.bounds))


def test_every_prediction_is_the_definition() -> None:
    data = low_rank(n_users=30, n_items=12, density=0.3)
    data = data.only(data.items != 4)  # an item that nobody rated
    model = fit_model(data)
    users, items = (
        grid.ravel() for grid in np.meshgrid(np.arange(30), np.arange(12), indexing="ij")
    )
    busy = np.diff(data.by_user)[users] > 0
    users, items = users[busy], items[busy]
    personal = model.personal(data)
    expected = [by_definition(data, user, item) for user, item in zip(users, items, strict=True)]
    np.testing.assert_allclose(model.predict(personal, users, items), expected, atol=1e-4)
    each = np.unique(users)
    np.testing.assert_allclose(
        np.clip(model.scores(personal, each), *data.bounds).ravel(), expected, atol=1e-4
    )


def test_a_user_without_ratings_gets_the_mean_of_all() -> None:
    data = Ratings.of([0, 0], [0, 1], [1.0, 4.0], n_users=2, n_items=2, bounds=(0, 5))
    model = fit_model(data)
    np.testing.assert_allclose(model.scores(model.personal(data), np.array([1])), 2.5)
