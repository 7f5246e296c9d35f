"""The grid: sums on it are exact in any order, and nothing that is rounded grows."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmf_core.curator import grid, on_grid


@settings(deadline=None)  # the first call compiles
@given(
    bound=st.floats(1e-6, 1e6),
    n_units=st.integers(1, 10**10),
    factors=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_every_sum_of_n_products_is_a_whole_number_below_two_to_the_53(
    bound: float, n_units: int, factors: int, seed: int
) -> None:
    """In exact arithmetic: the largest sum there can be is held by a float64 without rounding."""
    values = np.random.default_rng(seed).uniform(-bound, bound, 20)
    step = Fraction(grid.grid_step(bound, n_units, factors))
    grid_values = [Fraction(float(x)) / step for x in on_grid(values, bound, n_units, factors)]
    assert all(x.denominator == 1 for x in grid_values)
    largest = Fraction(float(on_grid(np.array([bound]), bound, n_units, factors)[0])) / step
    assert n_units * largest**factors <= 2**53


@settings(deadline=None)  # the first call compiles
@given(bound=st.floats(1e-6, 1e6), n_units=st.integers(1, 10**9), seed=st.integers(0, 99))
def test_rounding_is_towards_zero_and_by_less_than_a_step(
    bound: float, n_units: int, seed: int
) -> None:
    values = np.random.default_rng(seed).uniform(-bound, bound, 50)
    values[:3] = 0.0, bound, -bound
    grid_values, step = on_grid(values, bound, n_units), grid.grid_step(bound, n_units)
    assert (np.abs(grid_values) <= np.abs(values)).all()
    assert (grid_values * values >= 0).all()
    assert (np.abs(grid_values - values) < step).all()
    assert np.array_equal(on_grid(grid_values, bound, n_units), grid_values)


def test_a_hundred_thousand_products_add_up_alike_in_any_order() -> None:
    """Floats that are not on the grid do not."""
    rng = np.random.default_rng(0)
    n = 100_000
    x, y = rng.normal(0, 0.2, (2, n)).clip(-1, 1)
    exact = on_grid(x, 1.0, n, 2) * on_grid(y, 1.0, n, 2)
    truth = float(sum(map(Fraction, exact.tolist())))
    for order in (np.arange(n), rng.permutation(n), np.argsort(exact)):
        assert exact[order].sum() == np.cumsum(exact[order])[-1] == truth
    loose = x * y
    assert len({float(np.cumsum(loose[rng.permutation(n)])[-1]) for _ in range(5)}) > 1
