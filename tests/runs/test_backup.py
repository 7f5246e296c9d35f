"""Backing up and restoring: nothing is lost, nothing is replaced, and no account of private
data becomes smaller.
"""

import json
import sqlite3
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from dpmf_core.cli import program
from dpmf_core.errors import BadInput
from dpmf_core.privacy import account_files
from dpmf_core.privacy.accounts import Account
from dpmf_core.runs.backup import back_up, restore
from dpmf_core.runs.store import Store
from tests.privacy.test_accounts import CHARGE, PLAN
from tests.runs.test_store import artefacts, lose_index, small_run, tamper


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def account(data: Path, key: str = "private") -> Account:
    return Account(data / account_files.FILE, key)


def charge(data: Path, key: str = "private") -> None:
    with account(data, key).reserve(CHARGE) as paid:
        paid.noise(PLAN).vector("a", np.zeros(3), sensitivity=1.0)


def fill(data: Path) -> None:
    store = Store()
    store.put(small_run("a", fill=1.0), owner="of a")
    store.put(small_run("b", fill=2.0))
    store.annotate("b", "look", "mine")
    store.close()
    (data / "lessons").mkdir()
    (data / "lessons" / "abc.json").write_text("{}")
    charge(data)
    account(data).set_budget(50, delta=1e-5)


def command(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(program, ["runs", *words])
    return result.exit_code, result.output


def test_a_backup_brings_everything_back_to_an_empty_folder(data: Path, tmp_path: Path) -> None:
    fill(data)
    rows, total = Store().rows(), account(data).total
    backup = back_up(tmp_path / "whole.zip")
    assert (backup.runs, backup.files, backup.accounts, backup.problems) == (2, 1, 1, ())
    assert stat.S_IMODE((tmp_path / "whole.zip").stat().st_mode) == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"data", "whole.zip"}
    data.rename(tmp_path / "old")
    report = restore(tmp_path / "whole.zip")
    assert (report.runs, report.known, report.files) == (2, 0, 1)
    assert Store().rows() == rows and Store().check() == []
    assert account(data).total == total and account(data).budget is not None
    assert (data / "lessons" / "abc.json").read_text() == "{}"
    again = restore(tmp_path / "whole.zip")
    assert (again.runs, again.known, again.files, again.sentences) == (0, 2, 0, ())


def test_restoring_an_older_backup_forgets_nothing_that_was_spent(
    data: Path, tmp_path: Path
) -> None:
    fill(data)
    back_up(tmp_path / "old.zip")
    charge(data)
    charge(data, "another")
    total = account(data).total
    account(data).set_budget(40, delta=1e-5)
    report = restore(tmp_path / "old.zip")
    assert (
        account(data).total == total
        and len(account(data).entries) == 2
        and len(account(data, "another").entries) == 1
    )
    budget = account(data).budget
    assert budget is not None and budget.epsilon == 40
    (sentence,) = report.sentences
    assert sentence.startswith("2 charges") and "stays drawn" in sentence


def test_an_account_that_was_lost_and_begun_again_is_the_sum_of_both(
    data: Path, tmp_path: Path
) -> None:
    fill(data)
    back_up(tmp_path / "old.zip")
    (data / account_files.FILE).unlink()
    charge(data)  # has the number that the lost one had
    restore(tmp_path / "old.zip")
    assert len(account(data).entries) == 2 and account(data).budget is not None


def test_entries_of_an_older_layout_are_named_once(data: Path, tmp_path: Path) -> None:
    charge(data)
    charge(data)
    with sqlite3.connect(data / account_files.FILE) as db:
        db.execute("ALTER TABLE entries DROP COLUMN uid")
        db.execute("PRAGMA user_version = 1")
    db.close()
    back_up(tmp_path / "old.zip")
    restore(tmp_path / "old.zip")
    assert len(account(data).entries) == 2


def test_a_run_that_is_here_stays_as_it_is_and_a_damaged_one_is_replaced(
    data: Path, tmp_path: Path
) -> None:
    fill(data)
    back_up(tmp_path / "old.zip")
    store = Store()
    store.annotate("b", "newer", "")
    for path in artefacts(store):
        if b"newer" not in path.read_bytes():
            tamper(path)
    assert len(store.check()) == 1
    report = restore(tmp_path / "old.zip")
    assert (report.runs, report.known) == (1, 1) and store.check() == []
    assert {row["key"]: row["note"] for row in store.rows()} == {"a": "", "b": "newer"}


def test_a_damaged_run_is_left_out_and_named(data: Path, tmp_path: Path) -> None:
    fill(data)
    tamper(artefacts(Store())[0])
    code, output = command("backup", str(tmp_path / "part.zip"))
    assert code == 0 and "Not in the backup: The stored run" in output and "1 run," in output


def entries(change: Callable[[dict[str, bytes]], Any]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        with zipfile.ZipFile(path) as whole:
            members = {name: whole.read(name) for name in whole.namelist()}
        change(members)
        with zipfile.ZipFile(path, "w") as whole:
            for name, content in members.items():
                whole.writestr(name, content)

    return harm


def a_run(content: dict[str, bytes]) -> str:
    return next(name for name in content if name.startswith("runs/"))


NO_CHARGE = json.dumps([{"key": "k", "lasting": 1, "budget": None, "entries": [{}]}])
HARM: dict[str, Callable[[Path], Any]] = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-200]),
    "one bit": tamper,
    "no zip": lambda path: path.write_bytes(b"a text"),
    "another zip": entries(lambda members: members.clear()),
    "a newer layout": entries(lambda members: members.update({"backup.json": b'{"layout": 9}'})),
    "a run is missing": entries(lambda members: members.pop(a_run(members))),
    "a run is changed": entries(lambda members: members.update({a_run(members): b"other bytes"})),
    "a path that leads out": entries(lambda members: members.update({"lessons/../../out": b"x"})),
    "accounts of another kind": entries(
        lambda members: members.update({"accounts.json": b'[{"key": 3}]'})
    ),
    "accounts without a charge": entries(
        lambda members: members.update({"accounts.json": NO_CHARGE.encode()})
    ),
}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_what_is_no_whole_backup_is_refused_before_anything_changes(
    data: Path, tmp_path: Path, harm: Callable[[Path], Any]
) -> None:
    fill(data)
    back_up(tmp_path / "old.zip")
    harm(tmp_path / "old.zip")
    data.rename(tmp_path / "old")
    with pytest.raises(BadInput, match=r"is no whole backup .* nothing was changed"):
        restore(tmp_path / "old.zip")
    assert not data.exists()


def test_a_backup_replaces_no_file_and_leaves_none_half_written(data: Path, tmp_path: Path) -> None:
    fill(data)
    (tmp_path / "there").write_text("mine")
    with pytest.raises(BadInput, match="never replaces"):
        back_up(tmp_path / "there")
    with pytest.raises(BadInput, match="no folder"):
        back_up(tmp_path / "nowhere" / "new.zip")
    assert (tmp_path / "there").read_text() == "mine"


# ---- commands ------------------------------------------------------------------------------------


def test_check_and_repair_say_what_is_wrong_and_what_was_done(data: Path) -> None:
    assert command("check") == (0, f"0 runs in {data / 'runs'}.\nThe store is whole.\n")
    fill(data)
    tamper(artefacts(Store())[0])
    code, output = command("check")
    assert (
        code == 1
        and "2 runs" in output
        and "not those that were written" in output
        and "1 problem; `runs repair`" in output
    )
    code, output = command("check", "--json")
    assert (
        code == 1 and json.loads(output)["runs"] == 2 and len(json.loads(output)["problems"]) == 1
    )
    code, output = command("repair")
    assert code == 0 and "no longer in the store" in output and "1 run in" in output
    assert command("repair") == (0, f"There was nothing to repair.\n1 run in {data / 'runs'}.\n")
    code, output = command("check")
    assert code == 0 and "1 file that could not be read" in output


def test_a_list_of_runs_survives_an_index_of_no_bytes(data: Path) -> None:
    fill(data)
    lose_index(data / "runs", b"")
    code, output = command()
    assert code == 0 and "No run is stored" not in output and output.count("small") == 2
    assert len(artefacts(Store())) == 2


def test_backup_and_restore_say_what_they_did(data: Path, tmp_path: Path) -> None:
    fill(data)
    code, output = command("backup", str(tmp_path / "b.zip"))
    assert code == 0 and "2 runs, 1 other file and 1 account of private data" in output
    code, output = command("restore", str(tmp_path / "b.zip"), "--json")
    assert code == 0 and json.loads(output) == {"runs": 0, "known": 2, "files": 0, "sentences": []}
    assert command("restore", str(tmp_path / "none.zip"))[0] == 2
