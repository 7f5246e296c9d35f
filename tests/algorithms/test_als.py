"""ALS against plain float64 numpy, and the rule for its parameters."""

from typing import Any

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core import kernels
from dpmf_core.algorithms import REGISTRY, Streams, als
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import Split, SplitSpec, split
from dpmf_core.evaluation.metrics import rmse
from tests.algorithms.als_world import M, N, ratings, ridge_rows
from tests.fitting import fit_by_name


@pytest.fixture(scope="module")
def data() -> Ratings:
    return ratings()


@pytest.mark.parametrize("unobserved_weight", [0.0, 0.3])
def test_als_equals_dense_least_squares(data: Ratings, unobserved_weight: float) -> None:
    fit = fit_by_name(
        "als",
        data,
        rank=4,
        steps=3,
        biases="off",
        regularisation=0.2,
        regularisation_exponent=0.5,
        unobserved_weight=unobserved_weight,
    )
    V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((M, 4)))
    x = data.values.astype(float)
    per_user, per_item = (
        0.2 * np.maximum(np.bincount(ids, minlength=size), 1) ** 0.5
        for ids, size in ((data.users, N), (data.items, M))
    )
    for _ in range(3):
        U = ridge_rows(data.users, data.items, x, V, N, per_user, unobserved_weight * V.T @ V)
        V = ridge_rows(data.items, data.users, x, U, M, per_item, unobserved_weight * U.T @ U)
    np.testing.assert_allclose(fit.model.item_factors, V, rtol=5e-3, atol=5e-4)
    U = ridge_rows(data.users, data.items, x, V, N, per_user, unobserved_weight * V.T @ V)
    personal = fit.model.personal(data)
    predictions = fit.model.predict(personal, data.users, data.items)
    np.testing.assert_allclose(
        predictions, np.clip((U[data.users] * V[data.items]).sum(1), -4, 10), atol=5e-3
    )


@pytest.mark.parametrize("sampling", ["uniform", "adaptive"])
def test_als_on_a_sample_of_frequent_items_equals_dense_least_squares(
    data: Ratings, sampling: str
) -> None:
    """The user step has all ratings, the item step at most 4 a user, of the 12 most rated items;
    the others get the user's mean.
    """
    options = {
        "frequent_fraction": 0.5,
        "ratings_per_user": 4,
        "sampling": sampling,
        "local_columns": False,
    }
    fit = fit_by_name("als", data, rank=2, steps=2, biases="user", regularisation=0.2, **options)
    rng = Streams(np.random.default_rng(0), 0)
    _, entries = als.ALS.model_validate(options)._entries(data, rng)
    counts = np.bincount(data.items, minlength=M)
    frequent = np.isin(data.items, np.argsort(-counts, kind="stable")[:12])
    for user in range(1, N):
        own = counts[data.items[frequent & (data.users == user)]]
        sampled_counts = counts[data.items[entries[data.users[entries] == user]]]
        assert len(sampled_counts) == min(len(own), 4)
        if sampling == "adaptive":
            np.testing.assert_array_equal(
                np.sort(sampled_counts), np.sort(own)[: len(sampled_counts)]
            )
    per_user = np.maximum(np.bincount(data.users, minlength=N), 1)
    means = np.bincount(data.users, data.values - 3.0, N) / per_user
    residuals, V = data.values - 3.0 - means[data.users], np.linalg.qr(_start(2))[0]
    users, items = data.users[entries], data.items[entries]
    per_item = np.maximum(np.bincount(items, minlength=M), 1)
    for _ in range(2):
        U = ridge_rows(data.users, data.items, residuals, V, N, 0.2 * per_user)
        V = ridge_rows(items, users, residuals[entries], U, M, 0.2 * per_item)
    np.testing.assert_allclose(fit.model.item_factors, V, rtol=5e-3, atol=5e-4)
    rare = int(np.argmin(counts))
    predictions = fit.model.predict(fit.model.personal(data), np.arange(N), np.full(N, rare))
    np.testing.assert_allclose(predictions, 3.0 + means, rtol=1e-5)


def _start(rank: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(0).standard_normal((M, rank)))


def test_als_with_joint_offsets_equals_dense_least_squares(data: Ratings) -> None:
    """Each side's offset is one more column of its least squares, on what damped offsets leave;
    in float64 by numpy.
    """
    from dpmf_core.algorithms.exact_sums import damped_biases, sums_over

    fit = fit_by_name("als", data, rank=3, steps=2, biases="joint", regularisation=0.1)
    V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((M, 3)))
    x, unit = data.values.astype(float), data.shape.half_range / 2
    centre, first = damped_biases(sums_over(data), data.shape, als.BIAS_DAMPING)
    per_user, per_item = (
        0.1 * np.maximum(np.bincount(ids, minlength=size), 1)
        for ids, size in ((data.users, N), (data.items, M))
    )
    b = first.astype(float)

    def people(b: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residuals = x - centre - b[data.items]
        a = np.bincount(data.users, residuals, N) / (
            np.bincount(data.users, minlength=N) + als.BIAS_DAMPING
        )
        U = ridge_rows(
            data.users,
            data.items,
            residuals - a[data.users],
            np.column_stack([V, np.full(M, unit)]),
            N,
            per_user,
        )
        return a + unit * U[:, -1], U[:, :-1]

    for _ in range(2):
        a, U = people(b, V)
        W = ridge_rows(
            data.items,
            data.users,
            x - centre - a[data.users] - first[data.items],
            np.column_stack([U, np.full(N, unit)]),
            M,
            per_item,
        )
        b, V = first + unit * W[:, -1], W[:, :-1]
    np.testing.assert_allclose(fit.model.item_offsets, b, rtol=5e-3, atol=2e-3)
    a, U = people(b, V)
    predictions = fit.model.predict(fit.model.personal(data), data.users, data.items)
    np.testing.assert_allclose(
        predictions,
        np.clip(
            centre + a[data.users] + b[data.items] + (U[data.users] * V[data.items]).sum(1), -4, 10
        ),
        atol=2e-2,
    )


@pytest.fixture(scope="module")
def parts() -> Split:
    return split(datasets.load("cinema-small"), SplitSpec(), 0)


def _error(parts: Split, **options: Any) -> float:
    model = fit_by_name("als", parts.train, **options).model
    own = model.personal(parts.history)
    return rmse(model.predict(own, parts.test.users, parts.test.items), parts.test.values)


@pytest.mark.parametrize("rank", [pytest.param(8, marks=pytest.mark.slow), 32])
@pytest.mark.parametrize("biases", ["off", "user", "first", "joint"])
def test_the_held_out_error_at_convergence_is_that_of_exact_steps(
    parts: Split, biases: str, rank: int
) -> None:
    options = {"biases": biases, "rank": rank, "steps": 30}
    exact, cg = (_error(parts, solver=solver, **options) for solver in ("exact", "cg"))
    assert cg == pytest.approx(exact, rel=1e-3)


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
