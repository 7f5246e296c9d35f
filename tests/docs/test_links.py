"""Every link between documents leads somewhere, and so does every citation of docs/PRIVACY.md."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import DOCUMENTS, ROOT, anchor, headings, links

PRIVACY = ROOT / "docs" / "PRIVACY.md"
SOURCES = sorted(
    path
    for folder in ("dpmf_core", "pages", "datasets", "tests", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
    if path.parent != Path(__file__).parent
)
CITATION = re.compile(r'PRIVACY\.md(?:#([\w-]+)|,\s+(?:#\s+)?"([^"]+)")?')


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_to_a_file_and_a_heading(path: Path) -> None:
    for target, name in links(path):
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), f"{path.name} links to {target}, which does not exist"
        if name:
            assert name in map(anchor, headings(file)), f"{path.name} links to {target}#{name}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_is_named_is_there(path: Path) -> None:
    folders = "dpmf_core|pages|datasets|tests|benchmarks|deploy|docs"
    names = re.findall(rf"`((?:{folders})/[\w./-]*)`", path.read_text("utf-8"))
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_headings_of_a_document_are_distinct() -> None:
    """A repeated heading would make a link lead to the first one."""
    for path in DOCUMENTS:
        anchors = [anchor(heading) for heading in headings(path)]
        if path.name != "CHANGELOG.md":
            assert len(set(anchors)) == len(anchors), path.name


def test_every_citation_names_a_section() -> None:
    names = headings(PRIVACY)
    anchors, count = set(map(anchor, names)), 0
    for path in SOURCES:
        for name, title in CITATION.findall(path.read_text("utf-8")):
            section = " ".join(title.split())
            assert name in anchors or section in names, f"{path}: {name or title or 'no section'}"
            count += 1
    assert count >= 10
