"""Products of private Frank-Wolfe by Oja's steps, clipped user by user."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from dpmf_core.algorithms.frank_wolfe import ResidualProduct
from dpmf_core.curator import Block
from dpmf_core.data.ratings import Shape
from tests.support.dense import BOUNDS, Array


def products_of(rows: Array, v: Array, statistic: ResidualProduct) -> Array:
    """What users with these rows add together."""
    totals = statistic.empty(Shape(100, len(v), BOUNDS), None, v)
    statistic.add(Block(np.arange(len(rows)), {}, 100), totals, csr_array(rows), v)
    return np.asarray(totals[0])


def test_a_product_is_clipped_user_by_user() -> None:
    """Each user's a <a, v> is shortened to c L^2 where it is longer; at c = 1 none is."""
    random, L = np.random.default_rng(0), 3.0
    v = random.normal(size=9)
    v /= np.linalg.norm(v)
    rows = random.normal(size=(20, 9))
    rows[0], rows[1] = v, 0.0
    rows *= (L * random.uniform(0.2, 1, 20) / np.maximum(np.linalg.norm(rows, axis=1), 1e-9))[
        :, None
    ]
    whole = rows * (rows @ v)[:, None]
    np.testing.assert_allclose(
        products_of(rows, v, ResidualProduct(L)), whole.sum(axis=0), atol=1e-5
    )
    limit = 0.2 * L**2
    lengths = np.maximum(np.linalg.norm(whole, axis=1), 1e-9)
    short_rows = whole * np.minimum(1, limit / lengths)[:, None]
    assert 2 < (lengths > limit).sum() < 18
    total = products_of(rows, v, ResidualProduct(L, 0.2))
    np.testing.assert_allclose(total, short_rows.sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("clip", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
def test_a_replaced_user_moves_a_clipped_product_as_far_as_declared_and_no_further(
    clip: float,
) -> None:
    """In the plane of v rows at angles s and t move it by at most sin(s + t): 2 c sqrt(1 - c^2)
    where c is small.
    """
    angles = np.linspace(-math.pi, math.pi, 721)
    rows, v = 0.999999 * np.column_stack([np.cos(angles), np.sin(angles)]), np.array([1.0, 0.0])
    statistic = ResidualProduct(1.0, clip)
    contributions = np.array([products_of(row[None], v, statistic) for row in rows])
    assert np.linalg.norm(contributions, axis=1).max() == pytest.approx(clip, rel=1e-4)
    furthest = np.linalg.norm(contributions[:, None] - contributions, axis=2).max()
    widest = 2 * clip * math.sqrt(1 - clip**2) if clip**2 < 0.5 else 1.0
    assert furthest == pytest.approx(widest, rel=1e-2)
    assert 0.99 * clip * statistic.replace_one_factor <= furthest
    assert furthest <= clip * statistic.replace_one_factor
