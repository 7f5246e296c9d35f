"""Private Frank-Wolfe: the noise of its source, what its ledger says, and what it achieves."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from dpmf_core.algorithms.frank_wolfe import ResidualProduct
from dpmf_core.algorithms.private_frank_wolfe import DPFW, DPFWOja
from dpmf_core.curator import Block
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import normal_form
from dpmf_core.privacy.gaussian import mu
from tests.fitting import fit_by_name
from tests.support.dense import BOUNDS, centred, rectangle, user_means

N = 40
M = 17


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.5, sizes=(2, 1, 0.5))


@pytest.mark.parametrize("kind", [DPFW, DPFWOja])
def test_schedules_differ_in_their_steps_and_agree_in_total(kind):
    shape = Shape(1000, 100, (1.0, 5.0))
    constant, growing = (
        kind(steps=5, noise_schedule=schedule).plan(shape, 2.0)
        for schedule in ("constant", "growing")
    )
    assert mu(constant) == pytest.approx(0.5)
    assert mu(growing) == pytest.approx(0.5)
    assert len({leaf.noise_multiplier for leaf, _ in normal_form(constant)}) == 1
    noises = [leaf.noise_multiplier for leaf, _ in normal_form(growing)]
    np.testing.assert_allclose(np.divide(noises, noises[0]), np.sqrt(np.arange(1, 6)))


def test_slack_is_the_source_s(data):
    """l + sqrt(sigma ln(m/b)) m^(1/4) with b = 0.01 [J18, Alg. 1, line 6]."""
    plain, slack = (
        fit_by_name("dpfw", data, 0.3, steps=1, slack=slack).model
        for slack in (False, True)
    )
    ((leaf, _),) = normal_form(DPFW(steps=1).plan(data.shape, 0.3))
    sigma = leaf.noise_multiplier * leaf.sensitivity
    np.testing.assert_array_equal(plain.item_factors, slack.item_factors)
    assert 1 / slack.inverse_singular[0] - 1 / plain.inverse_singular[
        0
    ] == pytest.approx(math.sqrt(sigma * math.log(M / 0.01)) * M**0.25)


def test_ridge_in_the_end_is_a_regression_on_the_released_directions(data):
    """Each user's least squares on (V, a constant), dense in float64, after the same releases."""
    steps, ridge = (
        fit_by_name(
            "dpfw",
            data,
            0.05,
            steps=3,
            user_step=step,
            prediction_ridge=0.3,
        ).model
        for step in ("steps", "ridge")
    )
    np.testing.assert_array_equal(steps.item_factors, ridge.item_factors)
    personal = ridge.personal(data)
    unit = 3.5
    residuals = centred(data)
    means = user_means(data, data.values - 3.0)
    for user in range(N):
        rows = data.users == user
        F = np.column_stack(
            [ridge.item_factors[data.items[rows]], np.full(rows.sum(), unit)]
        ).astype(float)
        row = np.linalg.solve(F.T @ F + 0.3 * np.eye(4), F.T @ residuals[rows])
        np.testing.assert_allclose(
            personal.factors[user],
            row[:3],
            rtol=1e-3,
            atol=1e-4,
        )
        np.testing.assert_allclose(
            personal.offsets[user],
            means[user] + unit * row[3],
            rtol=1e-3,
            atol=1e-4,
        )


def products_of(rows, v, statistic):
    """What users with these rows add together."""
    totals = statistic.empty(Shape(100, len(v), BOUNDS), None, v)
    statistic.add(Block(np.arange(len(rows)), {}, 100), totals, csr_array(rows), v)
    return np.asarray(totals[0])


def test_a_product_is_clipped_user_by_user():
    """Each user's a <a, v> is shortened to c L^2 where it is longer; at c = 1 none is."""
    random = np.random.default_rng(0)
    L = 3.0
    v = random.normal(size=9)
    v /= np.linalg.norm(v)
    rows = random.normal(size=(20, 9))
    rows[0] = v
    rows[1] = 0.0
    rows *= (
        L * random.uniform(0.2, 1, 20) / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    )[:, None]
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
    clip,
):
    """Rows at angles s and t to v move it by sin(s + t): 2 c sqrt(1 - c^2) for small c."""
    angles = np.linspace(-math.pi, math.pi, 721)
    rows = 0.999999 * np.column_stack([np.cos(angles), np.sin(angles)])
    v = np.array([1.0, 0.0])
    statistic = ResidualProduct(1.0, clip)
    contributions = np.array([products_of(row[None], v, statistic) for row in rows])
    assert np.linalg.norm(contributions, axis=1).max() == pytest.approx(clip, rel=1e-4)
    furthest = np.linalg.norm(contributions[:, None] - contributions, axis=2).max()
    widest = 2 * clip * math.sqrt(1 - clip**2) if clip**2 < 0.5 else 1.0
    assert furthest == pytest.approx(widest, rel=1e-2)
    assert 0.99 * clip * statistic.replace_one_factor <= furthest
    assert furthest <= clip * statistic.replace_one_factor
