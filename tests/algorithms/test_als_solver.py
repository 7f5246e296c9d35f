"""ALS by conjugate gradients reaches what exact ALS reaches, and no release is made with it."""

from typing import Any

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core import kernels
from dpmf_core.algorithms import REGISTRY, Streams, als
from dpmf_core.algorithms.base import Array
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import Split, SplitSpec, split
from dpmf_core.evaluation.metrics import rmse
from tests.algorithms.als_world import M, N, ratings, ridge_rows
from tests.fitting import fit_by_name


@pytest.fixture(scope="module")
def parts() -> Split:
    return split(datasets.load("cinema-small"), SplitSpec(), 0)


def _error(parts: Split, **options: Any) -> float:
    model = fit_by_name("als", parts.train, **options).model
    own = model.personal(parts.history)
    return rmse(model.predict(own, parts.test.users, parts.test.items), parts.test.values)


@pytest.mark.parametrize("rank", [8, 32])
@pytest.mark.parametrize("biases", ["off", "user", "first", "joint"])
def test_the_held_out_error_at_convergence_is_that_of_exact_steps(
    parts: Split, biases: str, rank: int
) -> None:
    options = {"biases": biases, "rank": rank, "steps": 30}
    exact, cg = (_error(parts, solver=solver, **options) for solver in ("exact", "cg"))
    assert cg == pytest.approx(exact, rel=1e-3)


def _implicit_loss(data: Ratings, weight: float, ridge: float, V: Array) -> float:
    """sum over ratings (x - u v)^2 + weight sum over all cells (u v)^2 + ridges, each user's u the
    least of it; dense float64.
    """
    V = V.astype(float)
    common, loss = weight * V.T @ V, 0.0
    counts = np.bincount(data.items, minlength=data.n_items)
    for user in range(data.n_users):
        at = data.users == user
        F, x = V[data.items[at]], data.values[at].astype(float)
        own = ridge * max(len(x), 1)
        u = np.linalg.solve(F.T @ F + common + own * np.eye(V.shape[1]), F.T @ x)
        loss += ((x - F @ u) ** 2).sum() + u @ common @ u + own * u @ u
    return float(loss + (ridge * np.maximum(counts, 1) * (V**2).sum(1)).sum())


def test_the_implicit_loss_at_convergence_is_that_of_exact_steps(parts: Split) -> None:
    likes = parts.train.positives(3)
    options = {"unobserved_weight": 0.1, "regularisation": 0.05, "rank": 12}
    start, exact, cg = (
        _implicit_loss(
            likes, 0.1, 0.05, fit_by_name("als", likes, **options, **more).model.item_factors
        )
        for more in ({"steps": 1}, {"steps": 30}, {"steps": 30, "solver": "cg"})
    )
    assert cg == pytest.approx(exact, rel=1e-3) and exact < 0.97 * start


def test_the_last_item_step_is_exact() -> None:
    """One step whose users stop short of their solution."""
    data = ratings()
    factors = fit_by_name(
        "als", data, rank=4, steps=1, biases="off", regularisation=0.2, solver="cg", cg_steps=1
    ).model.item_factors
    V = als.random_start(Streams(np.random.default_rng(0), 0), M, 4)
    per_user, per_item = (
        0.2 * np.maximum(np.bincount(ids, minlength=size), 1)
        for ids, size in ((data.users, N), (data.items, M))
    )
    at, zero = (data.by_user, data.items, data.values), np.zeros((N, 4))
    U = kernels.refine_rows(*at, V, per_user, zero, steps=1).astype(float)
    exact = kernels.solve_rows(*at, V, per_user)
    assert np.abs(U - exact).max() > 0.05
    expected = ridge_rows(data.items, data.users, data.values.astype(float), U, M, per_item)
    np.testing.assert_allclose(factors, expected, rtol=1e-3, atol=1e-4)


def test_no_release_can_be_made_of_approximate_solutions() -> None:
    """What is private solves exactly; noisy ratings alone may be factorised as anyone likes, and
    are exactly so unless asked.
    """
    choose = {
        kind.id: kind.model_fields["solver"].default
        for kind in REGISTRY.values()
        if "solver" in kind.model_fields
    }
    assert choose == {"als": "exact", "input-perturbation": "exact"}
