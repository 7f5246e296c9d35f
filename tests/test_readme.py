"""Every command of the README runs as written, on files made for it; downloads alone are left out."""

import json
import os
import random
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.privacy.test_odometer import independently

ROOT = Path(__file__).parents[1]
COMMANDS = [
    line.split("dpmf_core", 1)[1]
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith(".venv/bin/python -m dpmf_core")
]
BARE = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"]}
OFFLINE = sorted((command for command in COMMANDS if " fetch " not in command), key=lambda command: " import " not in command)


def _folder_with_files(folder: Path) -> Path:
    """A ratings table and a MovieLens 1M archive in the official layout, small."""
    draw = random.Random(0)
    rows = [(user, item, draw.randint(1, 5)) for user in range(1, 81) for item in draw.sample(range(1, 41), 15)]
    (folder / "ratings.csv").write_text("user,item,rating\n" + "".join(f"{u},{i},{r}\n" for u, i, r in rows))
    (folder / "path/to").mkdir(parents=True)
    with zipfile.ZipFile(folder / "path/to/ml-1m.zip", "w") as archive:
        archive.writestr("ml-1m/ratings.dat", "".join(f"{u}::{i}::{r}::{978300000 + n}\n" for n, (u, i, r) in enumerate(rows)))
        archive.writestr("ml-1m/movies.dat", "".join(f"{i}::Film {i} (1990)::Drama\n" for i in range(1, 41)))
    return folder


@pytest.mark.slow
def test_every_command_of_the_readme_runs(tmp_path: Path) -> None:
    folder = _folder_with_files(tmp_path)
    assert len(OFFLINE) >= 6
    for command in OFFLINE:
        environment = {**BARE, "DPMF_DATA": str(folder / "data"), "HOME": str(folder)}
        done = subprocess.run(
            [sys.executable, "-m", "dpmf_core", *shlex.split(command)], cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if "--json" in command:
            json.loads(done.stdout)
    assert (folder / "runs.csv").read_text().count("\n") > 30


EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)


def _printed(example: str, folder: Path) -> list[str]:
    environment = {**BARE, "DPMF_DATA": str(folder), "HOME": str(folder)}
    done = subprocess.run([sys.executable, "-c", example], cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_the_example_of_runs_and_sweeps(tmp_path: Path) -> None:
    first, *_, last = _printed(EXAMPLES[0], tmp_path)
    assert re.fullmatch(r"0\.\d{3} PROVEN (2\.0|1\.99999)\d*", first)
    assert re.fullmatch(r"\(100, \d+\)", last)


@pytest.mark.slow
def test_the_example_of_the_estimator(tmp_path: Path) -> None:
    assert _printed(EXAMPLES[2], tmp_path) == ["(16, 64) PROVEN 2.0", "(3, 16)"]
    assert len(EXAMPLES) == 3


@pytest.mark.slow
def test_the_example_of_the_account(tmp_path: Path) -> None:
    """Three Gaussian runs: mu^2 = 1/7.0318^2 + 1/3.7306^2 + 1/1.9938^2."""
    total = independently([7.0318, 3.7306, 1.9938], 1e-5)
    lines = "[('Private biases', 1, 0.5), ('Private biases', 1, 1.0), ('Private biases', 1, 2.0)]"
    assert _printed(EXAMPLES[1], tmp_path) == [f"{total:.2f} at delta 1e-05 per user {lines}"]
    assert (tmp_path / "mine.ledger").exists()


def test_the_readme_names_every_algorithm_and_dependency() -> None:
    from dpmf_core.algorithms import REGISTRY

    text = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in REGISTRY if f"`{name}`" not in text] == []
    packages = re.findall(r"^([a-z0-9-]+)[<>=]", (ROOT / "requirements.txt").read_text(), re.M)
    table = text.split("## Dependencies")[1].split("## Sources")[0]
    assert [name for name in packages if name not in table] == []
