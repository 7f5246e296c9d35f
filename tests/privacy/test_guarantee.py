"""What may be claimed, and what releases cost a person who has several units."""

import math

import pytest

from dpmf_core.cli.output import privacy
from dpmf_core.privacy import (
    NOT_PRIVATE,
    Budget,
    DiscreteGaussian,
    Gaussian,
    Guarantee,
    Laplace,
    PosteriorSample,
    Relation,
    Repeat,
    Status,
    UnsupportedEvent,
    normal_form,
    sequence,
)
from dpmf_core.privacy import accounting as rules
from dpmf_core.privacy.accounting import group_epsilon, of_group, rule_of
from dpmf_core.privacy.failing_mechanisms import PaddedCount, ThresholdedCounts
from dpmf_core.privacy.formatting import epsilon_in_full
from dpmf_core.privacy.mechanisms import CONTINUOUS_SHARE
from dpmf_core.runs.privacy_record import GuaranteeRecord, PrivacyRecord
from tests.privacy.test_accounting import ADD, MIXED_NOISE, MU, high_precision

PROVEN = Guarantee(Status.PROVEN)


def test_only_proofs_put_an_epsilon_on_screen():
    shown = {status for status in Status if Guarantee(status).has_epsilon}
    assert shown == {Status.PROVEN, Status.CONDITIONAL}


def test_an_assumption_makes_a_proof_conditional():
    conditional = PROVEN.assuming("one").assuming("one", "another")
    assert conditional.status is Status.CONDITIONAL
    assert conditional.assumptions == ("one", "another")
    assert PROVEN.assuming() is PROVEN
    assert PROVEN.status is Status.PROVEN


@pytest.mark.parametrize("status", [Status.UNPROVEN, Status.NONE])
def test_an_assumption_lifts_nothing(status):
    assert Guarantee(status).assuming("the moon is full").status is status
    assert NOT_PRIVATE.assuming("the moon is full") is NOT_PRIVATE


def test_an_upper_bound_is_not_called_exact():
    release = Gaussian(2.0)
    assert rule_of(release) == "exact"
    assert rule_of(release, Relation.REPLACE_ONE) == "at most"
    sentence = epsilon_in_full(1.0, 1e-6, "user", "replace-one", "exact")
    assert "exact" not in sentence


@pytest.mark.parametrize(
    ("size", "epsilon"),
    [
        (1, 1.0),
        (10, 14.4),
        (64, 219),
    ],
)
def test_a_person_with_many_images_is_protected_less(size, epsilon):
    """Extended Yale B: epsilon 1 an image (about 64 a person) is 219 a person at delta 1e-5."""
    cost = group_epsilon(Gaussian(MU[1.0]), 1e-5, size=size)
    assert cost == pytest.approx(epsilon, rel=4e-3)
    assert high_precision(size / MU[1.0], cost) == pytest.approx(
        math.log(1e-5), rel=1e-6
    )


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("relation", Relation)
def test_a_group_costs_what_dp_accounting_says_of_a_statistic_that_moves_so_much_more(
    size, relation
):
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    if relation is ADD:
        factor = 1.0
    else:
        factor = 2.0
    accountant = PLDAccountant()
    laplace = dp_event.LaplaceDpEvent(30.0 / (factor * size))
    gaussian = dp_event.GaussianDpEvent(20.0 / (factor * size))
    accountant.compose(laplace, 20)
    accountant.compose(gaussian, 5)
    assert group_epsilon(MIXED_NOISE, 1e-6, relation, size) == pytest.approx(
        accountant.get_epsilon(1e-6), rel=2e-3
    )


@pytest.mark.parametrize("size", [2, 7, 1000])
def test_a_group_of_pure_losses_is_within_their_sum(size):
    """k units change a density by e^(k a) at most, and k Laplace shifts add up."""
    pure = ((PosteriorSample(4.0), 0.25), (Repeat(Laplace(20.0), 3), 0.15))
    for event, each in pure:
        cost = group_epsilon(event, 1e-12, size=size)
        assert 0.9 * size * each < cost <= size * each * (1 + 1e-9)


@pytest.mark.parametrize("event", [Gaussian(3.0), MIXED_NOISE, PosteriorSample(2.0)])
def test_the_cost_of_a_group_is_a_valid_bound_and_grows(event):
    """Growing with k, and at most k epsilon at delta (e^(k epsilon) - 1) / (e^epsilon - 1)."""
    one = group_epsilon(event, 1e-6, size=1)
    assert one == rules.epsilon(event, 1e-6)
    costs = [group_epsilon(event, 1e-6, size=size) for size in (1, 2, 3, 5, 9)]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]
    for size in (2, 3):
        group_delta = 1e-6 * math.expm1(size * one) / math.expm1(one)
        if group_delta < 1:
            assert rules.delta(of_group(event, size), size * one) <= group_delta * (
                1 + 1e-6
            )


def test_discrete_noise_moves_with_the_group_and_is_rounded_once():
    """z = scale / (k sensitivity + rounding)."""
    leaf = DiscreteGaussian(5.0, "sums", 2.0, 1.5, 0.01)
    for relation, shift in (
        (ADD, 3 * 2.0 + 0.01),
        (Relation.REPLACE_ONE, 3 * 3.0 + 0.01),
    ):
        ((group_leaf, count),) = normal_form(of_group(leaf, 3))
        assert group_leaf.multiplier(relation) == pytest.approx(
            CONTINUOUS_SHARE * 10.0 / shift
        )
        assert count == 1


@pytest.mark.parametrize(
    "leaf",
    [
        ThresholdedCounts(5.0, failure_probability=1e-8, most=3),
        PaddedCount(5.0, failure_probability=1e-8),
    ],
)
def test_a_mechanism_that_may_fail_has_no_epsilon_of_a_group(leaf):
    """All documents of a person may bring a name that passes a threshold; one's may not."""
    assert group_epsilon(leaf, 1e-6, size=1) == rules.epsilon(leaf, 1e-6)
    with pytest.raises(UnsupportedEvent):
        group_epsilon(leaf, 1e-6, size=2)


def test_a_printed_guarantee_is_a_sentence():
    for guarantee in (PROVEN.assuming("one"), NOT_PRIVATE):
        assert str(guarantee) == str(GuaranteeRecord.of(guarantee))
        assert str(guarantee) == f"{guarantee.status}: {guarantee.words}"
    assert str(PROVEN).endswith("every sensitivity is proved for one user.")


def test_at_delta_zero_gaussian_noise_has_no_pure_epsilon():
    budget = Budget(epsilon=1.0, delta=0.0)
    event = sequence(Gaussian(4.0), Laplace(4.0))
    ledger = normal_form(event)
    record = PrivacyRecord.of(ledger, event, budget, PROVEN)
    assert record.loss.startswith(
        "Gaussian noise has no pure ε: at δ = 0 no finite ε holds."
    )
    words = privacy(record)
    assert "Gaussian noise has no pure epsilon" in words
    assert "PROVEN" not in words
    assert "Laplace noise" not in words
    laplace = Laplace(4.0)
    pure = PrivacyRecord.of(normal_form(laplace), laplace, budget, PROVEN)
    assert pure.loss.startswith("ε = 0.25")
    assert "PROVEN" in privacy(pure)
