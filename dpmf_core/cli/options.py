"""The options that describe a run, and the specification they make."""

import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from dpmf_core import algorithms, interrupts
from dpmf_core.algorithms import Algorithm
from dpmf_core.cli.config_file import config_option
from dpmf_core.cli.privacy_options import (
    calibration_option,
    noise_option,
    param_option,
    relation_option,
)
from dpmf_core.cli.tables import json_option
from dpmf_core.data.preparation import Preparation
from dpmf_core.data.splits import SplitSpec
from dpmf_core.errors import BadInput, closest
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.accounts import LEDGER
from dpmf_core.privacy.formatting import delta_text
from dpmf_core.runs.specification import DataSpec, RunSpec, refuse_budget

Command = Callable[..., Any]
Parameters = dict[str, Any]


def _use(context: click.Context, option: click.Parameter, file: Path | None) -> None:
    """For this command, and the workers that it starts."""
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
    callback=_use,
    help=(
        "The file of the account that private data enter; their own in the data folder unless"
        " given."
    ),
)


def _words(model: Any, name: str) -> str:
    return str(model.model_fields[name].description)


def _default(name: str) -> Any:
    return SplitSpec.model_fields[name].default


def _of_samples(name: str) -> Any:
    """The option of one step in the preparation of samples."""
    field = Preparation.model_fields[name]
    kind = {"max_df": float, "outlier_rows": float, "outlier_cells": float, "weighting": str}.get(
        name, int
    )
    return click.option(
        "--" + name.replace("_", "-"), type=kind, default=field.default, help=field.description
    )


RUN_OPTIONS = (
    click.option(
        "--dataset",
        metavar="ID|PATH",
        help=(
            "A catalogue id (see `datasets`), or the path of a ratings table, of documents or"
            " images."
        ),
    ),
    click.option("--top-items", type=int, help=_words(DataSpec, "top_items")),
    click.option("--min-user-count", type=int, default=0, help=_words(DataSpec, "min_user_count")),
    click.option("--min-item-count", type=int, default=0, help=_words(DataSpec, "min_item_count")),
    click.option("--most-per-user", type=int, help=_words(DataSpec, "most_per_user")),
    click.option("--positives-above", type=float, help=_words(DataSpec, "positives_above")),
    click.option(
        "--item-features",
        type=click.Choice(["none", "public"]),
        default="none",
        show_default=True,
        help=_words(DataSpec, "item_features"),
    ),
    click.option(
        "--item-choice",
        type=click.Choice(["exact", "private"]),
        default="exact",
        show_default=True,
        help=_words(DataSpec, "item_choice"),
    ),
    click.option(
        "--row-count",
        type=click.Choice(["given", "private"]),
        default="given",
        show_default=True,
        help=_words(DataSpec, "row_count"),
    ),
    *(_of_samples(name) for name in Preparation.model_fields),
    click.option(
        "--split",
        "kind",
        default=_default("kind"),
        show_default=True,
        metavar="random|per-user|time|users|window",
        help=_words(SplitSpec, "kind"),
    ),
    click.option(
        "--test-fraction",
        type=float,
        default=_default("test_fraction"),
        show_default=True,
        help="Share of the ratings (or users) held out.",
    ),
    click.option(
        "--validation-fraction",
        type=float,
        default=_default("validation_fraction"),
        show_default=True,
        help="Held out to choose parameters by.",
    ),
    click.option(
        "--fold-in",
        type=float,
        default=_default("fold_in"),
        show_default=True,
        help=_words(SplitSpec, "fold_in"),
    ),
    click.option(
        "--windows",
        type=int,
        default=_default("windows"),
        show_default=True,
        help=_words(SplitSpec, "windows"),
    ),
    click.option(
        "--window",
        type=int,
        default=_default("window"),
        show_default=True,
        help=_words(SplitSpec, "window"),
    ),
    click.option(
        "--least-judged",
        type=int,
        default=_default("least_judged"),
        show_default=True,
        help=_words(SplitSpec, "least_judged"),
    ),
    click.option(
        "--delta",
        type=float,
        help="Default: 1/(10 n) for n users, documents or images, rounded down.",
    ),
    relation_option,
    calibration_option,
    noise_option,
    param_option,
    ledger_option,
    config_option,
    json_option,
)


def run_options(command: Command) -> Command:
    """Everything `fit` and `sweep` have in common."""
    return functools.reduce(lambda result, option: option(result), reversed(RUN_OPTIONS), command)


def spec_parts(options: Parameters) -> Parameters:
    """The parts of a RunSpec that the common options say: data and split."""
    data = {
        "id": options["dataset"],
        **{name: options[name] for name in DataSpec.model_fields if name != "id"},
    }
    return {
        "data": data,
        "split": {name: options[name] for name in SplitSpec.model_fields if name != "judged"},
    }


def budget(
    options: Parameters, epsilon: float | None, n_units: int, algorithm_ids: Iterable[str]
) -> Parameters | None:
    """The budget that the options ask for; delta defaults to 1/(10 n) and is then told."""
    delta = options["delta"]
    budget_options = {name: options[name] for name in ("delta", "relation", "calibration", "noise")}
    refuse_budget(algorithm_ids, epsilon=epsilon, **budget_options)
    if epsilon is None:
        if delta is not None:
            raise BadInput(
                "--delta is a part of a budget, which needs an epsilon as well: add --epsilon"
                " (--epsilons for a sweep)."
            )
        return None
    if delta is None and options["row_count"] == "private":
        raise BadInput(
            "The default of --delta, 1/(10 n), says how many rows there are, which --row-count"
            " private releases with noise: add --delta, e.g. 1e-6."
        )
    if delta is None:
        delta = default_delta(n_units)
        click.echo(
            f"delta = {delta_text(delta)}, which is 1/(10 n), rounded down, for n = {n_units:,}",
            err=True,
        )
    return {
        "epsilon": epsilon,
        "delta": delta,
        "relation": options["relation"],
        "calibration": options["calibration"],
        "noise": options["noise"],
    }


def shape_of(parts: Parameters) -> Any:
    """The public shape of a described data set. Raises BadInput on data that cannot be opened."""
    spec = RunSpec.parse(**parts, algorithm=next(iter(algorithms.REGISTRY)))
    from dpmf_core.runs import data_access  # all that reads and judges, which few options ask

    return data_access.open_anywhere(spec.data).shape


def algorithm_of(name: str) -> type[Algorithm]:
    """As `algorithms.find`. Its module may be imported here, when nothing is under way yet."""
    with interrupts.at_once():
        return algorithms.find(name)


def require_known(kinds: Iterable[type[Algorithm]], texts: dict[str, Any]) -> None:
    """Raises BadInput on a parameter that none of the algorithms has."""
    names = sorted({name for kind in kinds for name in kind.model_fields})
    if unknown := [name for name in texts if name not in names]:
        raise BadInput(
            f"None of these algorithms has a parameter '{unknown[0]}'.{closest(unknown[0], names)}"
            f" They have: {', '.join(names) or 'none'}."
        )


def split_list(text: str, option: str) -> list[str]:
    """The parts of a list with commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise BadInput(f"{option} takes a list with commas between its parts. Got {text!r}.")
    return list(dict.fromkeys(parts))


def numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in split_list(text, option)]
    except ValueError:
        raise BadInput(
            f"{option} takes numbers with commas between them, e.g. 1,5,10. Got {text!r}."
        ) from None


def whole_numbers(text: str, option: str) -> list[int]:
    """`0-4`, `1,3,5`, or both."""
    out: list[int] = []
    for part in split_list(text, option):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise BadInput(
                f"{option} takes whole numbers from 0, as in 0-4 or 1,3,5. Got {text!r}."
            )
        if int(last or first) < int(first):
            raise BadInput(f"{option}: the lower end comes first, as in 0-4. Got {text!r}.")
        if not int(last or first) - int(first) < 10_000:
            raise BadInput(f"{option} takes at most 10,000 numbers. Got {text!r}.")
        out += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(out))
