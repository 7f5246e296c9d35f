"""SGD-MF against a plain loop and Surprise's figure."""

import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms.sgd import SGDMF
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import rmse
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.algebra import streams

SURPRISE_U1 = 0.9533
FOLDS = (
    Path(
        os.environ.get("DPMF_REAL_DATA") or Path(__file__).parents[2] / "../shared/data"
    )
    / "ml-100k/folds.tar.xz"
)


def descent(algorithm, data, seed):
    """The last state of a descent."""
    *_, state = algorithm.descend(data, streams(seed))
    return state


def test_descent_is_the_textbook_loop():
    data = low_rank()
    algorithm = SGDMF(
        rank=3,
        steps=2,
        learning_rate=0.01,
        regularisation=0.05,
    )
    state = descent(algorithm, data, 4)
    rng = np.random.default_rng(4)
    unit = data.shape.half_range / 2
    P = rng.normal(0, 0.1, (data.n_users, 3))
    Q = rng.normal(0, 0.1, (data.n_items, 3))
    a = np.zeros(data.n_users)
    b = np.zeros(data.n_items)
    x = data.values.astype(float) / unit
    for _ in range(2):
        for u, i, value in zip(data.users, data.items, x, strict=True):
            e = value - x.mean() - a[u] - b[i] - P[u] @ Q[i]
            a[u] += 0.01 * (e - 0.05 * a[u])
            b[i] += 0.01 * (e - 0.05 * b[i])
            p = P[u].copy()
            P[u] += 0.01 * (e * Q[i] - 0.05 * p)
            Q[i] += 0.01 * (e * p - 0.05 * Q[i])
    assert_allclose(state.P, P * np.sqrt(unit), rtol=1e-10)
    assert_allclose(state.b, b * unit, rtol=1e-10)
    assert_allclose(state.a, a * unit, rtol=1e-9)
    assert_allclose(state.Q, Q * np.sqrt(unit), rtol=1e-9)


def ratings_in(path):
    """One part of a fold of MovieLens 100K."""
    users, items, stars, _ = np.loadtxt(path, dtype=int).T
    return Ratings.of(
        users - 1,
        items - 1,
        stars,
        n_users=943,
        n_items=1682,
        bounds=(1, 5),
        public=True,
    )


@pytest.mark.skipif(
    not FOLDS.exists(),
    reason=f"the official folds of MovieLens 100K are not in {FOLDS}",
)
def test_the_error_on_an_official_fold_is_surprises(tmp_path):
    """Surprise 1.1.5, SVD(n_factors=10), mean of seeds 0 to 4 on u1: RMSE .9533."""
    with tarfile.open(FOLDS) as archive:
        archive.extractall(tmp_path, filter="data")
    train = ratings_in(next(tmp_path.rglob("u1.base")))
    test = ratings_in(next(tmp_path.rglob("u1.test")))
    errors = []
    for seed in range(3):
        state = descent(SGDMF(rank=10), train, seed)
        predictions = state.mean + state.a[test.users] + state.b[test.items]
        products = state.P[test.users] * state.Q[test.items]
        predictions += products.sum(axis=1)
        errors.append(rmse(predictions.clip(*test.bounds), test.values))
    assert np.mean(errors) == pytest.approx(SURPRISE_U1, abs=0.002)
