"""The command that repeats a run, and the arguments with which `fit` does."""

import shlex
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from dpmf_core.data.splits import SplitSpec
from dpmf_core.runs.specification import PARAMETERS, Parameter, RunSpec
from dpmf_core.runs.sweep import Sweep

PROGRAM = ("dpmf",)
# options that come first, in this order
FIRST = (
    "dataset",
    "algorithm",
    "epsilon",
    "delta",
)


def fit_command(spec: RunSpec, program: Sequence[str] = PROGRAM, save: str = "") -> str:
    """The command that does a run, for a shell.

    Parameters
    ----------
    spec
        The run. Its data have the name that the command line knows.
    program
        The words that start the command line.
    save
        The folder for the model; '' for none.
    """
    parts = [*program, "fit"]
    for name, text in _options(spec).items():
        parts += [f"--{name.replace('_', '-')}", text]
    for name, value in spec.parameters.items():
        parts += ["--param", f"{name}={value}"]
    if save:
        parts += ["--save", save]
    return shlex.join(parts)


def fit_keywords(spec: RunSpec) -> dict[str, Any]:
    """The arguments of `fit` that do a run, by name, without the data and the algorithm."""
    keywords = _values(spec)
    for name in ("dataset", "algorithm"):
        del keywords[name]
    if spec.split.judged != "test":
        for name in SplitSpec.model_fields:
            keywords.pop(name, None)
        keywords["split"] = spec.split.model_dump(mode="json")
    if spec.parameters:
        keywords["parameters"] = dict(spec.parameters)
    return keywords


def sweep_keywords(sweep: Sweep) -> dict[str, Any]:
    """The arguments of `sweep` that do its runs, by name, without the data and the methods."""
    algorithm = sweep.methods[0].algorithm
    shared = RunSpec.model_construct(
        data=sweep.data,
        split=sweep.split,
        algorithm=algorithm,
    )
    return {
        "epsilons": list(sweep.epsilons),
        "seeds": list(sweep.seeds),
        "grid": {name: list(values) for name, values in sweep.grid.items()},
        "delta": sweep.delta,
        "relation": sweep.relation.value,
        "calibration": sweep.calibration.value,
        "noise": sweep.noise.value,
        **fit_keywords(shared),
    }


def _options(spec: RunSpec) -> dict[str, str]:
    """The options that differ from their defaults, as texts by name."""
    return {name: _text(value) for name, value in _values(spec).items()}


def _values(spec: RunSpec) -> dict[str, Any]:
    """The parameters of a run that differ from their defaults, by name."""
    values = {name: _value(spec, parameter) for name, parameter in PARAMETERS.items()}
    if spec.without_noise:
        values["noise"] = "none"
    names = dict.fromkeys((*FIRST, *values))
    return {
        name: _plain(values[name])
        for name in names
        if values[name] not in (None, PARAMETERS[name].info.default)
    }


def _plain(value: object) -> object:
    if isinstance(value, StrEnum):
        return value.value
    return value


def _value(spec: RunSpec, parameter: Parameter) -> object:
    section: BaseModel | None = spec
    if parameter.section:
        section = getattr(spec, parameter.section)
    if section is None:  # no budget
        return None
    return getattr(section, parameter.field)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0")
