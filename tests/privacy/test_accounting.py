"""Every accounting rule against golden values, closed forms, dp_accounting and its laws."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import (
    NOTHING,
    Budget,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PosteriorSample,
    Relation,
    Repeat,
    UnsupportedEvent,
    calibrate,
    default_delta,
    gaussian,
    normal_form,
    sequence,
)  # fmt: skip
from dpmf_core.privacy import accounting as rules
from dpmf_core.privacy.events import on_grids
from dpmf_core.privacy.gaussian import gaussian_epsilon, gaussian_mu, log_delta
from dpmf_core.privacy.interpretation import false_negatives
from dpmf_core.privacy.rules import every_epsilon
from tests.support.gaussian import exact_delta

ADD, REPLACE = Relation

# 1/mu at delta 1e-5
MU = {
    0.1: 30.7496,
    0.5: 7.0318,
    1.0: 3.7306,
    2.0: 1.9938,
    5.0: 0.8919,
    10.0: 0.4999,
    20.0: 0.2900,
}
MIXED_NOISE = sequence(Repeat(Laplace(30.0), 20), Repeat(Gaussian(20.0), 5))
MANY_LAPLACE = Repeat(Laplace(20.0), 100)
ALARMS = np.linspace(0, 1, 2001)


def figures(event, delta, relation=ADD):
    rows = every_epsilon(event, delta, relation)
    return {row.rule: row.epsilon for row in rows}


@pytest.mark.parametrize(("epsilon", "sigma"), MU.items())
def test_mu_has_its_published_values(epsilon, sigma):
    assert round(1 / gaussian_mu(epsilon, 1e-5), 4) == sigma
    assert gaussian_epsilon(gaussian_mu(epsilon, 1e-5), 1e-5) == pytest.approx(
        epsilon, rel=1e-10
    )


def high_precision(mu, epsilon):
    """log delta in 400 digits, enough for e^700 times a tail of e^-1000."""
    with mpmath.workdps(400):
        return float(mpmath.log(exact_delta(mu, epsilon)))


@pytest.mark.parametrize("mu", [1e-6, 1e-3, 0.03, 0.5, 1.0, 4.0, 12.0, 37.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-4, 0.01, 0.3, 1.0, 10.0, 100.0, 700.0])
def test_log_delta_in_high_precision(mu, epsilon):
    if epsilon / mu > 45:  # below delta 1e-440
        epsilon = 45 * mu
    assert log_delta(mu, epsilon) == pytest.approx(
        high_precision(mu, epsilon), rel=1e-8, abs=1e-8
    )


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 30.0, 700.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-15, 1e-9, 1e-5, 0.1, 0.49])
def test_epsilon_and_mu_are_inverse_in_every_corner(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    precise = high_precision(mu, epsilon)
    assert precise == pytest.approx(math.log(delta), rel=1e-7)
    assert gaussian_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-7, abs=1e-9)


def test_limits_of_epsilon_and_delta():
    assert gaussian_epsilon(0.0, 1e-6) == 0.0
    assert gaussian_epsilon(1e-9, 1e-6) == 0.0  # its total variation is below delta
    assert log_delta(0.0, 0.5) == -math.inf
    large = 1e4  # the loss is N(mu^2/2, mu^2): epsilon tends to its quantile
    assert gaussian_epsilon(large, 1e-6) == pytest.approx(
        large**2 / 2 - large * ndtri(1e-6), rel=1e-7
    )
    assert rules.epsilon(NOTHING, 1e-6) == 0.0
    assert rules.delta(NOTHING, 0.0) == 0.0
    epsilons = [row.epsilon for row in every_epsilon(NOTHING, 1e-6)]
    assert epsilons == [0.0] * 5


@pytest.mark.parametrize(
    "n, expected",
    [
        (6040, 1e-5),
        (20_000, 5e-6),
        (1, 0.1),
        (10, 0.01),
        (138_493, 7e-7),
        (10**6, 1e-7),
    ],
)
def test_default_delta_is_a_tenth_of_one_over_n_rounded_down(n, expected):
    assert default_delta(n) == pytest.approx(expected)
    assert default_delta(n) <= 1 / (10 * n) * (1 + 1e-12)


def library(event, step=1e-4):
    """dp_accounting's epsilon(delta) of an event, by PLD and by RDP."""
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    pld = PLDAccountant(value_discretization_interval=step)
    rdp = RdpAccountant(orders=1 + np.logspace(-4, 6, 20_001))
    kinds = {Gaussian: dp_event.GaussianDpEvent, Laplace: dp_event.LaplaceDpEvent}
    for leaf, count in normal_form(event):
        for accountant in (pld, rdp):
            noise = kinds[type(leaf)](leaf.noise_multiplier)
            accountant.compose(noise, count)
    return pld.get_epsilon, rdp.get_epsilon


@pytest.mark.parametrize(
    "event",
    [
        MIXED_NOISE,
        MANY_LAPLACE,
        Laplace(0.5),
        sequence(Laplace(2.0), Gaussian(3.0)),
    ],
)
def test_numeric_composition_equals_a_fine_grid(event):
    pld_epsilon, _ = library(event, step=2e-5)
    for delta in (1e-9, 1e-5):
        assert rules.epsilon(event, delta) == pytest.approx(
            pld_epsilon(delta), rel=1e-3
        )


@pytest.mark.parametrize(
    "event",
    [
        Gaussian(0.5),
        Repeat(Gaussian(30.0), 50),
        MIXED_NOISE,
        MANY_LAPLACE,
        Laplace(1.0),
    ],
)
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_rdp_tight_is_the_library_s_conversion(event, delta):
    _, rdp = library(event)
    rdp_tight = figures(event, delta)["rdp_tight"]
    assert rdp_tight == pytest.approx(rdp(delta), rel=1e-4)


@pytest.mark.parametrize("z", [0.4, 2.0, 30.0])
def test_one_laplace_release_in_closed_form(z):
    """Against the library's numerical distribution, and delta by integrating the densities."""
    numerical = rules.loss_distribution(normal_form(Laplace(z)), ADD)
    for delta in (1e-6, 1e-3):
        assert rules.epsilon(Laplace(z), delta) == pytest.approx(
            max(0.0, numerical.get_epsilon_for_delta(delta)), rel=1e-3
        )
    for share in (0.0, 0.5, 0.9):
        eps = share / z
        x = np.linspace(-40 * z, 40 * z + 1, 2_000_001)
        step = x[1] - x[0]
        excess = np.exp(-np.abs(x - 1) / z) - np.exp(eps - np.abs(x) / z)
        integral = float(np.maximum(excess, 0).sum() * step / (2 * z))
        assert rules.delta(Laplace(z), eps) == pytest.approx(integral, rel=1e-3)
    assert rules.delta(Laplace(z), 1 / z) == 0.0


@pytest.mark.parametrize("delta", [1e-12, 1e-15])
def test_a_tiny_delta_does_not_drown_in_rounding(delta):
    """PLD alone answers infinity here, or thirty times the truth."""
    many = Repeat(Laplace(500.0), 50_000)
    assert rules.epsilon(many, delta) <= figures(many, delta)["rdp_tight"]
    assert figures(many, delta)["rdp_tight"] < 5
    twice = Repeat(Laplace(3.0), 2)
    assert rules.epsilon(twice, delta) == pytest.approx(2 / 3)
    # the RDP bound alone ends just above
    assert rules.epsilon(twice, delta) <= 2 / 3


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(
    "event",
    [
        Repeat(Laplace(1e-3), 10_000),
        sequence(Gaussian(1e-3), Laplace(1.0)),
        sequence(Gaussian(1e9), Laplace(1e-3)),
    ],
)
def test_huge_losses_end_in_a_bound_not_in_a_crash(event, relation):
    """PLD alone raises an IndexError, or answers a delta of 50."""
    epsilons = figures(event, 1e-6, relation)
    assert 900 < epsilons["exact"] <= epsilons["rdp_tight"] < 2.1e7
    assert 0.99 < rules.delta(event, 1.0, relation) <= 1.0


def test_too_many_laplace_releases_are_refused_at_once():
    with pytest.raises(UnsupportedEvent, match="1,000,001"):
        rules.epsilon(Repeat(Laplace(1e6), 1_000_001), 1e-6)


@given(
    st.lists(
        st.tuples(st.floats(0.2, 1e3), st.integers(1, 50)), min_size=1, max_size=4
    ),
    st.sampled_from([1e-10, 1e-5]),
)
def test_rdp_source_is_zcdp(parts, delta):
    rho = sum(count / (2 * z * z) for z, count in parts)
    releases = [Repeat(Gaussian(z), count) for z, count in parts]
    event = sequence(*releases)
    rdp_epsilon = figures(event, delta)["rdp_source"]
    expected = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert rdp_epsilon == pytest.approx(expected)
    alpha = 1 + np.exp(np.linspace(-16, 16, 20_001))
    conversion = math.log(delta) / (alpha - 1)
    expected = np.min(rho * alpha - conversion)
    assert rdp_epsilon == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "z, count",
    [
        (1.0, 1),
        (5.0, 3),
        (20.0, 100),
        (0.3, 2),
    ],
)
def test_rdp_source_of_laplace_is_the_best_of_a_dense_grid(z, count):
    """Mironov 2017, Prop. 6, at 400,000 orders in plain arithmetic where that does not overflow."""
    alpha = 1 + np.exp(np.linspace(-8, 18, 400_000))
    first = np.log(alpha / (2 * alpha - 1)) + (alpha - 1) / z
    second = np.log((alpha - 1) / (2 * alpha - 1)) - alpha / z
    moments = count * np.logaddexp(first, second) / (alpha - 1)
    bound = moments + math.log(1e5) / (alpha - 1)
    rdp_source = figures(Repeat(Laplace(z), count), 1e-5)["rdp_source"]
    assert rdp_source == pytest.approx(bound.min(), rel=1e-6)


def test_classical_rules_add_laplace_releases_at_their_own_epsilon():
    """They need no share of delta: N counts the Gaussian releases."""
    epsilons = figures(MIXED_NOISE, 1e-5)
    delta = 1e-5
    n = 5
    l1 = 20 / 30
    expected = l1 + n * math.sqrt(2 * math.log(1.25 * n / delta)) / 20
    assert epsilons["naive"] == pytest.approx(expected)
    each = math.sqrt(2 * math.log(1.25 * 2 * n / delta)) / 20
    drift = 20 / 30 * math.expm1(1 / 30) + n * each * math.expm1(each)
    squares = 20 / 30**2 + n * each**2
    expected = math.sqrt(2 * math.log(2 / delta) * squares) + drift
    assert epsilons["advanced"] == pytest.approx(expected)


@pytest.mark.parametrize(("rule", "share"), [("naive", 1e-5), ("advanced", 0.5e-5)])
def test_classical_rules_end_where_a_release_reaches_epsilon_one(rule, share):
    edge = math.sqrt(2 * math.log(1.25 / share))
    assert figures(Gaussian(edge), 1e-5)[rule] is None
    beyond = Gaussian(edge * (1 + 1e-9))
    assert figures(beyond, 1e-5)[rule] is not None


def test_an_infinite_bound_is_no_number():
    row = next(
        row for row in every_epsilon(Laplace(1e-3), 1e-5) if row.rule == "advanced"
    )
    assert row.epsilon is None
    assert row.reason == "no finite bound"


multipliers = st.floats(0.05, 2e3)
leaves = st.builds(
    Gaussian, multipliers, st.sampled_from("abc"), st.just(1.0), st.floats(1, 2)
)
repeated = st.builds(Repeat, leaves, st.integers(1, 40))
parts = st.lists(repeated, min_size=1, max_size=5)
events = parts.map(lambda parts: sequence(*parts))
deltas = st.floats(-15, -1).map(lambda power: 10.0**power)


@given(events, deltas, st.sampled_from(Relation))
def test_exact_is_at_or_under_every_valid_rule(event, delta, relation):
    for row in every_epsilon(event, delta, relation):
        assert (row.epsilon is None) == bool(row.reason)
    epsilons = figures(event, delta, relation)
    exact = epsilons.pop("exact")
    assert exact is not None
    assert math.isfinite(exact)
    assert exact >= 0
    for other in epsilons.values():
        if other is not None:
            assert exact <= other * (1 + 1e-9) + 1e-9
    bound = epsilons["rdp_source"] * (1 + 1e-9)
    assert epsilons["rdp_tight"] <= bound + 1e-9


@given(events, leaves, deltas, st.floats(1.001, 3))
def test_more_releases_or_less_noise_cost_more(event, leaf, delta, factor):
    before = rules.epsilon(event, delta)
    slack = 1e-9
    assert rules.epsilon(sequence(event, leaf), delta) >= before * (1 - slack)
    louder = sequence(
        *(
            Repeat(Gaussian(part.event.noise_multiplier / factor), part.count)
            for part in event.events
        )
    )
    assert rules.epsilon(louder, delta) >= before * (1 - slack)
    assume(before > 1e-6)
    assert rules.epsilon(louder, delta) > before
    assert rules.delta(louder, before) > rules.delta(event, before) * (1 + slack)


@pytest.mark.parametrize(("kind", "factor"), [(Gaussian, 1.5), (Laplace, 2.0)])
def test_replacing_is_removing_with_less_noise(kind, factor):
    """A statistic that moves further is one with a smaller multiplier, by every rule."""
    # moves no further when replaced
    z = 40.0
    other = Repeat(Laplace(50.0, "counts", replace_one_factor=1.0), 3)
    counts = Repeat(kind(z, replace_one_factor=factor), 6)
    nearer_counts = Repeat(kind(z / factor, replace_one_factor=factor), 6)
    event = sequence(counts, other)
    nearer = sequence(nearer_counts, other)
    replaced = [row.epsilon for row in every_epsilon(event, 1e-5, REPLACE)]
    removed = [row.epsilon for row in every_epsilon(nearer, 1e-5, ADD)]
    other_removed = [row.epsilon for row in every_epsilon(event, 1e-5, ADD)]
    assert replaced == removed != other_removed
    assert (
        rules.delta(event, 0.1, REPLACE)
        == rules.delta(nearer, 0.1, ADD)
        > rules.delta(event, 0.1, ADD)
    )
    assert np.array_equal(
        false_negatives(event, ALARMS, REPLACE), false_negatives(nearer, ALARMS, ADD)
    )
    assert np.any(
        false_negatives(event, ALARMS, REPLACE) < false_negatives(event, ALARMS, ADD)
    )


def test_mu_by_hand():
    repeated = Repeat(Gaussian(4.0, replace_one_factor=1.5), 8)
    event = sequence(repeated, Gaussian(2.0))
    expected = math.sqrt(8 / 16 + 1 / 4)
    assert gaussian.mu(event) == pytest.approx(expected)
    expected = math.sqrt(8 * 1.5**2 / 16 + 4 / 4)
    assert gaussian.mu(event, REPLACE) == pytest.approx(expected)


def test_mu_of_laplace_is_an_error_never_a_zero():
    with pytest.raises(UnsupportedEvent):
        mixed = sequence(Gaussian(1.0), Laplace(1.0, "counts"))
        gaussian.mu(mixed)


@pytest.mark.parametrize("event", [Repeat(Gaussian(5.0), 3), MIXED_NOISE])
def test_delta_inverts_epsilon(event):
    for delta in (1e-8, 1e-4):
        assert rules.delta(event, rules.epsilon(event, delta)) == pytest.approx(
            delta, rel=1e-3
        )


def gaussian_plan(level):
    counts = Gaussian(level / math.sqrt(0.2), "counts", 3.0, math.sqrt(2))
    return sequence(counts, Repeat(Gaussian(2 * level, "sums"), 7))


@given(st.floats(1e-4, 1000), deltas, st.sampled_from(Relation))
def test_calibration_inverts_epsilon(epsilon, delta, relation):
    budget = Budget(epsilon=epsilon, delta=delta, relation=relation)
    cost = rules.epsilon(
        gaussian_plan(calibrate(gaussian_plan, budget)), delta, relation
    )
    assert cost <= epsilon
    assert cost == pytest.approx(epsilon, rel=1e-9)


def discrete_plan(level):
    counts = Gaussian(level, "counts", 2.0)
    return on_grids(sequence(counts, Repeat(Gaussian(2 * level), 3)))


def sampled_plan(level):
    return Repeat(PosteriorSample(level), 3)


PLANS = {"closed form": gaussian_plan, "Renyi": discrete_plan, "PLD": sampled_plan}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_no_rule_reads_above_the_budget_in_its_last_digit(plan):
    """Two decimals as people type them: 2, not 2.000000000000001; less noise would exceed it."""
    rng = np.random.default_rng(8)
    epsilons = rng.uniform(0.05, 9, 60)
    exponents = rng.uniform(-12, -2, 60)
    for epsilon, exponent in zip(epsilons, exponents, strict=True):
        budget = Budget(
            epsilon=round(float(epsilon), 2),
            delta=10.0**exponent,
            relation=list(Relation)[rng.integers(2)],
        )
        level = calibrate(plan, budget)
        costs = [
            rules.epsilon(plan(at), budget.delta, budget.relation)
            for at in (level, level * (1 - 1e-6))
        ]
        assert costs[0] <= budget.epsilon < costs[1]


@settings(max_examples=25)
@given(st.floats(1e-3, 40), deltas)
def test_a_gaussian_epsilon_is_a_bound(mu, delta):
    """Its delta is at most the requested one, also in 400 digits."""
    epsilon = gaussian_epsilon(mu, delta)
    assert log_delta(mu, epsilon) <= math.log(delta)
    assert high_precision(mu, epsilon) <= math.log(delta) + 1e-9


def test_at_delta_zero_epsilon_is_the_sum_of_pure_epsilons():
    """Laplace noise of scale z costs 1/z; Gaussian noise has no pure epsilon."""
    event = sequence(Laplace(4.0, "a"), Repeat(Laplace(10.0, "b"), 5))
    expected = 1 / 4 + 5 / 10
    assert rules.epsilon(event, 0) == pytest.approx(expected, rel=1e-12)
    by_rule = figures(event, 0)
    assert by_rule["exact"] == by_rule["naive"]
    assert by_rule["exact"] == pytest.approx(0.75, rel=1e-12)
    for rule in ("rdp_source", "rdp_tight", "advanced"):
        assert by_rule[rule] is None
    for other in (Gaussian(3.0), sequence(event, Gaussian(3.0))):
        assert rules.epsilon(other, 0) == math.inf
        for row in every_epsilon(other, 0):
            assert row.epsilon is None
    assert rules.epsilon(NOTHING, 0) == 0


def test_a_budget_at_delta_zero_calibrates_what_has_a_pure_epsilon():
    budget = Budget(epsilon=2.0, delta=0)
    level = rules.calibrate(lambda at: Repeat(Laplace(at, "a"), 3), budget)
    assert level == pytest.approx(3 / 2, rel=1e-9)
    for plan in (
        Gaussian,
        lambda at: sequence(Laplace(at), Gaussian(at)),
        DiscreteGaussian,
    ):
        with pytest.raises(BadInput, match="delta"):
            rules.calibrate(plan, budget)
    with pytest.raises(BadInput, match="delta"):
        _ = budget.mu


def test_a_plan_without_releases_needs_no_level():
    assert calibrate(lambda level: NOTHING, Budget(epsilon=1, delta=1e-6)) == 1.0


@pytest.mark.parametrize("loss", [690.0, 701.0, 1500.0])
def test_a_posterior_sample_of_huge_loss_is_accounted(loss):
    """At every usable delta epsilon is the pure one, and half of it takes nearly all delta."""
    assert rules.epsilon(PosteriorSample(1 / loss), 1e-6) == pytest.approx(
        loss, rel=1e-4
    )
    assert rules.delta(PosteriorSample(1 / loss), loss / 2) == pytest.approx(
        1.0, abs=1e-9
    )
