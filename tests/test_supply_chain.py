"""Declared packages are locked with hashes; the app and its tests use the same versions."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")


def locked(name):
    """Versions by package. pip refuses an entry without a hash, or with an address, by itself."""
    versions = {}
    for line in re.findall(r"^[a-z][^\\\n]*", (ROOT / name).read_text("utf-8"), re.M):
        entry = Requirement(line)
        (version,) = entry.specifier
        assert version.operator == "=="
        assert not entry.url
        versions.setdefault(canonicalize_name(entry.name), set()).add(version.version)
    return versions


def with_extras(*names):
    """What the core and these extras need, with what they take from each other."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    found = set(map(Requirement, project["dependencies"]))
    for requirement in (Requirement(line) for name in names for line in extras[name]):
        found |= (
            with_extras(*requirement.extras)
            if requirement.name == "dpmf"
            else {requirement}
        )
    return found


def declared(name):
    if name == "requirements-dev.lock":
        return with_extras("dev")
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    return {Requirement(line) for line in lines if line and not line.startswith("#")}


def test_make_app_installs_the_core_and_the_extra_app():
    assert declared("requirements.lock") == with_extras("app")


@pytest.mark.parametrize("name", LOCKS)
def test_every_declared_package_is_locked_within_its_range(name):
    versions = locked(name)
    for requirement in declared(name):
        assert all(
            map(
                requirement.specifier.contains,
                versions[canonicalize_name(requirement.name)],
            )
        ), requirement
    text = (ROOT / name).read_text("utf-8")
    assert text.count("--hash=sha256:") >= sum(map(len, versions.values()))
    assert "://" not in text


def test_the_app_and_its_tests_run_on_the_same_versions():
    app, tests = map(locked, LOCKS)
    assert {name: tests[name] for name in app} == app


def test_an_audit_that_could_look_nothing_up_fails():
    audit = runpy.run_path(str(ROOT / ".ci/audit.py"))["verdict"]
    lines, code = audit("", "ConnectionError: no route\n", 65)
    assert code == 0
    assert lines == [
        "NOT AUDITED: none of 65 locked packages could be looked up. ConnectionError: no route"
    ]
    found = [{"name": "one", "version": "1", "vulns": []}]
    lines, code = audit(json.dumps({"dependencies": found}), "", 1)
    assert code == 0
    assert lines == ["1 of 1 locked packages audited; 0 with known vulnerabilities"]
    found[0]["vulns"] = [{"id": "CVE-1", "fix_versions": ["2"]}]
    lines, code = audit(json.dumps({"dependencies": found}), "", 1)
    assert code == 1
    assert lines[0] == "one 1: CVE-1; fixed in 2"


def entry(name, package):
    """One package of a lock file with its hashes."""
    text = (ROOT / name).read_text("utf-8")
    return re.search(
        rf"^{package}==[^\n]*\n(?:    --hash[^\n]*\n)+", text, re.M
    ).group()


def test_uv_is_locked_as_for_the_tests():
    assert entry("requirements-uv.lock", "uv") == entry("requirements-dev.lock", "uv")


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_make_installs_a_lock_file_with_uv_and_without(tmp_path, installer):
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "requirements-uv.lock", tmp_path)
    (tmp_path / "requirements.lock").write_text(
        entry("requirements.lock", "idna"), "utf-8"
    )
    own_cache = {
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_OFFLINE": str(installer == "pip"),
    }
    process = subprocess.run(
        ["make", ".venv/app-ready", f"PYTHON={sys.executable}"],
        cwd=tmp_path,
        env=os.environ | own_cache,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode and "No matching distribution" in process.stderr:
        pytest.skip(
            f"no package index can be reached: {process.stderr.splitlines()[-1]}"
        )
    assert process.returncode == 0, process.stderr
    (record,) = tmp_path.glob(".venv/lib/*/site-packages/idna-*/INSTALLER")
    assert record.read_text("utf-8").strip() == installer
