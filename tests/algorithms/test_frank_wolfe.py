"""Frank-Wolfe and DPFW against dense numpy, and Oja's direction."""

import math

import numpy as np
import pytest

from dpmf_core.algorithms.private_frank_wolfe import DPFW
from dpmf_core.kernels.replay import Rows, replay
from tests.fitting import FitResult, fit_by_name
from tests.support.dense import centred, dense, rectangle

N = 40
M = 17
VANISHING = 1e-13  # level at which noise is far below rounding


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.5, sizes=(2, 1, 0.5))


def last_iterate(data, residuals, kappa, rates, bound=np.inf):
    """[J18, Alg. 1] on whole n x m float64 matrices with numpy's SVD: Y_T, (n, m)."""
    is_rated = dense(data, True) > 0
    Y_star = dense(data, residuals)

    def within(rows):
        lengths = np.linalg.norm(np.where(is_rated, rows, 0), axis=1, keepdims=True)
        return rows * np.minimum(1, bound / np.maximum(lengths, 1e-300))

    Y = np.zeros((N, M))
    for eta in rates:
        A = within(np.where(is_rated, Y - Y_star, 0))
        u, _, v = np.linalg.svd(A)
        Y = within((1 - eta) * Y - eta * kappa * np.outer(u[:, 0], v[0]))
    return Y


def whole_iterate(fit, data):
    """All of Y (n, m), as the users find it by themselves."""
    return np.asarray(
        fit.model.personal(data).factors.astype(float)
        @ fit.model.item_factors.astype(float).T
    )


@pytest.mark.parametrize("step_size", ["2/(t+2)", "1/T"])
def test_without_noise_equals_dense_frank_wolfe(data, step_size):
    T = 12
    fit = fit_by_name(
        "fw",
        data,
        steps=T,
        nuclear_norm=0.1,
        step_size=step_size,
        biases=False,
    )
    rates = np.array(
        [2 / (t + 2) if step_size == "2/(t+2)" else 1 / T for t in range(T)]
    )
    np.testing.assert_allclose(
        whole_iterate(fit, data),
        last_iterate(data, centred(data), 0.1 * 7 * math.sqrt(N * M), rates),
        atol=1e-6,
    )


def test_item_offsets_come_first(data):
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
    np.testing.assert_array_equal(model.item_offsets, biases.item_offsets)
    _, residuals = biases.residuals(data)
    expected = last_iterate(
        data, residuals, 0.1 * 7 * math.sqrt(N * M), 2 / (np.arange(6) + 2.0)
    )
    np.testing.assert_allclose(
        whole_iterate(FitResult(model), data), expected, atol=1e-6
    )


@pytest.mark.parametrize("noise_schedule", ["constant", "growing"])
def test_private_form_with_vanishing_noise_equals_dense_clipped_frank_wolfe(
    data, noise_schedule
):
    """Rows of the residuals and of the iterate are held within L; here both bounds bite."""
    T = 8
    L = 0.1 * 7 * math.sqrt(M)
    fit = fit_by_name(
        "dpfw",
        data,
        VANISHING,
        steps=T,
        nuclear_norm=0.6,
        row_clip=0.1,
        noise_schedule=noise_schedule,
    )
    expected = last_iterate(
        data, centred(data), 0.6 * 7 * math.sqrt(N * M), np.full(T, 1 / T), L
    )
    without_bound = last_iterate(
        data, centred(data), 0.6 * 7 * math.sqrt(N * M), np.full(T, 1 / T)
    )
    assert np.abs(expected - without_bound).max() > 0.1
    # a residual row stops one part in a million short of L
    np.testing.assert_allclose(whole_iterate(fit, data), expected, atol=2e-5)


def test_frequent_items_alone_take_the_steps(data):
    """Dense Frank-Wolfe on the most rated columns; elsewhere each user's own mean."""
    T = 8
    n_kept = 6
    fit = fit_by_name(
        "dpfw",
        data,
        VANISHING,
        steps=T,
        nuclear_norm=0.6,
        frequent_fraction=n_kept / M,
    )
    counts = np.bincount(data.items, minlength=M)
    inside = np.asarray(fit.model.item_factors).any(axis=1)
    assert inside.sum() == n_kept
    assert counts[inside].min() >= counts[~inside].max()  # ties are broken by noise
    frequent = inside[data.items]
    few = data.only(frequent)
    bound = DPFW().row_clip * 7 * math.sqrt(n_kept)
    kappa = 0.6 * 7 * math.sqrt(N * n_kept)
    expected = last_iterate(
        few, centred(data)[frequent], kappa, np.full(T, 1 / T), bound
    )
    iterate = whole_iterate(fit, data)
    np.testing.assert_allclose(iterate, np.where(inside, expected, 0), atol=2e-5)
    means = 3.0 + fit.model.personal(data).offsets
    elsewhere = int(np.flatnonzero(~inside)[0])
    predictions = fit.model.predict(
        fit.model.personal(data), np.arange(N), np.full(N, elsewhere)
    )
    np.testing.assert_allclose(predictions, means, rtol=1e-6)


def test_a_user_finds_the_row_she_had_in_training(data, monkeypatch):
    """The replayed coefficients give the iterate of training, with any number of threads."""
    random = np.random.default_rng(0)
    V = np.asarray(np.linalg.qr(random.standard_normal((M, 6)))[0], np.float32)
    inverses = random.uniform(0.05, 0.2, 6)
    rates = np.full(6, 0.3)
    kappa = 40.0
    bound = 3.0
    residuals = np.asarray(centred(data), np.float32)
    several = []
    factors = []
    for threads in ("1", "3"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        rows = Rows(data.by_user, data.items, residuals, bound, bound)
        for t in range(6):
            rows.advance(np.ascontiguousarray(V[:, t]), inverses[t], rates[t], kappa)
        several.append(rows)
        factors.append(replay(rows, V, inverses, rates, kappa))
    assert several[0].iterate.tobytes() == several[1].iterate.tobytes()
    assert several[0].residuals().tobytes() == several[1].residuals().tobytes()
    assert factors[0].tobytes() == factors[1].tobytes()
    np.testing.assert_allclose(
        (factors[0][data.users] * V[data.items]).sum(1), several[0].iterate, atol=1e-12
    )
    lengths = np.sqrt(np.bincount(data.users, several[0].residuals() ** 2, N))
    assert lengths.max() <= bound
    assert (lengths > 0.999 * bound).any()
    alone = data.users == 5
    own = Rows(
        np.array([0, alone.sum()]), data.items[alone], residuals[alone], bound, bound
    )
    hers = replay(own, V, inverses, rates, kappa)
    assert hers[0].tobytes() == factors[0][5].tobytes()


def test_oja_without_noise_finds_the_top_eigenvector(data):
    def model(name, **options):
        return fit_by_name(name, data, VANISHING, steps=4, **options).model

    covariance = model("dpfw")
    products = model("dpfw-oja", inner_steps=200, inner_rate=1000.0)
    cosines = np.abs((covariance.item_factors * products.item_factors).sum(axis=0))
    assert (cosines > 1 - 1e-5).all()
    np.testing.assert_allclose(
        products.inverse_singular, covariance.inverse_singular, rtol=1e-4
    )
    few = model("dpfw-oja", inner_steps=1, inner_rate=0.1)
    assert abs(float(few.item_factors[:, 0] @ covariance.item_factors[:, 0])) < 0.99
