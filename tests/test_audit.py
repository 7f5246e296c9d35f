"""The attack: its arithmetic against closed forms, what it finds of planted faults, and that it finds nothing above a proof."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dpmf_core import bounds
from dpmf_core.algorithms import find
from dpmf_core.audit import AuditSpec, as_record, audit, every_proven, rates, table_specs
from dpmf_core.canaries import COLUMNS, FAULTS, Attacked, faults_of, prepared, worlds
from dpmf_core.cli import main
from dpmf_core.engine import Engine
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.store import Store

# ---- arithmetic -------------------------------------------------------------------------------------------------------


def test_a_perfect_attack_shows_no_more_than_its_runs_allow() -> None:
    """No error in n trials of each kind: both rates are below 1 - (alpha / 2)^(1 / n)."""
    limit = 1 - 0.025 ** (1 / 250)
    assert bounds.at_threshold(np.zeros(250), np.ones(250), 0.5, 0.0, False) == pytest.approx(math.log((1 - limit) / limit))
    assert bounds.most(1000, 0.0, False) == pytest.approx(math.log((1 - limit) / limit))


def test_the_gaussian_form_recovers_the_mu_of_a_gaussian() -> None:
    """A million draws shifted by mu = 2 give a bound just below the exact epsilon; of 200 attacks with 500 draws at most one in twenty goes above."""
    rng = np.random.default_rng(0)
    exact = exactly(Gaussian(0.5), 1e-5)
    found = bounds.at_threshold(rng.standard_normal(10**6), 2 + rng.standard_normal(10**6), 1.0, 1e-5, True)
    assert 0.98 * exact < found < exact
    over = [bounds.at_threshold(rng.standard_normal(500), 2 + rng.standard_normal(500), 1.0, 1e-5, True) > exact for _ in range(200)]
    assert sum(over) <= 200 * 0.05


def test_blind_guessing_shows_nothing_however_the_threshold_is_chosen() -> None:
    """Of 100 attacks on coin tosses at most one in twenty finds anything."""
    rng = np.random.default_rng(1)
    found = [bounds.judged(*(tuple(rng.standard_normal((2, 200))) for _ in range(2)), 1e-5, True).epsilon > 0 for _ in range(100)]  # type: ignore[arg-type]
    assert sum(found) <= 100 * 0.05


def test_error_rates_run_from_all_alarms_to_none() -> None:
    rng = np.random.default_rng(2)
    pair = (rng.standard_normal(100), 1 + rng.standard_normal(100))
    found = bounds.judged(pair, pair, 1e-5, False)
    assert len(found.false_alarms) == len(found.misses) == bounds.CUTS
    assert found.false_alarms[-1] == 0 and found.misses[-1] == 1
    assert sorted(found.misses) == list(found.misses) and sorted(found.false_alarms, reverse=True) == list(found.false_alarms)


# ---- the likelihood ratio ---------------------------------------------------------------------------------------------


def ratios(attacked: Attacked, pair: tuple[object, object], draws: int) -> tuple[np.ndarray, np.ndarray]:
    found = [[attacked.training(pair, bool(kind), np.random.SeedSequence([9, kind, draw]))[1] for draw in range(draws)] for kind in (0, 1)]
    return np.array(found[0]), np.array(found[1])


def test_the_ratio_of_released_sums_is_that_of_two_gaussians() -> None:
    """One release of a fixed statistic: the log ratio is normal with mean +-mu^2 / 2 and variance mu^2, mu at most what the ledger allows."""
    pair = worlds(find("private-svd"), "user")
    attacked = prepared("private-svd", pair[0].shape, 5.0, 1e-5, {}, "none")
    absent, present = ratios(attacked, pair, 300)
    mu2 = present.mean() - absent.mean()
    assert absent.var() == pytest.approx(mu2, rel=0.25)
    assert present.mean() == pytest.approx(mu2 / 2, abs=4 * math.sqrt(mu2 / 300))
    allowed = 1 / min(leaf.noise_multiplier for leaf in [attacked.plan] if isinstance(leaf, Gaussian))
    assert 0.5 * allowed < math.sqrt(mu2) < 1.1 * allowed


def test_densities_integrate_to_one() -> None:
    """The mean over the world without the canary of the ratio itself is 1, whatever is released, also in steps that look at the steps before."""
    pair = worlds(find("dpals"), "user")
    attacked = prepared("dpals", pair[0].shape, 1.0, 1e-5, {}, "none")
    absent, _ = ratios(attacked, pair, 120)
    assert np.exp(absent).mean() == pytest.approx(1.0, abs=4 * np.exp(absent).std() / math.sqrt(120))
    assert absent.std() > 0.02


@pytest.mark.parametrize("unit", ["user", "rating", "value"])
def test_worlds_are_neighbours(unit: str) -> None:
    without, with_canary = worlds(find("als"), unit)  # type: ignore[arg-type]
    first, second = ({(u, i): v for u, i, v in zip(it.users, it.items, it.values, strict=True)} for it in (without, with_canary))
    differ = {place for place in first.keys() | second.keys() if first.get(place) != second.get(place)}
    assert {user for user, _ in differ} == {0}
    assert len(differ) == (COLUMNS if unit == "user" else 1)
    assert (first.keys() == second.keys()) == (unit == "value")


def test_sample_worlds_are_neighbours() -> None:
    without, with_canary = worlds(find("dp-nmf"), "user")
    differ = np.flatnonzero(np.abs(without.X - with_canary.X).sum(axis=1))
    assert differ.tolist() == [0]
    assert np.linalg.norm(with_canary.X[0]) == pytest.approx(1.0)


# ---- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "budget", "runs"), [("private-bias", 1.0, 1000), ("private-bias", 3.0, 1000), ("spectral", 2.0, 200), ("input-perturbation", 1.0, 120)]
)
def test_nothing_is_found_above_a_proof(name: str, budget: float, runs: int) -> None:
    found = audit(name, epsilon=budget, runs=runs, seed=3)
    assert found.proven == pytest.approx(budget, rel=1e-6)
    assert found.lower <= budget
    assert not found.broken
    unit = "value of a rating, another value" if name == "input-perturbation" else "user, add/remove"
    assert f"proven at most {budget:.2f} (delta = 1e-5, per {unit}, exact)" in found.words


def test_an_attack_comes_near_a_proof() -> None:
    """Rows are released as they are: more than half of epsilon 3 is found."""
    found = audit("private-svd", epsilon=3.0, runs=2000)
    assert found.by == "what is released"
    assert 1.5 < found.lower < 3.0


@pytest.mark.parametrize(
    ("name", "fault", "by", "runs"),
    [
        ("private-bias", "small-noise", "what is released", 1000), ("private-bias", "unlisted-release", "what is shared", 400),
        ("dpals", "no-clipping", "what is released", 500), ("dp-nmf", "exact-start", "what is released", 100),
    ],
)  # fmt: skip
def test_planted_faults_are_found(name: str, fault: str, by: str, runs: int) -> None:
    found = audit(name, epsilon=1.0, runs=runs, fault=fault)
    assert found.broken
    assert found.by == by
    assert "the promise is broken" in found.words


def test_a_sketch_gives_its_users_away() -> None:
    found = audit("sketch", runs=400, parameters={"rank": 4, "steps": 5, "threshold": 2.0}, unit="user")
    assert found.proven is None and found.allowed == ()
    assert found.lower > 2.5 > 2.0
    assert "nothing is proved" in found.words


def test_a_larger_canary_than_what_is_proved_breaks_nothing() -> None:
    found = audit("input-perturbation", epsilon=1.0, runs=200, unit="user")
    assert found.lower > 1.0 and not found.broken
    assert "for one value only" in found.words


def test_the_allowed_curve_is_the_ledgers() -> None:
    """A ledger of mu: the fewest misses at false alarms a are Phi(Phi^-1(1 - a) - mu)."""
    from scipy.stats import norm

    found = audit("private-svd", epsilon=2.0, runs=40)
    mu = 1 / next(noise for noise in np.geomspace(0.1, 10, 20_001) if exactly(Gaussian(noise), 1e-5) <= 2.0)
    inner = slice(1, -1)
    expected = norm.cdf(norm.ppf(1 - np.array(rates())[inner]) - mu)
    np.testing.assert_allclose(found.allowed[inner], expected, atol=2e-3)


def test_the_same_seed_finds_the_same() -> None:
    assert as_record(audit("private-bias", epsilon=2.0, runs=200)) == as_record(audit("private-bias", epsilon=2.0, runs=200))


# ---- asking -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"algorithm": "dpals"}, "takes a budget"), ({"algorithm": "private-bias", "epsilon": 1.0, "runs": 10}, "40, 1000000"),
        ({"algorithm": "private-bias", "epsilon": 1.0, "fault": "no-noise"}, "no fault 'no-noise'"),
        ({"algorithm": "private-bias", "epsilon": 1.0, "fault": "no-clipping"}, "cannot have the fault no-clipping"),
        ({"algorithm": "als", "fault": "small-noise"}, "cannot have the fault small-noise"), ({"algorithm": "dplas"}, "Did you mean"),
        ({"algorithm": "dp-nmf", "epsilon": 1.0, "unit": "rating"}, "a whole one"), ({"algorithm": "als", "unit": "item"}, "unit"),
    ],
)  # fmt: skip
def test_what_cannot_be_attacked_is_a_sentence(asked: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        audit(**asked)  # type: ignore[arg-type]


def test_faults_fit_their_algorithms() -> None:
    assert set(faults_of(find("dp-nmf"))) == set(FAULTS)
    assert faults_of(find("als")) == ("none", "unlisted-release")
    assert "no-clipping" not in faults_of(find("private-bias"))


def test_the_table_holds_every_proof_and_every_fault() -> None:
    specs = table_specs(1.0, 1e-5, 100, 0)
    assert {spec.algorithm for spec in specs} == {*every_proven(), "sketch"}
    assert {spec.fault for spec in specs} == set(FAULTS)
    for spec in specs:
        spec.check()


def test_an_audit_stops_when_it_is_told() -> None:
    with pytest.raises(Cancelled):
        AuditSpec.parse(algorithm="private-bias", epsilon=1.0).measure(stopped=lambda: True)


@pytest.fixture
def threads(tmp_path: Path) -> Iterator[Engine]:
    made = Engine(Store(tmp_path), processes=False, workers=1)
    yield made
    made.close()


def test_the_engine_measures_once_and_remembers(threads: Engine) -> None:
    asked = AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=100)
    first, second = threads.measure(asked), threads.measure(asked)
    assert first.result(60) is second.result(60)
    again = threads.measure(AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=100))
    assert again.state == "done" and again.result(0) is first.result(0)
    assert threads.store.rows() == []
    refused = threads.measure(AuditSpec.parse(algorithm="dpals", runs=100))
    assert refused.state == "failed" and "takes a budget" in str(refused.error)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["audit", "--algorithm", "private-bias", "--epsilon", "2", "--runs", "100", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["proven"] == pytest.approx(2.0) and record["runs"] == 100 and len(record["misses"]) == 101
    assert main(["audit", "--algorithm", "private-bias"]) == 2
    assert "takes a budget" in capsys.readouterr().err
    assert main(["audit"]) == 2
    assert "--every" in capsys.readouterr().err
    assert main(["audit", "--every"]) == 2
    assert "needs --epsilon" in capsys.readouterr().err
