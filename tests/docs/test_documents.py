"""The documents agree with the code: links, citations, statistics, guarantees, versions."""

import math
import re
from pathlib import Path

import pytest
import yaml

import dpmf
from dpmf_core.algorithms import REGISTRY
from dpmf_core.curator import Statistic
from dpmf_core.privacy import Status, normal_form
from dpmf_core.testing.homes import homes_of
from dpmf_core.testing.parameter_sets import corners
from tests.docs.markdown import DOCUMENTS, ROOT, anchor, headings, links

PRIVACY = ROOT / "docs" / "PRIVACY.md"
TEXT = PRIVACY.read_text("utf-8")
LEDGER = set(re.findall(r"^Ledger: `([^`]+)`", TEXT, re.M))
GUARANTEES = TEXT.split("## Guarantee of each algorithm")[1].split("## Corrections")[0]
CITATION = re.compile(r'docs/PRIVACY\.md(?:#([\w-]+)|,\s+(?:#\s+)?"([^"]+)")?')
FOLDERS = ("dpmf_core", "pages", "datasets", "tests", "benchmarks", "deploy", "docs")

every_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
every_algorithm = pytest.mark.parametrize("kind", REGISTRY.values(), ids=list(REGISTRY))


@every_document
def test_every_link_and_every_named_file_is_there(path):
    for target, name in links(path):
        if target:
            file = (path.parent / target).resolve()
        else:
            file = path
        assert file.exists(), f"{path.name} links to {target}, which does not exist"
        if name:
            assert name in map(anchor, headings(file)), (
                f"{path.name} links to {target}#{name}"
            )
    names = re.findall(
        rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`", path.read_text("utf-8")
    )
    assert [name for name in names if not (ROOT / name).exists()] == []
    anchors = list(map(anchor, headings(path)))
    assert len(set(anchors)) == len(anchors) or path.name == "CHANGELOG.md"


def test_every_citation_names_a_section():
    names = headings(PRIVACY)
    anchors = set(map(anchor, names))
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    citations = [
        (path, *found)
        for path in files
        if path.parent != Path(__file__).parent
        for found in CITATION.findall(path.read_text("utf-8"))
    ]
    assert len(citations) >= 10
    for path, name, title in citations:
        assert name in anchors or " ".join(title.split()) in names, (
            f"{path}: {name or title}"
        )


@every_algorithm
def test_every_statistic_has_a_section(kind):
    shape = homes_of(kind)[0].world().shape
    for parameters in ({}, *corners(kind, shape)):
        plan = kind(**parameters).plan(shape, 1.0)
        statistics = {leaf.statistic for leaf, _ in normal_form(plan)}
        assert statistics <= LEDGER, parameters


@every_algorithm
def test_the_table_of_guarantees_has_the_status_of_the_code(kind):
    status = kind().guarantee().status
    rows = [row for row in GUARANTEES.splitlines() if f"`{kind.id}`" in row]
    assert bool(rows) == (status is not Status.NONE)
    assert not rows or str(status) in rows[0]


def kinds_of(base):
    for kind in base.__subclasses__():
        yield kind
        yield from kinds_of(kind)


def test_every_statistic_cites_its_section():
    """What has no bound is never released."""
    ours = [
        kind
        for kind in kinds_of(Statistic)
        if kind.__module__.startswith("dpmf_core") and kind.sensitivity != math.inf
    ]
    assert len(ours) >= 6
    assert [
        statistic
        for statistic in ours
        if 'docs/PRIVACY.md, "' not in (statistic.__doc__ or "")
    ] == []


def test_the_documents_name_every_algorithm_and_dependency():
    algorithms = (ROOT / "docs" / "ALGORITHMS.md").read_text("utf-8")
    assert [name for name in REGISTRY if f"`{name}`" not in algorithms] == []
    requirements = (ROOT / "requirements.txt").read_text("utf-8")
    packages = re.findall(r"^([a-z0-9-]+)[<>=]", requirements, re.M)
    table = (
        (ROOT / "README.md")
        .read_text("utf-8")
        .split("## Dependencies")[1]
        .split("## How")[0]
    )
    assert [name for name in packages if name not in table] == []


def test_citation_and_changelog_are_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == dpmf.__version__
    assert citation["license"] == "Apache-2.0"
    assert citation["authors"] == [{"name": "the dpmf authors"}]
    versions = re.findall(
        r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )
    assert versions[0] == dpmf.__version__
