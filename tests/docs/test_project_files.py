"""Licence, citation, workflow and hooks say the same as the code and the Makefile."""

import json
import re

import pytest
import yaml

import dpmf_core
from tests.docs.markdown import ROOT


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == dpmf_core.__version__
    assert citation["license"] == "Apache-2.0"
    assert citation["authors"] == [{"name": "the dpmf authors"}]
    assert not {"doi", "url", "repository-code", "identifiers"} & set(citation)


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License\n                           Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert re.search(r"Copyright \d{4} the dpmf authors\n", text)


def test_the_newest_version_of_the_changelog_is_this_one() -> None:
    versions = re.findall(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert versions[0] == dpmf_core.__version__


def test_the_workflow_runs_everything() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    assert ".ci/run" in [step.get("run") for step in job["steps"]]


@pytest.mark.parametrize("tool", ["ruff format", "ruff check", "mypy"])
def test_hooks_run_the_tools_of_make_lint_from_the_environment(tool: str) -> None:
    (source,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    entries = [hook["entry"] for hook in source["hooks"]]
    assert source["repo"] == "local"
    assert [entry for entry in entries if entry.startswith(f".venv/bin/{tool}")]
    assert f"$(BIN)/{tool}" in (ROOT / "Makefile").read_text("utf-8")


def test_the_development_container_sets_up_with_targets_of_the_makefile() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    make, *targets = container["postCreateCommand"].split()
    rules = re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert make == "make" and targets and set(targets) <= set(rules)
    port = re.search(r"^port = (\d+)", (ROOT / ".streamlit/config.toml").read_text("utf-8"), re.M)
    assert container["forwardPorts"] == [int(port[1]) if port else 8501]


def test_types_are_shipped() -> None:
    assert (ROOT / "dpmf_core" / "py.typed").exists()
