"""A clone in which git could make no symbolic link: `dpmf_datasets` is a file that says where."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("dpmf_core", "datasets", "pages")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    place = tmp_path / "clone"
    place.mkdir()
    for part in PARTS:
        shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", place)
    (place / "dpmf_datasets").write_text("datasets")
    return place


def python(clone: Path, *arguments: str, packages: Path | None = None) -> str:
    """What Python prints in the clone. packages: a folder of packages, looked at later."""
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=clone,
        env={
            **os.environ,
            "DPMF_DATA": str(clone.parent / "data"),
            "PYTHONPATH": os.pathsep.join(str(it) for it in (clone, packages) if it),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.slow
def test_commands_find_the_data_sets(clone: Path) -> None:
    assert "cinema-small" in python(clone, "-m", "dpmf_core", "datasets")
    fit = ("fit", "--dataset", "cinema-small", "--algorithm", "private-bias", "--epsilon", "2")
    assert "epsilon" in python(clone, "-m", "dpmf_core", *fit)


def test_the_folder_is_found_beside_the_app_and_pages_import_it(clone: Path) -> None:
    code = (
        "import dpmf_core, pages.kit.page_table, dpmf_datasets.simulated.cinema as found;"
        "print(found.__file__)"
    )
    assert Path(python(clone, "-c", code).strip()) == clone / "datasets/simulated/cinema.py"


def test_an_installed_package_comes_first(clone: Path, tmp_path: Path) -> None:
    package = tmp_path / "packages" / "dpmf_datasets"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("WHERE = 'installed'")
    code = "import dpmf_core, dpmf_datasets; print(dpmf_datasets.WHERE)"
    assert python(clone, "-c", code, packages=package.parent) == "installed\n"


def test_beside_no_app_a_folder_of_that_name_is_somebody_elses(clone: Path) -> None:
    (clone / "app.py").unlink()
    code = "import dpmf_core, importlib.util; print(importlib.util.find_spec('dpmf_datasets'))"
    assert python(clone, "-c", code) == "None\n"
