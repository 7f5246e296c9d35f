"""What the command line prints, Python returns: `tune`, `audit`, `algorithms` and `check`."""

import json

import pandas as pd
import pytest

import dpmf
from dpmf_core.base.errors import BadInput
from dpmf_core.cli import main

pytestmark = pytest.mark.usefixtures("data_folder")
VOLATILE = {"created", "versions", "seconds", "peak_mb", "cached"}
FRAME = pd.DataFrame(
    [
        (u, i, 1 + (u * u + 3 * i) % 5)
        for u in range(60)
        for i in range(12)
        if (u + i) % 4
    ],
    columns=["user", "item", "rating"],
)


@pytest.fixture(autouse=True)
def usual_catalogue(monkeypatch):
    monkeypatch.delenv("DPMF_CATALOGUE", raising=False)


@pytest.fixture
def printed(capsys):
    """What a command prints on standard output."""

    def run(*arguments):
        capsys.readouterr()
        assert main(arguments) == 0
        return capsys.readouterr().out

    return run


def stable(value):
    """JSON without moments, seconds and versions."""
    if isinstance(value, dict):
        return {
            name: stable(part) for name, part in value.items() if name not in VOLATILE
        }
    if isinstance(value, list):
        return [stable(part) for part in value]
    return value


TUNED = (
    "tune",
    "--dataset",
    "cinema-small",
    "--algorithm",
    "private-bias",
    "--epsilon",
    "2",
)


def test_tune_agrees_with_the_command(printed, tmp_path, monkeypatch):
    grid = ("--grid", "prior_deviation=0.2,0.4", "--draws", "2", "--no-prune")
    said = json.loads(printed(*TUNED, *grid, "--json"))
    text = printed(*TUNED, *grid)
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "other"))  # nothing is stored there
    tuning = dpmf.tune(
        "cinema-small",
        "private-bias",
        epsilon=2,
        grid={"prior_deviation": [0.2, 0.4]},
        draws=2,
    )
    assert stable(json.loads(json.dumps(tuning.to_dict()))) == stable(said)
    assert str(tuning) == text.rstrip("\n")
    best = min(said["trials"], key=lambda trial: trial["score"])
    assert tuning.parameters == {"prior_deviation": best["prior_deviation"]}
    assert tuning.score == best["score"]
    assert tuning.epsilon is None


def test_a_private_selection_costs_what_the_command_says(printed):
    options = (
        "--vary",
        "prior_deviation=0.1:0.8",
        "--trials",
        "3",
        "--private-selection",
    )
    said = json.loads(printed(*TUNED, *options, "geometric", "--json"))
    tuning = dpmf.tune(
        "cinema-small",
        "private-bias",
        epsilon=2,
        vary={"prior_deviation": (0.1, 0.8)},
        trials=3,
        private_selection="geometric",
    )
    assert tuning.epsilon == said["epsilon"] > 2
    assert tuning.to_dict()["rule"] == said["rule"]
    assert tuning.parameters == said["winner"]


def test_every_trial_on_a_private_frame_enters_its_account(tmp_path):
    ledger = tmp_path / "own.ledger"
    facts = {"bounds": (1, 5), "ledger": ledger}
    tuning = dpmf.tune(
        FRAME,
        "private-bias",
        epsilon=1.0,
        delta=1e-3,
        grid={"prior_deviation": [0.2, 0.4]},
        draws=1,
        **facts,
    )
    account = dpmf.account(FRAME, ledger, bounds=(1, 5))
    # trials, and the comparison
    assert sum(line.times for line in account.lines) == 2 + 10
    assert "raw errors" in str(tuning)
    with pytest.raises(BadInput, match="for the screen"):
        tuning.to_dict()
    again = dpmf.tune(  # other ratings under the same name do not continue the search
        FRAME.assign(rating=6 - FRAME["rating"]),
        "private-bias",
        epsilon=1.0,
        delta=1e-3,
        grid={"prior_deviation": [0.2, 0.4]},
        draws=1,
        **facts,
    )
    assert len(again.frame()) == 2
    assert again.score != tuning.score
    with pytest.raises(BadInput, match="an id or a path"):
        dpmf.tune(
            FRAME,
            "private-bias",
            epsilon=1.0,
            vary=["prior_deviation"],
            private_selection="poisson",
            bounds=(1, 5),
        )


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({}, "either a grid"),
        ({"grid": {"damping": [1.0]}, "vary": ["damping"]}, "either a grid"),
        ({"grid": {"damping": "1,2"}}, "list of values"),
        ({"vary": {"damping": (2.0, 1.0)}}, "lower first"),
        ({"vary": {"damping": (1.0, 2.0, "exp")}}, "low, high"),
        ({"vary": ["dampng"]}, "dampng"),
    ],
)
def test_an_empty_search_is_refused(choices, words):
    with pytest.raises(BadInput, match=words):
        dpmf.tune("cinema-small", "bias", **choices)


def test_audit_agrees_with_the_command(printed):
    command = ("audit", "--algorithm", "private-bias", "--epsilon", "3", "--runs", "60")
    audit = dpmf.audit("private-bias", epsilon=3, runs=60)
    assert json.loads(json.dumps(audit.to_dict())) == json.loads(
        printed(*command, "--json")
    )
    assert str(audit) == printed(*command).rstrip("\n")


def test_an_audit_of_private_data_in_memory_says_that_it_is_raw():
    audit = dpmf.audit("private-bias", FRAME, epsilon=3, runs=40, user=4, bounds=(1, 5))
    assert "Do not share it" in str(audit)
    assert "user 4" in audit.canary
    with pytest.raises(BadInput, match="for the screen"):
        audit.to_dict()
    with pytest.raises(BadInput, match="whole user"):
        dpmf.audit("private-bias", FRAME, epsilon=3, unit="rating", bounds=(1, 5))
    with pytest.raises(BadInput, match="given data"):
        dpmf.audit("private-bias", epsilon=3, user=4)


def test_algorithms_agree_with_the_command(printed):
    rows = json.loads(printed("algorithms", "--json"))
    table = dpmf.algorithms()
    assert table.index.tolist() == [row["id"] for row in rows]
    assert table["status"].tolist() == [row["guarantee"]["status"] for row in rows]
    assert [list(names) for names in table["parameters"]] == [
        list(row["parameters"].get("properties", {})) for row in rows
    ]
    assert set(dpmf.algorithms("samples")["task"]) == {"samples"}
    with pytest.raises(BadInput, match="ratings, samples"):
        dpmf.algorithms("films")


def test_check_agrees_with_the_command(printed, tmp_path):
    file = tmp_path / "own.csv"
    FRAME.assign(rating=FRAME["rating"].where(FRAME.index > 3, 9)).to_csv(
        file, index=False
    )
    checked = dpmf.check(file, bounds=(1, 5))
    command = ("check", str(file), "--bounds", "1,5")
    assert json.loads(json.dumps(checked.to_dict())) == json.loads(
        printed(*command, "--json")
    )
    said = printed(*command)
    assert said.startswith(str(checked.report))
    assert "--users N" in said
    assert "users=N" in str(checked)
    assert "missing=9" in str(checked)
    assert [problem.count for problem in checked] == [4]
    of_frame = dpmf.check(FRAME, bounds=(1, 5))
    assert of_frame.report.kept == len(FRAME)
    assert of_frame.assumptions
