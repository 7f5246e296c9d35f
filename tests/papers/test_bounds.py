"""Published bounds against values computed by hand from the printed formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from dpmf_core.papers.bounds import Place
from dpmf_core.papers.clauses import MissingResult
from dpmf_core.papers.exponents import exponent
from dpmf_core.papers.jain_2018.bounds import LOW_RANK, SAMPLE_COMPLEXITY, output_rank
from dpmf_core.papers.registry import BOUNDS


def test_errors_are_the_printed_ones() -> None:
    at = Place(users=50_000, items=10_000, epsilon=2.0, delta=math.exp(-10), share=0.25)
    # sqrt(10^4) 10 / (2 * 50,000) = 0.01; sqrt(10^4) ln(50,000)^2 / sqrt(.25) = 200 * 117.07
    assert BOUNDS["dpals"].error(at) == pytest.approx(0.01 * 200 * 117.0683, rel=1e-5)


def test_the_constant_puts_a_bound_on_the_point() -> None:
    bound, at = BOUNDS["dpfw"], Place(5_000, 1_000, 10.0)
    assert bound.constant(0.3, at) * bound.error(at) == pytest.approx(0.3)


def test_the_printed_tables() -> None:
    at = Place(users=10.0**6, items=10_000.0)
    nuclear, _, _, private = SAMPLE_COMPLEXITY
    assert nuclear.users and nuclear.users(at) == 10_000
    assert private.users and private.users(at) == pytest.approx(100_000)
    assert private.ratings and private.ratings(at) == pytest.approx(1e8)
    assert len(LOW_RANK) == 6  # private SVD's is not legible in our copy
    response, gaussian, power, exponential, frank_wolfe = (
        row.error(at) for row in LOW_RANK if row.error
    )
    assert (gaussian, power) == (pytest.approx(1000.1), 1.0)
    assert response == pytest.approx(1004.988, abs=1e-3)
    assert exponential == 1_010_000
    assert frank_wolfe == pytest.approx(10 ** (1.8 + 0.4))
    assert output_rank(at) == pytest.approx(10 ** (2.4 - 0.8))


@pytest.mark.parametrize("power", [-2.0, -1.0, -0.2, 0.25])
def test_the_exponent_of_a_planted_power_law_is_found(power: float) -> None:
    exact = exponent((x, 3 * x**power) for x in (1e3, 2e3, 5e3))
    assert exact.value == pytest.approx(power)
    assert exact.high - exact.low == pytest.approx(0, abs=1e-6)
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        draws = [(x, x**power * math.exp(rng.normal(0, 0.1))) for x in (1e3, 2e3, 4e3) * 2]
        fit = exponent(draws)
        inside += fit.low <= power <= fit.high
    assert 0.91 <= inside / 400 <= 0.985  # 95%, three standard deviations of 400 draws


def test_the_interval_is_that_of_ordinary_least_squares() -> None:
    rng = np.random.default_rng(1)
    x = np.repeat([1.0, 2.0, 5.0, 9.0], 2)
    y = x**-0.7 * np.exp(rng.normal(0, 0.2, len(x)))
    fit, theirs = exponent(zip(x, y, strict=True)), stats.linregress(np.log(x), np.log(y))
    reach = stats.t.ppf(0.975, len(x) - 2) * theirs.stderr
    assert (fit.value, fit.low, fit.high) == pytest.approx(
        (theirs.slope, theirs.slope - reach, theirs.slope + reach)
    )


def test_too_few_draws_give_no_exponent() -> None:
    with pytest.raises(MissingResult):
        exponent([(1.0, 0.1), (2.0, 0.2)])
    with pytest.raises(MissingResult):
        exponent([(1.0, 0.1)] * 3)
