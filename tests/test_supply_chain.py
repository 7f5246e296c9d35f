"""Every version is locked with its hashes, within the declared ranges; the audit never calls
unaudited packages safe.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

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


SAFE = {"name": "click", "version": "8.1.0", "vulns": []}
VULNERABLE = {
    "name": "pillow",
    "version": "10.0.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["10.0.1"], "aliases": [], "description": ""}],
}
UNAUDITED_PACKAGE = {"name": "numpy", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("dependencies", "last", "code"),
    [
        (
            [UNAUDITED_PACKAGE, UNAUDITED_PACKAGE],
            "0 of 2 locked packages audited; 0 with known vulnerabilities",
            0,
        ),
        (
            [SAFE, UNAUDITED_PACKAGE],
            "1 of 2 locked packages audited; 0 with known vulnerabilities",
            0,
        ),
        (
            [SAFE, VULNERABLE, UNAUDITED_PACKAGE],
            "2 of 3 locked packages audited; 1 with known vulnerabilities",
            1,
        ),
    ],
)
def test_the_audit_says_how_many_it_looked_up(
    audit: ModuleType, dependencies: list[dict[str, Any]], last: str, code: int
) -> None:
    lines, exit_code = audit.verdict(json.dumps({"dependencies": dependencies, "fixes": []}), "", 9)
    assert (lines[-1], exit_code) == (last, code)
    assert ("pillow 10.0.0: PYSEC-1; fixed in 10.0.1" in lines) == (VULNERABLE in dependencies)


def test_an_audit_without_a_network_says_that_nothing_was_audited() -> None:
    pytest.importorskip("pip_audit")
    environment = {
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
        "NO_PROXY": "",
        "no_proxy": "",
    }
    command = [sys.executable, ".ci/audit.py", "requirements.lock"]
    process = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    first, last = process.stdout.splitlines()
    assert process.returncode == 0 and first.startswith(
        "The vulnerability audit could look nothing up: "
    )
    assert (
        last
        == f"0 of {sum(map(len, _locks('requirements.lock').values()))} locked packages audited; 0"
        " with known vulnerabilities"
    )
