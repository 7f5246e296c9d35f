"""Published bounds by hand and against dense matrices; what planted power laws make of them."""

import math

import numpy as np
import pytest
from scipy import stats

from dpmf_core.algorithms.base import Recommender
from dpmf_core.papers import theory
from dpmf_core.papers.chien_2021 import bounds, theorem_2
from dpmf_core.papers.chien_2021 import bounds as chien_2021
from dpmf_core.papers.figures import Outcome
from dpmf_core.papers.jain_2018 import bounds as jain_2018
from dpmf_core.papers.jain_2018.bounds import frank_wolfe_floor
from dpmf_core.papers.registry import BOUNDS
from dpmf_core.papers.theory import Place, bound_exponent, exponent, place_at
from dpmf_core.runs.measurements import Measured

CLAIMS = (*chien_2021.CLAIMS, *jain_2018.CLAIMS)
SIZES = {
    "users": (5e3, 1e4, 2e4),
    "items": (250.0, 500.0, 1e3),
    "epsilon": (2.0, 5.0, 20.0),
}


def power_law(algorithm, axis, power, first=0.4):
    """Errors that follow a power law along an axis, nearly the same in both draws."""
    places = SIZES[axis]
    errors = [first * (x / places[0]) ** power for x in places]
    return [
        Measured(
            algorithm.upper(),
            algorithm,
            x if axis == "epsilon" else 10.0,
            {} if axis == "epsilon" else {axis: x},
            (error * 0.99, error * 1.01),
        )
        for x, error in zip(places, errors, strict=True)
    ]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_only_a_worse_exponent_contradicts_a_bound(claim):
    _, algorithm, axis = claim.id.split("-")
    exponent_of_bound = bound_exponent(BOUNDS[algorithm], axis, SIZES[axis])
    if claim.left_open:
        worse = Outcome.CANNOT_BE_JUDGED
    else:
        worse = Outcome.DIFFERS
    for shift, outcome in (
        (-0.5, Outcome.REPRODUCED),
        (0.0, Outcome.REPRODUCED),
        (0.15, worse),
    ):
        assert (
            claim.judge(power_law(algorithm, axis, exponent_of_bound + shift)).outcome
            is outcome
        )


def test_a_curve_starts_on_the_first_point_and_follows_the_bound():
    draws = theory.draws_along("users", power_law("dpals", "users", -0.1))
    assert min(theory.medians(draws)) == 5_000
    assert exponent(draws).value == pytest.approx(-0.1)
    bound = BOUNDS["dpals"]
    error_of_first = bound.error(place_at("users", 5_000))
    error_of_second = bound.error(place_at("users", 160_000))
    curve = theory.fitted(bound, "users", draws, [5_000, 160_000, 20_000])
    expected = [0.4, 0.4 * error_of_second / error_of_first]
    assert curve[:2] == pytest.approx(expected)
    places = [place for place, _ in draws]
    of_bound = bound_exponent(bound, "users", places)
    expected = math.log(curve[2] / 0.4) / math.log(4)
    assert of_bound == pytest.approx(expected, abs=0.01)


def test_the_logarithms_of_a_bound_count():
    """n^-1 log^2 n / sqrt(20 log n): n^-.84 from 5,000 to 50,000, as (log n ratio)^1.5 / 10."""
    ends = (5_000.0, 50_000.0)
    logarithms = math.log(ends[1]) / math.log(ends[0])
    by_hand = -1 + 1.5 * math.log10(logarithms)
    exponent = bound_exponent(BOUNDS["dpals"], "users", [*ends, *ends])
    assert exponent == pytest.approx(by_hand)
    assert round(by_hand, 2) == -0.84


@pytest.mark.parametrize("steps", [1, 5, 50])
def test_frank_wolfe_stalls_where_its_own_recursion_does(steps):
    rng = np.random.default_rng(0)
    target = np.eye(4)  # equal singular values; nuclear norm 4
    iterate = np.zeros((4, 4))
    for _ in range(steps):
        left, _, right = np.linalg.svd(
            target - iterate + 1e-9 * rng.normal(size=(4, 4))
        )
        direction = np.outer(left[:, 0], right[0])
        iterate = (1 - 1 / steps) * iterate + 4 / steps * direction
    error = np.linalg.norm(target - iterate) / np.linalg.norm(target)
    assert error >= frank_wolfe_floor(steps) - 1e-9
    if steps == 50:
        floor = frank_wolfe_floor(steps)
        assert error == pytest.approx(floor, rel=0.1)


def test_errors_are_the_printed_ones():
    at = Place(users=50_000, items=10_000, epsilon=2.0, delta=math.exp(-10), share=0.25)
    # sqrt(10^4) 10 / (2 * 50,000) = 0.01; sqrt(10^4) ln(50,000)^2 / sqrt(.25) = 200 * 117.07
    expected = 0.01 * 200 * 117.0683
    assert BOUNDS["dpals"].error(at) == pytest.approx(expected, rel=1e-5)


def test_the_interval_is_that_of_ordinary_least_squares():
    rng = np.random.default_rng(1)
    x = np.repeat([1.0, 2.0, 5.0, 9.0], 2)
    noise = rng.normal(0, 0.2, len(x))
    y = x**-0.7 * np.exp(noise)
    fit = exponent(zip(x, y, strict=True))
    theirs = stats.linregress(np.log(x), np.log(y))
    reach = stats.t.ppf(0.975, len(x) - 2) * theirs.stderr
    assert fit.value == pytest.approx(theirs.slope)
    assert fit.low == pytest.approx(theirs.slope - reach)
    assert fit.high == pytest.approx(theirs.slope + reach)


def test_the_conditions_are_the_printed_ones():
    """n = e^8: log^3 n = 512 and log^2 n = 64."""
    at = Place(math.exp(8), 1_024, 10.0, math.exp(-10), share=0.25)
    assert bounds.least_share(at) == pytest.approx(0.5)
    assert bounds.least_share(at, rank=2) == pytest.approx(0.5 * 2**6)
    assert bounds.gamma(at) == pytest.approx(32 * 64)
    expected = 32 * 10 / (10 * math.exp(8)) * 32 * 64 / 0.5
    assert bounds.frobenius(at) == pytest.approx(expected)
    expected = 8 * 32 * 3 * 10 / (0.5 * math.exp(8) * 10)
    assert bounds.noise_of_a_step(at, 3) == pytest.approx(expected)


@pytest.mark.parametrize("n_users", theorem_2.USERS)
def test_the_world_meets_them(n_users):
    at = theorem_2.place(n_users)
    assert bounds.least_share(at) <= at.share == 1.0
    least = bounds.gamma(at) * math.log(1 / at.delta) / at.epsilon
    assert math.sqrt(at.share) * n_users >= least
    assert at.epsilon < math.log(1 / at.delta)


def test_lemma_4_asks_for_millions_of_users():
    """log n sqrt(m) T ln(1/delta) / (n eps) of at most 1 / log^2 n, at m = log^3 n items."""

    def excess(n):
        log = math.log(n)
        m = math.ceil(log**3)
        T = math.ceil(math.log(n / 10))
        order = log * math.sqrt(m) * T * math.log(1e5) / (10 * n)
        return order - 1 / log**2, m

    assert excess(2.75e6)[0] > 0 > excess(2.85e6)[0]
    assert excess(2.8e6)[1] == pytest.approx(3_273, abs=10)


def test_errors_are_those_of_the_dense_matrix(monkeypatch):
    monkeypatch.setattr(theorem_2, "ITEMS", 40)
    s = theorem_2.signs(0, 30)
    t = theorem_2.signs(1, 40)
    M = np.outer(s, t)
    noise = np.random.default_rng(0).normal(0, 0.3, 40)
    V = (t + noise).astype(np.float32)[:, None]
    offsets = np.zeros(40, np.float32)
    model = Recommender((-1.0, 1.0), 0.0, offsets, V, None)
    U = M @ V / float((V**2).sum())
    distance, largest = theorem_2.errors_of(model, t)
    error = M - U @ V.T
    expected = np.linalg.norm(error) / np.linalg.norm(M)
    assert distance == pytest.approx(expected, rel=1e-5)
    expected = np.abs(error).max()
    assert largest == pytest.approx(expected, rel=1e-5)


def test_a_start_is_as_far_as_allowed_and_more_users_end_closer(monkeypatch):
    monkeypatch.setattr(theorem_2, "ITEMS", 40)
    theorem_2.errors.cache_clear()
    few = theorem_2.errors(500, 0)[-1]
    many = theorem_2.errors(4_000, 0)[-1]
    assert many[0] < few[0] < 1
    assert many[1] < few[1]
    theorem_2.errors.cache_clear()
