"""What the wheel holds, and that it works where nothing of a clone is near."""

import configparser
import email
import json
import zipfile
from pathlib import Path

import pytest

import dpmf_core
from tests.packaging.conftest import ROOT, Environment

INSTALLED_AS = {"dpmf_core": "dpmf_core", "datasets": "dpmf_datasets", "pages": "dpmf_app/pages"}


def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_nothing_lands_beside_the_packages_of_this_project(wheel: Path) -> None:
    top = {name.partition("/")[0] for name in names(wheel)}
    (facts,) = (name for name in top if name.endswith(".dist-info"))
    assert top - {facts} == {"dpmf_core", "dpmf_datasets", "dpmf_app"}


def test_every_module_is_in_the_wheel_and_no_other(wheel: Path) -> None:
    expected = {"dpmf_app/app.py"}
    for folder, package in INSTALLED_AS.items():
        files = (ROOT / folder).rglob("*.py")
        expected |= {f"{package}/{file.relative_to(ROOT / folder).as_posix()}" for file in files}
    assert {name for name in names(wheel) if name.endswith(".py")} == expected


def test_scripts_and_styles_are_in_the_wheel(wheel: Path) -> None:
    expected = {
        f"{package}/{file.relative_to(ROOT / folder).as_posix()}"
        for folder, package in INSTALLED_AS.items()
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".js", ".css")
    }
    assert {name for name in names(wheel) if name.endswith((".js", ".css"))} == expected


def test_the_settings_types_and_command_are_in_the_wheel(wheel: Path) -> None:
    assert {"dpmf_app/.streamlit/config.toml", "dpmf_core/py.typed"} <= names(wheel)
    archive = zipfile.ZipFile(wheel)
    (file,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
    entries = configparser.ConfigParser()
    entries.read_string(archive.read(file).decode())
    assert dict(entries["console_scripts"]) == {"dpmf": "dpmf_core.__main__:start"}


def test_what_an_index_shows_is_in_the_wheel(wheel: Path) -> None:
    """The readme, the version, the licence and the Pythons that it is tried on."""
    archive = zipfile.ZipFile(wheel)
    (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    facts = email.message_from_bytes(archive.read(file))
    assert facts["Version"] == dpmf_core.__version__
    assert facts["License-Expression"] == "Apache-2.0"
    assert facts["Description-Content-Type"] == "text/markdown"
    assert facts.get_payload().strip() == (ROOT / "README.md").read_text("utf-8").strip()  # type: ignore[union-attr]
    assert "Programming Language :: Python :: 3.14" in facts.get_all("Classifier", [])


@pytest.mark.slow
def test_the_command_works_in_an_empty_folder(environment: Environment) -> None:
    options = ("--dataset", "cinema-small", "--algorithm", "dpals", "--epsilon", "5", "--json")
    run = json.loads(environment.run("dpmf", "fit", *options))
    assert run["epsilon"]["exact"] == pytest.approx(5)
    (stored_run,) = json.loads(environment.run("dpmf", "runs", "--json"))
    assert stored_run["key"] == run["key"]
    assert environment.run("dpmf", "--help").startswith("Usage: dpmf ")
    assert list(environment.work.iterdir()) == []


@pytest.mark.slow
def test_another_package_called_datasets_stays_what_it_is(environment: Environment) -> None:
    code = (
        "import dpmf_core; loaded = dpmf_core.load('cinema-small').name; import datasets;"
        " print(loaded, datasets.MARK)"
    )
    output = environment.run("python", "-c", code)
    assert output.strip() == "cinema-small another package of this name"
