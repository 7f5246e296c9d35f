"""The attack: its arithmetic against closed forms, what it finds of planted faults, and that it finds nothing above a proof."""

import json
import math

import numpy as np
import pytest

from dpmf_core import audit as module
from dpmf_core.audit import as_record, audit, most_that_can_be_shown
from dpmf_core.cli import main
from dpmf_core.errors import BadInput
from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.accounting import epsilon as exactly


def test_a_perfect_attack_shows_no_more_than_its_runs_allow() -> None:
    """No error in n trials of each kind: both rates are below 1 - (alpha / 2)^(1 / n)."""
    out, inside = np.zeros(250), np.ones(250)
    limit = 1 - 0.025 ** (1 / 250)
    assert module._bound(out, inside, 0.5, 0.0, False) == pytest.approx(math.log((1 - limit) / limit))
    assert most_that_can_be_shown(1000) == pytest.approx(math.log((1 - limit) / limit))


def test_the_gaussian_form_recovers_the_mu_of_a_gaussian() -> None:
    """A million draws shifted by mu = 2 give a bound just below the exact epsilon; of 200 attacks with 500 draws at most one in twenty goes above."""
    rng = np.random.default_rng(0)
    exact = exactly(Gaussian(0.5), 1e-5)
    found = module._bound(rng.standard_normal(10**6), 2 + rng.standard_normal(10**6), 1.0, 1e-5, True)
    assert 0.98 * exact < found < exact
    over = [module._bound(rng.standard_normal(500), 2 + rng.standard_normal(500), 1.0, 1e-5, True) > exact for _ in range(200)]
    assert sum(over) <= 200 * 0.05


def test_blind_guessing_shows_nothing() -> None:
    rng = np.random.default_rng(1)
    assert module._bound(rng.standard_normal(1000), rng.standard_normal(1000), 0.0, 1e-5, True) == 0


@pytest.mark.parametrize(("name", "budget"), [("private-bias", 1.0), ("private-bias", 3.0), ("spectral", 2.0)])
def test_nothing_is_found_above_a_proof(name: str, budget: float) -> None:
    found = audit(name, epsilon=budget, runs=1000, seed=3)
    assert found.proven == pytest.approx(budget, rel=1e-6)
    assert found.lower <= budget
    assert not found.broken
    assert f"proven at most {budget:.2f}" in found.words


def test_an_attack_comes_near_a_proof() -> None:
    """Sums are released as they are: more than half of epsilon 3 is found."""
    assert audit("private-bias", epsilon=3.0, runs=6000).lower > 1.5


@pytest.mark.parametrize(("name", "fault"), [("private-bias", "small-noise"), ("spectral", "small-noise"), ("private-bias", "unlisted-release")])
def test_planted_faults_are_found(name: str, fault: str) -> None:
    found = audit(name, epsilon=1.0, runs=1200, fault=fault)
    assert found.broken
    assert "the promise is broken" in found.words


def test_a_sketch_gives_its_users_away() -> None:
    found = audit("sketch", runs=400, parameters={"rank": 4, "steps": 5})
    assert found.proven is None
    assert found.lower > 2.5
    assert "nothing is proved" in found.words


def test_the_same_seed_finds_the_same() -> None:
    assert as_record(audit("private-bias", epsilon=2.0, runs=200)) == as_record(audit("private-bias", epsilon=2.0, runs=200))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"algorithm": "dpals"}, "takes a budget"), ({"algorithm": "private-bias", "epsilon": 1.0, "runs": 10}, "at least 40"),
        ({"algorithm": "private-bias", "epsilon": 1.0, "fault": "no-noise"}, "no fault 'no-noise'"),
        ({"algorithm": "private-bias", "epsilon": 1.0, "fault": "no-clipping"}, "no clip norm"),
        ({"algorithm": "als", "fault": "small-noise"}, "draws no noise"), ({"algorithm": "dplas"}, "Did you mean"),
    ],
)  # fmt: skip
def test_what_cannot_be_attacked_is_a_sentence(asked: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        audit(**asked)  # type: ignore[arg-type]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--algorithm", "private-bias", "--epsilon", "2", "--runs", "100", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["proven"] == pytest.approx(2.0) and record["runs"] == 100 and len(record["misses"]) == 101
    assert main(["audit", "--algorithm", "private-bias"]) == 2
    assert "takes a budget" in capsys.readouterr().err
