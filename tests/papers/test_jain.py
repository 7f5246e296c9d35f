"""Jain et al.'s simulated data and bounds, as the paper describes them."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dpmf_core.papers.bounds import Place
from dpmf_core.papers.jain_2018 import bounds
from dpmf_core.papers.jain_2018.sweeps import TRUE_NORM
from dpmf_datasets.simulated.low_rank import rankone


def test_the_nuclear_norm_of_the_simulated_set_is_a_third():
    n, m = 1_000, 300
    data = rankone(n, m, p=1.0)
    singular = np.linalg.svd(data.values.reshape(n, m).astype(float), compute_uv=False)
    assert singular[1] < 1e-4 * singular[0]
    assert singular[0] / math.sqrt(n * m) == pytest.approx(TRUE_NORM, rel=0.05)


AT = Place(users=200_000, items=1_000, epsilon=2.0, share=0.1)


def test_the_corollary_balances_both_theorems():
    """k^2 / (|Omega| T) of Theorem 3.2 and sqrt(T (n + m) / |Omega|) of Theorem D.6."""
    seen, size = AT.share * AT.users * AT.items, AT.users + AT.items
    k = bounds.NUCLEAR_NORM * math.sqrt(AT.users * AT.items)
    least = minimize_scalar(
        lambda log_t: k**2 / (seen * math.exp(log_t)) + math.sqrt(math.exp(log_t) * size / seen),
        bounds=(-10, 20),
        method="bounded",
    )
    # where the derivative vanishes T is 2^(2/3) of the corollary's, which leaves constants out
    assert math.exp(least.x) / bounds.corollary_steps(AT) == pytest.approx(2 ** (2 / 3), rel=1e-3)
    T = bounds.corollary_steps(AT)
    noise, missing = bounds.corollary_terms(AT)
    assert missing == pytest.approx(k**2 / (seen * T))
    row_norm = bounds.ENTRY * math.sqrt(AT.share * AT.items)
    by_theorem = k * T**0.25 * row_norm * AT.items**0.25 / (seen * math.sqrt(AT.epsilon))
    assert noise == pytest.approx(by_theorem)


def test_the_bound_is_the_root_with_one_logarithm():
    square = sum(bounds.corollary_terms(AT)) * math.log(201_000)
    assert bounds.DPFW_BOUND.error(AT) == pytest.approx(math.sqrt(square))


def exponent(error, axis: str, at: Place) -> float:
    return math.log2(error(at.with_value(axis, 2 * getattr(at, axis))) / error(at))


@pytest.mark.parametrize(
    ("row", "users", "items"), [(0, -0.4, 0.5), (1, -0.4, 0.2), (2, -0.5, 0.625)]
)
def test_orders_of_the_remarks(row, users, items):
    """Theorem 3.2 at its best T is k^(6/5) m^(1/5) L^(4/5) / |Omega|, k = sqrt(n m)."""
    error = bounds.RANK_ONE[row].error
    assert exponent(error, "users", AT) == pytest.approx(users)
    assert exponent(error, "items", AT) == pytest.approx(items)
    if row < 2:  # sqrt(m) ratings of each user, or m of them
        ratings = 0.5 if row == 0 else 1.0
        assert 0.6 - 1 == pytest.approx(users)
        assert 0.6 + 0.2 + 0.4 * ratings - ratings == pytest.approx(items)


def test_the_first_term_is_small_from_the_users_that_the_abstract_names():
    at = Place(users=1_000**1.25, items=1_000)
    assert bounds.frank_wolfe_order(at) == pytest.approx(1)
    needed = bounds.SAMPLE_COMPLEXITY[-1].users
    assert needed and needed(at) == pytest.approx(at.users)


def test_frank_wolfe_and_svd_cross():
    n = 400**2.25
    at = Place(users=n, items=400)
    assert bounds.frank_wolfe_order(at) == pytest.approx(bounds.private_svd_order(at), rel=1e-3)
    fewer, more = (at.with_value("users", share * n) for share in (0.5, 2))
    assert bounds.private_svd_order(fewer) < bounds.frank_wolfe_order(fewer)
    assert bounds.frank_wolfe_order(more) < bounds.private_svd_order(more)
