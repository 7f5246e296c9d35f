"""The wheel works without a clone, and the core without extras."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.test_supply_chain import with_extras

ROOT = Path(__file__).parents[1]
PARTS = ("datasets", "dpmf_core", "pages", ".streamlit")
FACTS = ("pyproject.toml", "setup.py", "LICENSE", "README.md")
SCRIPTS = ("app.py", "dpmf.py")
INSTALLED_AS = {
    "dpmf_core": "dpmf_core",
    "datasets": "dpmf_datasets",
    "pages": "dpmf_app/pages",
}
WITHOUT_CACHES = shutil.ignore_patterns("__pycache__", "secrets.toml")
FIT = (
    "fit",
    "--dataset",
    "cinema-small",
    "--algorithm",
    "private-bias",
    "--epsilon",
    "1",
)


def output(command, folder, **variables):
    """What a program prints in a folder, with a data folder next to that."""
    env = variables_in(folder) | variables
    process = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def variables_in(folder):
    unset = ("PYTHONPATH", "DPMF_LEDGER", "DPMF_CATALOGUE")
    outer = {name: value for name, value in os.environ.items() if name not in unset}
    return outer | {"DPMF_DATA": str(folder.parent / "data")}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Built from a copy, because setuptools includes what an older build left."""
    copy = tmp_path_factory.mktemp("clone")
    for name in PARTS:
        shutil.copytree(ROOT / name, copy / name, ignore=WITHOUT_CACHES)
    for name in (*FACTS, *SCRIPTS):
        shutil.copy(ROOT / name, copy / name)
    command = (
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
    )
    subprocess.run(
        [sys.executable, *command, "-w", str(copy / "built"), str(copy)], check=True
    )
    (file,) = (copy / "built").glob("*.whl")
    return file


def test_the_wheel_holds_every_file_and_no_other(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {"dpmf.py", "dpmf_app/app.py", "dpmf_app/.streamlit/config.toml"}
    for folder, package in INSTALLED_AS.items():
        files = (file for file in (ROOT / folder).rglob("*") if file.is_file())
        expected |= {
            f"{package}/{file.relative_to(ROOT / folder).as_posix()}"
            for file in files
            if "__pycache__" not in file.parts
        }
    assert {name for name in names if ".dist-info/" not in name} == expected


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """An environment with dpmf next to another package called `datasets`."""
    environment = tmp_path_factory.mktemp("installed") / "env"
    venv.create(environment, with_pip=False, symlinks=True)
    (packages,) = (environment / "lib").glob("python*/site-packages")
    (packages / "datasets.py").write_text("MARK = 'another package'\n")
    target = (
        "--prefix",
        str(environment),
        "--ignore-installed",
        "--no-warn-script-location",
    )
    install = (
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        *target,
        str(wheel),
    )
    subprocess.run([sys.executable, *install], check=True)
    (packages / "required.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return environment


def dpmf(environment):
    """Its command."""
    return [str(environment / "bin/python"), str(environment / "bin/dpmf")]


@pytest.mark.slow
def test_the_command_works_outside_a_clone(installed, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    run = json.loads(output([*dpmf(installed), *FIT, "--json"], folder))
    assert run["epsilon"]["exact"] == pytest.approx(1)
    code = "import dpmf, datasets; print(dpmf.load('cinema-small').name, datasets.MARK)"
    printed = output([str(installed / "bin/python"), "-c", code], folder)
    assert printed == "cinema-small another package\n"
    assert list(folder.iterdir()) == []


OTHER_NAMES = {"pillow": "PIL"}  # of modules
CORE = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None  # an import of it raises ImportError
import numpy as np, pandas as pd, dpmf
from dpmf_core.cli import main
rng = np.random.default_rng(0)
frame = pd.DataFrame({"user": rng.integers(0, 40, 400), "item": rng.integers(0, 20, 400)})
frame = frame.drop_duplicates().assign(rating=3.0)
facts = {"bounds": (1, 5), "epsilon": 1.0, "delta": 1e-5}
run = dpmf.fit(frame, "private-bias", **facts)
dpmf.PrivateRecommender(algorithm="private-bias", **facts).fit(frame).predict(frame)
dpmf.PrivateNMF(n_components=2, epsilon=1.0).fit(rng.random((50, 6)))
assert dpmf.account(frame, bounds=(1, 5)).lines
dpmf.load_model(run.save("model"))
for line in (
    "fit --dataset cinema-small --algorithm private-bias --epsilon 1", "runs", "datasets", "papers",
    "algorithms", "account --release gaussian:3:1 --delta 1e-5", "app --settings",
):
    assert main(line.split()) == 0, line
print("all of it")
"""


@pytest.mark.slow
def test_the_core_needs_no_package_of_an_extra(tmp_path):
    """What the core's own packages bring is there for it."""
    own = {package.name for package in with_extras()}
    others = {package.name for package in with_extras("app", "cluster")} - own
    names = [
        OTHER_NAMES.get(package, package.replace("-", "_"))
        for package in sorted(others)
    ]
    command = [sys.executable, "-c", CORE, ",".join(names)]
    printed = output(command, tmp_path, PYTHONPATH=str(ROOT))
    assert printed.splitlines()[-1] == "all of it"
