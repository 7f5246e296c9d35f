"""The operator's socket: for the server's own account alone, and whatever is asked is answered."""

import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.administration import control_socket
from dpmf_core.cli import main
from dpmf_core.errors import BadInput

NOBODY = 65534


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def answer(question: dict[str, Any]) -> dict[str, Any]:
    if question["do"] == "refuse":
        raise BadInput("This is not done.")
    return {"heard": question}


def test_a_question_is_answered_by_every_server() -> None:
    with control_socket.door(answer), control_socket.door(lambda question: {"second": True}):
        answers = control_socket.ask({"do": "x"})
    assert {"heard": {"do": "x"}} in answers and {"second": True} in answers and len(answers) == 2


def test_nobody_else_can_enter_the_folder(home: Path) -> None:
    with control_socket.door(answer) as path:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        path.parent.chmod(0o755)
    with control_socket.door(answer):
        assert stat.S_IMODE(control_socket.folder().stat().st_mode) == 0o700


ENTER = f"""
import os, socket, sys
os.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY})
with socket.socket(socket.AF_UNIX) as door:
    door.settimeout(20)
    door.connect(sys.argv[1])
    door.sendall(b"{{}}\\n")
    print(door.recv(100))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another account's id")
@pytest.mark.parametrize("is_open", [False, True])
def test_another_account_is_not_answered(is_open: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither through the folder, nor where that has been opened by mistake."""
    questions: list[dict[str, Any]] = []

    def note(question: dict[str, Any]) -> dict[str, Any]:
        questions.append(question)
        return {}

    with tempfile.TemporaryDirectory(dir="/tmp") as home:
        Path(home).chmod(0o755)
        monkeypatch.setenv("DPMF_DATA", home)
        with control_socket.door(note) as path:
            if is_open:
                path.parent.chmod(0o777)
                path.chmod(0o777)
            process = subprocess.run(
                [sys.executable, "-c", ENTER, str(path)],
                capture_output=True,
                text=True,
                check=False,
            )
    assert not questions
    assert process.stdout.strip() in ("", "b''")
    assert ("PermissionError" in process.stderr) is not is_open, process.stderr


def test_a_socket_of_a_server_that_was_killed_goes(home: Path) -> None:
    (home / "operator").mkdir(parents=True)
    stale = home / "operator" / "left"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(stale))
    with pytest.raises(BadInput, match="No server runs on the data folder"):
        control_socket.ask({"do": "x"})
    assert not stale.exists()


def test_a_long_path_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / ("x" * 120)))
    with control_socket.door(answer):
        assert control_socket.ask({"do": "x"}) == [{"heard": {"do": "x"}}]


@pytest.mark.parametrize(
    "line", [b"nonsense\n", b"[]\n", b"{}\n", b'{"do": 1', b"\xff\n", b"9" * 70_000 + b"\n"]
)
def test_what_cannot_be_read_is_a_sentence(line: bytes) -> None:
    with control_socket.door(answer) as path, socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(10)
        asking.connect(str(path))
        asking.sendall(line)
        asking.shutdown(socket.SHUT_WR)
        got = asking.makefile("rb").readline()
    assert "cannot be read" in json.loads(got)["error"]


def test_the_command_says_that_there_is_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["admin"]) == 2
    assert "No server runs on the data folder" in capsys.readouterr().err


def test_the_command_passes_on_what_a_server_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    with control_socket.door(lambda question: {"error": "No run in the queue begins with 'x'."}):
        assert main(["admin", "stop", "x"]) == 2
    assert "No run in the queue" in capsys.readouterr().err
