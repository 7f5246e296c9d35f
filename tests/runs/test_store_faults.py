"""A fault at every system call of the store in turn: nothing that was finished is lost, and a
fresh process finds all whole.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.store_faults import MODES, OPERATIONS

ROOT = Path(__file__).parents[2]
GCC = shutil.which("gcc")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if GCC is None or not sys.platform.startswith("linux"):
        pytest.skip("faults are injected by a small library, which needs gcc and Linux")
    built = tmp_path_factory.mktemp("library") / "faults.so"
    subprocess.run(
        [GCC, "-shared", "-fPIC", "-O1", "-o", built, ROOT / "tests" / "faults.c", "-ldl"],
        check=True,
    )
    return built


def try_faults(library: Path, folder: Path, every: int, *names: str) -> dict[str, Any]:
    """What `tests.support.store_faults` found; it is told of at most every so many-th system
    call.
    """
    command = [
        sys.executable, "-m", "tests.support.store_faults", str(library), str(folder),
        str(every), *names,
    ]  # fmt: skip
    env = {**os.environ, "LD_PRELOAD": str(library)}
    env.pop("DPMF_LEDGER", None)
    process = subprocess.run(
        command, check=False, cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return dict(json.loads(process.stdout))


def total(points: dict[str, dict[str, int]]) -> int:
    return sum(hits[mode] for hits in points.values() for mode in MODES)


def test_some_faults_while_a_run_is_put(library: Path, tmp_path: Path) -> None:
    report = try_faults(library, tmp_path, 4, "put")
    assert report["wrong"] == []
    assert report["points"]["put"]["calls"] >= 5, "the library was not loaded"
    assert total(report["points"]) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OPERATIONS, "charge"])
def test_a_fault_at_every_system_call(library: Path, tmp_path: Path, name: str) -> None:
    report = try_faults(library, tmp_path, 1, name)
    calls = report["points"][name]["calls"]
    print(f"{name}: {calls} system calls, {total(report['points'])} crash points")
    assert report["wrong"] == []
    assert calls >= 5, "the library was not loaded"
    assert all(
        report["points"][name][mode] == calls for mode in MODES if mode != "killed in mid-write"
    )
    assert report["points"][name]["killed in mid-write"] >= 4
