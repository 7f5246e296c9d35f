"""Jain et al.'s simulated data and bounds, as the paper describes them."""

import math
import re

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dpmf_core.papers.jain_2018 import bounds
from dpmf_core.papers.jain_2018.claims import TRUE_NORM
from dpmf_core.papers.registry import PAPERS
from dpmf_core.papers.theory import Place
from dpmf_datasets.simulated.low_rank import rankone


def test_the_nuclear_norm_of_the_simulated_set_is_a_third():
    n = 1_000
    m = 300
    data = rankone(n, m, p=1.0)
    matrix = data.values.reshape(n, m).astype(float)
    singular = np.linalg.svd(matrix, compute_uv=False)
    assert singular[1] < 1e-4 * singular[0]
    assert singular[0] / math.sqrt(n * m) == pytest.approx(TRUE_NORM, rel=0.05)


AT = Place(users=200_000, items=1_000, epsilon=2.0, share=0.1)


def test_the_corollary_balances_both_theorems():
    """k^2 / (|Omega| T) of Theorem 3.2 and sqrt(T (n + m) / |Omega|) of Theorem D.6."""
    seen = AT.share * AT.users * AT.items
    size = AT.users + AT.items
    k = bounds.NUCLEAR_NORM * math.sqrt(AT.users * AT.items)

    def error(log_steps):
        steps = math.exp(log_steps)
        return k**2 / (seen * steps) + math.sqrt(steps * size / seen)

    least = minimize_scalar(error, bounds=(-10, 20), method="bounded")
    # where the derivative vanishes T is 2^(2/3) of the corollary's, which leaves constants out
    expected = 2 ** (2 / 3)
    steps = math.exp(least.x) / bounds.corollary_steps(AT)
    assert steps == pytest.approx(expected, rel=1e-3)
    T = bounds.corollary_steps(AT)
    noise, missing = bounds.corollary_terms(AT)
    expected = k**2 / (seen * T)
    assert missing == pytest.approx(expected)
    row_norm = bounds.ENTRY * math.sqrt(AT.share * AT.items)
    numerator = k * T**0.25 * row_norm * AT.items**0.25
    by_theorem = numerator / (seen * math.sqrt(AT.epsilon))
    assert noise == pytest.approx(by_theorem)


def test_the_bound_is_the_root_with_one_logarithm():
    square = sum(bounds.corollary_terms(AT)) * math.log(201_000)
    assert bounds.DPFW_BOUND.error(AT) == pytest.approx(math.sqrt(square))


def powers(note):
    """The powers of m and n of an order such as "m^(1/2) / n^(2/5)"."""
    fractions = []
    for top, bottom in re.findall(r"\^\((\d)/(\d)\)", note):
        fractions.append(int(top) / int(bottom))
    m, n = fractions
    return m, -n


COMPLEXITY, _, RANK_ONE = PAPERS["jain-2018"].tables
OF_RISK, OF_FULL_RISK, OF_ERROR, OF_SVD = RANK_ONE.rows.values()


@pytest.mark.parametrize(("order", "ratings"), [(OF_RISK, 0.5), (OF_FULL_RISK, 1.0)])
def test_orders_of_the_excess_risk(order, ratings):
    """Theorem 3.2 at its best T is k^(6/5) m^(1/5) L^(4/5) / |Omega|, of k = sqrt(n m).

    A user has m^ratings of them, and L is the square root of these.
    """
    m, n = powers(order)
    assert n == pytest.approx(0.6 - 1)
    expected = 0.6 + 0.2 + 0.4 * ratings - ratings
    assert m == pytest.approx(expected)


def test_the_order_of_the_error_is_that_of_the_corollary():
    def noise(n, m):
        place = Place(users=n, items=m, share=m**-0.5)
        return bounds.corollary_terms(place)[0]

    m, n = powers(OF_ERROR)
    of_users = noise(2e12, 1e3) / noise(1e12, 1e3)
    assert math.log2(of_users) == pytest.approx(n)
    of_items = noise(1e12, 2e3) / noise(1e12, 1e3)
    assert math.log2(of_items) == pytest.approx(m)
    # small from m^(5/4) users on, as the abstract states
    assert m + 5 / 4 * n == 0
    assert "m^(5/4)" in COMPLEXITY.rows["Private FW (Jain et al. 2018)"]
    # private SVD's 1 / sqrt(m) is as large at m^(9/4) users
    assert m + 9 / 4 * n == -1 / 2
    assert OF_SVD.endswith("1 / √m")
