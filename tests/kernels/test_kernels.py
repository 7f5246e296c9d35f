"""The kernels against dense float64 numpy, on rectangular shapes, empty rows and full ones."""

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core import kernels
from dpmf_core.base import compilation, kernel_cache
from dpmf_core.base.progress import on_compiling
from dpmf_core.data.ranks import rank_segments
from dpmf_core.kernels import normal_equations
from dpmf_core.privacy.noise_kernels import unfold
from tests.support.engines import WAIT
from tests.support.sparse_rows import M, N, sparse_rows, systems

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dpmf_core"
WITHOUT_CACHES = shutil.ignore_patterns("__pycache__")


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 2e-3)]
)
@pytest.mark.parametrize(("has_weights", "has_base"), [(False, True), (True, False)])
@pytest.mark.parametrize(
    "rank", [1, normal_equations.SMALL, normal_equations.SMALL + 1, 12, 16, 40]
)
def test_solve_rows_and_normal_equations_equal_dense_algebra(
    rank, has_base, has_weights, dtype, tolerance
):
    indptr, indices, values, weights = sparse_rows()
    if not has_weights:
        weights = None
    random = np.random.default_rng(1)
    factors = random.normal(size=(M, rank)).astype(dtype)
    if has_base:
        base = np.eye(rank) * 0.3 + 0.1
    else:
        base = None
    ridge = random.random(N) + 0.2
    solution = kernels.solve_rows(
        indptr, indices, values, factors, ridge, base=base, weights=weights
    )
    grams = kernels.weighted_grams(indptr, indices, factors, 5, 50, weights=weights)
    if weights is None:
        weighted_values = values
    else:
        weighted_values = weights * values
    rhs = kernels.right_sides(indptr, indices, weighted_values, factors, 5, 50)
    assert solution.dtype == dtype
    assert grams.dtype == dtype
    rows = (indptr, indices, values, weights)
    for i, (H, w) in enumerate(systems(rows, factors)):
        matrix = H + ridge[i] * np.eye(rank)
        if has_base:
            matrix = matrix + base
        expected = np.linalg.solve(matrix, w)
        assert_allclose(solution[i], expected, rtol=tolerance, atol=tolerance)
        if 5 <= i < 50:
            assert_allclose(grams[i - 5], H, rtol=tolerance, atol=tolerance)
            assert_allclose(rhs[i - 5], w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize(
    "rank", [1, normal_equations.SMALL, 4, 8, 9, 15, 16, 48, normal_equations.WHOLE, 65]
)
def test_rows_longer_than_one_product_are_summed_in_full(rank, has_weights):
    random = np.random.default_rng(5)
    gather = normal_equations.GATHER
    lengths = [
        0,
        2 * gather + 77,
        1,
        2,
        gather - 1,
        gather,
        gather + 1,
        3 * gather + 5,
        129,
    ]
    indptr = np.cumsum([0, *lengths])
    indices = random.integers(0, M, indptr[-1]).astype(np.int32)
    values = random.normal(size=indptr[-1])
    if has_weights:
        weights = random.random(indptr[-1]) + 0.1
    else:
        weights = None
    factors = random.normal(size=(M, rank))
    solution = kernels.solve_rows(
        indptr, indices, values, factors, 0.7, weights=weights
    )
    grams = kernels.weighted_grams(
        indptr, indices, factors, 0, len(lengths), weights=weights
    )
    rows = (indptr, indices, values, weights)
    for i, (H, w) in enumerate(systems(rows, factors)):
        expected = np.linalg.solve(H + 0.7 * np.eye(rank), w)
        assert_allclose(grams[i], H, rtol=1e-10, atol=1e-10)
        assert_allclose(solution[i], expected, rtol=1e-8, atol=1e-8)


def test_an_empty_row_gives_exactly_zero():
    indptr, indices, values, _ = sparse_rows()
    random = np.random.default_rng(1)
    factors = random.normal(size=(M, 16)).astype(np.float32)
    solution = kernels.solve_rows(indptr, indices, values, factors, 0.1)
    assert not solution[3].any()
    assert not kernels.weighted_grams(indptr, indices, factors, 3, 4).any()
    assert not kernels.right_sides(indptr, indices, values, factors, 3, 4).any()


def test_weighted_grams_on_a_grid_are_exact():
    """sqrt(w) f is rounded towards zero, and its products are summed without rounding."""
    indptr, indices, _, weights = sparse_rows()
    factors = np.random.default_rng(2).normal(size=(M, 5))
    step = 2.0**-12
    grams = kernels.weighted_grams(
        indptr, indices, factors, 0, N, weights=weights, step=step
    )
    for i in range(N):
        entries = slice(indptr[i], indptr[i + 1])
        roots = np.sqrt(weights[entries])
        rows = roots[:, None] * factors[indices[entries]]
        on_grid = np.trunc(rows / step) * step
        assert (grams[i] == on_grid.T @ on_grid).all()


def test_collinear_factors_with_a_tiny_ridge_stay_finite():
    indptr, indices, values, _ = sparse_rows()
    factors = np.ones((M, 4), np.float32) * 100
    solution = kernels.solve_rows(indptr, indices, values, factors, 1e-12)
    assert np.isfinite(solution).all()
    means = np.zeros(N)
    for row, (first, last) in enumerate(itertools.pairwise(indptr)):
        if last > first:
            means[row] = values[first:last].mean()
    assert_allclose(solution @ factors[0], means, atol=1e-4)


@pytest.mark.parametrize("rank", [5, 16, 33])
def test_a_nan_factor_spoils_only_the_rows_that_use_it(rank):
    """As of a model that diverged: its figures are no numbers, and it is no error."""
    indptr, indices, values, _ = sparse_rows()
    random = np.random.default_rng(1)
    factors = random.normal(size=(M, rank)).astype(np.float32)
    sound = kernels.solve_rows(indptr, indices, values, factors, 0.5)
    factors[5] = np.nan
    solution = kernels.solve_rows(indptr, indices, values, factors, 0.5)
    edges = itertools.pairwise(indptr)
    spoilt = np.array([5 in indices[first:last] for first, last in edges])
    assert np.isnan(solution[spoilt]).all()
    assert np.array_equal(solution[~spoilt], sound[~spoilt])


def test_a_forked_process_has_threads_of_its_own():
    code = (
        "import os, numpy as np; from dpmf_core import kernels; U = np.ones((999, 3), np.float32);"
        " at = np.arange(999)\nos.environ['DPMF_THREADS'] = '2'\nwork = lambda:"
        " kernels.predict_pairs(U, U, at, at).sum()\nwork(); child = os.fork()\nif child == 0:"
        " os._exit(int(work() != 2997))\nprint(os.waitpid(child, 0)[1])"
    )
    fresh = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        timeout=WAIT,
    )
    assert fresh.stdout.strip() == "0"


def _noisy_grams(rank, dtype):
    random = np.random.default_rng(3)
    noise = random.normal(size=(30, rank, rank))
    grams = noise + noise.swapaxes(1, 2)
    grams[::3] += 10 * rank * np.eye(rank)  # a third needs no projection
    return (
        grams.astype(dtype),
        random.normal(size=(30, rank)).astype(dtype),
        random.random(30) + 0.5,
    )


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-3)]
)
@pytest.mark.parametrize("has_base", [False, True])
@pytest.mark.parametrize("rank", [1, 5, 20])
def test_solve_psd_equals_an_explicit_projection(rank, has_base, dtype, tolerance):
    grams, rhs, ridge = _noisy_grams(rank, dtype)
    if has_base:
        base = np.eye(rank) * 0.3 + 0.1
    else:
        base = None
    solution = kernels.solve_psd(grams, rhs, ridge, base=base)
    for b in range(len(grams)):
        values, Q = np.linalg.eigh(grams[b].astype(float))
        projection = Q @ np.diag(np.maximum(values, 0)) @ Q.T
        matrix = projection + ridge[b] * np.eye(rank)
        if has_base:
            matrix = matrix + base
        expected = np.linalg.solve(matrix, rhs[b].astype(float))
        assert_allclose(solution[b], expected, rtol=tolerance, atol=tolerance)


def test_solve_psd_without_projection_solves_singular_systems_by_least_squares():
    grams, rhs, _ = _noisy_grams(5, np.float64)
    alone = kernels.solve_psd(grams, rhs, 1.0, project=False)
    grams[4] = -np.eye(5)
    grams[4, 0, 0] = 1  # with the ridge: diag(2, 0, 0, 0, 0)
    solution = kernels.solve_psd(grams, rhs, 1.0, project=False)
    expected = [rhs[4, 0] / 2, 0, 0, 0, 0]
    assert_allclose(solution[4], expected, atol=1e-12)
    others = np.delete(solution, 4, 0)
    assert np.array_equal(others, np.delete(alone, 4, 0))


def test_predict_pairs_rank_segments_and_unfold():
    random = np.random.default_rng(4)
    U = random.normal(size=(N, 6)).astype(np.float32)
    V = random.normal(size=(M, 6)).astype(np.float32)
    users = random.integers(0, N, 500)
    items = random.integers(0, M, 500)
    assert_allclose(
        kernels.predict_pairs(U, V, users, items),
        (U[users] * V[items]).sum(1),
        rtol=1e-4,
        atol=1e-5,
    )
    starts = np.array([0, 4, 4, 9])
    key = np.array([0.3, 0.1, 0.1, 0.2, 5, 4, 3, 2, 1.0])
    assert rank_segments(starts, key).tolist() == [3, 0, 1, 2, 4, 3, 2, 1, 0]
    triangle = np.arange(1.0, 7.0)[None]
    expected = [[1, 1.0, 2], [1.0, 3, 2.5], [2, 2.5, 6]]
    assert unfold(triangle, 3, 0.5)[0].tolist() == expected


@pytest.mark.parametrize(
    ("pairs", "rank"),
    [
        (0, 3),
        (7, 0),
        (40_001, 3),
    ],
)
def test_predicted_ratings_are_offsets_and_products_within_bounds(pairs, rank):
    random = np.random.default_rng(5)
    a = random.normal(size=N)
    b = random.normal(size=M)
    U = random.normal(size=(N, rank))
    V = random.normal(size=(M, rank))
    users = random.integers(0, N, pairs)
    items = random.integers(0, M, pairs)
    products = (U[users] * V[items]).sum(1)
    raw = a[users] + b[items] + products
    expected = np.clip(3 + raw, 1, 5)
    predictions = kernels.predict_ratings(3.0, a, b, U, V, users, items, (1.0, 5.0))
    assert predictions.dtype == np.float32
    assert_allclose(predictions, expected, atol=1e-5)
    no_bounds = (-np.inf, np.inf)
    free = kernels.predict_ratings(0.0, a, b, U, V, users, items, no_bounds)
    assert_allclose(free, raw, atol=1e-5)


@pytest.mark.parametrize("rank", [0, 3, 7, 8, 21])
def test_sums_of_errors_are_those_of_the_predictions(rank, monkeypatch):
    """User 4 of 40 has no rating."""
    random = np.random.default_rng(rank)
    a = random.normal(size=N)
    b = random.normal(size=M)
    U = random.normal(size=(N, rank))
    V = random.normal(size=(M, rank))
    is_rated = random.random((N, M)) < 0.4
    is_rated[4] = False
    users, items = np.nonzero(is_rated)
    values = random.integers(1, 6, len(users))
    products = (U[users] * V[items]).sum(1)
    predictions = np.clip(3 + a[users] + b[items] + products, 1, 5)
    errors = predictions - values
    starts = np.searchsorted(users, np.arange(N + 1))
    for threads in ("1", "2"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        model = (3.0, a, b, U, V)
        sums_by_kind = kernels.error_sums(model, (starts, items, values), (1.0, 5.0))
        for sums, each in zip(
            sums_by_kind, (errors, np.abs(errors), errors**2), strict=True
        ):
            expected = np.bincount(users, each, N)
            assert_allclose(sums, expected, atol=1e-4)
        assert sums_by_kind[2][4] == 0


def test_bounds_do_not_hide_a_nan_error():
    side = np.array([np.nan, 9.0])
    starts = np.array([0, 1, 2])
    sides = (0.0, side, np.zeros(1), np.zeros((2, 2)), np.zeros((1, 2)))
    data = (starts, np.zeros(2, int), np.ones(2))
    sums_by_kind = kernels.error_sums(sides, data, (1.0, 5.0))
    for sums in sums_by_kind:
        assert np.isnan(sums[0])
        assert sums[1] in (4, 16)


def test_bounds_do_not_hide_a_nan_prediction():
    a = np.array([np.nan, 9.0, -9.0, 3.0])
    V = np.zeros((1, 2))
    at = np.arange(4)
    items = np.zeros(4, int)
    U = np.zeros((4, 2))
    predictions = kernels.predict_ratings(0.0, a, [0.0], U, V, at, items, (1.0, 5.0))
    assert predictions[1:].tolist() == [5.0, 1.0, 3.0]
    assert np.isnan(predictions[0])


def test_compiled_kernels_are_kept_on_disk():
    code = (
        "import numpy as np; from dpmf_core.kernels import least_squares as k;"
        "rows = np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32);"
        "k.solve_rows(*rows, np.ones((2, 5), np.float32), 1.0, weights=None, base=None);"
        "stats = k._solve_rows.stats;"
        "print(len(stats.cache_hits), sum(stats.cache_misses.values()))"
    )
    for _ in range(2):
        fresh = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
    assert fresh.stdout.split() == ["1", "0"]


CALL = (
    "from dpmf_core.kernels import rating_loops; rating_loops.shuffled_range(3, 1);"
    "stats = rating_loops._shuffled_range.stats;"
    "print(len(stats.cache_hits), sum(stats.cache_misses.values()))"
)


def test_another_copy_of_the_same_kernels_uses_what_is_compiled(tmp_path):
    """As in another virtual environment; after a change in any kernel's file it compiles anew."""
    copies = [tmp_path / name for name in ("one", "two")]
    for copy in copies:
        shutil.copytree(PACKAGE, copy / "dpmf_core", ignore=WITHOUT_CACHES)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}

    def hits_and_misses(copy):
        process = subprocess.run(
            [sys.executable, "-c", CALL],
            cwd=copy,
            env={**environment, "PYTHONPATH": str(copy)},
            check=True,
            capture_output=True,
            text=True,
        )
        return process.stdout.split()

    assert hits_and_misses(copies[0]) == ["0", "1"]
    assert hits_and_misses(copies[1]) == ["1", "0"]
    other = copies[1] / "dpmf_core/kernels/sparse_moments.py"
    other.write_text(f"{other.read_text()}\n# another kernel\n")
    assert hits_and_misses(copies[1]) == ["0", "1"]


def test_every_module_with_kernels_tells_when_they_must_be_compiled_again():
    covered = {
        file for pattern in kernel_cache.SOURCES for file in PACKAGE.glob(pattern)
    }
    users = {
        file
        for file in PACKAGE.rglob("*.py")
        if "compile_kernel" in file.read_text("utf-8")
    }
    assert users
    assert users <= covered


def test_a_shuffle_is_a_permutation_that_every_key_draws_anew():
    """Over 6,000 keys each order of 3 is as frequent."""
    from dpmf_core.kernels.rating_loops import shuffled_range

    order = shuffled_range(1000, 3)
    assert sorted(order) == list(range(1000))
    assert (shuffled_range(1000, 3) == order).all()
    assert (shuffled_range(1000, 4) != order).any()
    assert shuffled_range(0, 1).tolist() == []
    assert shuffled_range(1, 1).tolist() == [0]
    orders = {}
    for key in range(6000):
        order = tuple(shuffled_range(3, key).tolist())
        orders[order] = orders.get(order, 0) + 1
    assert len(orders) == 6
    farthest = max(abs(count - 1000) for count in orders.values())
    assert farthest < 5 * np.sqrt(1000 * 5 / 6)


def test_compiling_is_announced_once():
    assert compilation.compile_kernel is not None  # which hears of what is compiled
    told = []

    @numba.njit
    def double(x):
        return 2 * x

    with on_compiling(lambda: told.append("compiling")):
        assert double(3.0) == 6.0
        assert told
        count = len(told)
        assert double(4.0) == 8.0
    double(1)  # compiled anew for another type, where nobody listens
    assert len(told) == count
