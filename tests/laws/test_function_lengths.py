"""Functions are short: at most 50 lines as they are laid out, the docstring not counted."""

import ast
from pathlib import Path

import pytest

from tests.laws.test_architecture import name_of, sources, tree

MOST = 50
MODULES = sources("app.py", "pages", "dpmf_core", "datasets", "benchmarks", "tests")


def long_functions(module: ast.Module) -> list[str]:
    return [
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _lines(node) > MOST
    ]


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From `def` to the last line: no decorator, no docstring."""
    has_docstring = ast.get_docstring(function) is not None
    return _laid_out(function) - (_laid_out(function.body[0]) if has_docstring else 0)


def _laid_out(statement: ast.stmt) -> int:
    return (statement.end_lineno or statement.lineno) - statement.lineno + 1


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_are_short(path: Path) -> None:
    assert long_functions(tree(path)) == []


DOCSTRING = '    """Words\n\n    and more.\n    """\n'


@pytest.mark.parametrize("line", ["    g(1)\n", "    # a word\n", "\n"])
@pytest.mark.parametrize("docstring", ["", DOCSTRING])
@pytest.mark.parametrize("head", ["def f():\n", "@cached\ndef f():\n", "async def f():\n"])
def test_a_long_function_is_found(head: str, docstring: str, line: str) -> None:
    start, end = head + docstring, "    return 1\n"
    assert long_functions(ast.parse(start + line * (MOST - 2) + end)) == []
    assert long_functions(ast.parse(start + line * (MOST - 1) + end)) == ["f"]


def test_a_layout_counts_as_it_is() -> None:
    arguments = "    x,\n" * MOST
    assert long_functions(ast.parse(f"def f(\n{arguments}): ...\n")) == ["f"]
    assert long_functions(ast.parse(f"def f():\n    g(\n{arguments}    )\n")) == ["f"]


def test_a_long_function_within_another_is_found() -> None:
    inner = "        def f():\n" + "            g(1)\n" * MOST
    assert long_functions(ast.parse(f"class A:\n    def outer():\n{inner}")) == ["outer", "f"]
