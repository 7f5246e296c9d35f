"""A printed command means exactly the run that it was made from."""

import shlex

import pytest

from dpmf_core import algorithms
from dpmf_core.cli.run_commands import fit
from dpmf_core.cli.run_options import run_choices
from dpmf_core.runs.commands import fit_command
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import typed_parameters

FILE = "my ratings.csv?user=who&bounds=0.5,5&outside=leave-out"


def read(command, *program):
    """The run that the command line does, and the folder of its model."""
    words = shlex.split(command)
    assert words[: len(program) + 1] == [*program, "fit"]
    options = fit.make_context("fit", words[len(program) + 1 :]).params
    choices, texts = run_choices(options)
    kind = algorithms.find(options["algorithm"])
    spec = RunSpec.of(**choices, parameters=typed_parameters(kind, texts))
    return spec, options["folder"]


@pytest.mark.parametrize(
    "choices",
    [
        {"algorithm": "spectral", "epsilon": 2.0, "delta": 3e-5, "split": "none"},
        {
            "algorithm": "private-bias",
            "epsilon": 0.123456789012,
            "delta": 1e-6,
            "parameters": {
                "prior_deviation": 0.5724628651192595,
                "local_columns": False,
            },
            "noise": "discrete",
            "relation": "replace-one",
            "top_items": 40,
            "seed": 7,
            "curve_points": 5,
        },
        {
            "algorithm": "spectral",
            "epsilon": 1e-3,
            "delta": 1e-9,
            "item_choice": "private",
            "row_count": "private",
            "split": "users",
            "fold_in": 0.5,
            "parameters": {"release": "covariance", "rank": 3},
        },
        {"algorithm": "dpals", "noise": "none"},
        {"algorithm": "als", "item_features": "public", "min_user_count": 5},
    ],
)
def test_a_command_is_read_back_as_its_run(choices):
    spec = RunSpec.of(dataset=FILE, **choices)
    again, folder = read(fit_command(spec, save="a model"), "dpmf")
    assert again == spec
    assert str(folder) == "a model"


def test_a_command_starts_as_it_is_told_and_saves_nothing_unasked():
    spec = RunSpec.of(
        dataset="cinema",
        algorithm="spectral",
        epsilon=2.0,
        delta=1e-6,
    )
    program = ("python", "/a clone/dpmf.py")
    again, folder = read(fit_command(spec, program), *program)
    assert again == spec
    assert folder is None
