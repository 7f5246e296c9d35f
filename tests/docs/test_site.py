"""The documentation as a site: it is built from this clone, its links hold, and it loads nothing
from elsewhere.
"""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.markdown import ROOT, blocks
from tests.docs.test_commands import _run

SITE = ROOT / "build" / "site"
LOADING_TAGS = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")}


class PageParser(HTMLParser):
    """Names that can be linked to, links, and addresses that a browser loads by itself."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.names.add(value)
            if (tag, name) == ("a", "href"):
                self.links.append(value or "")
            if (tag, name) in LOADING_TAGS:
                self.resources.append(value or "")


@pytest.fixture(scope="module")
def site() -> dict[Path, PageParser]:
    process = subprocess.run(
        [sys.executable, "docs/build_site.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return {page: PageParser(page) for page in SITE.rglob("*.html") if page.name != "404.html"}


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(site: dict[Path, PageParser]) -> None:
    dead_links = []
    for page, content in site.items():
        for link in content.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            name = unquote(parts.fragment)
            there = file.exists() and (not name or file not in site or name in site[file].names)
            if not there:
                dead_links.append(f"{page.name}: {link}")
    assert dead_links == [] and len(site) > 12


@pytest.mark.slow
def test_the_tutorial_runs_as_it_is(tmp_path: Path) -> None:
    code = "\n".join(blocks(ROOT / "docs" / "TUTORIAL.md", "python"))
    output = _run(tmp_path, tmp_path / "data", "-c", code)
    assert "PROVEN" in output and "NONE" in output
    assert "epsilon 2.00 at delta 5e-05" in output and "drawn so far: 2.00 per user" in output
    assert (tmp_path / "first-model" / "recommend.py").exists()
