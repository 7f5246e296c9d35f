"""Every command of README.md and docs/ runs as written, on files made for it; downloads alone are
left out.
"""

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

from tests.docs.markdown import DOCUMENTS, ROOT, blocks
from tests.privacy.test_odometer import independently

COMMANDS = [
    line.split("dpmf_core", 1)[1]
    for path in DOCUMENTS
    for block in blocks(path, "sh")
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith(".venv/bin/python -m dpmf_core")
]
BARE = {
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": str(ROOT),
    "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"],
}
WITHOUT_DOWNLOADS = [command for command in COMMANDS if " fetch " not in command]
IMPORTS_FIRST = sorted(WITHOUT_DOWNLOADS, key=lambda command: " import " not in command)
EXAMPLES = blocks(ROOT / "docs" / "USAGE.md", "python")


def _run(folder: Path, data: Path, *arguments: str) -> str:
    """Standard output of Python with these arguments, in a folder and with a data folder."""
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**BARE, "DPMF_DATA": str(data), "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert process.returncode == 0, f"{arguments}\n{process.stderr}"
    return process.stdout


def _write_files(folder: Path) -> None:
    """A ratings table, one of its items, and a small MovieLens 1M archive as it is published."""
    draw, rows = random.Random(0), []
    for user in range(1, 81):
        rows += [(user, item, draw.randint(1, 5)) for item in draw.sample(range(1, 41), 15)]
    table = "".join(f"{u},{i},{r}\n" for u, i, r in rows)
    (folder / "ratings.csv").write_text(f"user,item,rating\n{table}")
    films = "".join(f"{i},{1980 + i},{'Drama|War' if i % 3 else 'Comedy'}\n" for i in range(1, 41))
    (folder / "films.csv").write_text(f"id,year,genre\n{films}")
    (folder / "path/to").mkdir(parents=True)
    ratings = "".join(f"{u}::{i}::{r}::{978300000 + n}\n" for n, (u, i, r) in enumerate(rows))
    movies = "".join(f"{i}::Film {i} (1990)::Drama\n" for i in range(1, 41))
    with zipfile.ZipFile(folder / "path/to/ml-1m.zip", "w") as archive:
        archive.writestr("ml-1m/ratings.dat", ratings)
        archive.writestr("ml-1m/movies.dat", movies)


@pytest.mark.slow
def test_every_command_runs(tmp_path: Path) -> None:
    _write_files(tmp_path)
    assert len(IMPORTS_FIRST) >= 14
    for command in IMPORTS_FIRST:
        output = _run(tmp_path, tmp_path / "data", "-m", "dpmf_core", *shlex.split(command))
        if "--json" in command:
            json.loads(output)
    assert (tmp_path / "runs.csv").read_text().count("\n") > 30


@pytest.mark.slow
def test_the_example_of_runs_and_sweeps(tmp_path: Path) -> None:
    first, *_, last = _run(tmp_path, tmp_path, "-c", EXAMPLES[0]).splitlines()
    assert re.fullmatch(r"0\.\d{3} PROVEN (2\.0|1\.99999)\d*", first)
    assert re.fullmatch(r"\(100, \d+\)", last)


@pytest.mark.slow
def test_the_example_of_data_in_memory(tmp_path: Path) -> None:
    assert _run(tmp_path, tmp_path, "-c", EXAMPLES[1]) == "1\n"


@pytest.mark.slow
def test_the_example_of_the_account(tmp_path: Path) -> None:
    """Three Gaussian runs: mu^2 = 1/7.0318^2 + 1/3.7306^2 + 1/1.9938^2."""
    total = independently([7.0318, 3.7306, 1.9938], 1e-5)
    each = [("Private biases", 1, epsilon) for epsilon in (0.5, 1.0, 2.0)]
    expected = f"{total:.2f} at delta 1e-05 per user {each}\n"
    assert _run(tmp_path, tmp_path, "-c", EXAMPLES[2]) == expected
    assert (tmp_path / "mine.ledger").exists()


@pytest.mark.slow
def test_the_example_of_a_search(tmp_path: Path) -> None:
    """Seven fits of epsilon 2 at delta 1e-5, each of noise multiplier 1.9938 in all."""
    total = independently([1.9938] * 7, 1e-5)
    assert _run(tmp_path, tmp_path, "-c", EXAMPLES[3]) == f"{total:.2f}\n{total:.2f}\n5\n"


@pytest.mark.slow
def test_the_example_beside_other_libraries(tmp_path: Path) -> None:
    assert _run(tmp_path, tmp_path, "-c", EXAMPLES[4]) == "True\n(1,)\n10\n"


@pytest.mark.slow
def test_the_example_of_the_estimator(tmp_path: Path) -> None:
    assert _run(tmp_path, tmp_path, "-c", EXAMPLES[5]) == "(16, 64) CONDITIONAL 2.0\n(3, 16)\n"


@pytest.mark.slow
def test_the_example_of_a_released_model(tmp_path: Path) -> None:
    assert _run(tmp_path, tmp_path, "-c", EXAMPLES[6]) == "5 200 2\n"
    assert (tmp_path / "films" / "recommend.py").exists()
    assert len(EXAMPLES) == 7


def test_the_documents_name_every_algorithm_and_dependency() -> None:
    from dpmf_core.algorithms import REGISTRY

    algorithms = (ROOT / "docs" / "ALGORITHMS.md").read_text("utf-8")
    assert [name for name in REGISTRY if f"`{name}`" not in algorithms] == []
    requirements = (ROOT / "requirements.txt").read_text("utf-8")
    packages = re.findall(r"^([a-z0-9-]+)[<>=]", requirements, re.M)
    table = (ROOT / "README.md").read_text("utf-8").split("## Dependencies")[1].split("## How")[0]
    assert [name for name in packages if name not in table] == []
