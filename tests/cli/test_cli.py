"""The command line: JSON on standard output, sentences on standard error, exit codes."""

import csv
import json

import pytest
from dp_accounting.dp_event import (
    GaussianDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import PLDAccountant
from numpy.testing import assert_array_equal

from dpmf import load_model
from dpmf_core.runs.store import Store

SMALL = ("fit", "--dataset", "small")


DPALS = (*SMALL, "--algorithm", "dpals", "--param", "rank=3", "--param", "steps=2")


RECORD = {
    "spec", "metrics", "curves", "epsilon", "delta", "relation", "guarantee", "ledger",
    "seconds", "peak_mb", "key", "cached",
}  # fmt: skip


RULES = {"exact", "rdp_source", "rdp_tight", "advanced", "naive"}


def test_fit_prints_one_record(say):
    output = say(*DPALS, "--epsilon", "5", "--delta", "1e-5", "--seed", "4", "--json")
    record = output.json
    assert output.code == 0
    assert set(record) >= RECORD
    assert set(record["epsilon"]) == RULES
    assert record["spec"]["parameters"] == {"rank": 3, "steps": 2}
    assert record["spec"]["seed"] == 4
    assert record["epsilon"]["exact"] == pytest.approx(5.0)
    assert [point["step"] for point in record["curves"]] == [1, 2]
    assert record["cached"] is False
    keys = [row["key"] for row in Store().rows()]
    assert keys == [record["key"]]


OPTIONS = {
    "budget": {
        "epsilon": 3.0, "delta": 1e-6, "relation": "replace-one", "calibration": "source",
    },
    "split": {
        "kind": "users", "test_fraction": 0.2, "validation_fraction": 0.1, "fold_in": 0.5,
    },
    "data": {
        "id": "small", "top_items": 30, "min_user_count": 2, "min_item_count": 3,
        "most_per_user": 9, "positives_above": 3.5,
    },
}  # fmt: skip


def test_fit_measures_what_the_model_brought(say):
    output = say(*DPALS, "--epsilon", "5", "--measure", "0.1")
    assert output.code == 0
    assert "Fall of the error, a person: " in output.out
    assert "the figure is exact" in output.out
    record = say(*DPALS, "--epsilon", "5", "--measure", "0.1", "--json").json
    assert record["fall"]["low"] == record["fall"]["value"]
    refused = say(*DPALS, "--epsilon", "5", "--measure", "0")
    assert refused.code == 2
    assert "The epsilon of a measurement" in refused.err


def test_every_option_reaches_the_specification(say):
    options = {
        name: value
        for part in OPTIONS.values()
        for name, value in part.items()
        if name != "id"
    }
    options["split"] = options.pop("kind")
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    words += ["--param=biases=false", "--param=gram_share=0.5"]
    spec = say(*DPALS, *words, "--json").json["spec"]
    assert {part: spec[part] for part in OPTIONS} == OPTIONS
    assert spec["parameters"] == {
        "rank": 3,
        "steps": 2,
        "biases": False,
        "gram_share": 0.5,
    }


SWEEP = (
    "sweep", "--dataset", "small", "--algorithms", "dpals,private-bias,global-mean",
    "--epsilons", "1,5", "--delta", "1e-5", "--seeds", "0-1",
)  # fmt: skip


def test_a_sweep_holds_every_run_once_and_resumes(say, tmp_path):
    output = say(
        *SWEEP, "--param", "rank=3", "--out", str(tmp_path / "runs.csv"), "--json"
    )
    assert output.code == 0
    specs = sorted(
        (
            r["spec"]["algorithm"],
            (r["spec"]["budget"] or {}).get("epsilon") or 0,
            r["spec"]["seed"],
        )
        for r in output.json
    )
    private = []
    for name in ("dpals", "private-bias"):
        for epsilon in (1.0, 5.0):
            for seed in (0, 1):
                private.append((name, epsilon, seed))
    assert specs == sorted([*private, ("global-mean", 0, 0), ("global-mean", 0, 1)])
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    keys = [row["key"] for row in rows]
    assert keys == [record["key"] for record in output.json]
    assert {row["param.rank"] for row in rows} == {"3", ""}

    gone = output.json[0]["key"]
    assert say("runs", "delete", gone).code == 0
    again = say(*SWEEP, "--param", "rank=3", "--json").json
    assert [record["key"] for record in again if not record["cached"]] == [gone]


def accounted(say, words):
    return say("account", *words.split(), "--json").json


def test_a_composition_costs_what_the_contract_says(say):
    # mu = 2 / 7.4612 = 1 / 3.7306
    epsilon = accounted(say, "--release gaussian:7.4612:4 --delta 1e-5")["epsilon"]
    assert epsilon["exact"] == pytest.approx(1.0, abs=1e-4)
    assert set(epsilon) == RULES
    both = "--release gaussian:3.7306:1 --release laplace:10:2 --delta 1e-5"
    epsilon = accounted(say, both)["epsilon"]
    assert epsilon["exact"] > 1.01
    assert epsilon["advanced"] is None


def test_noise_is_found_for_a_budget(say):
    budget = "--epsilon 1 --delta 1e-5"
    once = accounted(say, f"{budget} --release gaussian:1:4")["noise_multiplier"]
    assert once == pytest.approx(2 * 3.7306, abs=2e-4)
    twice = accounted(say, f"{budget} --release gaussian:1:4 --relation replace-one")
    assert twice["noise_multiplier"] == pytest.approx(2 * once)


def test_a_plan_on_a_declared_shape_costs_its_budget(say):
    shape = "--n-users 900 --n-items 9 --bounds 1,5"
    record = accounted(
        say, f"--algorithm private-bias --epsilon 2 --delta 1e-5 {shape}"
    )
    assert record["epsilon"]["exact"] == pytest.approx(2.0, rel=1e-6)


def test_a_group_has_its_own_epsilon(say):
    release = "--release gaussian:3.7306:1 --delta 1e-5"
    record = accounted(say, f"{release} --group-size 64")
    assert record["epsilon"]["exact"] == pytest.approx(1, rel=1e-4)
    assert record["group"]["epsilon"] == pytest.approx(219, abs=0.5)
    replaced = accounted(say, f"{release} --group-size 64 --relation replace-one")
    assert replaced["group"]["epsilon"] > 400
    assert "group" not in accounted(say, release)


def test_fit_saves_a_model_that_can_be_published(say, tmp_path):
    about = ("--about", "name=Our films", "--about", "intended_use=to choose a film")
    output = say(
        *DPALS, "--epsilon", "5", "--save", str(tmp_path / "model"), *about, "--json"
    )
    assert output.code == 0
    assert output.json["spec"]["algorithm"] == "dpals"
    card = (tmp_path / "model" / "MODEL_CARD.md").read_text("utf-8")
    assert card.startswith("# Our films\n")
    model = load_model(tmp_path / "model")
    assert model.epsilon == pytest.approx(5.0)
    again = say(*DPALS, "--epsilon", "5", "--save", str(tmp_path / "again"))
    assert again.code == 0  # from the store, with the same model
    stored_model = load_model(tmp_path / "again")
    for name, array in model.arrays.items():
        assert_array_equal(array, stored_model.arrays[name])


def test_what_one_command_writes_another_accounts(say, tmp_path):
    run = say(*DPALS, "--epsilon", "5", "--delta", "1e-5", "--json")
    (tmp_path / "run.json").write_text(run.out)
    command = (
        "account",
        "--from",
        str(tmp_path / "run.json"),
        "--delta",
        "1e-5",
        "--json",
    )
    account = say(*command).json
    assert account["epsilon"]["exact"] == pytest.approx(5.0)
    assert account["ledger"] == run.json["ledger"]
    event = {"dp_event": account["dp_event"]}
    (tmp_path / "event.json").write_text(json.dumps(event))
    again = say(
        "account", "--from", str(tmp_path / "event.json"), "--delta", "1e-5", "--json"
    ).json
    assert again["epsilon"]["exact"] == pytest.approx(5.0)


def test_another_tools_event_is_accounted(say, tmp_path):
    """500 steps of DP-SGD, as Opacus and TensorFlow Privacy sample them."""
    step = {"kind": "GaussianDpEvent", "noise_multiplier": 1.1}
    sample = {
        "kind": "PoissonSampledDpEvent",
        "sampling_probability": 0.01,
        "event": step,
    }
    steps = {"kind": "SelfComposedDpEvent", "event": sample, "count": 500}
    file = tmp_path / "opacus.json"
    file.write_text(json.dumps({"dp_event": steps}))
    command = ("account", "--from", str(file), "--delta", "1e-5")
    event = SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1)), 500)
    expected = PLDAccountant().compose(event).get_epsilon(1e-5)
    assert say(*command, "--json").json["epsilon"] == pytest.approx(expected)
    assert say("account", "--from", str(file)).code == 2  # no delta
    assert say(*command, "--group-size", "3").code == 2
    file.write_text("[]")
    output = say(*command)
    assert output.code == 2
