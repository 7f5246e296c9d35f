"""`python docs/build_site.py`: the documentation as a site in build/site, without network.

The documents keep their places, so that links between them hold here as in the repository. Pages
of the reference are made from the registry, the commands and the docstrings.
"""

import ast
import inspect
import logging
import shutil
import sys
from pathlib import Path
from typing import Any, get_args

import click
from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import dpmf  # noqa: E402
from dpmf_core import algorithms  # noqa: E402
from dpmf_core.api.describing import description  # noqa: E402
from dpmf_core.api.options import (  # noqa: E402
    AlgorithmOptions,
    FactOptions,
    RunOptions,
    SweepOptions,
    TableOptions,
)
from dpmf_core.cli import program  # noqa: E402
from dpmf_core.data.report import Problem, Report  # noqa: E402
from dpmf_core.privacy import Guarantee  # noqa: E402
from dpmf_core.privacy.accounts import Account  # noqa: E402
from dpmf_core.runs.record import Run, RunRecord  # noqa: E402

SOURCES = ROOT / "build" / "site-sources"
COPIED_FILES = (
    "*.md",
    "LICENSE",
    "CITATION.cff",
    "docs/*.md",
    "docs/*.png",
    "deploy/*",
    "examples/*",
)
PUBLIC = {name: getattr(dpmf, name) for name in dpmf.__all__ if name != "privacy"}
WORKED_THROUGH = "../docs/CONTRIBUTING.md#a-private-algorithm-worked-through"
FOR_AUTHORS = ("PrivateAlgorithm", "Statistic", "Curator", "Contract")  # of methods
OPTIONS = (TableOptions, FactOptions, SweepOptions, RunOptions, AlgorithmOptions)
# what functions return
RETURNED = (
    Run,
    RunRecord,
    Guarantee,
    Account,
    Report,
    Problem,
)


def main() -> None:
    """Write the sources, then the site. Raises mkdocs' Abort on a link that leads nowhere."""
    logging.basicConfig(level=logging.WARNING)  # what mkdocs refuses
    shutil.rmtree(SOURCES, ignore_errors=True)
    for pattern in COPIED_FILES:
        for file in filter(Path.is_file, ROOT.glob(pattern)):
            place = SOURCES / file.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    reference = SOURCES / "reference"
    reference.mkdir()
    (reference / "algorithms.md").write_text(algorithms_page(), "utf-8")
    (reference / "commands.md").write_text(commands_page(), "utf-8")
    (reference / "python.md").write_text(python_page(), "utf-8")
    (reference / "privacy.md").write_text(privacy_page(), "utf-8")
    config = load_config(str(ROOT / "docs" / "mkdocs.yml"), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    print(f"{ROOT / 'build' / 'site' / 'index.html'}")


def algorithms_page() -> str:
    """Every algorithm with its parameters, from the registry."""
    parts = ["# Algorithms and their parameters", "Made from the registry."]
    return "\n\n".join([*parts, *map(_algorithm, algorithms.REGISTRY.values())]) + "\n"


def _algorithm(kind: type[algorithms.Algorithm]) -> str:
    facts = description(kind)
    guarantee = facts["guarantee"]
    lines = [
        f"## {facts['title']}",
        f"`{facts['id']}`, version {facts['version']}: {facts['words']}. Source:"
        f" {facts['source']}.",
        f"**{guarantee['status']}.** {guarantee['words']}",
    ]
    properties = facts["parameters"].get("properties", {})
    if properties:
        rows = [_parameter(name, it) for name, it in properties.items()]
        lines.append(
            "\n".join(["| parameter | default | what it is |", "|---|---|---|", *rows])
        )
    return "\n\n".join(lines)


def _parameter(name: str, field: dict[str, Any]) -> str:
    words = str(field.get("description", "")).replace("|", "\\|").replace("\n", " ")
    return f"| `{name}` | `{field.get('default')}` | {words} |"


def commands_page() -> str:
    """What `--help` prints, of every command."""
    parts = ["# Commands", "What `python -m dpmf COMMAND --help` prints."]
    with click.Context(program, info_name="dpmf") as context:
        for name in program.list_commands(context):
            command = program.get_command(context, name)
            assert command is not None
            with click.Context(command, info_name=name, parent=context) as below:
                parts += [f"## {name}", f"```text\n{command.get_help(below)}\n```"]
    return "\n\n".join(parts) + "\n"


def python_page() -> str:
    """Every public name, with what it inherits, from its docstring."""
    names = [name for name in PUBLIC if name not in FOR_AUTHORS]
    classes = [name for name in names if isinstance(PUBLIC[name], type)]
    functions = [name for name in names if name not in classes]
    sections = {
        "Functions": [_reference(PUBLIC[name], f"dpmf.{name}") for name in functions],
        "Classes": [_reference(PUBLIC[name], f"dpmf.{name}") for name in classes],
        "Options by name": [_options(kind) for kind in OPTIONS],
        "What functions return": [
            _reference(thing, thing.__name__) for thing in RETURNED
        ],
        "An algorithm of your own": [
            f"[CONTRIBUTING.md]({WORKED_THROUGH}) works one through.",
            *(_reference(PUBLIC[name], f"dpmf.{name}") for name in FOR_AUTHORS),
        ],
    }
    parts = [
        "# Python",
        "`import dpmf` has every name of this page that begins with `dpmf.`, and no other."
        " [Twelve little programs](../docs/PROGRAMS.md) show them at work. Accounting, in"
        " `dpmf.privacy`, has [its own page](privacy.md).",
    ]
    for title, entries in sections.items():
        parts += [f"## {title}", *entries]
    return "\n\n".join(parts) + "\n"


def _options(kind: Any) -> str:
    """A table of the options of one type, without those that it has from others."""
    source = ast.parse((ROOT / "dpmf_core" / "api" / "options.py").read_text("utf-8"))
    definition = next(
        node
        for node in source.body
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    )
    bases = [
        ast.unparse(base)
        for base in definition.bases
        if ast.unparse(base) != "TypedDict"
    ]
    further = f" It also has the options of {' and '.join(bases)}." if bases else ""
    words, *lines = definition.body
    rows = []
    for option, meaning in zip(lines[::2], lines[1::2], strict=True):
        assert isinstance(option, ast.AnnAssign) and isinstance(meaning, ast.Expr)
        type_text = ast.unparse(option.annotation)
        text = " ".join(ast.literal_eval(meaning.value).split()).replace("|", "\\|")
        rows.append(f"| `{ast.unparse(option.target)}` | `{type_text}` | {text} |")
    assert isinstance(words, ast.Expr)
    table = "\n".join(["| option | type | what it is |", "|---|---|---|", *rows])
    return f"### {kind.__name__}\n\n{ast.literal_eval(words.value)}{further}\n\n{table}"


def privacy_page() -> str:
    """`dpmf.privacy`: its functions, then its events."""
    things = {name: getattr(dpmf.privacy, name) for name in dpmf.privacy.__all__}
    events = [name for name, thing in things.items() if isinstance(thing, type)]
    functions = [name for name in things if name not in events]
    parts = ["# dpmf.privacy", inspect.getdoc(dpmf.privacy) or "", "## Functions"]
    parts += [_reference(things[name], f"dpmf.privacy.{name}") for name in functions]
    parts.append("## Events")
    parts += [_reference(things[name], f"dpmf.privacy.{name}") for name in events]
    return "\n\n".join(parts) + "\n"


def _reference(thing: Any, heading: str) -> str:
    """An entry of mkdocstrings: an object by its place, under its public name.

    Of several types in one name, the first.
    """
    thing = next(iter(get_args(thing)), thing)
    options = f"    options:\n      heading: {heading}\n      toc_label: {heading}"
    return f"::: {thing.__module__}.{thing.__qualname__}\n{options}"


if __name__ == "__main__":
    main()
