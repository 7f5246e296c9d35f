"""docs/ARCHITECTURE.md names every package and draws only arrows that the law of imports allows."""

import re

from tests.docs.markdown import ROOT, blocks
from tests.laws.test_architecture import CATALOGUE, CORE, allowed_for, within

PAGE = ROOT / "docs" / "ARCHITECTURE.md"
PICTURE = blocks(PAGE, "mermaid")[1]
ARROWS = re.findall(r"^    (\w+) --> (\w+)$", PICTURE, re.M)
OUTSIDE = {"app": "app", "pages": "pages", "datasets": CATALOGUE}


def full(name: str) -> str:
    return OUTSIDE.get(name, f"{CORE}.{name}")


def test_every_arrow_is_allowed() -> None:
    assert len(ARROWS) == len(PICTURE.splitlines()) - 1
    for importer, target in ARROWS:
        assert within(full(target), allowed_for(full(importer))), f"{importer} -> {target}"


def test_every_package_is_drawn_and_named() -> None:
    parts = {path.name for path in (ROOT / CORE).iterdir() if (path / "__init__.py").exists()}
    in_picture = {name for arrow in ARROWS for name in arrow}
    assert parts - in_picture == set()
    table = PAGE.read_text("utf-8")
    assert [name for name in parts if f"`{CORE}/{name}`" not in table] == []
    modules = {path.name for path in (ROOT / CORE).glob("*.py")} - {"__init__.py", "__main__.py"}
    assert [name for name in modules if f"{name}`" not in table] == []
