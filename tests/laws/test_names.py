"""A name says what a thing is: no variable, parameter, field, function or class is called by a bare
participle, as `told` or `kept`. A participle with its noun is fine: `kept_items`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "datasets", "docs", "dpmf_core", "examples", "pages", "tests")
FILES = [ROOT / "app.py", *(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))]
# `left` may be a side; of these, the name is one in a file or in JSON, or the design's
STORED = {
    "datasets/parts_rows.py": {"kept"},
    "datasets/readers/report.py": {"kept"},
    "dpmf_core/administration/overview.py": {"brought"},
    "dpmf_core/curator/people.py": {"Held"},
    "dpmf_core/runs/backup.py": {"known"},
    "dpmf_core/runs/public_shape.py": {"kept"},
}
BARE = frozenset(
    (
        "answered",
        "asked",
        "bought",
        "brought",
        "caught",
        "chosen",
        "counted",
        "done",
        "drawn",
        "found",
        "given",
        "heard",
        "held",
        "kept",
        "known",
        "listed",
        "lost",
        "made",
        "meant",
        "moved",
        "named",
        "picked",
        "refused",
        "said",
        "seen",
        "sent",
        "shown",
        "spent",
        "taken",
        "thought",
        "told",
        "tried",
        "wanted",
    )
)


def bare_names(source: str) -> Iterator[str]:
    """Names that are bare participles, where they are bound."""
    for node in ast.walk(ast.parse(source)):
        yield from (name for name in _bound(node) if name.strip("_").lower() in BARE)


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.id if isinstance(node, ast.Name) else node.attr
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_names_are_nouns(file: Path) -> None:
    allowed = STORED.get(str(file.relative_to(ROOT)), set())
    assert set(bare_names(file.read_text("utf-8"))) == allowed


def test_a_bare_participle_is_found() -> None:
    source = "def told(seen, *, kept=1):\n    for found in seen:\n        self.brought = found\n"
    assert len(list(bare_names(source))) == 5
    assert not list(bare_names("def kept_items(left, rows):\n    return rows.told\n"))
