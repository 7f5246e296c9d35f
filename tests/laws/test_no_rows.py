"""No algorithm's module reaches rows: it knows blocks and curators by type, opens neither, and
imports nothing by which memory, files or other processes could be read.
"""

import ast
from pathlib import Path

import pytest

from tests.laws.test_architecture import imports, name_of, sources, tree

FINDERS = {"__init__.py", "registry.py"}  # of algorithms; they fit nothing
ALGORITHMS = [path for path in sources("dpmf_core/algorithms") if path.name not in FINDERS]
TYPES = {"Block", "Curator", "Held", "OpenCurator", "Range", "Statistic", "Step", "Totals"}
GRID = {"on_grid", "grid_step", "fraction_bits"}
GROUPS = {"on_disjoint_groups", "on_groups"}  # views of a curator, who checks what they ask
FACTS = {"CELLS_ARE_PUBLIC", "Cells"}  # what a proof takes as public
LIBRARIES = {
    "collections",
    "copy",
    "dataclasses",
    "functools",
    "itertools",
    "math",
    "typing",
    "warnings",
}
SCIENCE = {"numpy", "pydantic", "scipy", "sklearn"}


def names_from_the_curator(module: ast.AST) -> set[str]:
    return {
        alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpmf_core.curator")
        for alias in node.names
    }


@pytest.mark.parametrize("path", ALGORITHMS, ids=name_of)
def test_a_curator_is_known_by_its_type_and_opened_elsewhere(path: Path) -> None:
    assert names_from_the_curator(tree(path)) <= TYPES | GRID | GROUPS | FACTS


@pytest.mark.parametrize("path", ALGORITHMS, ids=name_of)
def test_nothing_is_imported_that_reads_memory_files_or_processes(path: Path) -> None:
    outside = {module.split(".")[0] for module in imports(path)} - {"dpmf_core"}
    assert outside <= LIBRARIES | SCIENCE


@pytest.mark.parametrize("path", ALGORITHMS, ids=name_of)
def test_nobody_looks_behind_a_curator(path: Path) -> None:
    private_names = {
        node.attr
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "curator"
        and node.attr.startswith("_")
    }
    assert not private_names
