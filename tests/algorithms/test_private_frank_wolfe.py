"""Private Frank-Wolfe: the noise of its source, what its ledger says, and what it achieves."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from dpmf_core.algorithms.frank_wolfe import ResidualProduct
from dpmf_core.algorithms.private_frank_wolfe import DPFW, DPFWOja
from dpmf_core.curator import Block
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import normal_form
from dpmf_core.privacy.gaussian import mu
from tests.fitting import fit_by_name
from tests.support.algebra import relative, shortened
from tests.support.dense import BOUNDS, centred, rectangle, user_means

N = 40
M = 17


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.5, sizes=(2, 1, 0.5))


@pytest.mark.parametrize("kind", [DPFW, DPFWOja])
def test_schedules_differ_in_their_steps_and_agree_in_total(kind):
    shape = Shape(1000, 100, (1.0, 5.0))
    constant = kind(steps=5, noise_schedule="constant").plan(shape, 2.0)
    growing = kind(steps=5, noise_schedule="growing").plan(shape, 2.0)
    assert mu(constant) == pytest.approx(0.5)
    assert mu(growing) == pytest.approx(0.5)
    assert len({leaf.noise_multiplier for leaf, _ in normal_form(constant)}) == 1
    noises = [leaf.noise_multiplier for leaf, _ in normal_form(growing)]
    assert_allclose(np.divide(noises, noises[0]), np.sqrt(np.arange(1, 6)))


def test_slack_is_the_source_s(data):
    """l + sqrt(sigma ln(m/b)) m^(1/4) with b = 0.01 [J18, Alg. 1, line 6]."""
    plain = fit_by_name(
        "dpfw",
        data,
        0.3,
        steps=1,
        slack=False,
    ).model
    slack = fit_by_name(
        "dpfw",
        data,
        0.3,
        steps=1,
        slack=True,
    ).model
    assert_array_equal(plain.item_factors, slack.item_factors)
    ((leaf, _),) = normal_form(DPFW(steps=1).plan(data.shape, 0.3))
    sigma = leaf.noise_multiplier * leaf.sensitivity
    expected = math.sqrt(sigma * math.log(M / 0.01)) * M**0.25
    added = 1 / slack.inverse_singular[0] - 1 / plain.inverse_singular[0]
    assert added == pytest.approx(expected)


def fitted(data, user_step):
    return fit_by_name(
        "dpfw",
        data,
        0.05,
        steps=3,
        user_step=user_step,
        prediction_ridge=0.3,
    ).model


def test_ridge_in_the_end_is_a_regression_on_the_released_directions(data):
    """Each user's least squares on (V, a constant), dense in float64, after the same releases."""
    model = fitted(data, "ridge")
    assert_array_equal(fitted(data, "steps").item_factors, model.item_factors)
    personal = model.personal(data)
    unit = 3.5
    residuals = centred(data)
    means = user_means(data, data.values - 3.0)
    columns = np.column_stack([model.item_factors, np.full(M, unit)]).astype(float)
    for user in range(N):
        is_own = data.users == user
        F = columns[data.items[is_own]]
        side = np.linalg.solve(F.T @ F + 0.3 * np.eye(4), F.T @ residuals[is_own])
        offset = means[user] + unit * side[3]
        assert_allclose(personal.factors[user], side[:3], rtol=1e-3, atol=1e-4)
        assert_allclose(personal.offsets[user], offset, rtol=1e-3, atol=1e-4)


def products_of(rows, v, statistic):
    """What users with these rows add together."""
    totals = statistic.empty(Shape(100, len(v), BOUNDS), None, v)
    statistic.add(Block(np.arange(len(rows)), {}, 100), totals, csr_array(rows), v)
    return np.asarray(totals[0])


def test_a_product_is_clipped_user_by_user():
    """Each user's a <a, v> is shortened to c L^2 where it is longer; at c = 1 none is."""
    random = np.random.default_rng(0)
    L = 3.0
    v = relative(random.normal(size=9))
    rows = random.normal(size=(20, 9))
    rows[0] = v
    rows[1] = 0.0
    lengths = np.maximum(
        np.linalg.norm(
            rows,
            axis=1,
            keepdims=True,
        ),
        1e-9,
    )
    rows *= L * random.uniform(0.2, 1, (20, 1)) / lengths
    whole = rows * (rows @ v)[:, None]
    total = products_of(rows, v, ResidualProduct(L))
    assert_allclose(total, whole.sum(axis=0), atol=1e-5)

    limit = 0.2 * L**2
    lengths = np.linalg.norm(whole, axis=1)
    assert 2 < (lengths > limit).sum() < 18
    total = products_of(rows, v, ResidualProduct(L, 0.2))
    assert_allclose(total, shortened(whole, limit).sum(axis=0), rtol=1e-5)


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
    apart = np.linalg.norm(contributions[:, None] - contributions, axis=2)
    furthest = apart.max()
    widest = 1.0
    if clip**2 < 0.5:
        widest = 2 * clip * math.sqrt(1 - clip**2)
    assert furthest == pytest.approx(widest, rel=1e-2)
    declared = clip * statistic.replace_one_factor
    assert 0.99 * declared <= furthest <= declared
