"""Private Frank-Wolfe: the noise of its source, what its ledger says, and what it achieves."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpmf_core.algorithms import REGISTRY, Streams, build
from dpmf_core.algorithms.private_frank_wolfe import DPFW, DPFWOja
from dpmf_core.algorithms.projected_gradient import PrivatePGD
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Budget, Calibration, Relation, normal_form
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.gaussian import mu
from tests.algorithms.frank_wolfe_world import (
    BOUNDS,
    Array,
    M,
    N,
    centred,
    frank_wolfe,
    ratings,
)
from tests.fitting import fit, fit_by_name
from tests.support.heard_noise import HeardNoise


@pytest.fixture(scope="module")
def data() -> Ratings:
    return ratings()


@pytest.mark.parametrize("steps", [1, 10, 50])
@pytest.mark.parametrize(
    ("source_bound", "clips", "figures"),
    [("2L", 2.0, (0.545, 0.790)), ("L", 1.0, (0.124, 0.179))],
)
@pytest.mark.parametrize("kind", [DPFW, PrivatePGD])
def test_noise_of_the_source(
    kind: type[DPFW | PrivatePGD],
    source_bound: str,
    clips: float,
    figures: tuple[float, float],
    steps: int,
) -> None:
    """sigma^2 = 64 L^4 T ln(1/delta) / eps^2 a step, whatever T. The row clip is 2L or L."""
    shape, budget = (
        Shape(1000, 100, (1.0, 5.0)),
        Budget(epsilon=1.0, delta=1e-6, calibration=Calibration.SOURCE),
    )
    algorithm = kind.model_validate({"steps": steps, "row_clip": 0.3, "source_bound": source_bound})
    row_clip = 0.3 * 2 * 10
    L = row_clip / clips
    plan = algorithm.plan(shape, algorithm.source_level(shape, budget))
    ((leaf, count),) = normal_form(plan)
    assert count == steps
    assert leaf.sensitivity == pytest.approx(row_clip**2)
    deviation = leaf.noise_multiplier * leaf.sensitivity
    assert deviation**2 == pytest.approx(64 * L**4 * steps * math.log(1e6))
    for factor, figure, relation in zip((1.0, math.sqrt(2)), figures, Relation, strict=True):
        m = math.sqrt(steps) * factor * row_clip**2 / deviation

        def excess(eps: float, m: float = m) -> float:  # Balle & Wang 2018, Thm. 8
            return float(
                norm.cdf(m / 2 - eps / m) - math.exp(eps) * norm.cdf(-m / 2 - eps / m) - 1e-6
            )

        assert round(brentq(excess, 1e-3, 5), 3) == figure
        assert round(epsilon(plan, 1e-6, relation), 3) == figure


@pytest.mark.parametrize("kind", [DPFW, DPFWOja])
def test_schedules_differ_in_their_steps_and_agree_in_total(kind: type[DPFW]) -> None:
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


@pytest.mark.parametrize("noise_schedule", ["constant", "growing"])
@pytest.mark.parametrize("name", ["dpfw", "dpfw-oja"])
def test_noise_is_what_the_ledger_says(data: Ratings, name: str, noise_schedule: str) -> None:
    """Variance of what is released, over repeats on nobody's data, against each event:
    chi-square, 5% off is caught.
    """
    inner = {"inner_steps": 5} if name == "dpfw-oja" else {}
    algorithm = REGISTRY[name](steps=3, noise_schedule=noise_schedule, **inner)
    plan = algorithm.plan(data.shape, 0.7)
    squares: dict[float, list[Array]] = {}
    nobody = data.only(np.zeros(len(data), bool))
    for seed in range(100 if name == "dpfw" else 160):
        noise = HeardNoise(plan, np.random.SeedSequence(seed))
        fit(algorithm, nobody, noise, Streams(np.random.default_rng(0), 0))
        assert not any(part.any() for _, part, _ in noise.releases)
        for leaf, values in noise.squares():
            squares.setdefault(leaf.noise_multiplier, []).append(values)
    assert squares.keys() == {leaf.noise_multiplier for leaf, _ in normal_form(plan)}
    for noise_multiplier, parts in squares.items():
        draws = np.concatenate(parts)
        assert len(draws) > 14_000
        deviation = (draws.sum() - len(draws)) / np.sqrt(2 * len(draws))
        assert abs(deviation) < 4, noise_multiplier
        for off in (0.95, 1.05):
            assert abs((off**2 * draws.sum() - len(draws)) / np.sqrt(2 * len(draws))) > 4, (
                noise_multiplier
            )


def test_slack_is_the_source_s(data: Ratings) -> None:
    """l + sqrt(sigma ln(m/b)) m^(1/4) with b = 0.01 [J18, Alg. 1, line 6]; the directions of
    the first step are the same with and without.
    """
    plain, slack = (
        frank_wolfe(fit_by_name("dpfw", data, 0.3, steps=1, slack=slack)) for slack in (False, True)
    )
    ((leaf, _),) = normal_form(DPFW(steps=1).plan(data.shape, 0.3))
    sigma = leaf.noise_multiplier * leaf.sensitivity
    np.testing.assert_array_equal(plain.item_factors, slack.item_factors)
    assert 1 / slack.inverse_singular[0] - 1 / plain.inverse_singular[0] == pytest.approx(
        math.sqrt(sigma * math.log(M / 0.01)) * M**0.25
    )


def test_ridge_in_the_end_is_a_regression_on_the_released_directions(data: Ratings) -> None:
    """Same releases, same directions; then every user's least squares on (V, a constant), dense
    in float64.
    """
    steps, ridge = (
        frank_wolfe(fit_by_name("dpfw", data, 0.05, steps=3, user_step=step, prediction_ridge=0.3))
        for step in ("steps", "ridge")
    )
    np.testing.assert_array_equal(steps.item_factors, ridge.item_factors)
    personal, unit = ridge.personal(data), 3.5
    residuals, means = (
        centred(data),
        np.bincount(data.users, data.values - 3.0, N)
        / np.maximum(np.bincount(data.users, minlength=N), 1),
    )
    for user in range(N):
        rows = data.users == user
        F = np.column_stack(
            [ridge.item_factors[data.items[rows]], np.full(rows.sum(), unit)]
        ).astype(float)
        row = np.linalg.solve(F.T @ F + 0.3 * np.eye(4), F.T @ residuals[rows])
        np.testing.assert_allclose(personal.factors[user], row[:3], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(
            personal.offsets[user], means[user] + unit * row[3], rtol=1e-3, atol=1e-4
        )


def test_the_source_s_noise_is_the_same_whatever_the_clip() -> None:
    shape = Shape(1000, 50, BOUNDS)
    budget = Budget(epsilon=3.0, delta=1e-6, calibration=Calibration.SOURCE)
    assert build("dpfw-oja", {}, shape, budget) == build(
        "dpfw-oja", {"product_clip": 1.0, "user_step": "steps"}, shape, budget
    )
    scales = []
    for clip in (0.1, 1.0):
        algorithm = build("dpfw-oja", {"product_clip": clip}, shape, budget)
        ((leaf, _),) = normal_form(algorithm.plan(shape, algorithm.source_level(shape, budget)))
        scales.append(leaf.noise_multiplier * leaf.sensitivity)
    assert scales[0] == pytest.approx(scales[1])
