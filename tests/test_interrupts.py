"""Ctrl-C at any moment is exit code 130; unusable outputs and folders are a sentence."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dpmf_core.base.interrupts import SENTENCE
from tests.cli.test_processes import default_interrupts
from tests.support.engines import CATALOGUE, WAIT

ROOT = Path(__file__).parents[1]
FIT = [
    "fit",
    "--dataset",
    "small",
    "--algorithm",
    "dpals",
    "--param",
    "rank=3",
    "--epsilon",
    "5",
]
COMMAND = ["-m", "dpmf", *FIT]
FIRST = "dpmf_core.base.interrupts"  # what a program of ours imports first


def start(arguments, data, **variables):
    """A program that tells of each import on standard error."""
    env = {
        **os.environ,
        "DPMF_DATA": str(data),
        "DPMF_CATALOGUE": CATALOGUE,
        **variables,
    }
    with default_interrupts():
        command = [sys.executable, "-X", "importtime", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdout=pipe,
            stderr=pipe,
            text=True,
            start_new_session=True,
        )


def interrupted_after(imports, arguments, data):
    """Exit code and messages of a program that gets Ctrl-C after so many imports."""
    child = start(arguments, data)
    try:
        count = -1
        for line in child.stderr:
            if count >= 0 or FIRST in line:
                count += line.startswith("import time:")
            if count >= imports:
                break
        assert count >= imports, f"there were {count} imports only"
        os.killpg(child.pid, signal.SIGINT)
        _, rest = child.communicate(timeout=WAIT)
    finally:
        child.kill()
        child.wait()
    return child.returncode, [
        line
        for line in rest.splitlines()
        # a report that the Ctrl-C cut in two ends with an indented name
        if line.strip()
        and "import time:" not in line
        and not re.fullmatch(r"\s+[\w.]+", line)
    ]


ALL_ALONG = [
    pytest.param(delay, marks=pytest.mark.slow) for delay in range(100, 1060, 100)
]


@pytest.mark.parametrize("imports", [1, 650, *ALL_ALONG])
def test_ctrl_c_while_a_command_loads(imports, tmp_path):
    assert interrupted_after(imports, COMMAND, tmp_path) == (130, [SENTENCE])


SWALLOWED = """
import os, signal, threading
from dpmf_core.base import interrupts

class Swallows:
    def __del__(self):
        raise KeyboardInterrupt

def run():
    Swallows()
    {after}

interrupts.exit_at_once()
raise SystemExit(interrupts.exit_code_of(run))
"""


CLEANS_UP = """try:
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        {}"""


@pytest.mark.parametrize(
    "after",
    [
        "threading.Event().wait()",
        "Swallows(); Swallows()\n    while True: pass",
        CLEANS_UP.format(
            "os.kill(os.getpid(), signal.SIGINT); threading.Event().wait()"
        ),
    ],
)
def test_ctrl_c_that_a_callback_swallows_comes_again(after):
    code = SWALLOWED.format(after=after)
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 130
    assert process.stderr.splitlines() == [SENTENCE]


def run(command, data, shell="{}", **variables):
    """A command of ours within a line of the shell, which tells its exit code last."""
    ours = {"DPMF_DATA": str(data), "DPMF_CATALOGUE": CATALOGUE}
    return subprocess.run(
        ["bash", "-c", shell.format(f"{sys.executable} -m dpmf {command}")],
        cwd=ROOT,
        env={**os.environ, **ours, **variables},
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
    )


@pytest.mark.parametrize(
    ("shell", "codes"),
    [
        ("{} | true; exit ${{PIPESTATUS[0]}}", (1,)),
        ("{} >&-", (0,)),
        ("{} > /dev/full 2> /dev/full", (1,)),
        pytest.param("{} > /dev/full 2> /dev/null", (1,), marks=pytest.mark.slow),
        pytest.param("{} --wrong 2> /dev/full", (2,), marks=pytest.mark.slow),
        pytest.param("{} --wrong 2>&-", (2,), marks=pytest.mark.slow),
    ],
)
def test_an_output_that_is_closed_or_full_ends_without_a_traceback(
    shell, codes, tmp_path
):
    process = run("algorithms --json", tmp_path, shell)
    assert process.returncode in codes
    assert process.stderr == ""


@pytest.mark.parametrize("command", ["runs", "fit --dataset small --algorithm als"])
def test_a_data_folder_that_cannot_be_written_is_reported(command, tmp_path):
    (tmp_path / "file").touch()
    process = run(command, tmp_path / "file" / "data", NUMBA_CACHE_DIR="")
    assert process.returncode == 2
    assert "Traceback" not in process.stderr
    assert f"{tmp_path}/file/data" in process.stderr
    assert "Set DPMF_DATA" in process.stderr


SERVER = ("app.py", "--server.headless", "true", "--server.port", "0")


@pytest.mark.slow
def test_ctrl_c_stops_a_server_that_runs(tmp_path):
    child = start(SERVER, tmp_path)
    threading.Thread(target=child.stderr.read, daemon=True).start()  # what it imports
    try:
        assert any("URL:" in line for line in child.stdout)
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait(WAIT) == 130
    finally:
        child.kill()
    with pytest.raises(ProcessLookupError):  # no worker is left
        os.killpg(child.pid, 0)
