"""Users' prior means against dense linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms import build
from dpmf_core.algorithms.base import Recommender
from dpmf_core.algorithms.prior_means import AttentionMoment
from dpmf_core.algorithms.spectral import Spectral
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Budget, normal_form
from dpmf_core.testing.rating_worlds import world
from tests.support.algebra import exact_curator, relative

RANK = 2
TYPICAL = 1.5
SCALE = 0.7


def random_model(data, seed=3):
    """A model with prior means, and loadings of attention (n_items, 4)."""
    rng = np.random.default_rng(seed)
    m = data.n_items
    V = rng.normal(size=(m, RANK)).astype(np.float32)
    model = Recommender(
        data.bounds,
        data.shape.mid_range,
        rng.normal(0, 0.3, m).astype(np.float32),
        V,
        user_damping=0.0,
        ridge=0.8,
        mended=True,
        attention=rng.normal(0, 0.2, (m, RANK + 1)).astype(np.float32),
        attention_line=rng.normal(0, 0.2, (2, RANK + 1)).astype(np.float32),
    )
    return model, rng.normal(size=(m, 4))


def row_of(data, user):
    rated = slice(data.by_user[user], data.by_user[user + 1])
    return data.items[rated], data.values[rated].astype(float)


def side_of(model, data, user):
    """A user's mean residual, and the posterior mean of factors and mended offset, densely."""
    items, values = row_of(data, user)
    unit = data.shape.half_range / 2
    y = values - model.centre - model.item_offsets[items]
    mean = y.mean()
    columns = np.column_stack([model.item_factors, np.full(data.n_items, unit)])
    W = columns[items]
    prior = model.attention[items].sum(axis=0) / np.sqrt(len(items))
    prior = prior + model.attention_line[0]
    prior = prior + np.log1p(len(items)) * model.attention_line[1]
    system = W.T @ W + model.ridge * np.eye(RANK + 1)
    side = np.linalg.solve(system, W.T @ (y - mean) + model.ridge * prior)
    return float(mean), side


def test_a_users_side_is_the_posterior_mean_about_the_prior_mean():
    data = world()
    model, _ = random_model(data)
    own = model.personal(data)
    unit = data.shape.half_range / 2
    for user in np.flatnonzero(np.diff(data.by_user)):
        mean, side = side_of(model, data, user)
        assert_allclose(own.factors[user], side[:-1], rtol=2e-3, atol=2e-4)
        assert own.offsets[user] == pytest.approx(mean + unit * side[-1], abs=1e-3)
    for user in np.flatnonzero(np.diff(data.by_user) == 0):
        assert not own.offsets[user]
        assert not own.factors[user].any()


def dense_rows(model, loadings, data):
    """The rows of `unit_rows` (n_users, 2 + 4 + RANK + 1), one user after the other."""
    rows = np.zeros((data.n_users, 2 + loadings.shape[1] + RANK + 1))
    for user in np.flatnonzero(np.diff(data.by_user)):
        items, _ = row_of(data, user)
        attention = loadings[items].sum(axis=0) / np.sqrt(len(items))
        _, side = side_of(model, data, user)
        excess = np.log1p(len(items)) - TYPICAL
        rows[user] = relative(np.array([1.0, excess, *attention, *SCALE * side]))
    return rows


def test_the_moment_is_that_of_unit_rows_in_any_number_of_blocks():
    data = world()
    model, loadings = random_model(data)
    rows = dense_rows(model, loadings, data)
    sums = []
    for blocks in (1, 3):
        curator = exact_curator(data, blocks)
        sums.append(curator.total(AttentionMoment(), model, loadings, TYPICAL, SCALE))
    assert_allclose(sums[0], rows.T @ rows, atol=1e-3)
    assert np.array_equal(*sums)


def test_prior_means_are_left_out_by_n_and_mu_and_change_nothing_then():
    for n, epsilon, has_means in (
        (6040, 1.0, False),
        (6040, 5.0, True),
        (943, 5.0, False),
    ):
        budget = Budget(epsilon=epsilon, delta=1e-5)
        algorithm = build("spectral", {}, Shape(n, 400, (1, 5)), budget)
        assert (algorithm.model_dump()["attention_share"] > 0) == has_means
    data = world()
    lists = Spectral(implicit=True, attention_share=0.5)
    assert normal_form(lists.plan(data.shape, 1.0)) == normal_form(
        Spectral(implicit=True).plan(data.shape, 1.0)
    )
