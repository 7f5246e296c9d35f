"""The wheel of this clone, built once, and an environment that it is installed into."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("app.py", "datasets", "dpmf_core", "pages", ".streamlit")
FACTS = ("pyproject.toml", "setup.py", "requirements.txt", "LICENSE", "README.md")
STAND_IN = "MARK = 'another package of this name'\n"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, for setuptools would take up what an older build left beside it."""
    copy = tmp_path_factory.mktemp("clone")
    for name in (*PARTS, *FACTS):
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "secrets.toml")
            shutil.copytree(ROOT / name, copy / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, copy / name)
    out = copy / "built"
    command = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    subprocess.run([sys.executable, *command, "-w", str(out), str(copy)], check=True)
    (file,) = out.glob("*.whl")
    return file


class Environment:
    """A virtual environment in which dpmf is installed beside a package called `datasets`, and an
    empty folder to work in. What dpmf requires is that of the environment that runs the tests.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        venv.create(folder / "env", with_pip=False, symlinks=True)
        (self.packages,) = (folder / "env/lib").glob("python*/site-packages")
        (self.packages / "datasets").mkdir()
        (self.packages / "datasets/__init__.py").write_text(STAND_IN)
        target = (
            "--prefix",
            str(folder / "env"),
            "--ignore-installed",
            "--no-warn-script-location",
        )
        options = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", *target)
        subprocess.run([sys.executable, *options, str(wheel)], check=True)
        libraries = sysconfig.get_path("purelib")
        (self.packages / "required.pth").write_text(f"{libraries}\n")
        self.bin, self.home, self.work = folder / "env/bin", folder / "data", folder / "work"
        self.work.mkdir()
        command = self.bin / "dpmf"
        text = command.read_text().partition("\n")[2]
        command.write_text(f"#!{self.bin / 'python'}\n{text}")

    @property
    def variables(self) -> dict[str, str]:
        unset = ("PYTHONPATH", "DPMF_CATALOGUE", "DPMF_LEDGER")
        outer = {name: value for name, value in os.environ.items() if name not in unset}
        return outer | {"DPMF_DATA": str(self.home)}

    def run(self, program: str, *arguments: str) -> str:
        """What a program of the environment prints on standard output."""
        process = subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=self.work,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stderr
        return process.stdout


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    return Environment(tmp_path_factory.mktemp("installed"), wheel)
