"""Every declared package is locked, within its range and with hashes, and the app and its tests run
on the same versions.
"""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")


def locked(name: str) -> dict[str, set[str]]:
    """Versions by package. pip refuses an entry without a hash, or with an address, by itself."""
    versions: dict[str, set[str]] = {}
    for line in re.findall(r"^[a-z][^\\\n]*", (ROOT / name).read_text("utf-8"), re.M):
        entry = Requirement(line)
        (version,) = entry.specifier
        assert version.operator == "==" and not entry.url
        versions.setdefault(canonicalize_name(entry.name), set()).add(version.version)
    return versions


def declared(name: str) -> list[Requirement]:
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    if name == "requirements-dev.lock":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        lines += project["optional-dependencies"]["dev"]
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", LOCKS)
def test_every_declared_package_is_locked_within_its_range(name: str) -> None:
    versions = locked(name)
    for it in declared(name):
        assert all(map(it.specifier.contains, versions[canonicalize_name(it.name)])), it
    text = (ROOT / name).read_text("utf-8")
    assert text.count("--hash=sha256:") >= sum(map(len, versions.values())) and "://" not in text


def test_the_app_and_its_tests_run_on_the_same_versions() -> None:
    app, tests = map(locked, LOCKS)
    assert {name: tests[name] for name in app} == app
