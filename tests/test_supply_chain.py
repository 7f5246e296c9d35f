"""Every version is locked with its hashes, within the declared ranges; the audit never calls
unaudited packages safe.
"""

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")


def _locks(name: str) -> dict[str, list[tuple[Requirement, int]]]:
    """By package: each locked version with its number of hashes."""
    by_package: dict[str, list[tuple[Requirement, int]]] = {}
    for entry in re.split(r"\n(?=[a-z])", (ROOT / name).read_text("utf-8").strip()):
        line = entry.split(" \\\n")[0]
        requirement = Requirement(line)
        by_package.setdefault(canonicalize_name(requirement.name), []).append(
            (requirement, entry.count("--hash=sha256:"))
        )
    return by_package


def _requirement_lines(name: str) -> list[str]:
    lines = [
        line
        for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    if name == "requirements-dev.lock":
        lines += tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
            "optional-dependencies"
        ]["dev"]
    return lines


@pytest.mark.parametrize("name", LOCKS)
def test_every_declared_package_is_locked_within_its_range(name: str) -> None:
    entries = _locks(name)
    for requirement in map(Requirement, _requirement_lines(name)):
        for entry, hashes in entries[canonicalize_name(requirement.name)]:
            (version,) = entry.specifier
            assert version.operator == "==" and requirement.specifier.contains(version.version), (
                requirement,
                entry,
            )
            assert hashes >= 1, entry


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_version_has_hashes_and_no_address(name: str) -> None:
    assert [
        str(entry)
        for versions in _locks(name).values()
        for entry, hashes in versions
        if hashes == 0 or entry.url
    ] == []
    assert "://" not in (ROOT / name).read_text("utf-8")


def test_the_app_and_its_tests_run_on_the_same_versions() -> None:
    app, tests = map(_locks, LOCKS)
    assert [
        name
        for name in app
        if {str(entry.specifier) for entry, _ in app[name]}
        != {str(entry.specifier) for entry, _ in tests[name]}
    ] == []


# ---- the audit -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    module_spec = importlib.util.spec_from_file_location("audit_of_the_lock", ROOT / ".ci/audit.py")
    assert module_spec is not None and module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module
