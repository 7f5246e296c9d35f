"""Jain et al. as printed, and ours, on the same data with the same draws of noise.

They agree to rounding once the deviations that are declared for ours are applied to the printed
version; each is applied in a place of its own.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms import find
from dpmf_core.algorithms.base import Streams
from dpmf_core.papers.deviations import read_deviations, recorded_costs
from dpmf_core.papers.jain_2018 import printed
from dpmf_core.privacy import Budget, Calibration
from tests.fitting import fit
from tests.support.dense import centred, dense, rectangle
from tests.support.heard_noise import HeardNoise

EPSILON = 5.0
DELTA = 1e-6
BETA = 0.01  # ours; the paper leaves it open
HALF_RANGE = 7.0  # of the ratings, from -4 to 10
N = 60
M = 12
ROUNDING = {"rtol": 2e-4, "atol": 2e-4}  # ours holds ratings and directions as float32


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.6, sizes=(2, 1, 0.5))


@pytest.fixture(scope="module")
def ratings(data):
    """Y* and Omega: ratings less each user's mean, as section 4 runs it."""
    Omega = dense(data, 1.0) > 0
    return dense(data, centred(data)), Omega


def run_ours(name, data, seed=3, **parameters):
    """Ours at the source's noise: its model, and the noise of each release."""
    algorithm = find(name)(**parameters)
    budget = Budget(epsilon=EPSILON, delta=DELTA, calibration=Calibration.SOURCE)
    level = algorithm.source_level(data.shape, budget)
    plan = algorithm.plan(data.shape, level)
    noise = HeardNoise(plan, np.random.SeedSequence(seed), True)
    model = fit(
        algorithm, data, noise, Streams(np.random.default_rng(seed), seed)
    ).model
    drawn_noise = []
    for _, exact, drawn in noise.releases:
        drawn_noise.append(drawn.reshape(exact.shape))
    return model, drawn_noise


def predictions(model, data):
    """Of every user for every item, less the user's mean and before the bounds of the ratings."""
    personal = model.personal(data)
    factors = personal.factors.astype(float)
    return factors @ model.item_factors.T.astype(float)


def as_printed(L, **parameters):
    """Settings of DPFW with which it runs Algorithm 1; L in the units of the ratings."""
    row_clip = L / (HALF_RANGE * math.sqrt(M))
    common = {"source_bound": "ratings", "row_clip": row_clip}
    return {**common, "slack": True, "local_columns": False, **parameters}


def radius(k):
    """The nuclear norm k in ours."""
    return k / (HALF_RANGE * math.sqrt(N * M))


def longest(ratings):
    lengths = np.linalg.norm(ratings[0], axis=1)
    return float(lengths.max())


def inputs_of(L, T, k):
    return printed.FrankWolfeInputs(
        epsilon=EPSILON, delta=DELTA, T=T, L=L, beta=BETA, k=k
    )


def one_round_more(Y_star, Omega, inputs, top_pair):
    """Deviation "last direction": the users also step along the direction of the last release.

    Ours counts steps with a direction. Algorithm 1 counts rounds, the first of which has none.
    """
    Y = np.zeros(Y_star.shape)
    lambda_prime = math.inf
    v = np.zeros(Y_star.shape[1])
    m = Y.shape[1]
    slack = math.sqrt(inputs.sigma * math.log(m / BETA)) * m**0.25
    for t in range(inputs.T + 1):
        A = np.where(Omega, Y - Y_star, 0.0)
        direction = np.outer(A @ v / lambda_prime, v)
        step = inputs.k / inputs.T * direction
        Y = printed.project((1 - 1 / inputs.T) * Y - step, Omega, inputs.L)
        if t < inputs.T:
            residuals = np.where(Omega, Y - Y_star, 0.0)
            v, lambda_ = top_pair(residuals, inputs.sigma)
            lambda_prime = lambda_ + slack
    return Y


def with_draws(drawn):
    """Algorithm 1's top pair, with these draws of N one after the other."""
    rest = iter(drawn)
    return lambda A, sigma: printed.top_eigenpair(
        A, sigma, lambda _sigma, _n: next(rest)
    )


def test_ours_is_algorithm_1_but_for_one_direction(data, ratings):
    """With steps of 1/T, rows of ratings within L, iterates within L and residuals not clipped."""
    L = 1.2 * longest(ratings)
    T = 4
    k = 300.0
    model, drawn = run_ours(
        "dpfw", data, **as_printed(L, steps=T, nuclear_norm=radius(k))
    )
    assert len(drawn) == T
    ours = predictions(model, data)
    inputs = inputs_of(L, T, k)
    theirs = one_round_more(*ratings, inputs, with_draws(drawn))
    assert_allclose(ours, theirs, **ROUNDING)
    assert np.abs(theirs).max() > 0.1
    # as printed: T rounds use the T - 1 directions before the last
    fewer = printed.private_frank_wolfe(*ratings, inputs, with_draws(drawn))
    assert np.abs(ours - fewer).max() > 10 * ROUNDING["atol"]


def test_the_iterate_is_projected_to_the_bound(data, ratings):
    """A large nuclear norm drives rows to the bound, in both."""
    L = longest(ratings)
    T = 3
    k = 15_000.0
    model, drawn = run_ours(
        "dpfw", data, **as_printed(L, steps=T, nuclear_norm=radius(k))
    )
    inputs = inputs_of(L, T, k)
    theirs = one_round_more(*ratings, inputs, with_draws(drawn))
    assert_allclose(predictions(model, data), theirs, **ROUNDING)
    rated = np.where(ratings[1], theirs, 0)
    lengths = np.linalg.norm(rated, axis=1)
    assert (lengths > 0.999 * L).sum() > 3


def test_noise_is_sigma_on_the_whole_upper_triangle(data, ratings):
    """4 L^2 times our level is the paper's sigma, on and off the diagonal."""
    L = longest(ratings)
    T = 40
    settings = as_printed(L, steps=T, nuclear_norm=0.3)
    _, drawn = run_ours("dpfw", data, **settings)
    sigma = printed.deviation(EPSILON, DELTA, T, L)
    rows, columns = np.triu_indices(M, 1)
    off = np.stack([matrix[rows, columns] for matrix in drawn])
    on = np.stack([np.diag(matrix) for matrix in drawn])
    assert off.std() / sigma == pytest.approx(1, abs=0.06)  # 2,640 draws
    assert on.std() / sigma == pytest.approx(1, abs=0.15)  # 480 draws


def clipped_residuals(C, drawn):
    """Deviation "clipped residuals": residual rows and iterates within C, ratings not clipped."""

    def run(Y_star, Omega, T, k, slack):
        Y = np.zeros(Y_star.shape)
        rest = iter(drawn)
        for _ in range(T):
            A = np.where(Omega, Y - Y_star, 0.0)
            A = printed.project(A, Omega, C)
            v, lambda_ = printed.top_eigenpair(A, 0.0, lambda _sigma, _n: next(rest))
            u = A @ v / (lambda_ + slack)
            step = k / T * np.outer(u, v)
            Y = printed.project((1 - 1 / T) * Y - step, Omega, C)
        return Y

    return run


def test_deviation_clipped_residuals(data, ratings):
    """The default of ours, in which the row clip takes the place of 2L."""
    C = 0.4 * longest(ratings)
    T = 3
    k = 300.0
    settings = as_printed(C, steps=T, nuclear_norm=radius(k), source_bound="2L")
    model, drawn = run_ours("dpfw", data, **settings)
    sigma = printed.deviation(EPSILON, DELTA, T, C / 2)
    slack = math.sqrt(sigma * math.log(M / BETA)) * M**0.25
    theirs = clipped_residuals(C, drawn)(*ratings, T, k, slack)
    assert_allclose(predictions(model, data), theirs, **ROUNDING)


def oja_of_ours(drawn, start, products):
    """Algorithm 2 with the settings of ours.

    Deviation "eigenvalue": lambda^2 is the norm of one noisy product more, along which v moves,
    too. Deviation "step size": c / Gamma over the running mean of the products' norms.
    """
    rest = iter(drawn)

    def top_pair(A, _sigma):
        norms = []

        def eta(_tau, product):
            norms.append(float(np.linalg.norm(product)))
            mean = float(np.mean(norms))
            return 1000.0 / (products - 1) / mean

        v, lambda_ = printed.oja(
            A,
            Gamma=products,
            v_0=next(start),
            eta=eta,
            noise=lambda _tau: next(rest),
            eigenvalue=lambda _A, _v: norms[-1],
        )
        return v, lambda_

    return top_pair


def starts(seed):
    """Ours draws a start for each direction."""
    random = np.random.default_rng(seed)
    while True:
        v = random.standard_normal(M)
        yield v / np.linalg.norm(v)


def test_ours_is_algorithm_2_but_for_eigenvalue_and_step_size(data, ratings):
    L = longest(ratings)
    T = 2
    k = 300.0
    Gamma = 3
    settings = as_printed(L, steps=T, nuclear_norm=radius(k), inner_steps=Gamma)
    model, drawn = run_ours(
        "dpfw-oja", data, **settings, user_step="steps", product_clip=1.0
    )
    assert len(drawn) == T * (Gamma + 1)
    # all Gamma + 1 products of T directions share the budget of T releases
    sigma = printed.deviation(EPSILON, DELTA, T, L) * math.sqrt(Gamma + 1)
    inputs = inputs_of(L, T, k)
    slack = math.sqrt(sigma * math.log(M / BETA)) * M**0.25
    Y = np.zeros(ratings[0].shape)
    top_pair = oja_of_ours(drawn, starts(3), Gamma + 1)
    for _ in range(T):
        A = np.where(ratings[1], Y - ratings[0], 0.0)
        v, lambda_ = top_pair(A, sigma)
        direction = np.outer(A @ v / (lambda_ + slack), v)
        step = k / T * direction
        Y = printed.project((1 - 1 / T) * Y - step, ratings[1], inputs.L)
    assert_allclose(predictions(model, data), Y, **ROUNDING)


def test_private_svd_but_for_the_share(data, ratings):
    """Deviation "share": 1/p of a user's own ratings, where the paper has that of all users."""
    L = 0.8 * longest(ratings)
    r = 3
    settings = {
        "rank": r,
        "row_clip": L / (HALF_RANGE * math.sqrt(M)),
        "user_step": "projection",
    }
    model, (drawn,) = run_ours("private-svd", data, **settings, local_columns=False)

    def noise(_sigma, _n):
        return drawn

    theirs = printed.private_svd(
        *ratings, epsilon=EPSILON, delta=DELTA, L=L, r=r, noise=noise
    )
    n_rated = ratings[1].sum(axis=1)
    own_shares = np.maximum(n_rated, 1) / M
    with_own_shares = theirs * ratings[1].mean() / own_shares[:, None]
    assert_allclose(predictions(model, data), with_own_shares, **ROUNDING)
    assert np.abs(with_own_shares - theirs).max() > 0.1


def test_two_printed_rounds_by_hand(ratings):
    """The first round has no direction; the second goes k/2 along that of Y* itself."""
    Y_star, Omega = ratings
    inputs = inputs_of(1e3, 2, 1.0)
    _, values, right = np.linalg.svd(Y_star)
    v = right[0]
    lambda_ = float(values[0])
    Y = printed.private_frank_wolfe(
        Y_star, Omega, inputs, lambda A, sigma: (v, lambda_)
    )
    sigma = 1e6 * math.sqrt(64 * 2 * math.log(1e6)) / EPSILON
    slack = math.sqrt(sigma * math.log(M / BETA)) * M**0.25
    lambda_prime = lambda_ + slack
    expected = np.outer(Y_star @ v, v) / 2 / lambda_prime
    assert_allclose(Y, expected)


DEVIATIONS = read_deviations("dpmf_core.papers.jain_2018")


@pytest.mark.parametrize("algorithm", DEVIATIONS)
def test_the_cost_of_each_deviation_is_recorded(algorithm):
    measured = {deviation.cost for deviation in DEVIATIONS[algorithm]} - {""}
    assert measured == set(recorded_costs()[algorithm])
