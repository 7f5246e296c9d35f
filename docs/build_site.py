"""`python docs/build_site.py`: the documentation as a site in build/site, without network.

The documents keep their places, so that links between them hold here as in the repository. Pages
of the reference are made from the registry, the commands and the docstrings.
"""

import logging
import shutil
import sys
from pathlib import Path
from typing import Any

import click
from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import dpmf  # noqa: E402
from dpmf_core import algorithms  # noqa: E402
from dpmf_core.cli import program  # noqa: E402
from dpmf_core.cli.data import describe  # noqa: E402
from dpmf_core.privacy import Guarantee  # noqa: E402
from dpmf_core.privacy.accounts import Account  # noqa: E402
from dpmf_core.runs.record import Run, RunRecord  # noqa: E402
from dpmf_core.testing.contract import Contract  # noqa: E402

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
PUBLIC = {name: getattr(dpmf, name) for name in dpmf.__all__}
RETURNED = (Run, RunRecord, Guarantee, Account)  # what functions return


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
    config = load_config(str(ROOT / "docs" / "mkdocs.yml"), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    print(f"{ROOT / 'build' / 'site' / 'index.html'}")


def algorithms_page() -> str:
    """Every algorithm with its parameters, from the registry."""
    parts = ["# Algorithms and their parameters", "Made from the registry."]
    return "\n\n".join([*parts, *map(_algorithm, algorithms.REGISTRY.values())]) + "\n"


def _algorithm(kind: type[algorithms.Algorithm]) -> str:
    facts = describe(kind)
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
        lines.append("\n".join(["| parameter | default | what it is |", "|---|---|---|", *rows]))
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
    """The public functions and classes, with what they inherit, from their docstrings."""
    is_class = {name: isinstance(it, type) for name, it in PUBLIC.items()}
    parts = [
        "# Python",
        "`import dpmf` hands on every function and class of the first two sections.",
    ]
    parts += [
        "## Functions",
        *(_reference(PUBLIC[it], f"dpmf.{it}") for it in PUBLIC if not is_class[it]),
    ]
    parts += [
        "## Classes",
        *(_reference(PUBLIC[it], f"dpmf.{it}") for it in PUBLIC if is_class[it]),
    ]
    parts += ["## What functions return", *(_reference(it, it.__name__) for it in RETURNED)]
    parts += [
        "## An algorithm of your own",
        _reference(Contract, "dpmf_core.testing.contract.Contract"),
    ]
    return "\n\n".join(parts) + "\n"


def _reference(thing: Any, heading: str) -> str:
    """An entry of mkdocstrings: an object by its place, under its public name."""
    options = f"    options:\n      heading: {heading}\n      toc_label: {heading}"
    return f"::: {thing.__module__}.{thing.__qualname__}\n{options}"


if __name__ == "__main__":
    main()
