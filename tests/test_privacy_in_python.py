"""`dpmf.privacy` against closed forms: Balle & Wang 2018, Mironov 2017, Bun & Steinke 2016."""

import math

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant

import dpmf
from dpmf import BadInput, privacy
from tests.support.gaussian import delta_of, epsilon_of, mu_of

DELTA = 1e-6
MULTIPLIERS = (3.0, 5.0, 5.0, 8.0)
EVENT = privacy.compose(
    privacy.Gaussian(3.0),
    privacy.compose(privacy.Gaussian(5.0), count=2),
    privacy.Gaussian(8.0),
)
MU = math.sqrt(sum(z**-2 for z in MULTIPLIERS))


def test_gaussian_releases_compose_exactly():
    assert privacy.epsilon(EVENT, DELTA) == pytest.approx(
        epsilon_of(MULTIPLIERS, DELTA), rel=1e-9
    )
    expected = delta_of(MU, 2.0)
    assert privacy.delta(EVENT, 2.0) == pytest.approx(expected, rel=1e-9)
    assert privacy.gdp(EVENT) == pytest.approx(MU, rel=1e-12)
    of_mu = privacy.epsilon_of_gdp(MU, DELTA)
    expected = epsilon_of(MULTIPLIERS, DELTA)
    assert of_mu == pytest.approx(expected, rel=1e-9)
    replaced = epsilon_of([z / 2 for z in MULTIPLIERS], DELTA)
    assert privacy.epsilon(EVENT, DELTA, "replace-one") == pytest.approx(
        replaced, rel=1e-9
    )


@pytest.mark.parametrize("count", [1, 12])
def test_a_noise_multiplier_spends_the_budget(count):
    z = privacy.noise_multiplier(2.0, DELTA, count=count)
    expected = math.sqrt(count) / mu_of(2.0, DELTA)
    assert z == pytest.approx(expected, rel=1e-9)
    assert epsilon_of([z] * count, DELTA) <= 2.0 + 1e-9
    laplace = privacy.noise_multiplier(2.0, 0, mechanism="laplace", count=count)
    assert laplace == pytest.approx(count / 2.0, rel=1e-9)


def test_an_own_mechanism_is_calibrated_by_its_own_curve():
    def release(z):
        return privacy.compose(privacy.Gaussian(z), privacy.Gaussian(z / 3))

    z = privacy.calibrate(release, 1.5, DELTA)
    assert epsilon_of([z, z / 3], DELTA) == pytest.approx(1.5, rel=1e-9)


def test_a_group_has_a_sensitivity_as_many_times_as_large():
    together = privacy.epsilon(privacy.group(EVENT, 3), DELTA)
    assert together == pytest.approx(
        epsilon_of([z / 3 for z in MULTIPLIERS], DELTA), rel=1e-9
    )
    laplace = privacy.group(privacy.Laplace(4.0), 3)
    assert privacy.epsilon(laplace, 0) == pytest.approx(0.75)


def test_rules_are_converted():
    rho = MU**2 / 2
    assert privacy.zcdp(EVENT) == pytest.approx(rho, rel=1e-12)
    assert privacy.zcdp(
        privacy.compose(privacy.Laplace(2.0), count=3)
    ) == pytest.approx(3 / 8)
    assert privacy.renyi(EVENT, 5.0) == pytest.approx(5 * rho, rel=1e-12)
    one = 1 / 2.0  # epsilon of Laplace noise: Mironov 2017, Prop. 6
    above = 3 / 5 * math.exp(2 * one)
    below = 2 / 5 * math.exp(-3 * one)
    mironov = math.log(above + below) / 2
    laplace = privacy.Laplace(2.0)
    assert privacy.renyi(laplace, 3.0) == pytest.approx(mironov, rel=1e-9)
    table = privacy.epsilons(EVENT, DELTA)["epsilon"]
    zcdp = rho + 2 * math.sqrt(rho * math.log(1 / DELTA))
    assert table["rdp_source"] == pytest.approx(zcdp, rel=1e-9)
    orders = 1 + np.exp(np.linspace(-3, 8, 200_001))
    conversion = np.log1p(-1 / orders) - np.log(DELTA * orders) / (orders - 1)
    tight = (rho * orders + conversion).min()
    assert table["rdp_tight"] == pytest.approx(tight, rel=1e-6)
    own = privacy.epsilon_of_renyi(lambda order: rho * order, DELTA)
    assert own == pytest.approx(tight, rel=1e-6)
    assert table["exact"] < table["rdp_tight"] < table["rdp_source"]


def test_events_of_dp_accounting_cost_the_same_here_and_there():
    theirs = dp_event.ComposedDpEvent(
        [
            dp_event.GaussianDpEvent(4.0),
            dp_event.SelfComposedDpEvent(dp_event.LaplaceDpEvent(5), 3),
        ]
    )
    expected = PLDAccountant().compose(theirs).get_epsilon(DELTA)
    assert privacy.epsilon(theirs, DELTA) == pytest.approx(expected, rel=1e-3)
    back = privacy.to_dp_accounting(privacy.from_dp_accounting(theirs))
    assert PLDAccountant().compose(back).get_epsilon(DELTA) == pytest.approx(
        expected, rel=1e-3
    )
    sampled = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0))
    expected = PLDAccountant().compose(sampled).get_epsilon(DELTA)
    assert privacy.epsilon(sampled, DELTA) == pytest.approx(expected, rel=1e-3)


def test_a_model_and_a_ledger_are_events():
    model = dpmf.fit("cinema-small", "private-bias", epsilon=2.0, delta=DELTA)
    assert privacy.epsilon(model, DELTA) == pytest.approx(2.0)
    both = privacy.compose(model, model)
    assert privacy.gdp(both) == pytest.approx(
        math.sqrt(2) * mu_of(2.0, DELTA), rel=1e-9
    )
    X = np.random.default_rng(0).random((50, 6))
    private = dpmf.PrivateNMF(2, epsilon=1.0, public=True, random_state=0).fit(X)
    epsilon = privacy.epsilon(private.ledger_, private.delta_)
    assert epsilon == pytest.approx(1.0)


def without_proof():
    return dpmf.fit("cinema-small", "als", steps=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: privacy.epsilon(without_proof(), DELTA), "has no epsilon"),
        (lambda: privacy.epsilon((), DELTA), "empty"),
        (lambda: privacy.epsilon("gaussian", DELTA), "An event is"),
        (lambda: privacy.epsilon(EVENT, 1.0), "delta"),
        (lambda: privacy.epsilon(EVENT, DELTA, "replace"), "relation"),
        (lambda: privacy.delta(EVENT, -1.0), "epsilon"),
        (lambda: privacy.noise_multiplier(2.0, 0), "delta = 0"),
        (lambda: privacy.noise_multiplier(0.0, DELTA), "epsilon"),
        (
            lambda: privacy.noise_multiplier(1.0, DELTA, mechanism="uniform"),
            "mechanism",
        ),
        (lambda: privacy.noise_multiplier(1.0, DELTA, count=0), "count"),
        (lambda: privacy.compose(EVENT, count=-1), "count"),
        (lambda: privacy.group(EVENT, 0), "size"),
        (lambda: privacy.renyi(EVENT, 1.0), "order"),
    ],
)
def test_an_event_without_an_account_is_refused(call, words):
    with pytest.raises(BadInput, match=words):
        call()
