"""A private selection under a budget: counted as one Gaussian release, or refused beforehand."""

import re
from dataclasses import replace

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import Budget, Gaussian, Relation, Status, accounts
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.gaussian import gaussian_epsilon
from dpmf_core.privacy.odometer import Charge, total
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.tuning import selection_budget
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.runs.tuning.search_space import TuneSpec
from dpmf_core.runs.tuning.selection_budget import under_budget
from tests.support.gaussian import epsilon_of

DELTA = 1e-6


@pytest.fixture(autouse=True)
def account(two_sets, monkeypatch):
    monkeypatch.delenv(accounts.LEDGER)
    return account_of("own")


def selection(epsilon=1.0, relation=Relation.ADD_REMOVE, trials=3.0):
    search = TuneSpec.parse(
        data={"id": "own"},
        algorithm="private-bias",
        search={"prior_deviation": (0.1, 1.0)},
        budget={
            "epsilon": epsilon,
            "delta": DELTA,
            "relation": relation,
        },
    )
    return PrivateSelection.parse(searches=(search,), trials=trials)


def test_a_selection_that_fits_is_drawn_and_counted_as_one_release(account):
    spec = selection()
    mu = spec.mu(Relation.ADD_REMOVE)
    account.set_budget(gaussian_epsilon(mu, DELTA) + 0.01, DELTA)
    offer = under_budget(spec, account)
    assert offer.fits
    assert f"ε = {epsilon_text(spec.epsilon)} (δ" in offer.words
    assert f"ε = {epsilon_text(gaussian_epsilon(mu, DELTA))} (δ" in offer.words
    spec.measure()
    (entry,) = account.entries
    assert entry.charge.price == spec.prices
    ((release, count),) = entry.charge.release
    assert release.noise_multiplier == pytest.approx(1 / mu)
    assert count == 1
    with pytest.raises(BadInput, match="That is more than"):
        spec.measure()
    assert len(account.entries) == 1


def test_the_largest_epsilon_that_fits_is_named_beforehand_and_fits(account):
    account.set_budget(1.5, DELTA)
    offer = under_budget(selection(epsilon=3.0), account)
    assert not offer.fits
    assert "the ε = 1.50 that is left of the budget" in offer.words
    most = float(re.search(r"fits with ε = ([0-9.]+) or less", offer.words)[1])
    assert under_budget(selection(epsilon=most), account).fits
    assert not under_budget(selection(epsilon=1.15 * most), account).fits
    selection(epsilon=most).measure()
    assert account.total.epsilon <= 1.5


def test_an_offer_says_that_no_epsilon_fits(account):
    account.set_budget(0.05, DELTA)
    offer = under_budget(selection(), account)
    assert not offer.fits
    assert "does not fit with any ε" in offer.words


def test_where_no_release_is_known_it_stays_refused(account, monkeypatch):
    monkeypatch.setattr(
        PrivateSelection, "mu", lambda selection, relation: float("inf")
    )
    account.set_budget(50.0, DELTA)
    spec = selection()
    offer = under_budget(spec, account)
    assert not offer.fits
    assert "no Gaussian release is known" in offer.words
    with pytest.raises(BadInput, match="no Gaussian release is known"):
        spec.measure()
    monkeypatch.setattr(selection_budget, "under_budget", lambda *parts: None)
    with pytest.raises(BadInput, match="cannot run under a budget"):
        account.enter(*spec.charges)


def test_without_a_budget_there_is_nothing_to_say(account):
    assert under_budget(selection(), account) is None
    assert under_budget(selection(), None) is None


@pytest.mark.parametrize("relation", list(Relation))
def test_many_selections_compose_to_less_than_the_sum_of_their_prices(relation):
    spec = selection(relation=relation)
    (charge,) = spec.charges
    (one,) = {leaf for leaf, _ in charge.release}
    assert 1 <= one.replace_one_factor <= 2
    assert (one.replace_one_factor == 1) == (relation is Relation.REPLACE_ONE)
    for count in (1, 2, 40):
        charges = [charge] * count
        whole = total(charges)
        by_price = count * charge.price[relation is Relation.REPLACE_ONE]
        multipliers = [one.noise_multiplier / one._factor(relation)] * count
        composed = epsilon_of(multipliers, count * DELTA)
        assert whole.epsilon == pytest.approx(min(by_price, composed), rel=1e-6)
    assert composed < by_price


def test_a_total_at_the_budget_composes_what_the_budget_admitted(account):
    """Its delta is that of the budget, which the prices of several selections exceed."""
    spec = selection(epsilon=0.3)
    account.set_budget(5.0, DELTA)
    for _ in range(2):
        spec.measure()
    run = Charge("a run", ((Gaussian(4.0, "a", 1.0), 1),), Status.PROVEN, delta=DELTA)
    account.enter(run)
    multiplier = 1 / spec.mu(Relation.ADD_REMOVE)
    expected = epsilon_of([multiplier, multiplier, 4.0], DELTA)
    assert account.total.epsilon == pytest.approx(expected, rel=1e-6)
    assert account.total.epsilon <= 5.0


def test_the_charge_of_an_earlier_version_has_no_release_and_is_added_by_its_price(
    tmp_path,
):
    """A budget cannot be set over it, as before."""
    earlier = replace(selection().charges[0], release=())
    ledger = Account(tmp_path / "a.ledger")
    ledger.enter(earlier)
    ledger.enter(earlier)
    assert ledger.total.epsilon == pytest.approx(2 * earlier.price[0])
    with pytest.raises(BadInput):
        ledger.set_budget(90.0, DELTA)
    under = total([earlier], Budget(epsilon=90.0, delta=DELTA / 2))
    assert under.epsilon == float("inf")
