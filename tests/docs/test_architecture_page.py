"""docs/ARCHITECTURE.md draws and names every package."""

import re

from tests.docs.markdown import ROOT, blocks

PAGE = ROOT / "docs" / "ARCHITECTURE.md"
CORE = "dpmf_core"
ARROWS = re.findall(r"^    (\w+) --> (\w+)$", blocks(PAGE, "mermaid")[1], re.M)


def test_every_package_is_drawn_and_named() -> None:
    parts = {path.name for path in (ROOT / CORE).iterdir() if (path / "__init__.py").exists()}
    in_picture = {name for arrow in ARROWS for name in arrow}
    assert parts - in_picture == set()
    table = PAGE.read_text("utf-8")
    assert [name for name in parts if f"`{CORE}/{name}`" not in table] == []
    modules = {path.name for path in (ROOT / CORE).glob("*.py")} - {"__init__.py", "__main__.py"}
    assert [name for name in modules if f"{name}`" not in table] == []
