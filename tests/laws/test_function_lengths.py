"""Functions are short: at most 50 lines of statements.

A statement counts as one line, however its call or signature is laid out, one argument a line;
`if`, `for`, `with` and the like are one each, and so is every statement inside. A docstring and
comments count for nothing.
"""

import ast
from pathlib import Path

import pytest

from tests.laws.test_architecture import name_of, sources, tree

MOST = 50
PACKAGES = ("dpmf_core", "pages", "datasets")
MODULES = [path for package in PACKAGES for path in sources(package)]


def long_functions(module: ast.Module) -> list[str]:
    functions = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [node.name for node in functions if _lines(node) > MOST]


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
    return len(statements) - 1 - (ast.get_docstring(function) is not None)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_are_short(path: Path) -> None:
    assert long_functions(tree(path)) == []


def test_a_long_function_is_found() -> None:
    head, line = 'def f():\n    """Words."""\n', "    x = g(\n        1,\n        2,\n    )\n"
    assert long_functions(ast.parse(head + line * MOST)) == []
    assert long_functions(ast.parse(head + line * (MOST + 1))) == ["f"]
