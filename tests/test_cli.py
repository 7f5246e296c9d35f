"""The command line: one JSON value on standard output, sentences on standard error, exit codes that mean something."""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpmf_core import algorithms
from dpmf_core.cli import main
from dpmf_core.store import Store

ROOT = Path(__file__).parents[1]
CATALOGUE = "tests.two_sets"
SMALL = ("fit", "--dataset", "small")
DPALS = (*SMALL, "--algorithm", "dpals", "--param", "rank=3", "--param", "steps=2")
RECORD = {"spec", "metrics", "curves", "epsilon", "delta", "relation", "guarantee", "ledger", "seconds", "peak_mb", "key", "cached"}
RULES = {"exact", "rdp_source", "rdp_tight", "advanced", "naive"}


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value; fails on NaN, Infinity and anything besides it."""
        return json.loads(self.out, parse_constant=pytest.fail)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", CATALOGUE)
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("DPMF_ENGINE", "threads")


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> Said:
        code = main(arguments)
        return Said(code, *capsys.readouterr())

    return run


def spawn(*arguments: str, **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dpmf_core", *arguments]
    with heard():
        return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """A shell starts what runs in its background deaf to Ctrl-C, and children would inherit it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---- fit ----------------------------------------------------------------------------------------------------------------


def test_fit_prints_one_record(say: Any) -> None:
    said = say(*DPALS, "--epsilon", "5", "--delta", "1e-5", "--seed", "4", "--json")
    record = said.json
    assert said.code == 0 and set(record) >= RECORD and set(record["epsilon"]) == RULES
    assert record["spec"]["parameters"] == {"rank": 3, "steps": 2} and record["spec"]["seed"] == 4
    assert record["epsilon"]["exact"] == pytest.approx(5.0)
    assert [point["step"] for point in record["curves"]] == [1, 2]
    assert record["cached"] is False
    assert [row["key"] for row in Store().rows()] == [record["key"]]


def test_the_same_fit_comes_from_the_store(say: Any) -> None:
    first, again = (say(*DPALS, "--epsilon", "5", "--json").json for _ in range(2))
    assert again["cached"] is True
    assert again == {**first, "cached": True}


def test_fit_in_words_says_epsilon_in_full(say: Any) -> None:
    said = say(*DPALS, "--epsilon", "2", "--delta", "1e-6")
    assert said.code == 0
    assert "epsilon = 2.00 (delta = 1e-6, per user, add/remove, exact)" in said.out
    assert "held-out RMSE" in said.out and "item Grams" in said.out and "PROVEN" in said.out
    assert "not valid here" in said.out


def test_the_default_delta_is_told(say: Any) -> None:
    said = say(*DPALS, "--epsilon", "2", "--json")
    assert said.json["delta"] == 4e-4
    assert "delta = 4e-4, which is 1/(10 n), rounded down, for n = 210" in said.err


def test_every_option_reaches_the_specification(say: Any) -> None:
    options = "--epsilon 3 --delta 1e-6 --relation replace-one --calibration source --split users --test-fraction .2 --validation-fraction .1 --fold-in .5"
    filters = "--top-items 30 --min-user-count 2 --min-item-count 3 --most-per-user 9 --positives-above 3.5"
    spec = say(*DPALS, *options.split(), *filters.split(), "--json").json["spec"]
    assert spec["budget"] == {"epsilon": 3.0, "delta": 1e-6, "relation": "replace-one", "calibration": "source"}
    assert spec["split"] == {"kind": "users", "test_fraction": 0.2, "validation_fraction": 0.1, "fold_in": 0.5}
    assert spec["data"] == {"id": "small", "top_items": 30, "min_user_count": 2, "min_item_count": 3, "most_per_user": 9, "positives_above": 3.5}


def test_what_is_not_private_has_no_epsilon(say: Any) -> None:
    record = say(*SMALL, "--algorithm", "als", "--param", "steps=1", "--json").json
    assert set(record["epsilon"].values()) == {None} and record["delta"] is None and record["ledger"] == []
    assert "epsilon: none" in say(*SMALL, "--algorithm", "als", "--param", "steps=1").out


# ---- bad input ------------------------------------------------------------------------------------------------------------

BUDGET = ("--epsilon", "1")
BAD: dict[str, tuple[Sequence[str], str]] = {
    **{f"epsilon {e}": ((*DPALS, "--epsilon", e), f"[0.0001, 1000]. Got {float(e)}") for e in ("0", "-1", "NaN", "1e9")},
    **{f"delta {d}": ((*DPALS, *BUDGET, "--delta", d), f"[1e-15, 0.5). Got {float(d)}") for d in ("0", "1", "nan")},
    "epsilon in words": ((*DPALS, "--epsilon", "much"), "'much' is not a valid float"),
    "delta alone": ((*DPALS, "--delta", "1e-5"), "add --epsilon"),
    "no budget": (DPALS, "needs a budget"),
    "rank above the items": ((*DPALS, *BUDGET, "--param", "rank=41"), "at most the number of items, 40. Got 41"),
    "rank 0": ((*DPALS, *BUDGET, "--param", "rank=0"), "[1, 512]"),
    "unknown parameter": ((*DPALS, *BUDGET, "--param", "rnak=4"), "no parameter 'rnak' of DPALS. Did you mean 'rank'?"),
    "parameter without a value": ((*DPALS, *BUDGET, "--param", "rank"), "NAME=VALUE"),
    "unknown algorithm": ((*SMALL, "--algorithm", "dplas"), "Did you mean 'dpals'?"),
    "unknown data": (("fit", "--dataset", "smal", "--algorithm", "als"), "no data set 'smal'"),
    "unknown command": (("fti",), "Did you mean 'fit'?"),
    "unknown option": ((*DPALS, "--epsilom", "1"), "--epsilon"),
    "unknown split": ((*DPALS, *BUDGET, "--split", "tme"), "one of random, per-user, time, users"),
    "no times": ((*DPALS, *BUDGET, "--split", "time"), "no times"),
    "fractions": ((*DPALS, *BUDGET, "--test-fraction", ".6", "--validation-fraction", ".6"), "below 1"),
    "negative seed": ((*DPALS, *BUDGET, "--seed", "-1"), "'seed'"),
    "nothing left": ((*DPALS, *BUDGET, "--min-user-count", "999"), "after the filters"),
    "sweep of an unknown": (("sweep", "--dataset", "small", "--algorithms", "als,dplas"), "Did you mean 'dpals'?"),
    "sweep of bad epsilons": (("sweep", "--dataset", "small", "--algorithms", "dpals", "--epsilons", "1,0"), "Got 0.0"),
    "sweep of no numbers": (("sweep", "--dataset", "small", "--algorithms", "dpals", "--epsilons", "1,two"), "--epsilons takes numbers"),
    "sweep of bad seeds": (("sweep", "--dataset", "small", "--algorithms", "als", "--seeds", "4-x"), "--seeds takes whole numbers"),
    "sweep of too high a rank": (("sweep", "--dataset", "small", "--algorithms", "als", "--grid", "rank=2,41"), "Got 41"),
    "sweep of an unknown parameter": (("sweep", "--dataset", "small", "--algorithms", "als,bias", "--grid", "rnak=2,4"), "Did you mean 'rank'?"),
    "sweep into nowhere": (("sweep", "--dataset", "small", "--algorithms", "als", "--out", "no/where.csv"), "there is no folder"),
    "release of nothing": (("account", "--delta", "1e-5"), "--release"),
    "release without delta": (("account", "--release", "gaussian:1:1"), "add --delta"),
    "release without noise": (("account", "--release", "gaussian:0:1", "--delta", "1e-5"), "Got 'gaussian:0:1'"),
    "release of NaN": (("account", "--release", "gaussian:nan:1", "--delta", "1e-5"), "Got 'gaussian:nan:1'"),
    "release of a kind unknown": (("account", "--release", "cauchy:1:1", "--delta", "1e-5"), "gaussian, laplace"),
    "Laplace beyond reach": (("account", "--release", "laplace:0.001:9", "--delta", "1e-5"), "composed numerically"),
    "noise for delta 1": (("account", "--epsilon", "1", "--delta", "1"), "[1e-15, 0.5)"),
    "plan without a shape": (("account", "--algorithm", "dpals", "--epsilon", "1"), "--n-users"),
    "plan with bounds reversed": (("account", "--algorithm", "dpals", "--epsilon", "1", "--n-users", "9", "--n-items", "9", "--bounds", "5,1"), "--bounds"),
    "no such run": (("runs", "show", "abc"), "No stored run begins"),
    "export of what": (("runs", "export", "abc"), "--script or --json"),
    "delete of nothing": (("runs", "delete", ""), "No stored run begins"),
    "fetch of an unknown": (("fetch", "ml-1n"), "Did you mean 'ml-1m'?"),
    "import of nothing": (("import", "ml-1m", "/no/where"), "no file or folder where"),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_a_sentence_and_exit_code_2(say: Any, arguments: Sequence[str], words: str) -> None:
    said = say(*arguments)
    assert said.code == 2
    assert words in said.err
    assert said.out == "" and "Traceback" not in said.err
    assert not (Path(os.environ["DPMF_DATA"]) / "runs").exists() or Store().rows() == []


def test_a_store_that_cannot_be_is_bad_input(say: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "file"))
    said = say("runs")
    assert said.code == 2 and "DPMF_DATA" in said.err


def test_what_should_not_happen_is_exit_code_1(say: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise ZeroDivisionError("seventh")

    monkeypatch.setattr("dpmf_core.cli.runs.experiment.open_data", fails)
    said = say(*DPALS, *BUDGET)
    assert said.code == 1 and "seventh" in said.err and "Traceback" not in said.err


# ---- sweep ----------------------------------------------------------------------------------------------------------------

SWEEP = ("sweep", "--dataset", "small", "--algorithms", "dpals,private-bias,global-mean", "--epsilons", "1,5", "--delta", "1e-5", "--seeds", "0-1")


def test_a_sweep_holds_every_run_once_and_resumes(say: Any, tmp_path: Path) -> None:
    said = say(*SWEEP, "--param", "rank=3", "--out", str(tmp_path / "runs.csv"), "--json")
    assert said.code == 0
    found = sorted((r["spec"]["algorithm"], (r["spec"]["budget"] or {}).get("epsilon") or 0, r["spec"]["seed"]) for r in said.json)
    private = [(name, epsilon, seed) for name in ("dpals", "private-bias") for epsilon in (1.0, 5.0) for seed in (0, 1)]
    assert found == sorted([*private, ("global-mean", 0, 0), ("global-mean", 0, 1)])
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["key"] for row in rows] == [record["key"] for record in said.json]
    assert {row["param.rank"] for row in rows} == {"3", ""}

    gone = said.json[0]["key"]
    assert say("runs", "delete", gone).code == 0
    again = say(*SWEEP, "--param", "rank=3", "--json").json
    assert [record["key"] for record in again if not record["cached"]] == [gone]


def test_a_sweep_in_words_is_a_table_of_medians(say: Any) -> None:
    lines = say(*SWEEP).out.splitlines()
    assert lines[0].split()[:4] == ["algorithm", "parameters", "epsilon", "seeds"]
    assert [line.split()[0] for line in lines[2:7]] == ["dpals", "dpals", "private-bias", "private-bias", "global-mean"]
    assert all(line.split()[3] == "2" for line in lines[2:7])


def test_a_grid_varies_only_what_an_algorithm_has(say: Any) -> None:
    records = say("sweep", "--dataset", "small", "--algorithms", "als,bias", "--grid", "rank=2,3", "--grid", "damping=1,9", "--param", "steps=1", "--json").json
    settings = [(record["spec"]["algorithm"], record["spec"]["parameters"]) for record in records]
    als = [("als", {"rank": rank, "steps": 1}) for rank in (2, 3)]
    assert settings == [*als, ("bias", {"damping": 1.0}), ("bias", {"damping": 9.0})]


# ---- account ----------------------------------------------------------------------------------------------------------------


def test_a_composition_costs_what_the_contract_says(say: Any) -> None:
    record = say("account", "--release", "gaussian:7.4612:4", "--delta", "1e-5", "--json").json  # mu = 2 / 7.4612 = 1 / 3.7306
    assert record["epsilon"]["exact"] == pytest.approx(1.0, abs=1e-4)
    assert set(record["epsilon"]) == RULES
    record = say("account", "--release", "gaussian:3.7306:1", "--release", "laplace:10:2", "--delta", "1e-5", "--json").json
    assert record["epsilon"]["exact"] > 1.01 and record["epsilon"]["advanced"] is None


def test_noise_is_found_for_a_budget(say: Any) -> None:
    record = say("account", "--epsilon", "1", "--delta", "1e-5", "--count", "4", "--json").json
    assert record["noise_multiplier"] == pytest.approx(2 * 3.7306, abs=2e-4)
    twice = say("account", "--epsilon", "1", "--delta", "1e-5", "--release", "gaussian:1:4", "--relation", "replace-one", "--json").json
    assert twice["noise_multiplier"] == pytest.approx(2 * record["noise_multiplier"])


def test_a_group_has_its_own_epsilon(say: Any) -> None:
    asked = ("account", "--release", "gaussian:3.7306:1", "--delta", "1e-5", "--group-size", "64")
    record = say(*asked, "--json").json
    assert record["epsilon"]["exact"] == pytest.approx(1, rel=1e-4) and record["group"]["epsilon"] == pytest.approx(219, abs=0.5)
    assert "a group of 64 users: epsilon = 219.4" in say(*asked).out
    assert say(*asked, "--relation", "replace-one", "--json").json["group"]["epsilon"] > 400
    assert "group" not in say(*asked[:-2], "--json").json
    assert "group" not in say("account", "--algorithm", "sketch", "--n-users", "9", "--n-items", "9", "--group-size", "3", "--json").json


def test_a_plan_is_accounted_without_data(say: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "no.such.module")
    shape = ("--n-users", "6040", "--n-items", "400", "--bounds", "1,5")
    record = say("account", "--algorithm", "dpals", "--param", "rank=8", "--epsilon", "2", *shape, "--json").json
    assert record["epsilon"]["exact"] == pytest.approx(2.0) and record["delta"] == 1e-5
    assert {"item Grams", "item right-hand sides"} <= {row["statistic"] for row in record["ledger"]}


# ---- what there is ------------------------------------------------------------------------------------------------------------


def test_lists_are_lists(say: Any) -> None:
    kinds = say("algorithms", "--json").json
    assert [kind["id"] for kind in kinds] == list(algorithms.REGISTRY)
    dpals = next(kind for kind in kinds if kind["id"] == "dpals")
    assert dpals["guarantee"]["status"] == "PROVEN" and dpals["unit"] == "user"
    assert dpals["parameters"]["properties"]["rank"]["minimum"] == 1
    sets = {row["id"]: row for row in say("datasets", "--json").json}
    assert sets["cinema"]["present"] is True and sets["ml-1m"]["present"] is False and sets["ml-1m"]["licence"]
    assert say("runs", "--json").json == []
    for command in ("algorithms", "datasets", "runs"):
        assert say(command).code == 0


def test_a_run_is_shown_exported_and_deleted(say: Any) -> None:
    record = say(*DPALS, *BUDGET, "--json").json
    start = record["key"][:6]
    assert say("runs", "--json").json[0]["key"] == record["key"]
    assert say("runs", "show", start, "--json").json == {**record, "cached": True}
    assert say("runs", "export", start, "--json").json == {**record, "cached": True}
    assert say("runs", "delete", start, "--json").json == {"deleted": record["key"]}
    assert say("runs", "--json").json == []


def test_an_exported_script_gives_the_same_figures(say: Any, tmp_path: Path) -> None:
    record = say(*DPALS, *BUDGET, "--json").json
    script = tmp_path / "again.py"
    script.write_text(say("runs", "export", record["key"], "--script").out)
    out = subprocess.run([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0] == str(record["metrics"])


def test_an_export_of_private_data_holds_nothing_raw(say: Any) -> None:
    record = say("fit", "--dataset", "own", "--algorithm", "private-bias", *BUDGET, "--json").json
    assert record["public"] is False and "metrics" in record
    exported = say("runs", "export", record["key"], "--json").json
    assert not {"metrics", "buckets", "curves", "seconds", "peak_mb", "key"} & set(exported)
    assert exported["ledger"] == record["ledger"]


# ---- as a process ---------------------------------------------------------------------------------------------------------------


def test_json_is_alone_on_standard_output_and_bad_input_exits_with_2() -> None:
    good = spawn(*DPALS, *BUDGET, "--json")
    bad = spawn(*DPALS, "--epsilon", "NaN", "--json")
    out, _ = good.communicate(timeout=60)
    assert good.returncode == 0 and json.loads(out)["metrics"]["rmse"] > 0
    out, err = bad.communicate(timeout=60)
    assert bad.returncode == 2 and out == "" and "Got nan" in err and "Traceback" not in err


def interrupted(child: subprocess.Popen[str], ready: Any) -> str:
    """What a command says when Ctrl-C comes once `ready()`."""
    end = time.monotonic() + 60
    try:
        while not ready():
            assert child.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
    finally:
        child.kill()
    assert child.returncode == 130, err
    assert out == "" and "Traceback" not in err
    return err


def test_ctrl_c_leaves_nothing_of_a_fit(tmp_path: Path) -> None:
    child = spawn("fit", "--dataset", "medium", "--algorithm", "als", "--param", "rank=128", "--param", "steps=200", "--json")
    runs = tmp_path / "home" / "runs" / "index.sqlite"
    began = time.monotonic()
    assert "nothing half-written" in interrupted(child, lambda: runs.exists() and time.monotonic() - began > 2.0)
    assert Store().rows() == [] and Store().check() == []
    assert list((tmp_path / "home" / "runs" / "artefacts").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("where", ["threads", "processes"])
def test_ctrl_c_keeps_what_a_sweep_has_finished(tmp_path: Path, where: str) -> None:
    arguments = ("sweep", "--dataset", "medium", "--algorithms", "als", "--param", "rank=32", "--param", "steps=30", "--seeds", "0-99", "--out")
    child = spawn(*arguments, str(tmp_path / "all.csv"), "--json", DPMF_ENGINE=where)
    store = tmp_path / "home" / "runs" / "index.sqlite"
    err = interrupted(child, lambda: store.exists() and len(Store().rows()) >= 2)
    assert "finished and kept" in err
    assert not (tmp_path / "all.csv").exists()
    assert Store().check() == [] and 2 <= len(Store().rows()) < 100
