"""Algorithm 2 of Saha & Imtiaz 2022 as printed, next to ours, with the same draws of noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dpmf_core.algorithms import Streams, train
from dpmf_core.algorithms.nmf import starting_factors, unit_components
from dpmf_core.algorithms.private_nmf import DPNMF, SHARES
from dpmf_core.algorithms.sample_statistics import CoefficientMoment
from dpmf_core.algorithms.spectrum import nearest_psd
from dpmf_core.kernels import nmf_loops as kernel
from dpmf_core.papers.saha_2022 import printed
from dpmf_core.papers.source_noise import saha
from dpmf_core.privacy import Budget, Calibration, Relation, Repeat
from dpmf_core.privacy.accounting import rdp_source
from dpmf_core.privacy.noise_kernels import unfold
from tests.support.heard_noise import HeardNoise
from tests.support.made_up_samples import blocks

EPSILON = 3.0
DELTA = 1e-5
K = 3
STEPS = 4
RATE = 0.2
THRESHOLD = 0.05
LIMIT = 0.2


def ours(outliers):
    """The components (D, K) after all steps, the rows as columns of V, and the noise drawn."""
    data = blocks()
    algorithm = DPNMF(
        n_components=K,
        steps=STEPS,
        start="nndsvd",
        basis_rate=RATE,
        outliers=outliers,
        outlier_threshold=THRESHOLD,
        outlier_limit=LIMIT,
        moment_share=SHARES["4/N" if outliers else "2/N"],
    )
    budget = Budget(epsilon=EPSILON, delta=DELTA, calibration=Calibration.SOURCE)
    noise = HeardNoise(
        algorithm.plan(data.shape, algorithm.source_level(data.shape, budget)),
        np.random.SeedSequence(3),
    )
    model = train(algorithm, data, noise, Streams(np.random.default_rng(5), 1))
    return model.basis.T, data.scaled(data.X, np.float64).T, noise.releases


def draws(releases, tau_A, tau_B, N):
    """Standard normal draws for A and B, in the order of the steps."""
    queues = {"A": [], "B": []}
    for leaf, _, noise in releases:
        if leaf.statistic == "second moment of the coefficients":
            if noise.ndim == 2:
                square = noise
            else:
                square = unfold(noise.reshape(1, -1), K, np.sqrt(0.5))
            queues["A"].append(square.reshape(K, K) / (N * tau_A))
        else:
            queues["B"].append(noise.reshape(K, -1).T / (N * tau_B))
    return lambda name, shape: queues[name].pop(0)


# ---- each deviation, applied to the printed algorithm --------------------------------------------

# the noise is drawn symmetric already
ALL = frozenset(
    {"columns of the start", "columns of H", "columns of R", "semi-definite A"}
)


def clipped(columns):
    """Columns longer than 1 scaled to 1."""
    norms = np.linalg.norm(columns, axis=0)
    return columns / np.maximum(norms, 1)


def unit(columns):
    """Columns of norm 1, as the paper normalises them; empty ones stay empty."""
    norms = np.linalg.norm(columns, axis=0)
    return columns / np.maximum(norms, 1e-300)


def statistics_with(deviations, outliers):
    """Line 3 with some of our deviations, from H and R that are not normalised yet."""
    plain = printed.statistics

    def statistics(V, H, R, tau_A, tau_B, noise):
        if "columns of H" in deviations:
            H = clipped(H)
        else:
            H = unit(H)
        if outliers and "columns of R" in deviations:
            V = clipped(V - R)
            R = np.zeros_like(R)
        elif outliers:
            R = unit(R)
        A, B = plain(V, H, R, tau_A, tau_B, noise)
        return (nearest_psd(A) if "semi-definite A" in deviations else A), B

    return statistics


def run_printed(V, releases, outliers, deviations, monkeypatch):
    N = V.shape[1]
    tau_A = printed.deviation(2 / N, EPSILON, DELTA)
    tau_B = printed.deviation((4 if outliers else 2) / N, EPSILON, DELTA)
    seed = int(np.random.default_rng(5).integers(2**31))
    W = starting_factors(V.T, K, "nndsvd", seed)[1].T
    if "columns of the start" in deviations:
        W = unit_components(W.T).T.astype(float)
    with monkeypatch.context() as patch:
        patch.setattr(printed, "statistics", statistics_with(deviations, outliers))
        return printed.private_nmf(
            V,
            W,
            np.zeros((K, N)),
            np.zeros_like(V),
            eta_H=N / 3.0,
            eta_W=RATE,
            n=STEPS,
            epsilon=EPSILON,
            delta=DELTA,
            lambda_=THRESHOLD,
            M=LIMIT,
            outliers=outliers,
            repeats_H=3000,  # until line 2 is solved, as ours solves it
            repeats_W=1,
            normalise=lambda columns: columns,
            noise=draws(releases, tau_A, tau_B, N),
        )


@pytest.mark.parametrize("outliers", [False, True])
def test_with_our_deviations_the_printed_algorithm_is_ours(outliers, monkeypatch):
    W, V, releases = ours(outliers)
    theirs = run_printed(V, releases, outliers, ALL, monkeypatch)
    assert_allclose(W, theirs, atol=2e-3 if outliers else 2e-5)


@pytest.mark.parametrize("left_out", sorted(ALL))
def test_without_one_deviation_the_printed_algorithm_is_not_ours(left_out, monkeypatch):
    outliers = left_out == "columns of R"
    W, V, releases = ours(outliers)
    theirs = run_printed(V, releases, outliers, ALL - {left_out}, monkeypatch)
    assert np.abs(W - theirs).max() > 2.5e-3


def test_the_noise_is_that_of_line_3():
    for outliers in (False, True):
        _, V, releases = ours(outliers)
        N = V.shape[1]
        scales = {leaf.statistic: leaf.noise_multiplier for leaf, _, _ in releases}
        tau_A = printed.deviation(2 / N, EPSILON, DELTA)
        tau_B = printed.deviation((4 if outliers else 2) / N, EPSILON, DELTA)
        expected = sorted((N * tau_A, N * tau_B))
        assert sorted(scales.values()) == pytest.approx(expected)


def test_our_noise_on_the_moment_is_symmetric():
    """It is (Z + Z^T) / 2 of independent Z, if off the diagonal its variance is halved."""
    statistic = CoefficientMoment(1.0)
    noise = HeardNoise(Repeat(statistic.event(1.0), 300), np.random.SeedSequence(0))
    for _ in range(300):
        size = K * (K + 1) // 2
        release = noise.release(statistic.name, sensitivity=1.0, size=size)
        release.symmetric(np.zeros((K, K)))
    drawn = np.array([matrix.reshape(K, K) for _, _, matrix in noise.releases])
    expected = np.swapaxes(drawn, 1, 2)
    assert_array_equal(drawn, expected)
    Z = np.random.default_rng(1).standard_normal(drawn.shape)
    symmetric_part = (Z + np.swapaxes(Z, 1, 2)) / 2
    expected = symmetric_part.std(axis=0)
    assert_allclose(drawn.std(axis=0), expected, atol=0.12)


def test_the_threshold_is_ours():
    E = np.random.default_rng(1).standard_normal((5, 9)).astype(np.float32)
    nothing = np.zeros((1, 9), np.float32)
    _, R = kernel.robust_coefficients(E, nothing, 0.4, 0.7, passes=1)
    assert_allclose(printed.threshold(E, 0.4, 0.7), R, atol=1e-6)


def test_the_total_is_the_formula_that_is_accounted():
    event = saha(0.5, DELTA, 100).event
    assert printed.overall_epsilon(0.5, DELTA, 100) == pytest.approx(
        rdp_source(event, DELTA, Relation.ADD_REMOVE)
    )
