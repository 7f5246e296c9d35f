"""Every mechanism keeps `tests.contract.mechanism_laws`, and a planted fault is found."""

import importlib
import inspect
import math
import sys

import numpy as np
import pytest

from dpmf_core.privacy import Budget, Noise, calibrate
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.failing_mechanisms import FailingGaussian
from dpmf_core.privacy.mechanisms import MECHANISMS, AdditiveNoise, Gaussian
from tests.contract.mechanism_laws import check_account, check_draw

KINDS = [
    kind
    for kind in MECHANISMS.values()
    if issubclass(kind, AdditiveNoise)
    and not inspect.isabstract(kind)
    # accounted as the Gaussian that it otherwise is
    and not issubclass(kind, FailingGaussian)
]
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@pytest.fixture
def toy():
    """A new mechanism; the table is as before when the test has ended."""
    mechanisms = dict(MECHANISMS)
    sys.modules.pop("tests.contract.toy_mechanism", None)
    kind = importlib.import_module("tests.contract.toy_mechanism").ToyLogistic
    assert MECHANISMS["toy logistic"] is kind
    yield kind
    MECHANISMS.clear()
    MECHANISMS.update(mechanisms)


def mechanism_of(kind):
    """With a scale that is not 1, so that a forgotten factor shows."""
    return kind(1.7, "sums", 3.0)


@every
def test_it_draws_the_noise_that_it_declares(kind):
    check_draw(mechanism_of(kind))


@every
def test_no_account_is_below_what_the_noise_tells(kind):
    check_account(kind)


def test_a_new_mechanism_is_one_class(toy):
    """The laws hold, and calibration, ledger and draw know it without another line."""
    check_draw(mechanism_of(toy))
    check_account(toy)

    def plan_at(level):
        return toy(level, "sums", 3.0)

    level = calibrate(plan_at, Budget(epsilon=0.8, delta=1e-9))
    event = plan_at(level)
    assert epsilon(event, 1e-9) == pytest.approx(0.8, rel=1e-3)
    assert level == pytest.approx(1 / 0.8, rel=1e-3)  # pure: 1 / z
    noise = Noise(event, np.random.SeedSequence(0))
    noise_vector = noise.vector("sums", np.zeros(20_000), sensitivity=3.0)
    expected = 3.0 * level * math.pi / math.sqrt(3)
    assert np.std(noise_vector) == pytest.approx(expected, rel=0.02)


def faulty_kind(base, **parts):
    """The mechanism with a fault, in no table."""
    methods = {
        name: staticmethod(part) if name not in ("grid",) else part
        for name, part in parts.items()
    }
    return type("Planted", (base,), methods)


@pytest.mark.parametrize("name", ["ToyLogistic", "Gaussian", "Laplace"])
def test_noise_that_is_a_little_too_small_is_found(name, toy):
    base = {kind.__name__: kind for kind in (*KINDS, toy)}[name]

    def draw(generator, out, scale, step):
        base.draw(generator, out, 0.95 * scale, step)

    with pytest.raises(AssertionError, match="draws other noise than it declares"):
        check_draw(mechanism_of(faulty_kind(base, draw=draw)))


@pytest.mark.parametrize("name", ["ToyLogistic", "Gaussian", "Laplace"])
def test_a_sensitivity_that_is_wrong_by_a_root_of_two_is_found(name, toy):
    """In the scale of what is drawn, and in each account on its own."""
    base = {kind.__name__: kind for kind in (*KINDS, toy)}[name]
    root = math.sqrt(2)

    def grid(self, size):
        return 0.0, self.noise_multiplier * self.sensitivity / root

    with pytest.raises(AssertionError, match="draws other noise"):
        check_draw(mechanism_of(faulty_kind(base, grid=grid)))
    faults = {
        "renyi": lambda alpha, z: base.renyi(alpha, root * z),
        "privacy_loss": lambda z, interval: base.privacy_loss(root * z, interval),
    }
    if base is not Gaussian:
        faults["pure_epsilon"] = lambda z: base.pure_epsilon(root * z)
    for name_of_account, fault in faults.items():
        with pytest.raises(AssertionError, match="and its noise tells"):
            check_account(faulty_kind(base, **{name_of_account: fault}))
