"""The total cost on one data set, and the filter, against independent compositions."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import (
    Gaussian,
    Laplace,
    PosteriorSample,
    Relation,
    Repeat,
    Status,
    normal_form,
    sequence,
)
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.events import on_grids
from dpmf_core.privacy.failing_mechanisms import ThresholdedCounts
from dpmf_core.privacy.gaussian import gaussian_epsilon
from dpmf_core.privacy.odometer import (
    AccountEntry,
    Charge,
    check,
    lines,
    squared_mu,
    total,
)
from tests.support.gaussian import epsilon_of

DELTA = 1e-5
# noise multiplier of one Gaussian release that costs epsilon at delta 1e-5 (Balle & Wang 2018, to
# four decimals)
MULTIPLIERS = {
    0.5: 7.0318,
    1.0: 3.7306,
    2.0: 1.9938,
    5.0: 0.8919,
    10.0: 0.4999,
}


def run(epsilon, **more):
    return Charge(
        **{
            "title": "a run",
            "ledger": ((Gaussian(MULTIPLIERS[epsilon]), 1),),
            "status": Status.PROVEN,
            "delta": DELTA,
            **more,
        }
    )


def test_the_stricter_relation_counts_for_all():
    """Each release by its own replace-one factor."""
    three = (Gaussian(4.0, replace_one_factor=math.sqrt(2)), 3)
    first = run(1.0, ledger=(three,))
    sum_of_all = total([first, run(2.0, relation=Relation.REPLACE_ONE)])
    assert sum_of_all.relation is Relation.REPLACE_ONE
    multipliers = [4 / math.sqrt(2)] * 3 + [MULTIPLIERS[2.0] / 2]
    expected = epsilon_of(multipliers, DELTA)
    assert sum_of_all.epsilon == pytest.approx(expected, rel=1e-9)


def test_laplace_noise_is_composed_with_gaussian():
    """Against a numerical integral over both losses."""
    z = 2.0
    b = 1.5
    delta = 1e-4
    ledger = ((Gaussian(z), 1), (Laplace(b), 1))
    sum_of_all = total([run(2.0, ledger=ledger, delta=delta)])

    def delta_at(epsilon):
        x = np.linspace(-30, 30, 200_001)
        density = np.exp(-np.abs(x) / b) / (2 * b)
        loss = (np.abs(x - 1) - np.abs(x)) / b
        mu = 1 / z
        excess = epsilon - loss
        inner = norm.cdf(mu / 2 - excess / mu) - np.exp(
            np.minimum(excess, 700)
        ) * norm.cdf(-mu / 2 - excess / mu)
        return float(np.trapezoid(density * inner, x))

    assert delta_at(sum_of_all.epsilon) == pytest.approx(delta, rel=2e-2)


def test_what_has_no_epsilon_is_listed_and_not_covered():
    none = Charge("ALS")
    unproven = run(5.0, status=Status.UNPROVEN)
    one_value = run(1.0, unit="value of a rating")
    sum_of_all = total([run(2.0), none, unproven, one_value])
    assert sum_of_all.n_uncovered == 3
    assert sum_of_all.epsilon == pytest.approx(2.0, abs=1e-3)
    time = "2026-01-01T00:00:00+00:00"
    table = lines(
        [
            AccountEntry(charge, time, "finished")
            for charge in (run(2.0), none, none, unproven, one_value)
        ]
    )
    assert [
        (line.times, line.each is None, line.together is None) for line in table
    ] == [
        (1, False, False),
        (2, True, True),
        (1, True, True),
        (1, False, True),
    ]


def test_a_private_selection_is_added_at_its_own_delta():
    selection = run(1.0, ledger=(), price=(2.59, 4.0))
    assert total([selection]).epsilon == 2.59
    assert total([selection]).delta == DELTA
    both = total([selection, run(2.0)])
    assert both.delta == pytest.approx(2 * DELTA)
    assert both.epsilon == pytest.approx(2.59 + 2.0, abs=1e-3)
    replacement = run(2.0, relation=Relation.REPLACE_ONE)
    under_replacement = total([selection, replacement])
    assert under_replacement.epsilon == pytest.approx(
        4.0 + epsilon_of([MULTIPLIERS[2.0] / 2], DELTA), rel=1e-9
    )


BUDGET = AccountBudget(epsilon=3.0, delta=DELTA)


def test_the_filter_is_exact_for_gaussian_noise():
    """Runs enter while their exact composition stays within the budget."""
    multipliers = [5.0]
    while epsilon_of([*multipliers, 5.0], DELTA) <= BUDGET.epsilon:
        multipliers.append(5.0)
    runs = [run(1.0, ledger=((Gaussian(5.0), 1),)) for _ in multipliers]
    check(runs[:-1], runs[-1:], BUDGET)
    with pytest.raises(BadInput):
        check(runs, runs[:1], BUDGET)


def test_a_run_for_the_whole_budget_enters():
    whole = run(2.0, ledger=((Gaussian(1 / BUDGET.mu), 1),))
    check([], [whole], BUDGET)
    with pytest.raises(BadInput, match="budget"):
        check([whole], [run(0.5)], BUDGET)


def test_the_budgets_relation_decides():
    one = run(2.0, ledger=((Gaussian(2.0, replace_one_factor=2.0), 1),))
    check([], [one], BUDGET)
    with pytest.raises(BadInput, match="replace-one"):
        check(
            [],
            [one],
            AccountBudget(epsilon=3.0, delta=DELTA, relation=Relation.REPLACE_ONE),
        )


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0, 30.0])
def test_a_pure_epsilon_is_bounded_by_a_gaussian_curve(epsilon):
    """Tests under the bound err no more than randomised response, and once exactly as much."""
    bound = squared_mu(PosteriorSample(1 / epsilon), Relation.ADD_REMOVE)
    assert bound is not None
    assert bound == squared_mu(Laplace(1 / epsilon), Relation.ADD_REMOVE)
    alarms = np.linspace(0, 1, 20_001)
    by_misses = 1 - np.exp(epsilon) * alarms
    by_alarms = np.exp(-epsilon) * (1 - alarms)
    pure = np.maximum(0, np.maximum(by_misses, by_alarms))
    gaussian = norm.cdf(norm.ppf(1 - alarms) - math.sqrt(bound))
    assert (gaussian <= pure + 1e-12).all()
    meeting = 1 / (1 + math.exp(epsilon))
    curve = norm.cdf(norm.isf(meeting) - math.sqrt(bound))
    assert curve == pytest.approx(meeting, rel=1e-6)


def test_discrete_noise_enters_a_budget_by_its_continuous_noise():
    grid = run(2.0, ledger=normal_form(on_grids(Gaussian(4.0))))
    mu = 1.001 / 4.0
    epsilon = gaussian_epsilon(mu, DELTA)
    check([], [grid], AccountBudget(epsilon=epsilon, delta=DELTA))
    with pytest.raises(BadInput):
        check(
            [],
            [grid],
            AccountBudget(epsilon=gaussian_epsilon(1 / 4.0, DELTA), delta=DELTA),
        )


@pytest.mark.parametrize(
    "uncovered",
    [
        Charge("ALS"),
        run(10.0, status=Status.UNPROVEN),
        run(1.0, unit="rating"),
    ],
    ids=["no privacy", "no proof", "a smaller unit"],
)
def test_what_has_no_epsilon_is_refused_under_a_budget(uncovered):
    with pytest.raises(BadInput, match="--allow-unprotected"):
        check([run(2.0)], [uncovered], BUDGET)
    # what was drawn before stays drawn
    check([run(2.0), uncovered], [run(0.5)], BUDGET)
    open_budget = BUDGET.model_copy(update={"allow_unprotected": True})
    check([run(2.0)], [uncovered], open_budget)


def test_the_total_says_by_which_rule_it_was_composed():
    plain = Charge("one", normal_form(Gaussian(3.0)), Status.PROVEN, delta=1e-5)
    grid = Charge(
        "another", normal_form(on_grids(Gaussian(3.0))), Status.PROVEN, delta=1e-5
    )
    selection = Charge("selection", (), Status.PROVEN, delta=1e-5, price=(1.0, 2.0))
    rules = []
    for charges in ([], [plain], [plain, grid], [plain, selection]):
        rules.append(total(charges).rule)
    assert rules == ["exact", "exact", "at most", "at most"]


def test_one_more_row_replaces_the_data_of_another_person():
    """What protected people moves as far as a replaced person moves it."""
    person = Charge(
        "one",
        normal_form(Gaussian(2.0, replace_one_factor=1.4)),
        Status.PROVEN,
        "person",
        DELTA,
    )
    row = Charge(
        "another", normal_form(Gaussian(50.0)), Status.PROVEN, "document", DELTA
    )
    epsilon = total([person, row]).epsilon
    expected = epsilon_of([2.0 / 1.4, 50.0], DELTA)
    assert epsilon == pytest.approx(expected, rel=1e-9)
    expected = epsilon_of([2.0], DELTA)
    assert total([person]).epsilon == pytest.approx(expected, rel=1e-9)
    budget = AccountBudget(epsilon=epsilon * 1.001, delta=DELTA)
    check([person], [row], budget)
    with pytest.raises(BadInput):
        too_small = AccountBudget(epsilon=epsilon * 0.999, delta=DELTA)
        check([person], [row], too_small)


def test_failing_releases_beside_too_much_other_noise_are_not_forgotten():
    names = ThresholdedCounts(2.0, "names", 1.0, 1.4, 4e-6, 10)
    both = normal_form(sequence(names, Repeat(Laplace(1e12), 1_000_001)))
    alone = total(
        [Charge("names", normal_form(names), Status.PROVEN, delta=5e-6)]
    ).epsilon
    charge = Charge("both", both, Status.PROVEN, delta=5e-6)
    epsilon = total([charge]).epsilon
    assert epsilon >= alone
