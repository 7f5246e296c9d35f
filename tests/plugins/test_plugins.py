"""Algorithms of other packages: found through their entry points, held to the contract, and named
where they cannot be used.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
FAULTS = {  # each with a test that finds it
    "toy-late-clip": "additivity",
    "toy-unplanned": "plan_is_the_declared_statistics",
    "toy-row-reader": "blindfold",
    "toy-stale-noise": "fresh_noise",
}
REFUSALS = {"dpals", "renamed", "toy-missing", "toy-number", "toy-raising", "toy-silent"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both packages installed."""
    target = tmp_path_factory.mktemp("packages")
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    for name in ("toy", "broken"):
        copy = tmp_path_factory.mktemp("source") / name
        shutil.copytree(HERE / name, copy, ignore=shutil.ignore_patterns("__pycache__"))
        command = ("-m", "pip", "install", *options, "--target", str(target), str(copy))
        subprocess.run([sys.executable, *command], check=True)
    return target


def run(
    packages: Path, folder: Path, arguments: Sequence[str]
) -> "subprocess.CompletedProcess[str]":
    """Python, with both packages on its path."""
    path = os.pathsep.join([str(packages), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "DPMF_DATA": str(folder / "data")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_cannot_be_used_is_named_and_hurts_nothing_else(
    packages: Path, tmp_path: Path
) -> None:
    code = (
        "import json\nfrom dpmf_core.algorithms import REGISTRY\n"
        "assert REGISTRY['dpals'].__module__.startswith('dpmf_core.')\n"
        "print(json.dumps([list(REGISTRY), dict(REGISTRY.problems)]))"
    )
    process = run(packages, tmp_path, ["-c", code])
    assert process.returncode == 0, process.stderr
    ids, refusals = json.loads(process.stdout)
    assert {"toy-means", *FAULTS} <= set(ids)
    assert "renamed" not in ids
    assert refusals.keys() == REFUSALS
    for name, words in refusals.items():
        assert name in words and words in process.stderr  # logged
    fit = ["-m", "dpmf_core", "fit", "--dataset", "cinema-small", "--algorithm"]
    wrong = run(packages, tmp_path, [*fit, "toy-raising", "--epsilon", "1"])
    assert wrong.returncode == 2 and refusals["toy-raising"] in wrong.stderr


@pytest.mark.slow
def test_an_algorithm_from_outside_is_fitted(packages: Path, tmp_path: Path) -> None:
    options = ["--dataset", "cinema-small", "--algorithm", "toy-means", "--epsilon", "5", "--json"]
    process = run(packages, tmp_path, ["-m", "dpmf_core", "fit", *options])
    assert process.returncode == 0, process.stderr
    record = json.loads(process.stdout)
    assert record["epsilon"]["exact"] == pytest.approx(5)
    assert record["metrics"]["rmse"] < 1.1  # the middle of the range errs by more


@pytest.mark.slow
def test_the_contract_passes_the_toy_and_finds_every_planted_fault(
    packages: Path, tmp_path: Path
) -> None:
    ids = ["toy-means", *FAULTS]
    options = [part for name in ids for part in ("--dpmf-algorithm", name)]
    plugin = ["-m", "pytest", "-p", "dpmf_core.testing.plugin", "-p", "no:cacheprovider", "-q"]
    command = [*plugin, "--pyargs", "dpmf_core.testing.contract", *options]
    process = run(packages, tmp_path, command)
    assert process.returncode == 1, process.stdout + process.stderr
    failures = set(re.findall(r"^FAILED \S+::test_(\w+)\[(\S+)\]", process.stdout, re.M))
    assert not {test for test, name in failures if name == "toy-means"}, process.stdout
    for name, test in FAULTS.items():
        assert (test, name) in failures, process.stdout


@pytest.mark.slow
def test_a_test_class_names_the_algorithm(packages: Path, tmp_path: Path) -> None:
    (tmp_path / "test_toy.py").write_text(
        "from dpmf_core.testing.contract import Contract\nfrom toy_means import ToyMeans\n\n\n"
        "class TestToyMeans(Contract):\n    algorithm = ToyMeans\n"
    )
    plugin = ["-m", "pytest", "-p", "dpmf_core.testing.plugin", "-p", "no:cacheprovider", "-q"]
    process = run(packages, tmp_path, [*plugin, "test_toy.py"])
    assert process.returncode == 0, process.stdout + process.stderr
    wrong = run(
        packages,
        tmp_path,
        [*plugin, "--pyargs", "dpmf_core.testing.contract", "--dpmf-algorithm", "toy-mean"],
    )
    assert wrong.returncode != 0
