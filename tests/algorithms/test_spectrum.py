"""The kernel of second moments, and the spectrum that noise leaves."""

import math

import numpy as np
import pytest
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
)
from dpmf_core.curator import Block, OpenCurator, grid_step, in_memory, on_grid
from dpmf_core.kernels import moments
from dpmf_core.kernels.moments import second_moment
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing.worlds import world
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
    np.testing.assert_allclose(moment, dense.T @ dense, rtol=1e-12, atol=1e-12)
    assert np.array_equal(moment, moment.T)
    for other in results[1:]:
        assert np.array_equal(moment, other)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_long_rows_are_multiplied_densely_to_the_same_bits(threads, monkeypatch):
    monkeypatch.setenv("DPMF_THREADS", threads)
    rng = np.random.default_rng(3)
    density = rng.choice([0.02, 0.6], (500, 1))
    dense = np.where(
        rng.random((500, 300)) < density, rng.integers(-512, 513, (500, 300)), 0.0
    )
    indptr, items, values = rows_of(dense)
    lengths = np.diff(indptr)
    long = moments.DENSER * lengths**2 > 300**2
    assert min(long.sum(), (~long).sum()) > moments.FEW
    assert np.array_equal(second_moment(indptr, items, values, 300), dense.T @ dense)


def test_rows_have_norm_one_on_the_kept_items_and_empty_rows_stay_empty():
    data = world()
    kept_items = np.array([1, 4, 7])
    weights = np.array([1.0, 2.0, 0.5])
    plain = Recommender(
        data.bounds, 0.0, np.zeros(data.n_items), np.zeros((data.n_items, 0))
    )
    curator = OpenCurator(in_memory(data, 3), Noise(NOTHING), {})
    rows = curator.hold(kept_rows, plain, kept_items, weights)
    expected = dense(data, data.values)[:, kept_items] * weights
    norms = np.linalg.norm(expected, axis=1, keepdims=True)
    expected = np.divide(expected, norms, out=np.zeros_like(expected), where=norms > 0)
    np.testing.assert_allclose(
        curator.total(SecondMoment(), rows, 3), expected.T @ expected, rtol=1e-5
    )
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 2)))[0]
    np.testing.assert_allclose(
        curator.total(MomentTimesSubspace(1.0, 0.0), rows, Q),
        expected.T @ expected @ Q,
        rtol=1e-5,
        atol=1e-6,
    )
    assert (
        np.diff(ItemRows.of(data, data.values, kept_items, weights).indptr)[
            norms.ravel() == 0
        ]
        == 0
    ).all()


@pytest.mark.parametrize("clip", [0.2, 0.5, 1.0])
def test_a_product_with_a_subspace_is_clipped_user_by_user(clip):
    """Each user's a (Q^T a)^T is shortened to norm `clip` where it is longer."""
    random = np.random.default_rng(0)
    Q = np.linalg.qr(random.normal(size=(12, 3)))[0]
    dense = random.normal(size=(30, 12))
    dense[0] = Q[:, 0]
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    dense[1] = 0
    rows = ItemRows(np.arange(31) * 12, np.tile(np.arange(12), 30), dense.ravel(), 12)
    statistic = MomentTimesSubspace(clip, 0.0)
    totals = statistic.empty(world().shape, rows, Q)
    statistic.add(Block(np.arange(30), {}, 30), totals, rows, Q)
    each = dense[:, :, None] * (dense @ Q)[:, None, :]
    lengths = np.maximum(np.linalg.norm(each, axis=(1, 2)), 1e-12)
    assert (lengths > 0.2).any()
    expected = (each * np.minimum(1, clip / lengths)[:, None, None]).sum(axis=0)
    np.testing.assert_allclose(totals[0], expected, atol=1e-5)


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


@pytest.mark.parametrize("clip", [0.05, 0.5, 0.577, 0.8, 1.0])
def test_a_replaced_user_moves_a_product_as_far_as_declared_and_no_further(clip):
    """The worst of pairs of rows by a search over both, and random pairs of many dimensions."""
    declared = clip * MomentTimesSubspace(clip, 0.0).replace_one_factor
    few = np.eye(4)[:, :2]

    def apart(both):
        a, b = (
            vector / max(1.0, float(np.linalg.norm(vector)))
            for vector in both.reshape(2, 4)
        )
        q = few.T @ a
        p = few.T @ b
        q, p = (
            vector * min(1.0, clip / max(float(np.linalg.norm(vector)), 1e-300))
            for vector in (q, p)
        )
        return -float(np.linalg.norm(np.outer(a, q) - np.outer(b, p)))

    random = np.random.default_rng(0)
    worst = min(
        (
            minimize(
                apart,
                random.normal(size=8),
                method="Nelder-Mead",
                options={"maxfev": 6000},
            )
            for _ in range(4)
        ),
        key=lambda it: it.fun,
    )
    assert 0.999 * declared <= -worst.fun <= declared * (1 + 1e-9)
    both = worst.x.reshape(2, 4)
    both /= np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1.0)
    one, other = products(both, few, clip, 100)
    assert np.linalg.norm(one - other) == pytest.approx(-worst.fun, rel=1e-5)
    many = np.linalg.qr(random.normal(size=(12, 5)))[0]
    tilted = many @ random.normal(size=(5, 60)) * random.uniform(0, 2, 60)
    rows = tilted.T + random.normal(size=(60, 12))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    answers = products(rows, many, clip, 100).reshape(60, -1)
    assert np.linalg.norm(answers[:, None] - answers, axis=2).max() <= declared


def test_rounding_has_its_room_in_what_a_replaced_user_moves():
    """On the coarse grid of 2^40 users the worst pair, turned many ways, stays within it."""
    n_users = 2**40
    clip = 0.5
    random = np.random.default_rng(1)
    rounding = math.sqrt(2) * grid_step(1.0, n_users, 2)
    declared, exact = (
        clip * MomentTimesSubspace(clip, level).replace_one_factor
        for level in (rounding, 0.0)
    )
    furthest = 0.0
    for _ in range(250):
        Q = np.linalg.qr(random.normal(size=(3, 2)))[0]
        way = random.normal(size=2)
        out = np.cross(Q[:, 0], Q[:, 1])
        along = Q @ way / np.linalg.norm(way) * clip
        rest = math.sqrt(1 - clip**2) * out
        one, other = products(np.array([rest + along, rest - along]), Q, clip, n_users)
        furthest = max(furthest, float(np.linalg.norm(one - other)))
    assert 0.97 * exact < furthest <= declared < 1.1 * exact


def symmetric_noise(m, scale, seed):
    """Independent of Noise: variance scale^2 on the diagonal, half of it off."""
    G = np.random.default_rng(seed).normal(size=(m, m)) * scale
    return (G + G.T) / 2


def test_pure_noise_has_its_edge_where_wigner_says():
    noise = MomentNoise.uniform(400, 0, 3.0)
    assert noise_edge(noise.deviations) == pytest.approx(
        2 * np.sqrt(400 * 3.0**2 / 2), rel=1e-9
    )
    for seed in range(5):
        assert not len(spectrum(symmetric_noise(400, 3.0, seed), noise, 20, 1.05).eta)
        assert len(spectrum(symmetric_noise(400, 3.0, seed), noise, 20, 0.9).eta)


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_edge_of_uneven_noise_is_its_largest_eigenvalue(power):
    s = np.linspace(0.2, 1, 900) ** power
    G = np.random.default_rng(4).normal(size=(900, 900))
    largest = np.linalg.eigvalsh(np.outer(s, s) ** 0.5 * (G + G.T) / np.sqrt(2))[-1]
    assert largest == pytest.approx(noise_edge(s), rel=0.02)
    assert noise_edge(np.zeros(5)) == 0.0


def test_sampling_noise_of_rows_without_taste_stays_below_the_edge():
    """Rows of independent entries, exact sums: no factor, though rare items have few ratings."""
    rng = np.random.default_rng(5)
    n_users = 3000
    m = 200
    chance = 0.5 * np.linspace(1, 0.02, m) ** 2
    A = rng.normal(size=(n_users, m)) * (rng.random((n_users, m)) < chance)
    A /= np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-12)
    M = A.T @ A
    diagonal = n_users * chance / chance.sum()
    noise = MomentNoise.by_popularity(diagonal, n_users, 0.0)
    assert len(spectrum(M.copy(), MomentNoise.uniform(m, n_users, 0.0), 20, 1.05).eta)
    assert not len(spectrum(M, noise, 20, 1.05).eta)


def test_deviations_bound_both_kinds_of_noise():
    diagonal = np.geomspace(0.01, 80, 50)
    noise = MomentNoise.by_popularity(diagonal, 900, 2.0)
    variance = (2.0 + np.outer(diagonal, diagonal) / 900) * np.outer(
        noise.weights, noise.weights
    ) ** 2
    bound = np.outer(noise.deviations, noise.deviations)
    assert np.all(variance <= bound * (1 + 1e-12))
    np.testing.assert_allclose(np.diag(variance), np.diag(bound))


def test_a_planted_factor_is_found_at_its_size():
    m = 400
    q = np.ones(400) / 20.0
    M = symmetric_noise(m, 1.0, 0) + 200 * np.outer(q, q)
    moment_spectrum = spectrum(M, MomentNoise.uniform(m, 0, 1.0), 5, 1.05)
    assert len(moment_spectrum.eta) == 1
    # a spike theta shows at theta + v m / theta (Benaych-Georges & Nadakuditi 2011); 200 less its
    # share of the lost diagonal
    assert moment_spectrum.eta[0] == pytest.approx(200, rel=0.02)
    assert abs(moment_spectrum.Q[:, 0] @ q) ** 2 == pytest.approx(
        1 - 200 / 200**2, abs=0.02
    )
    np.testing.assert_allclose(moment_spectrum.error, 0.5)


def test_iteration_ends_where_the_eigenvectors_are_without_noise():
    A = sparse(500, 30, 0.5)
    M = A.T @ A
    Y = np.random.default_rng(1).normal(size=(30, 8))
    for _ in range(60):
        Q = np.linalg.qr(Y)[0]
        Y = M @ Q
    moment_spectrum = subspace_spectrum(Q, Y, np.zeros(30), 0.0, 0.0)
    w, E = np.linalg.eigh(M)
    np.testing.assert_allclose(moment_spectrum.eta[:3], w[::-1][:3], rtol=1e-6)
    np.testing.assert_allclose(
        np.abs(np.sum(moment_spectrum.Q[:, :3] * E[:, ::-1][:, :3], axis=0)),
        1,
        rtol=1e-5,
    )


def test_what_the_moment_turns_round_is_no_factor():
    Q = np.eye(6)[:, :2]
    moment_spectrum = subspace_spectrum(Q, Q * [5.0, -9.0], np.zeros(6), 0.0, 0.0)
    assert moment_spectrum.eta.tolist() == [5.0]


def test_factors_undo_the_weights_where_there_is_no_noise():
    """A moment h G G^T h made by hand gives back G, up to the scale of the users' factors."""
    rng = np.random.default_rng(3)
    G = np.linalg.qr(rng.normal(size=(50, 2)))[0]
    counts = rng.uniform(1, 9, 50)
    exponent = 0.25
    h = counts ** (1 + exponent)
    weights = rng.uniform(0.5, 1, 50)
    w, Q = np.linalg.eigh(
        (weights * h)[:, None] * (G @ np.diag([4.0, 2.0]) @ G.T) * h * weights
    )
    F = rating_factors(Spectrum(Q[:, -2:], w[-2:], 0.0, weights), counts, exponent, 100)
    np.testing.assert_allclose(
        F @ F.T, G @ np.diag([4.0, 2.0]) @ G.T * 100 * (counts**0.5).mean(), rtol=1e-8
    )
