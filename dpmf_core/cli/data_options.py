"""The facts of data as options of commands, and the line that says what was changed in data."""

import functools
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

from dpmf_core.base.errors import BadInput
from dpmf_core.base.program import program
from dpmf_core.cli import output
from dpmf_core.cli.shared_options import Decorator, combined
from dpmf_core.data.addresses import address_of
from dpmf_core.data.facts import FACTS, ITEM_TABLE
from dpmf_core.data.report import Report
from dpmf_core.runs import data_access

# the facts in the `--help` of commands that compute; `check --help` shows all
USUAL_FACTS = ("bounds", "users", "user", "item", "rating", "outside", "missing")


def on_data(
    argument: str,
    *,
    in_help: Collection[str] = USUAL_FACTS,
    without: Collection[str] = (),
    is_told: bool = True,
) -> Decorator:
    """Give a command the facts of its data as options, which become part of their address.

    Parameters
    ----------
    argument
        The argument or option of the command that holds the path of the data.
    in_help
        The facts that the command's help shows.
    without
        Facts that have the names of other options of the command. They can follow the path.
    is_told
        Whether a line on standard error says what was left out or changed in the data.

    Returns
    -------
    Decorator
        The decorator of the command.
    """
    names = [name for name in FACTS if name not in without]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def on_address(*arguments: Any, **options: Any) -> Any:
            facts = {name: options.pop(name) for name in names}
            options[argument] = _address(options[argument], facts)
            if not is_told:
                return command(*arguments, **options)
            with data_access.reading_told(tell_changes):
                return command(*arguments, **options)

        return on_address

    fact_options = (_fact_option(name, is_hidden=name not in in_help) for name in names)
    return combined(*fact_options, decorate)


def _address(data: str | None, facts: dict[str, Any]) -> str | None:
    """The address of the data with the facts. Raises BadInput on facts without data."""
    if data is not None:
        return address_of(data, facts)
    for name, text in facts.items():
        if text is not None:
            raise BadInput(
                f"{option_name(name)} needs --dataset, the path of a file. Add it."
            )
    return None


def option_name(fact: str) -> str:
    return f"--{fact.replace('_', '-')}"


def _fact_option(name: str, *, is_hidden: bool) -> Decorator:
    """The option of a fact; its text stays as it is, for its one rule."""
    fact = FACTS[name]
    declaration = (option_name(name), name)
    if fact.kind is bool:
        return click.option(
            *declaration,
            is_flag=True,
            flag_value="true",
            default=None,
            hidden=is_hidden,
            help=f"{fact.meaning[:1].upper()}{fact.meaning[1:]}.",
        )
    kind: Any = str
    if get_origin(fact.kind) is Literal:
        kind = click.Choice(get_args(fact.kind))
    elif name == ITEM_TABLE:
        kind = click.Path(path_type=Path)
    return click.option(
        *declaration,
        type=kind,
        metavar=fact.metavar or None,
        hidden=is_hidden,
        help=fact.help,
    )


def tell_changes(address: str, report: Report | None) -> None:
    """Say on standard error what was left out or changed in data, if anything was."""
    if report is not None and (line := report.line(address, program())):
        output.note(line)
