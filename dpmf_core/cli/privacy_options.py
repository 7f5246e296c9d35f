"""The options that say what is promised, and those of an algorithm's parameters."""

from collections.abc import Iterable

import click

from dpmf_core.errors import BadInput
from dpmf_core.privacy import Budget, Calibration, NoiseKind, Relation

param_option = click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the algorithm; repeatable.",
)
relation_option = click.option(
    "--relation",
    type=click.Choice([kind.value for kind in Relation]),
    default=Relation.ADD_REMOVE.value,
    show_default=True,
    help="Which data sets are neighbours.",
)
calibration_option = click.option(
    "--calibration",
    type=click.Choice([kind.value for kind in Calibration]),
    default=Calibration.EXACT.value,
    show_default=True,
    help=Budget.model_fields["calibration"].description,
)

noise_option = click.option(
    "--noise",
    type=click.Choice([kind.value for kind in NoiseKind]),
    default=NoiseKind.CONTINUOUS.value,
    show_default=True,
    help=Budget.model_fields["noise"].description,
)


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """NAME=VALUE texts as a dictionary."""
    out: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise BadInput(f"{option} takes NAME=VALUE, e.g. {option} rank=4. Got {text!r}.")
        out[name.strip()] = value.strip()
    return out
