"""The score of an attack that sees what is released: a ratio of Gaussian densities."""

import math

import numpy as np
import pytest

from dpmf_core.algorithms import find
from dpmf_core.evaluation.audit import canary_data
from dpmf_core.evaluation.audit.audit_table import every_proven
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.privacy.gaussian import mu as mu_of


def attack(name, epsilon, unit="user", **parameters):
    spec = AuditSpec(algorithm=name, epsilon=epsilon, parameters=parameters)
    target = spec.target(canary_data.shape(find(name)))
    return target, target.choose(unit)


def ratios(target, pair, draws):
    by_world = []
    for kind in (0, 1):
        seeds = [np.random.SeedSequence([9, kind, draw]) for draw in range(draws)]
        trainings = [target.training(pair, bool(kind), seed) for seed in seeds]
        by_world.append(np.array([training.ratio for training in trainings]))
    return tuple(by_world)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("private-svd", {}),
        pytest.param("spectral", {"refinement_steps": 0}, marks=pytest.mark.slow),
    ],
)
def test_the_ratio_of_released_sums_is_that_of_two_gaussians(name, parameters):
    """The log ratio is normal with mean +-mu^2 / 2 and variance mu^2."""
    target, pair = attack(name, 5.0, **parameters)
    absent, present = ratios(target, pair, 200)
    squared_mus = []
    for kind in (0, 1):
        seed = np.random.SeedSequence([9, kind, 0])
        squared_mus.append(target.training(pair, bool(kind), seed).squared_mu)
    squared_mu = np.mean(squared_mus)
    assert squared_mu == pytest.approx(mu_of(target.plan) ** 2, rel=1e-3)
    for kind, sign in ((absent, -1), (present, 1)):
        assert kind.mean() == pytest.approx(
            sign * squared_mu / 2, abs=4 * math.sqrt(squared_mu / 200)
        )
        assert kind.var() == pytest.approx(squared_mu, rel=4 * math.sqrt(2 / 200))


GAUSSIAN = tuple(
    name
    for name in every_proven()
    if AuditSpec(algorithm=name, epsilon=3.0)
    .target(canary_data.shape(find(name)))
    .through_mu
)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_canaries_move_what_sensitivities_allow(name):
    """Between 95% and 100% of the ledger's mu, in every algorithm with Gaussian releases alone."""
    target, pair = attack(
        name, 3.0, **({"iterations": 10} if name == "oneshot-nmf" else {})
    )
    squared_mus = []
    for draw in range(2):
        seed = np.random.SeedSequence([4, draw])
        squared_mus.append(target.training(pair, bool(draw % 2), seed).squared_mu)
    planned_mu = mu_of(target.plan)
    moved = math.sqrt(np.mean(squared_mus))
    assert 0.95 * planned_mu < moved < planned_mu * (1 + 1e-6)
