"""The core is imported, and fits, where the system has no POSIX parts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT = """
import os, socket, socketserver, sys
import distributed, optuna, platformdirs, psutil  # libraries have code for each system
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[name] = None  # an import of it raises ImportError
for owner, names in (
    (os, ("nice", "geteuid", "getuid", "register_at_fork", "sched_getaffinity", "fork")),
    (socket, ("AF_UNIX",)),
    (socketserver, ("UnixStreamServer", "ThreadingUnixStreamServer")),
):
    for name in names:
        delattr(owner, name)
"""
IMPORTS = """
import importlib, pkgutil
import dpmf_core, dpmf_datasets
found = [
    module.name
    for package in (dpmf_core, dpmf_datasets)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
]
for name in found:
    importlib.import_module(name)
print(len(found))
"""
FITS = """
from dpmf_core import fit
run = fit("cinema-small", "private-bias", epsilon=1.0)
print(run.record.peak_mb, round(run.record.epsilon.exact, 6))
"""


def without_posix(code: str, data: Path) -> str:
    """What a program prints that has none of these parts."""
    process = subprocess.run(
        [sys.executable, "-c", WITHOUT + code],
        cwd=ROOT,
        env={**os.environ, "DPMF_DATA": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.slow
def test_every_module_of_the_core_is_imported(tmp_path: Path) -> None:
    assert int(without_posix(IMPORTS, tmp_path)) > 100


@pytest.mark.slow
def test_a_private_run_is_made_and_kept(tmp_path: Path) -> None:
    megabytes, epsilon = without_posix(FITS, tmp_path).split()
    assert float(megabytes) > 0 and epsilon == "1.0"
