"""SGLD: its chain, and the claim that one state of it is a sample of the posterior."""

import numpy as np
import pytest

from dpmf_core import algorithms
from dpmf_core.algorithms.sgld import SGLD
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Noise, PlanViolation, PosteriorSample, normal_form
from dpmf_core.testing.rating_worlds import low_rank, world
from tests.support.algebra import streams
from tests.support.dense import centred
from tests.support.heard_noise import HeardNoise


def test_the_sample_is_in_the_ledger_and_cannot_be_drawn_twice():
    noise = Noise(PosteriorSample(2.0, "theta"), np.random.SeedSequence(0))
    noise.sampler("theta")
    assert noise.ledger == ((PosteriorSample(2.0, "theta"), 1),)
    with pytest.raises(PlanViolation):
        noise.sampler("theta")
    with pytest.raises(PlanViolation):
        Noise(PosteriorSample(2.0, "theta")).release(
            "theta",
            sensitivity=1.0,
            size=3,
        )


def test_a_user_moves_the_log_posterior_by_at_most_epsilon():
    """f_i = -R min(||e_i||^2 / L^2, 1) lies between -R and 0 whatever she rated: its gradient
    vanishes beyond the clip, and equals the dense one inside.
    """
    data = world()
    algorithm = SGLD(
        reading="posterior-sample",
        rank=2,
        ratings_per_user=5,
        error_clip=2.0,
    )
    rng = np.random.default_rng(0)
    U = rng.normal(size=(data.n_users, 2))
    V = rng.normal(size=(data.n_items, 2))
    few = data.most_per_user(5)
    x = few.values.astype(float) - 2.75
    L2 = 5 * 2.0
    R = 0.7

    def total(V):
        e = x - (U[few.users] * V[few.items]).sum(axis=1)
        squares = np.bincount(few.users, e**2, few.n_users)
        each = np.minimum(squares / L2, 1)
        assert each.min() >= 0
        assert each.max() <= 1
        return float(-R * each.sum())

    _, slope = algorithm._gradients(few, x, U, V, 2 * R / L2)
    for place in [(0, 0), (3, 1), (7, 0)]:
        step = np.zeros_like(V)
        step[place] = 1e-6
        expected = (total(V + step) - total(V - step)) / 2e-6
        assert slope[place] == pytest.approx(expected, abs=1e-5)


NOBODY = Ratings.of(
    [],
    [],
    [],
    n_users=3,
    n_items=4000,
    bounds=(1, 5),
    public=True,
)


def chain(algorithm, data, level=1.0):
    """The model after the last step; starts, noise and samples by seed 1."""
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(1))
    return algorithms.train(algorithm, data, noise, streams(1))


def assert_variance(factors, expected):
    """Over many independent coordinates; noise that is 5% off would be seen."""
    variance = float(factors.astype(float).var())
    deviation = expected * np.sqrt(2 / factors.size)
    assert abs(variance - expected) < 4 * deviation
    for off in (0.95, 1.05):
        assert abs(off**2 * variance - expected) > 4 * deviation


@pytest.mark.parametrize(
    "parameters",
    [
        {"reading": "posterior-sample"},
        {
            "reading": "steps",
            "averaged_share": 0.0,
            "gradient_clip": 0.3,
            "likelihood_power": 1e6,
        },
    ],
)
@pytest.mark.parametrize("level", [0.3, 30.0])
def test_without_data_the_chain_samples_the_prior_at_any_level_of_noise(
    parameters, level
):
    """N(0, 1 / precision): the noise of a release is the noise of a Langevin step."""
    algorithm = SGLD(
        rank=4,
        steps=150,
        prior_precision=4.0,
        step_size=0.1,
        **parameters,
    )
    factors = chain(algorithm, NOBODY, level).item_factors
    assert_variance(factors, 0.25 / (1 - 0.1 / 4))


def test_one_step_is_half_its_length_up_the_gradient_of_the_profile_likelihood():
    """Against finite differences of the profile likelihood to the power beta, without clipping."""
    data = low_rank(n_users=30)
    algorithm = SGLD(
        rank=2,
        steps=1,
        gradient_clip=1e3,
        averaged_share=0.0,
        biases=False,
        prediction_ridge=3.0,
    )
    plan = algorithm.plan(data.shape, 1.0)
    noise = HeardNoise(plan, np.random.SeedSequence(0))
    after = algorithms.train(algorithm, data, noise, streams(3)).item_factors
    _, gradient, drawn = noise.releases[0]
    star = data.shape.half_range / 2
    eta = algorithm.step_size / 10
    V = np.random.default_rng(3).standard_normal((data.n_items, 2)) / np.sqrt(10)
    x = centred(data) / star

    def log_likelihood(V):
        total = 0.0
        for user in range(data.n_users):
            own = data.users == user
            F = V[data.items[own]]
            v = x[own]
            u = np.linalg.solve(F.T @ F + 3 * np.eye(2), F.T @ v)
            errors = ((v - F @ u) ** 2).sum()
            total -= (errors + 3 * (u**2).sum()) / 2
        return total

    leaf, _ = normal_form(plan)[0]
    beta = 2 / (leaf.noise_multiplier * 1e3 * np.sqrt(eta))
    for place in [(0, 0), (3, 1), (7, 0)]:
        step = np.zeros_like(V)
        step[place] = 1e-5
        slope = (log_likelihood(V + step) - log_likelihood(V - step)) / 2e-5
        released = -gradient[place] / star**1.5
        assert released == pytest.approx(slope, rel=2e-3, abs=1e-3)
        noisy_slope = slope - drawn[place] / star**1.5
        next_state = V[place] + eta / 2 * (beta * noisy_slope - 10 * V[place])
        expected = next_state * np.sqrt(star)
        assert after[place] == pytest.approx(expected, rel=1e-3, abs=1e-4)


CROWD = Shape(20_000, 400, (1.0, 5.0))


def source_chain(**changed):
    parameters = {
        "reading": "posterior-sample",
        "steps": 150,
        "step_size": 1.0,
        "prior_precision": 4.0,
    }
    return SGLD(**(parameters | changed))


def test_the_formula_is_the_variance_of_a_chain():
    """With 3 users a step is long, and empty rows cannot change the result."""
    algorithm = source_chain(steps=12, rank=4)
    factors = chain(algorithm, NOBODY, 0.5).item_factors
    assert_variance(factors, algorithm.prior_variance(NOBODY.shape, 0.5))
    long_chain = source_chain(steps=5000)
    variance = long_chain.prior_variance(CROWD, 1.0)
    assert variance == pytest.approx(0.25, rel=0.01)
