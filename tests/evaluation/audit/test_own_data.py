"""Audits on given data: losses in closed form, planted faults, and no trace in the account."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.cli import main
from dpmf_core.evaluation.audit.membership_inference import RAW
from dpmf_core.evaluation.audit.own_data import audit_on
from dpmf_core.privacy import accounts
from dpmf_core.runs.store import Store
from dpmf_core.testing.rating_worlds import low_rank, world
from tests.support.made_up_samples import blocks

FEW = 40  # trainings: enough for what has no sampling error


@pytest.fixture(scope="module")
def mine():
    return replace(low_rank(), public=False, name="mine")


def test_what_a_person_lost_is_what_her_row_moved(mine):
    """Private biases scale who rates highest and lowest in turn to norm 1, in both releases.
    Whoever rated one item has nothing but her count, 1/2 to the root of 1/2 + 1/4.
    """
    place = np.arange(len(mine)) - mine.by_user[mine.users]
    extremes = np.where(place % 2, *mine.shape.bounds).astype(np.float32)
    values = np.where(mine.users == 0, extremes, mine.values)
    one = replace(mine, values=values)
    one = one.only((one.users != 5) | (place == 0))
    losses = ((0, 1.0), (5, math.sqrt(1 / 3)))
    for user, expected in losses:
        result = audit_on(one, "private-bias", epsilon=2.0, user=user, runs=FEW)
        row = one.values[one.users == user].astype(float)
        assert result.realised_mu / result.planned_mu == pytest.approx(
            expected, rel=1e-3
        )
        for secret in (f"{user}", f"{len(row)}"):
            assert secret in result.canary
        assert not result.broken


def test_one_more_person_loses_nearly_all_that_is_proved(mine):
    """Half highest and half lowest ratings reach the bound of private biases in any data."""
    result = audit_on(mine, "private-bias", epsilon=2.0, runs=FEW)
    assert result.lost_epsilon == pytest.approx(2.0, rel=1e-2)
    assert result.proven == pytest.approx(2.0)


def test_too_little_noise_is_found_on_given_data(mine):
    result = audit_on(mine, "private-bias", epsilon=1.0, runs=100, fault="small-noise")
    assert result.broken
    assert result.by == "what is released"


@pytest.mark.parametrize("user", [None, 4])
def test_samples_are_attacked_too(user):
    data = blocks(n_samples=60)
    result = audit_on(data, "oneshot-nmf", epsilon=2.0, user=user, runs=FEW)
    assert 0 < result.lost_epsilon <= result.proven * (1 + 1e-6)


def test_nothing_is_entered_or_kept(mine, tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    before = mine.fingerprint
    audit_on(mine, "private-bias", epsilon=1.0, runs=FEW)
    account = accounts.account_of(mine, None)
    assert account.lines == []
    assert Store().rows() == []
    assert replace(mine).fingerprint == before


def test_what_cannot_be_audited_is_a_sentence(mine):
    with pytest.raises(BadInput):
        audit_on(mine, "private-bias", epsilon=1.0, user=10_000)
    with pytest.raises(BadInput, match="holds ratings"):
        audit_on(mine, "dp-nmf", epsilon=1.0)
    with pytest.raises(BadInput, match="budget"):
        audit_on(mine, "private-bias")
    several = blocks(n_samples=60).of_people(np.arange(60) // 2)
    with pytest.raises(BadInput):
        audit_on(several, "dp-nmf", epsilon=1.0)


def test_the_command_shows_private_figures_on_the_screen_alone(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    small = world()
    rows = zip(small.users, small.items, small.values, strict=True)
    file = tmp_path / "ratings.csv"
    file.write_text(
        "user,item,rating\n" + "".join(f"{u},{i},{v}\n" for u, i, v in rows)
    )
    command = [
        "audit",
        "--dataset",
        f"{file}?bounds=0.5,5",
        "--algorithm",
        "private-bias",
    ]
    command += ["--epsilon", "1", "--runs", str(FEW)]
    assert main(command) == 0
    assert RAW in capsys.readouterr().out
    assert main([*command, "--user", "3"]) == 0
    for wrong in (["--json"], ["--unit", "rating"]):
        assert main([*command, *wrong]) == 2
    assert main(["audit", "--algorithm", "als", "--user", "3"]) == 2
    assert (
        main(["audit", "--every", "--epsilon", "1", "--dataset", "cinema-small"]) == 2
    )
