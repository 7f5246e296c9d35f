"""`dpmf.choose`: the same answer as the command, and measured trainings from Python."""

import json

import pandas as pd
import pytest

import dpmf
from dpmf_core.base.errors import BadInput
from dpmf_core.cli import main


@pytest.fixture(scope="module")
def frame():
    """A private frame of 60 users."""
    rows = []
    for user in range(60):
        for item in range(12):
            if (user + item) % 4:
                stars = 1 + (user * user + 3 * item + user * item) % 5
                rows.append((user, item, stars))
    return pd.DataFrame(rows, columns=["user", "item", "rating"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"spend": 2.0}, "each=20"),
        ({"each": 9, "keep": 0.5}, "give the largest epsilon"),
        ({"each": 9, "spend": 2.0, "keep": 0.5}, "neither keep nor reach"),
        ({"each": 9, "spend": 2.0, "budget": 3}, "no argument 'budget'"),
    ],
)
def test_missing_or_unsuitable_options_for_private_data_are_explained(
    frame, options, words
):
    with pytest.raises(BadInput, match=words):
        dpmf.choose(frame, bounds=(1, 5), **options)


@pytest.mark.slow
def test_choose_agrees_with_the_command_on_public_data(monkeypatch, capsys):
    monkeypatch.delenv("DPMF_CATALOGUE", raising=False)
    choice = dpmf.choose("cinema-small", spend=2.0)
    command = ("choose", "--dataset", "cinema-small", "--spend", "2", "--json")
    assert main(command) == 0
    said = json.loads(capsys.readouterr().out)
    written = json.dumps(choice.to_dict())
    mine = json.loads(written)
    for name in said.keys() - {"train", "created", "versions"}:
        assert mine[name] == said[name], name
    delta = said["question"]["delta"]
    assert choice.options == {"algorithm": "spectral", "epsilon": 2.0, "delta": delta}
    with pytest.raises(BadInput, match="measured on these public"):
        choice.measure()


@pytest.mark.slow
def test_private_data_in_memory_are_measured_and_doubled(monkeypatch, frame, tmp_path):
    monkeypatch.delenv("DPMF_CATALOGUE", raising=False)
    ledger = tmp_path / "own.ledger"
    choice = dpmf.choose(
        frame, spend=1.0, each=9, step=1.0, delta=1e-3, bounds=(1, 5), ledger=ledger
    )
    account = dpmf.account(frame, ledger, bounds=(1, 5))
    assert choice.headline.startswith("With Spectral at ε = 1")
    assert not account.entries
    measured = choice.measure(0.5)
    assert len(account.entries) == 2
    price = measured.price_of_doubling(0.5)
    assert len(account.entries) == 2  # a price draws nothing
    doubled = measured.double(0.5)
    assert len(account.entries) == 4
    assert account.total.epsilon == pytest.approx(price, rel=1e-9)
    assert doubled.total == pytest.approx(price, rel=1e-9)
    epsilons = [step.epsilon for step in doubled.finding.steps]
    assert epsilons == [1.0, 2.0]
    assert doubled.headline.startswith("ε = ")
    assert doubled.epsilon == 2.0
    assert len(measured.finding.steps) == 1  # an answer does not change
    recommendations = doubled.frame().iloc[:, 1]
    assert (recommendations != "").sum() == 2
    assert "measured on these data" in doubled.report().lower()
