"""Theorem 2 of Chien et al. in its own conditions: by hand and against dense matrices."""

import math

import numpy as np
import pytest

from dpmf_core.algorithms.base import Recommender
from dpmf_core.papers.bounds import Place
from dpmf_core.papers.chien_2021 import bounds, theorem_2


def test_the_conditions_are_the_printed_ones() -> None:
    """n = e^8: log^3 n = 512 and log^2 n = 64."""
    at = Place(math.exp(8), 1_024, 10.0, math.exp(-10), share=0.25)
    assert bounds.least_share(at) == pytest.approx(0.5)
    assert bounds.least_share(at, rank=2, kappa=1, mu=2) == pytest.approx(0.5 * 2**12)
    assert bounds.gamma(at) == pytest.approx(32 * 64)
    assert bounds.least_users(at) == pytest.approx(32 * 64 * 10 / (10 * 0.5))
    assert bounds.frobenius(at) == pytest.approx(32 * 10 / (10 * math.exp(8)) * 32 * 64 / 0.5)
    assert bounds.largest_entry(at) == pytest.approx(32 * bounds.frobenius(at))
    assert bounds.noise_of_a_step(at, 3) == pytest.approx(
        8 * 32 * 3 * 10 / (0.5 * math.exp(8) * 10)
    )


@pytest.mark.parametrize("n_users", theorem_2.USERS[True])
def test_the_world_meets_them(n_users: int) -> None:
    at = theorem_2.place(n_users)
    assert bounds.least_share(at) <= at.share == 1.0
    assert bounds.least_users(at) <= n_users
    assert at.epsilon < math.log(1 / at.delta)


def test_the_paper_s_own_synthetic_data_do_not() -> None:
    for n_users in (5_000.0, 50_000.0):
        assert bounds.least_share(Place(n_users, 1_000.0), rank=5) > 1
    assert bounds.out_of_reach(True)


def test_errors_are_those_of_the_dense_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorem_2, "ITEMS", 40)
    s, t = theorem_2.signs(0, 30), theorem_2.signs(1, 40)
    M = np.outer(s, t)
    V = (t + np.random.default_rng(0).normal(0, 0.3, 40)).astype(np.float32)[:, None]
    model = Recommender((-1.0, 1.0), 0.0, np.zeros(40, np.float32), V, None)
    U = M @ V / float((V**2).sum())
    distance, largest = theorem_2._errors_of(model, t)
    assert distance == pytest.approx(np.linalg.norm(M - U @ V.T) / np.linalg.norm(M), rel=1e-5)
    assert largest == pytest.approx(np.abs(M - U @ V.T).max(), rel=1e-5)


def test_a_start_is_as_far_as_allowed_and_more_users_end_closer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(theorem_2, "ITEMS", 40)
    theorem_2.errors.cache_clear()
    few, many = (theorem_2.errors(n, 0)[-1] for n in (500, 4_000))
    assert many[0] < few[0] < 1 and many[1] < few[1]
    theorem_2.errors.cache_clear()
