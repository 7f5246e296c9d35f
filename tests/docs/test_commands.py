"""Every command of README.md and docs/ runs as written, except downloads."""

import json
import os
import random
import re
import shlex
import subprocess
import sys
import zipfile

import pytest

from tests.docs.markdown import DOCUMENTS, ROOT, blocks
from tests.support.engines import WAIT
from tests.support.gaussian import delta_of, epsilon_of, mu_of

COMMANDS = [
    line.split("-m dpmf", 1)[1]
    for path in DOCUMENTS
    for block in blocks(path, "sh")
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith(".venv/bin/python -m dpmf")
]
BARE = {
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": str(ROOT),
    "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"],
}
WITHOUT_DOWNLOADS = [command for command in COMMANDS if " fetch " not in command]
IMPORTS_FIRST = sorted(WITHOUT_DOWNLOADS, key=lambda command: " import " not in command)
EXAMPLES = [
    *blocks(ROOT / "README.md", "python"),
    *blocks(ROOT / "docs" / "USAGE.md", "python"),
]


def _run(folder, data, *arguments):
    """Standard output of Python with these arguments, in a folder and with a data folder."""
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**BARE, "DPMF_DATA": str(data), "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
    )
    assert process.returncode == 0, f"{arguments}\n{process.stderr}"
    return process.stdout


def _write_files(folder):
    """A ratings table, one of its items, and a small MovieLens 1M archive as it is published."""
    draw = random.Random(0)
    rows = []
    for user in range(1, 81):
        rows += [
            (user, item, draw.randint(1, 5)) for item in draw.sample(range(1, 41), 15)
        ]
    table = "".join(f"{u},{i},{r}\n" for u, i, r in rows)
    (folder / "ratings.csv").write_text(f"user,item,rating\n{table}")
    films = "".join(
        f"{i},{1980 + i},{'Drama|War' if i % 3 else 'Comedy'}\n" for i in range(1, 41)
    )
    (folder / "films.csv").write_text(f"id,year,genre\n{films}")
    (folder / "path/to").mkdir(parents=True)
    ratings = "".join(
        f"{u}::{i}::{r}::{978300000 + n}\n" for n, (u, i, r) in enumerate(rows)
    )
    movies = "".join(f"{i}::Film {i} (1990)::Drama\n" for i in range(1, 41))
    with zipfile.ZipFile(folder / "path/to/ml-1m.zip", "w") as archive:
        archive.writestr("ml-1m/ratings.dat", ratings)
        archive.writestr("ml-1m/movies.dat", movies)


@pytest.mark.slow
def test_every_command_runs(tmp_path):
    _write_files(tmp_path)
    assert len(IMPORTS_FIRST) >= 14
    for command in IMPORTS_FIRST:
        output = _run(tmp_path, tmp_path / "data", "-m", "dpmf", *shlex.split(command))
        if "--json" in command:
            json.loads(output)
    assert (tmp_path / "runs.csv").read_text().count("\n") > 30


# what each example of README.md and USAGE.md prints, as a pattern; MU: multipliers of ε .5, 1, 2
MU = (7.0318, 3.7306, 1.9938)  # at delta 1e-5, by Balle & Wang 2018
ACCOUNT = f"{epsilon_of(MU, 1e-5):.2f} at delta 1e-05 per user"
WEEKLY = 12**0.5 / mu_of(2.0, 1e-6)
AT_ONE = delta_of(mu_of(2.0, 1e-6), 1.0)
TWICE = epsilon_of([WEEKLY / 2] * 12, 1e-6)
SEARCH = f"{epsilon_of([MU[2]] * 7, 1e-5):.2f}"
OUTPUTS = (
    r"<TrainedModel: Spectral on cinema-small, .*\nPROVEN 2\.00\n.*rank.*\n(\d +17 +[123] .*\n){3}",
    r"0\.\d{3} PROVEN (2\.0|1\.99999)\d*\n(.*\n)*\(100, \d+\)\n",
    rf"{WEEKLY:.2f} 2\.00 {1 / WEEKLY**2 * 6:.4f}\n{AT_ONE:.1e} {TWICE:.2f}\n",
    r"1200 1140 \['rating outside the bounds, row left out'\]\nCONDITIONAL\n",
    rf"{re.escape(ACCOUNT)} .*\n",
    r"Fall of the error, a person: .*\nEvery person .*\nThe measurement cost .*\n2\.0\d\d\n",
    rf"{SEARCH}\n{SEARCH}\n5\n",
    r"\(16, 64\) CONDITIONAL 2\.0\n\(3, 16\)\n",
    r" +user +rank(.*\n){5}4 +me +5 .*cosine\n(\d .* 0\.\d+\n){2}",
)


@pytest.mark.slow
@pytest.mark.parametrize(("example", "output"), [*zip(EXAMPLES, OUTPUTS, strict=True)])
def test_every_example_prints_what_it_should(example, output, tmp_path):
    assert re.fullmatch(output, _run(tmp_path, tmp_path, "-c", example))
