"""The options of a run, made from the parameters of `RunSpec`, and their values."""

import functools
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.base import interrupts
from dpmf_core.base.errors import BadInput, closest
from dpmf_core.cli.arguments import GroupedCommand, field_option, pairs
from dpmf_core.cli.completion import algorithm_ids, dataset_ids
from dpmf_core.cli.tables import json_option
from dpmf_core.privacy.accounts import LEDGER
from dpmf_core.privacy.formatting import delta_text
from dpmf_core.runs.specification import PARAMETERS, RunSpec, with_delta
from dpmf_core.runs.sweep import typed_parameters

Command = Callable[..., Any]
Options = dict[str, Any]

# ---- options from fields -------------------------------------------------------------------------

# parameters of a run with an option of their own; --param takes the others
USUAL = (
    *("dataset", "top_items", "item_features", "item_choice", "row_count"),
    *("split", "test_fraction", "validation_fraction"),
    *("delta", "relation", "calibration", "noise"),
)
SECTIONS = {"data": "Data", "split": "Split", "budget": "Privacy"}  # headings in `--help`
OTHERS = tuple(
    name for name, it in PARAMETERS.items() if it.section in ("data", "split") and name not in USUAL
)
_FACTS: dict[str, Options] = {
    "algorithm": {"metavar": "ID", "required": True, "shell_complete": algorithm_ids},
    "dataset": {"metavar": "ID|PATH", "shell_complete": dataset_ids},
    "delta": {"show_default": "1/(10 n) for n users, documents or images, rounded down"},
}


def run_option(name: str) -> Command:
    """The option of one parameter of a run."""
    return field_option(name, PARAMETERS[name].info, **_FACTS.get(name, {}))


class RunCommand(GroupedCommand):
    """A command with `run_options`, in which every parameter of a run is also an option.

    So --min-user-count 3 is short for --param min_user_count=3.
    """

    def heading(self, option: str) -> str:
        section = PARAMETERS[option].section if option in PARAMETERS else ""
        return SECTIONS.get(section) or super().heading(option)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        own = {flag for option in self.params for flag in option.opts}
        out, rest = [], list(args)
        while rest:
            flag, equals, value = rest.pop(0).partition("=")
            name = flag.removeprefix("--").replace("-", "_")
            if flag in own or not flag.startswith("--") or name not in OTHERS:
                out.append(flag + equals + value)
            else:  # without a value; --param reports that
                value = value if equals or not rest else rest.pop(0)
                out += ["--param", f"{name}={value}"]
        return super().parse_args(context, out)


def run_options(*names: str) -> Callable[[Command], Command]:
    """The options of these parameters of a run, and those of all commands that make runs."""
    options = (
        *(run_option(name) for name in (*names, *USUAL)),
        param_option,
        ledger_option,
        config_option,
        json_option,
    )
    return lambda command: functools.reduce(lambda it, add: add(it), reversed(options), command)


def _use_ledger(context: click.Context, option: click.Parameter, file: Path | None) -> None:
    """Use a ledger for this command and its workers."""
    if file is None:
        return
    before = os.environ.get(LEDGER)
    os.environ[LEDGER] = str(file.expanduser().absolute())
    context.call_on_close(
        lambda: (
            os.environ.pop(LEDGER, None) if before is None else os.environ.update({LEDGER: before})
        )
    )


ledger_option = click.option(
    "--ledger",
    type=click.Path(path_type=Path, dir_okay=False),
    expose_value=False,
    callback=_use_ledger,
    help=("The file of the account that private data enter; by default the data folder's."),
)
param_option = click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help=(
        "A parameter of the algorithm (see `algorithms`), or of data and split:"
        f" {', '.join(OTHERS)}; repeatable."
    ),
)

# ---- options from a file -------------------------------------------------------------------------

TABLES = {"param": "params", "grid": "grids"}  # written as tables; repeatable on the command line


def _use_file(context: click.Context, option: click.Parameter, file: Path | None) -> None:
    """Read the file before the other options get their values, which override it."""
    if file is not None:
        context.default_map = {**(context.default_map or {}), **defaults(file, context.command)}


def defaults(file: Path, command: click.Command) -> dict[str, Any]:
    """The file's values by the names of the command's options.

    Raises BadInput if the file is not TOML, or on an option that the command does not have.
    """
    options = {
        option.opts[-1].removeprefix("--"): str(option.name)
        for option in command.params
        if isinstance(option, click.Option) and option.name != "config"
    }
    values: dict[str, Any] = {}
    for name, value in _read(file).items():
        option_name = name.replace("_", "-")
        if option_name in TABLES:
            values.setdefault(options[option_name], []).extend(_texts(file, name, value))
        elif option_name in options:
            values[options[option_name]] = value
        elif name.replace("-", "_") in OTHERS and "param" in options:
            values.setdefault("params", []).append(f"{name.replace('-', '_')}={value}")
        else:
            raise BadInput(
                f"{file}: {command.name} has no option '{name}'.{closest(option_name, options)} A"
                f" line names an option without its dashes: {', '.join(sorted(options))}."
            )
    return values


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(
            f'{file} is not a TOML file ({error}). A line looks like: algorithm = "dpals".'
        ) from error


def _texts(file: Path, name: str, value: object) -> list[str]:
    """A table as the NAME=VALUE texts of the command line."""
    if not isinstance(value, Mapping):
        raise BadInput(f"{file}: '{name}' must be a table: [{name}], then lines such as rank = 4.")
    return [
        f"{key}={','.join(map(str, it)) if isinstance(it, list) else it}"
        for key, it in value.items()
    ]


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    expose_value=False,
    is_eager=True,
    callback=_use_file,
    help="Read options from a TOML file, by their names; parameters as a table [param].",
)

# ---- what the options say ------------------------------------------------------------------------


def run_choices(options: Options) -> Options:
    """The parameters of a run in the options, by name. Raises BadInput without data."""
    if not options.get("dataset"):
        raise BadInput(
            "A run needs --dataset: a catalogue id (see `datasets`) or the path of a ratings table."
        )
    texts = pairs(options["params"], "--param")
    usual = {name: options[name] for name in PARAMETERS if options.get(name) is not None}
    return usual | {name: text for name, text in texts.items() if name in PARAMETERS}


def algorithm_texts(options: Options) -> dict[str, str]:
    """The algorithm's parameters from --param."""
    texts = pairs(options["params"], "--param")
    return {name: text for name, text in texts.items() if name not in PARAMETERS}


def own_parameters(kind: type[Algorithm], texts: Mapping[str, Any]) -> dict[str, Any]:
    """The algorithm's own parameters among these, in their types."""
    return typed_parameters(
        kind, {name: text for name, text in texts.items() if name in kind.model_fields}
    )


def shape_of(choices: Options) -> Any:
    """The public shape of a described data set. Raises BadInput if it cannot be opened."""
    spec = RunSpec.of(**{**choices, "algorithm": next(iter(algorithms.REGISTRY)), "epsilon": None})
    from dpmf_core.runs import data_access  # slow to load, and few options need it

    return data_access.open_anywhere(spec.data).shape


def with_told_delta(choices: Options, algorithm_ids: Iterable[str]) -> Options:
    """The choices with delta; a default is printed. Raises BadInput."""
    n_units = shape_of(choices).n_units
    whole = with_delta(choices, algorithm_ids, n_units)
    if choices.get("delta") is None and whole.get("delta") is not None:
        click.echo(
            f"delta = {delta_text(whole['delta'])}, which is 1/(10 n), rounded down, for"
            f" n = {n_units:,}",
            err=True,
        )
    return whole


def algorithm_of(name: str) -> type[Algorithm]:
    """`algorithms.find`. Its module may be imported here, because nothing is running yet."""
    with interrupts.at_once():
        return algorithms.find(name)


def require_known(kinds: Iterable[type[Algorithm]], texts: Mapping[str, Any]) -> None:
    """Raise BadInput on a parameter that none of the algorithms has."""
    names = sorted({name for kind in kinds for name in kind.model_fields})
    if unknown := [name for name in texts if name not in names]:
        raise BadInput(
            f"None of these algorithms has a parameter '{unknown[0]}'."
            f"{closest(unknown[0], [*names, *PARAMETERS])} They have: {', '.join(names) or 'none'}."
        )
