"""List the texts that pages show, in the order of the source: `python .ci/texts.py pages > FILE`.

With `--docs`, list docstrings and comments instead. Someone reads the list from top to bottom and
rewrites each sentence that needs a second reading.
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
# several words, or one with a capital
A_TEXT = re.compile(r"[A-Za-zε]{2,}.* |[A-Z][a-z]+")


def docstrings(tree: ast.Module) -> dict[ast.Constant, str]:
    """Each docstring's node, with its text."""
    return {
        node.body[0].value: doc
        for node in ast.walk(tree)
        if isinstance(node, DOCUMENTED) and (doc := ast.get_docstring(node))
    }


def strings(node: ast.AST, skipped: set[ast.AST]) -> Iterator[tuple[int, str]]:
    """The strings below a node, f-strings whole; values in them as `{...}`."""
    if isinstance(node, ast.JoinedStr):
        parts = [
            part.value if isinstance(part, ast.Constant) else "{...}"
            for part in node.values
        ]
        yield node.lineno, "".join(map(str, parts))
        return
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node not in skipped
    ):
        yield node.lineno, node.value
    for child in ast.iter_child_nodes(node):
        yield from strings(child, skipped)


def words(content: object) -> Iterator[str]:
    """The texts of TOML, however deep."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for value in content.values() if isinstance(content, dict) else content:
            yield from words(value)


def lines_of(path: Path, docs: bool) -> list[tuple[int, str]]:
    """(line, text) of a file of Python or TOML."""
    source = path.read_text("utf-8")
    if path.suffix == ".toml":
        return [(0, text) for text in words(tomllib.loads(source))]
    tree = ast.parse(source)
    documented = docstrings(tree)
    if not docs:
        found = strings(tree, set(documented))
        return [(line, text) for line, text in found if A_TEXT.search(text)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [
        (token.start[0], token.string)
        for token in tokens
        if token.type == tokenize.COMMENT
    ]
    return sorted(
        [*comments, *((node.lineno, text) for node, text in documented.items())]
    )


for folder in [argument for argument in sys.argv[1:] if argument != "--docs"]:
    for path in sorted(
        path for path in Path(folder).rglob("*") if path.suffix in (".py", ".toml")
    ):
        print(f"\n=== {path}")
        for line, text in lines_of(path, "--docs" in sys.argv):
            print(f"{line:4} {' '.join(text.split())}")
