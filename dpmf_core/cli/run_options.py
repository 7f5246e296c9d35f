"""The options of commands that compute runs, made from the parameters of `RunSpec`."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.base import interrupts
from dpmf_core.base.errors import BadInput, checked, closest
from dpmf_core.cli import output
from dpmf_core.cli.data_options import on_data
from dpmf_core.cli.shared_options import (
    Decorator,
    Options,
    combined,
    field_option,
    ledger_option,
    pairs,
    with_options,
)
from dpmf_core.privacy.formatting import delta_text
from dpmf_core.runs.specification import PARAMETERS, DataSpec, sections, with_delta

Choices = dict[str, Any]
# parameters of a run that `--help` shows; the other options of data and split are hidden
USUAL = (
    "dataset",
    "top_items",
    "item_features",
    "item_choice",
    "row_count",
    "split",
    "test_fraction",
    "validation_fraction",
    "delta",
    "relation",
    "calibration",
    "noise",
)
OTHERS = tuple(
    name
    for name, parameter in PARAMETERS.items()
    if parameter.section in ("data", "split") and name not in USUAL
)
_SETTINGS: dict[str, Choices] = {
    "algorithm": {"metavar": "ID", "required": True},
    "dataset": {
        "metavar": "ID|PATH",
        "help": "An id of `datasets`, or the path of a file. `check --help` lists its facts.",
    },
    "delta": {
        "show_default": "1/(10 n) for n users, documents or images, rounded down"
    },
    **{name: {"hidden": True, "default": None} for name in OTHERS},
}


def run_options(own: type[Options], *names: str) -> Decorator:
    """The options of these parameters of a run, of all commands that make runs, and its own."""
    fields = (
        field_option(name, PARAMETERS[name].info, **_SETTINGS.get(name, {}))
        for name in (*names, *USUAL, *OTHERS)
    )
    common = (_param_option, ledger_option, _config_option, output.json_option)
    return combined(*fields, on_data("dataset"), with_options(own), *common)


def _use_file(
    context: click.Context, option: click.Parameter, file: Path | None
) -> None:
    """Read the file before the other options get their values, which override it.

    Raises BadInput if the file is not TOML, or on an option that the command does not have.
    """
    if file is None:
        return
    options = {
        parameter.opts[0].removeprefix("--"): parameter
        for parameter in context.command.params
        if parameter != option
    }
    context.default_map = defaults = {}
    for name, value in _content(file).items():
        known = options.get(name.replace("_", "-"))
        if known is None:
            raise BadInput(
                f"{file}: {context.command.name} has no option '{name}'.{closest(name, options)} A"
                f" line names an option without its dashes: {', '.join(sorted(options))}."
            )
        if known.multiple and isinstance(value, str):
            raise BadInput(
                f"{file}: '{name}' must be a table: [{name}], then lines such as rank = 4."
            )
        if isinstance(value, dict):
            defaults[known.name] = _texts(value)
        else:
            defaults[known.name] = value


def _content(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(
            f'{file} is not a TOML file ({error}). A line looks like: algorithm = "dpals".'
        ) from error


def _texts(table: Choices) -> list[str]:
    """A table as the NAME=VALUE texts of the command line."""
    return [
        f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in table.items()
    ]


_param_option = click.option(
    "--param",
    multiple=True,
    metavar="NAME=VALUE",
    help=(
        "A parameter of the algorithm (see `algorithms`), or of data and split, also as an option:"
        f" {', '.join(OTHERS)}; repeatable."
    ),
)
_config_option = click.option(
    "--config",
    type=click.Path(
        path_type=Path,
        dir_okay=False,
        exists=True,
    ),
    expose_value=False,
    is_eager=True,
    callback=_use_file,
    help="Read options from a TOML file, by their names; parameters as a table [param].",
)

# ---- what the options say ------------------------------------------------------------------------


def run_choices(options: Choices) -> tuple[Choices, dict[str, str]]:
    """The parameters of a run in the options, and the algorithm's, by name.

    Raises BadInput without data.
    """
    if not options.get("dataset"):
        raise BadInput(
            "A run needs --dataset: a catalogue id (see `datasets`) or the path of a ratings table."
        )
    texts = pairs(options["param"], "--param")
    choices = {
        name: options[name] for name in PARAMETERS if options.get(name) is not None
    }
    choices |= {name: text for name, text in texts.items() if name in PARAMETERS}
    return choices, {
        name: text for name, text in texts.items() if name not in PARAMETERS
    }


def algorithm_of(name: str) -> type[Algorithm]:
    """`algorithms.find`. Nothing is running yet, so Ctrl-C may end its imports immediately."""
    with interrupts.at_once():
        return algorithms.find(name)


def shape_of(choices: Choices) -> Any:
    """The public shape of a described data set. Raises BadInput if it cannot be opened."""
    from dpmf_core.runs import data_access  # slow to load, and few options need it

    data = checked(DataSpec, "the data set", sections(choices)["data"])
    return data_access.open_anywhere(data).shape


def with_told_delta(choices: Choices, algorithm_ids: Iterable[str]) -> Choices:
    """The choices with delta; a default is printed. Raises BadInput."""
    n_units = shape_of(choices).n_units
    whole = with_delta(choices, algorithm_ids, n_units)
    if choices.get("delta") is None and whole.get("delta") is not None:
        output.note(
            f"delta = {delta_text(whole['delta'])}, which is 1/(10 n), rounded down, for"
            f" n = {n_units:,}"
        )
    return whole
