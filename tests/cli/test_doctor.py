"""`doctor`, `completion` and `report`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpmf_core.cli import main
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def findings(capsys: pytest.CaptureFixture[str], code: int) -> dict[str, dict[str, str]]:
    assert main(["doctor", "--quick", "--json"]) == code
    return {it["what"]: it for it in json.loads(capsys.readouterr().out)}


def test_a_sound_machine_is_described(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_subject = findings(capsys, 0)
    assert str(folder) in by_subject["data folder"]["found"]
    assert f"{os.cpu_count()} cores" in by_subject["machine"]["found"]
    assert by_subject["stored runs"]["found"] == "0 runs"


def test_speed_is_that_of_a_private_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DPMF_CATALOGUE")
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "a private run on cinema-small takes" in text and text.endswith("Nothing is wrong.\n")


def test_a_scheduler_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPMF_SCHEDULER", "nowhere")
    by_subject = findings(capsys, 1)
    assert (
        by_subject["workers"]["found"] == "not usable"
        and "nowhere" in by_subject["workers"]["advice"]
    )


def test_a_data_folder_that_takes_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "file" / "below"))
    assert "cannot be written" in findings(capsys, 1)["data folder"]["advice"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_DPMF_COMPLETE" in capsys.readouterr().out


def test_commands_and_options_are_completed() -> None:
    """As bash asks for them."""

    def completions(words: str) -> list[str]:
        variables = {"_DPMF_COMPLETE": "bash_complete", "COMP_WORDS": words}
        process = subprocess.run(
            [sys.executable, "-c", "import sys; sys.argv = ['dpmf']; "
             "from dpmf_core.__main__ import start; start()"],
            env={**os.environ, **variables, "COMP_CWORD": str(len(words.split()) - 1)},
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        return [line.partition(",")[2] for line in process.stdout.splitlines()]

    assert completions("dpmf do") == ["doctor"]
    assert completions("dpmf fit --alg") == ["--algorithm"]


def test_a_report_is_one_page_about_stored_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store()
    keys = []
    for seed in (0, 1):
        result = run(RunSpec.parse(data={"id": "small"}, algorithm="global-mean", seed=seed))
        store.put(result)
        keys.append(result.record.key)
    store.close()
    assert main(["report", *keys, "--title", "Two <seeds>"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("<!doctype html>") and "<h1>Two &lt;seeds&gt;</h1>" in page
    assert main(["report", keys[0], "--out", str(tmp_path / "one.html")]) == 0
    assert "What was run" in (tmp_path / "one.html").read_text()
    assert main(["report", *keys * 4]) == 2
