"""`doctor`, and what a shell completes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpmf_core.cli import main


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
