"""`--config FILE`: options of a command from a TOML file. The command line overrides it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dpmf_core.errors import BadInput, closest

TABLES = {"param": "params", "grid": "grids"}  # written as tables; repeatable on the command line


def _use(context: click.Context, option: click.Parameter, file: Path | None) -> None:
    """Read the file before the other options get their values."""
    if file is None:
        return
    context.default_map = {**(context.default_map or {}), **defaults(file, context.command)}


def defaults(file: Path, command: click.Command) -> dict[str, Any]:
    """What the file says, by the names of the command's options. Raises BadInput on a file that
    is no TOML, and on an option that the command does not have.
    """
    options = {
        option.opts[-1].removeprefix("--"): str(option.name)
        for option in command.params
        if isinstance(option, click.Option) and option.name != "config"
    }
    values = {}
    for name, value in _read(file).items():
        option_name = name.replace("_", "-")
        if option_name not in options:
            raise BadInput(
                f"{file}: {command.name} has no option '{name}'.{closest(option_name, options)} A"
                f" line names an option without its dashes: {', '.join(sorted(options))}."
            )
        values[options[option_name]] = _pairs(file, name, value) if option_name in TABLES else value
    return values


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(
            f'{file} is no TOML file ({error}). A line of one is: algorithm = "dpals".'
        ) from error


def _pairs(file: Path, name: str, value: object) -> list[str]:
    """A table as the NAME=VALUE texts that the command line has."""
    if not isinstance(value, Mapping):
        raise BadInput(f"{file}: '{name}' is a table: [{name}], then lines as rank = 4.")
    return [
        f"{key}={','.join(map(str, it)) if isinstance(it, list) else it}"
        for key, it in value.items()
    ]


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    expose_value=False,
    is_eager=True,
    callback=_use,
    help="Options from a TOML file, by their names; parameters as a table [param].",
)
