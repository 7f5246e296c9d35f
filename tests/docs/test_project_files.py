"""Licence, citation, workflow and hooks say the same as the code and the Makefile."""

import re

import yaml

import dpmf_core
from tests.docs.markdown import ROOT


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == dpmf_core.__version__
    assert citation["license"] == "Apache-2.0"
    assert citation["authors"] == [{"name": "the dpmf authors"}]
    assert not {"doi", "url", "repository-code", "identifiers"} & set(citation)


def test_the_newest_version_of_the_changelog_is_this_one() -> None:
    versions = re.findall(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert versions[0] == dpmf_core.__version__


def test_types_are_shipped() -> None:
    assert (ROOT / "dpmf_core" / "py.typed").exists()
