"""Frank-Wolfe and DPFW against dense numpy, and Oja's direction."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dpmf_core.algorithms.private_frank_wolfe import DPFW
from dpmf_core.kernels.replay import Rows, replay
from tests.fitting import fit_by_name
from tests.support.algebra import orthonormal, predict
from tests.support.dense import centred, dense, rectangle

N = 40
M = 17
VANISHING = 1e-13  # level at which noise is far below rounding


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.5, sizes=(2, 1, 0.5))


HALF_RANGE = 7.0  # of a rectangle's ratings


def kappa_of(nuclear_norm, n_items=M):
    """The bound on the nuclear norm of a matrix (N, n_items)."""
    return nuclear_norm * HALF_RANGE * math.sqrt(N * n_items)


def last_iterate(data, residuals, kappa, rates, bound=np.inf):
    """[J18, Alg. 1] on whole n x m float64 matrices with numpy's SVD: Y_T, (n, m)."""
    is_rated = dense(data, True) > 0
    Y_star = dense(data, residuals)

    def within(rows):
        lengths = np.linalg.norm(
            np.where(is_rated, rows, 0),
            axis=1,
            keepdims=True,
        )
        return rows * np.minimum(1, bound / np.maximum(lengths, 1e-300))

    Y = np.zeros((N, M))
    for eta in rates:
        A = within(np.where(is_rated, Y - Y_star, 0))
        u, _, v = np.linalg.svd(A)
        atom = kappa * np.outer(u[:, 0], v[0])
        Y = within((1 - eta) * Y - eta * atom)
    return Y


def whole_iterate(model, data):
    """All of Y (n, m), as the users find it by themselves."""
    factors = model.personal(data).factors.astype(float)
    return factors @ model.item_factors.astype(float).T


@pytest.mark.parametrize("step_size", ["2/(t+2)", "1/T"])
def test_without_noise_equals_dense_frank_wolfe(data, step_size):
    T = 12
    model = fit_by_name(
        "fw",
        data,
        steps=T,
        nuclear_norm=0.1,
        step_size=step_size,
        biases=False,
    ).model
    rates = np.full(T, 1 / T)
    if step_size == "2/(t+2)":
        rates = 2 / (np.arange(T) + 2)
    expected = last_iterate(data, centred(data), kappa_of(0.1), rates)
    assert_allclose(whole_iterate(model, data), expected, atol=1e-6)


def test_frank_wolfe_works_on_what_item_offsets_leave(data):
    """With offsets, the steps work on what the damped bias model leaves over."""
    model = fit_by_name(
        "fw",
        data,
        steps=6,
        nuclear_norm=0.1,
        local_columns=False,
    ).model
    biases = fit_by_name("bias", data, local_columns=False).model
    assert model.centre == biases.centre
    assert_array_equal(model.item_offsets, biases.item_offsets)
    _, residuals = biases.residuals(data)
    rates = 2 / (np.arange(6) + 2.0)
    expected = last_iterate(data, residuals, kappa_of(0.1), rates)
    assert_allclose(whole_iterate(model, data), expected, atol=1e-6)


@pytest.mark.parametrize("noise_schedule", ["constant", "growing"])
def test_private_form_with_vanishing_noise_equals_dense_clipped_frank_wolfe(
    data, noise_schedule
):
    """Rows of the residuals and of the iterate are held within L; here both bounds bite."""
    T = 8
    L = 0.1 * HALF_RANGE * math.sqrt(M)
    model = fit_by_name(
        "dpfw",
        data,
        VANISHING,
        steps=T,
        nuclear_norm=0.6,
        row_clip=0.1,
        noise_schedule=noise_schedule,
    ).model
    rates = np.full(T, 1 / T)
    kappa = kappa_of(0.6)
    expected = last_iterate(data, centred(data), kappa, rates, L)
    without_bound = last_iterate(data, centred(data), kappa, rates)
    assert np.abs(expected - without_bound).max() > 0.1
    # a residual row stops one part in a million short of L
    assert_allclose(whole_iterate(model, data), expected, atol=2e-5)


def test_frequent_items_alone_take_the_steps(data):
    """Dense Frank-Wolfe on the most rated columns; elsewhere each user's own mean."""
    T = 8
    n_kept = 6
    model = fit_by_name(
        "dpfw",
        data,
        VANISHING,
        steps=T,
        nuclear_norm=0.6,
        frequent_fraction=n_kept / M,
    ).model
    counts = np.bincount(data.items, minlength=M)
    inside = np.asarray(model.item_factors).any(axis=1)
    assert inside.sum() == n_kept
    assert counts[inside].min() >= counts[~inside].max()  # ties are broken by noise

    is_frequent = inside[data.items]
    residuals = centred(data)[is_frequent]
    bound = DPFW().row_clip * HALF_RANGE * math.sqrt(n_kept)
    rates = np.full(T, 1 / T)
    kappa = kappa_of(0.6, n_kept)
    expected = last_iterate(data.only(is_frequent), residuals, kappa, rates, bound)
    expected[:, ~inside] = 0
    assert_allclose(whole_iterate(model, data), expected, atol=2e-5)

    means = 3.0 + model.personal(data).offsets
    elsewhere = int(np.flatnonzero(~inside)[0])
    predictions = predict(model, data, np.arange(N), np.full(N, elsewhere))
    assert_allclose(predictions, means, rtol=1e-6)


def test_a_user_finds_the_row_she_had_in_training(data, monkeypatch):
    """The replayed coefficients give the iterate of training, with any number of threads."""
    random = np.random.default_rng(0)
    V = orthonormal(random, M, 6).astype(np.float32)
    inverses = random.uniform(0.05, 0.2, 6)
    rates = np.full(6, 0.3)
    kappa = 40.0
    bound = 3.0
    residuals = np.asarray(centred(data), np.float32)
    trained_rows = []
    factors = []
    for threads in ("1", "3"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        rows = Rows(data.by_user, data.items, residuals, bound, bound)
        for t in range(6):
            direction = np.ascontiguousarray(V[:, t])
            rows.advance(direction, inverses[t], rates[t], kappa)
        trained_rows.append(rows)
        factors.append(replay(rows, V, inverses, rates, kappa))
    first, second = trained_rows
    assert first.iterate.tobytes() == second.iterate.tobytes()
    assert first.residuals().tobytes() == second.residuals().tobytes()
    assert factors[0].tobytes() == factors[1].tobytes()

    products = (factors[0][data.users] * V[data.items]).sum(1)
    assert_allclose(products, first.iterate, atol=1e-12)
    lengths = np.sqrt(np.bincount(data.users, first.residuals() ** 2, N))
    assert lengths.max() <= bound
    assert (lengths > 0.999 * bound).any()

    is_own = data.users == 5
    starts = np.array([0, is_own.sum()])
    own = Rows(starts, data.items[is_own], residuals[is_own], bound, bound)
    alone = replay(own, V, inverses, rates, kappa)
    assert alone[0].tobytes() == factors[0][5].tobytes()


def test_oja_without_noise_finds_the_top_eigenvector(data):
    def model(name, **options):
        return fit_by_name(name, data, VANISHING, steps=4, **options).model

    covariance = model("dpfw")
    products = model(
        "dpfw-oja",
        inner_steps=200,
        inner_rate=1000.0,
    )
    cosines = np.abs((covariance.item_factors * products.item_factors).sum(axis=0))
    assert (cosines > 1 - 1e-5).all()
    assert_allclose(products.inverse_singular, covariance.inverse_singular, rtol=1e-4)
    few = model(
        "dpfw-oja",
        inner_steps=1,
        inner_rate=0.1,
    )
    cosine = few.item_factors[:, 0] @ covariance.item_factors[:, 0]
    assert abs(float(cosine)) < 0.99
