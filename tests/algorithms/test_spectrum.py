"""The kernel of second moments, and the spectrum that noise leaves."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.base import INSIDE
from dpmf_core.algorithms.item_moments import (
    ItemRows,
    MomentTimesSubspace,
    SecondMoment,
    kept_rows,
)
from dpmf_core.algorithms.spectrum import (
    MomentNoise,
    Spectrum,
    noise_edge,
    rating_factors,
    spectrum,
    subspace_spectrum,
    with_fixed_signs,
)
from dpmf_core.curator import Block, grid_step, on_grid
from dpmf_core.kernels import sparse_moments
from dpmf_core.kernels.sparse_moments import second_moment
from dpmf_core.testing.rating_worlds import world
from tests.support.algebra import exact_curator, orthonormal, relative, shortened
from tests.support.dense import dense


def sparse(n, m, density, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, m)) < density, rng.normal(size=(n, m)), 0.0)


def rows_of(dense):
    users, items = np.nonzero(dense)
    return np.searchsorted(users, np.arange(len(dense) + 1)), items, dense[users, items]


def test_the_second_moment_is_the_dense_product_whatever_the_threads(monkeypatch):
    dense = sparse(200, 37, 0.3)
    dense[17] = 0
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        results.append(second_moment(*rows_of(dense), 37))
    moment = results[0]
    assert_allclose(moment, dense.T @ dense, rtol=1e-12, atol=1e-12)
    assert np.array_equal(moment, moment.T)
    for other in results[1:]:
        assert np.array_equal(moment, other)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_long_rows_are_multiplied_densely_to_the_same_bits(threads, monkeypatch):
    monkeypatch.setenv("DPMF_THREADS", threads)
    rng = np.random.default_rng(3)
    density = rng.choice([0.02, 0.6], (500, 1))
    is_rated = rng.random((500, 300)) < density
    dense = np.where(is_rated, rng.integers(-512, 513, (500, 300)), 0.0)
    indptr, items, values = rows_of(dense)
    is_long = sparse_moments.DENSER * np.diff(indptr) ** 2 > 300**2
    assert is_long.sum() > sparse_moments.FEW
    assert (~is_long).sum() > sparse_moments.FEW
    assert np.array_equal(second_moment(indptr, items, values, 300), dense.T @ dense)


def test_rows_have_norm_one_on_the_kept_items_and_empty_rows_stay_empty():
    data = world()
    kept_items = np.array([1, 4, 7])
    weights = np.array([1.0, 2.0, 0.5])
    no_offsets = np.zeros(data.n_items)
    no_factors = np.zeros((data.n_items, 0))
    plain = Recommender(data.bounds, 0.0, no_offsets, no_factors)
    curator = exact_curator(data, 3)
    rows = curator.hold(kept_rows, plain, kept_items, weights)

    expected = dense(data, data.values)[:, kept_items] * weights
    is_empty = ~expected.any(axis=1)
    expected[~is_empty] = relative(expected[~is_empty])
    moment = curator.total(SecondMoment(), rows, 3)
    assert_allclose(moment, expected.T @ expected, rtol=1e-5)
    Q = orthonormal(np.random.default_rng(0), 3, 2)
    product = curator.total(MomentTimesSubspace(1.0, 0.0), rows, Q)
    assert_allclose(product, expected.T @ expected @ Q, rtol=1e-5, atol=1e-6)

    own_rows = ItemRows.of(data, data.values, kept_items, weights)
    lengths = np.diff(own_rows.indptr)
    assert (lengths[is_empty] == 0).all()


@pytest.mark.parametrize("clip", [0.2, 0.5, 1.0])
def test_a_product_with_a_subspace_is_clipped_user_by_user(clip):
    """Each user's a (Q^T a)^T is shortened to norm `clip` where it is longer."""
    random = np.random.default_rng(0)
    Q = orthonormal(random, 12, 3)
    dense = random.normal(size=(30, 12))
    dense[0] = Q[:, 0]
    dense = relative(dense)
    dense[1] = 0
    rows = ItemRows(np.arange(31) * 12, np.tile(np.arange(12), 30), dense.ravel(), 12)
    statistic = MomentTimesSubspace(clip, 0.0)
    totals = statistic.empty(world().shape, rows, Q)
    statistic.add(Block(np.arange(30), {}, 30), totals, rows, Q)

    products = dense[:, :, None] * (dense @ Q)[:, None, :]
    of_users = products.reshape(30, -1)
    assert np.linalg.norm(of_users, axis=1).max() > 0.2
    expected = shortened(of_users, clip).sum(axis=0)
    assert_allclose(totals[0], expected.reshape(12, 3), atol=1e-5)


def products(rows, Q, clip, n_users):
    """What each of these rows (n, m) adds, (n, m, K), on the grid of so many users."""
    m = rows.shape[1]
    statistic = MomentTimesSubspace(clip, 0.0)
    out = []
    for row in on_grid(rows * INSIDE, 1.0, n_users, factors=2):
        one = ItemRows(np.array([0, m]), np.arange(m), row, m)
        totals = statistic.empty(world().shape, one, Q)
        statistic.add(Block(np.arange(1), {}, n_users), totals, one, Q)
        out.append(totals[0])
    return np.array(out)


def moved_by_a_pair(pair, Q, clip):
    """How far two rows, shortened to the unit ball, are apart in their clipped products with Q."""
    a, b = shortened(pair, 1.0)
    q, p = shortened(np.array([Q.T @ a, Q.T @ b]), clip)
    return float(np.linalg.norm(np.outer(a, q) - np.outer(b, p)))


@pytest.mark.parametrize("clip", [0.05, 0.5, 0.577, 0.8, 1.0])
def test_a_replaced_user_moves_a_product_as_far_as_declared_and_no_further(clip):
    """The worst of pairs of rows by a search over both."""
    declared = clip * MomentTimesSubspace(clip, 0.0).replace_one_factor
    Q = np.eye(4)[:, :2]
    random = np.random.default_rng(0)
    furthest = 0.0
    for _ in range(4):
        result = minimize(
            lambda both: -moved_by_a_pair(both.reshape(2, 4), Q, clip),
            random.normal(size=8),
            method="Nelder-Mead",
            options={"maxfev": 6000},
        )
        if -result.fun > furthest:
            furthest = -result.fun
            worst = result.x.reshape(2, 4)
    assert 0.999 * declared <= furthest <= declared * (1 + 1e-9)
    one, other = products(shortened(worst, 1.0), Q, clip, 100)
    assert np.linalg.norm(one - other) == pytest.approx(furthest, rel=1e-5)


@pytest.mark.parametrize("clip", [0.05, 0.5, 0.577, 0.8, 1.0])
def test_random_rows_of_many_dimensions_move_a_product_within_the_declared(clip):
    declared = clip * MomentTimesSubspace(clip, 0.0).replace_one_factor
    random = np.random.default_rng(0)
    Q = orthonormal(random, 12, 5)
    tilted = Q @ random.normal(size=(5, 60)) * random.uniform(0, 2, 60)
    rows = relative(tilted.T + random.normal(size=(60, 12)))
    answers = products(rows, Q, clip, 100).reshape(60, -1)
    apart = np.linalg.norm(answers[:, None] - answers, axis=2)
    assert apart.max() <= declared


def test_rounding_has_its_room_in_what_a_replaced_user_moves():
    """On the coarse grid of 2^40 users the worst pair, turned many ways, stays within it."""
    n_users = 2**40
    clip = 0.5
    random = np.random.default_rng(1)
    rounding = math.sqrt(2) * grid_step(1.0, n_users, 2)
    declared = clip * MomentTimesSubspace(clip, rounding).replace_one_factor
    exact = clip * MomentTimesSubspace(clip, 0.0).replace_one_factor
    furthest = 0.0
    for _ in range(250):
        Q = orthonormal(random, 3, 2)
        way = relative(random.normal(size=2))
        out = np.cross(Q[:, 0], Q[:, 1])
        along = clip * Q @ way
        rest = math.sqrt(1 - clip**2) * out
        pair = np.array([rest + along, rest - along])
        one, other = products(pair, Q, clip, n_users)
        furthest = max(furthest, float(np.linalg.norm(one - other)))
    assert 0.97 * exact < furthest <= declared < 1.1 * exact


def symmetric_noise(m, scale, seed):
    """Independent of Noise: variance scale^2 on the diagonal, half of it off."""
    G = np.random.default_rng(seed).normal(size=(m, m)) * scale
    return (G + G.T) / 2


def test_pure_noise_has_its_edge_where_wigner_says():
    noise = MomentNoise.uniform(400, 0, 3.0)
    edge = 2 * np.sqrt(400 * 3.0**2 / 2)
    assert noise_edge(noise.deviations) == pytest.approx(edge, rel=1e-9)
    for seed in range(5):
        M = symmetric_noise(400, 3.0, seed)
        assert not len(spectrum(M.copy(), noise, 20, 1.05).eta)
        assert len(spectrum(M.copy(), noise, 20, 0.9).eta)


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_edge_of_uneven_noise_is_its_largest_eigenvalue(power):
    s = np.linspace(0.2, 1, 900) ** power
    G = np.random.default_rng(4).normal(size=(900, 900))
    noise = np.sqrt(np.outer(s, s)) * (G + G.T) / np.sqrt(2)
    largest = np.linalg.eigvalsh(noise)[-1]
    assert largest == pytest.approx(noise_edge(s), rel=0.02)
    assert noise_edge(np.zeros(5)) == 0.0


def test_sampling_noise_of_rows_without_taste_stays_below_the_edge():
    """Rows of independent entries, exact sums: no factor, though rare items have few ratings."""
    rng = np.random.default_rng(5)
    n_users = 3000
    m = 200
    chance = 0.5 * np.linspace(1, 0.02, m) ** 2
    values = rng.normal(size=(n_users, m))
    A = values * (rng.random((n_users, m)) < chance)
    A /= np.maximum(
        np.linalg.norm(
            A,
            axis=1,
            keepdims=True,
        ),
        1e-12,
    )
    M = A.T @ A
    uniform = MomentNoise.uniform(m, n_users, 0.0)
    assert len(spectrum(M.copy(), uniform, 20, 1.05).eta)
    diagonal = n_users * chance / chance.sum()
    by_popularity = MomentNoise.by_popularity(diagonal, n_users, 0.0)
    assert not len(spectrum(M, by_popularity, 20, 1.05).eta)


def test_deviations_bound_both_kinds_of_noise():
    diagonal = np.geomspace(0.01, 80, 50)
    noise = MomentNoise.by_popularity(diagonal, 900, 2.0)
    weights = np.outer(noise.weights, noise.weights)
    sampling = np.outer(diagonal, diagonal) / 900
    variance = (2.0 + sampling) * weights**2
    bound = np.outer(noise.deviations, noise.deviations)
    assert np.all(variance <= bound * (1 + 1e-12))
    assert_allclose(np.diag(variance), np.diag(bound))


def test_a_planted_factor_is_found_at_its_size():
    m = 400
    q = np.ones(m) / 20.0
    M = symmetric_noise(m, 1.0, 0) + 200 * np.outer(q, q)
    found = spectrum(M, MomentNoise.uniform(m, 0, 1.0), 5, 1.05)
    assert len(found.eta) == 1
    # a spike theta shows at theta + v m / theta (Benaych-Georges & Nadakuditi 2011); 200 less its
    # share of the lost diagonal
    assert found.eta[0] == pytest.approx(200, rel=0.02)
    square = (found.Q[:, 0] @ q) ** 2
    assert square == pytest.approx(1 - 200 / 200**2, abs=0.02)
    assert_allclose(found.error, 0.5)


def test_a_direction_is_the_same_whichever_sign_a_solver_gives_it():
    Q = orthonormal(np.random.default_rng(3), 9, 4)
    fixed = with_fixed_signs(Q)
    assert np.array_equal(fixed, with_fixed_signs(Q * [1, -1, -1, 1]))
    assert_allclose(np.abs(fixed), np.abs(Q))
    assert np.all(fixed.max(axis=0) == np.abs(Q).max(axis=0))


@pytest.mark.parametrize("most", [3, 40])
def test_every_solver_of_a_spectrum_gives_directions_one_sign(most):
    A = sparse(500, 40, 0.5)
    found = spectrum(A.T @ A, MomentNoise.uniform(40, 0, 1e-9), most, 1.0)
    assert np.array_equal(found.Q, with_fixed_signs(found.Q))


def test_iteration_ends_where_the_eigenvectors_are_without_noise():
    A = sparse(500, 30, 0.5)
    M = A.T @ A
    Y = np.random.default_rng(1).normal(size=(30, 8))
    for _ in range(60):
        Q = np.linalg.qr(Y)[0]
        Y = M @ Q
    found = subspace_spectrum(Q, Y, np.zeros(30), 0.0, 0.0)
    w, E = np.linalg.eigh(M)
    assert_allclose(found.eta[:3], w[::-1][:3], rtol=1e-6)
    cosines = np.sum(found.Q[:, :3] * E[:, ::-1][:, :3], axis=0)
    assert_allclose(np.abs(cosines), 1, rtol=1e-5)


def test_a_direction_that_the_moment_turns_round_is_no_factor():
    Q = np.eye(6)[:, :2]
    moment_spectrum = subspace_spectrum(Q, Q * [5.0, -9.0], np.zeros(6), 0.0, 0.0)
    assert moment_spectrum.eta.tolist() == [5.0]


def test_factors_undo_the_weights_where_there_is_no_noise():
    """A moment h G G^T h made by hand gives back G, up to the scale of the users' factors."""
    rng = np.random.default_rng(3)
    G = orthonormal(rng, 50, 2)
    counts = rng.uniform(1, 9, 50)
    exponent = 0.25
    h = counts ** (1 + exponent)
    weights = rng.uniform(0.5, 1, 50)
    truth = G @ np.diag([4.0, 2.0]) @ G.T
    moment = (weights * h)[:, None] * truth * h * weights
    w, Q = np.linalg.eigh(moment)
    top = Spectrum(Q[:, -2:], w[-2:], 0.0, weights)
    F = rating_factors(top, counts, exponent, 100)
    expected = truth * 100 * (counts**0.5).mean()
    assert_allclose(F @ F.T, expected, rtol=1e-8)
