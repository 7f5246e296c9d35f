"""The command that repeats a run, and the arguments with which `fit` does."""

import shlex
from collections.abc import Sequence
from typing import Any

from dpmf_core.data.splits import SplitSpec
from dpmf_core.runs.specification import PARAMETERS, RunSpec
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
    for name, value in _values(spec).items():
        parts += [f"--{name.replace('_', '-')}", _text(value)]
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


def _values(spec: RunSpec) -> dict[str, Any]:
    """The parameters of a run that differ from their defaults, by name."""
    content = spec.model_dump(mode="json")
    values = {}
    for name in dict.fromkeys((*FIRST, *PARAMETERS)):
        section, field, info = PARAMETERS[name]
        part = content[section] if section else content
        value = (part or {}).get(field)  # there may be no budget
        if name == "noise" and spec.without_noise:
            value = "none"
        if value not in (None, info.default):
            values[name] = value
    return values


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0")
