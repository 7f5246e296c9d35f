"""The lemmas of docs/PRIVACY.md, "Lemmas", where a search for worse neighbours cannot beat them."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from dpmf_core.privacy.gaussian import first_that_holds

SIZE = 5


def inside(row):
    """A row within the unit ball."""
    norm = float(np.linalg.norm(row))
    return np.asarray(row / max(norm, 1.0))


def largest(distance, starts=6):
    """The largest value that a search over two rows finds."""
    draw = np.random.default_rng(0)

    def loss(x):
        first = inside(x[:SIZE])
        second = inside(x[SIZE:])
        return -float(distance(first, second))

    searches = (minimize(loss, 2 * draw.normal(size=2 * SIZE)) for _ in range(starts))
    return max(-float(search.fun) for search in searches)


def test_second_moments_of_two_units():
    """Lemma 2: sqrt(2), which orthogonal rows reach."""

    def distance(a, b):
        return np.linalg.norm(np.outer(a, a) - np.outer(b, b))

    maximum = largest(distance)
    assert 0.999 * math.sqrt(2) < maximum <= math.sqrt(2) + 1e-9


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_second_moments_times_a_projection(columns):
    """Lemma 3: at most sqrt(2); with two columns and more it is reached."""

    def distance(a, b):
        moved = np.outer(a, a[:columns]) - np.outer(b, b[:columns])
        return float(np.linalg.norm(moved))

    maximum = largest(distance)
    assert maximum <= math.sqrt(2) + 1e-9
    assert columns == 1 or maximum > 0.999 * math.sqrt(2)


def test_a_product_with_one_vector():
    """Lemma 4: 1, also where the inner product is rounded towards zero."""

    def distance(a, b):
        return np.linalg.norm(a * a[0] - b * b[0])

    assert largest(distance) <= 1 + 1e-9
    draw = np.random.default_rng(1)
    step = 0.25
    rows = draw.normal(size=(20_000, 2, SIZE))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    along = np.trunc(rows[:, :, :1] / step) * step
    moved = rows[:, 0] * along[:, 0] - rows[:, 1] * along[:, 1]
    distances = np.linalg.norm(moved, axis=1)
    assert distances.max() <= 1 + 1e-12


def test_a_rounded_projection():
    """Lemma 3 with e = 2 sqrt(K) step: the squared distance is at most 2 + e^2 / 2."""
    draw = np.random.default_rng(2)
    step = 0.125
    columns = 2
    rows = draw.normal(size=(50_000, 2, SIZE)) * np.where(
        np.arange(SIZE) < columns, 1, 0.1
    )
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    grid_values = np.trunc(rows[:, :, :columns] / step) * step
    products = rows[:, :, :, None] * grid_values[:, :, None, :]
    moved = products[:, 0] - products[:, 1]
    squares = (moved**2).sum(axis=(1, 2))
    e = 2 * math.sqrt(columns) * step
    assert squares.max() <= 2 + e**2 / 2


@pytest.mark.parametrize(("columns", "units"), [(40, 2**28), (520, 2**24)])
def test_the_room_for_a_rounded_projection(columns, units):
    """What docs/PRIVACY.md, "Second moment times subspace", says of how many columns fit."""
    from dpmf_core.algorithms.base import INSIDE
    from dpmf_core.curator.grid import fraction_bits

    def e(n_units):
        return 2 * math.sqrt(columns) * 2.0 ** -fraction_bits(n_units, 2)

    assert (
        (2 + e(units) ** 2 / 2) * INSIDE**4
        <= 2
        < (2 + e(2 * units) ** 2 / 2) * INSIDE**4
    )


def test_a_bound_lies_on_its_side():
    unit = math.ulp(1.0)
    assert first_that_holds(lambda x: x >= 1.0, 1.0, +1) == 1.0
    beyond = 1.0 + 2 * unit
    assert first_that_holds(lambda x: x > beyond, 1.0, +1) == 1.0 + 3 * unit
    root = first_that_holds(lambda x: x * x <= 2, 1.5, -1)
    assert root < math.sqrt(2)
