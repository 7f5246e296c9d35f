"""Commands load what they use, and the list of them says what they say themselves."""

import contextlib
import gc
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dpmf_core.cli import program
from dpmf_core.cli.lazy_group import LazyGroup, Place
from dpmf_core.cli.run_store import runs
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store

HEAVY = (
    "numpy",
    "pydantic",
    "numba",
    "scipy",
    "scipy.optimize",
    "streamlit",
    "dpmf_core.algorithms",
)
LISTING = """
import sys
from dpmf_core.cli import main
code = main({arguments})
print([name for name in {heavy} if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["app", "--help"]])
def test_help_loads_nothing_large(arguments: list[str]) -> None:
    code = LISTING.format(arguments=arguments, heavy=HEAVY)
    process = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert process.stdout.startswith("Usage:") and process.stderr.strip() == "[]"


def test_a_list_of_runs_loads_nothing_large(tmp_path: Path) -> None:
    """Nor does one of a stored run, whose line is in the index."""
    with contextlib.closing(Store(tmp_path / "runs")) as store:
        store.put(run(RunSpec.parse(data={"id": "small"}, algorithm="global-mean")))
    code = LISTING.format(arguments=["runs"], heavy=HEAVY)
    process = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "DPMF_DATA": str(tmp_path)},
    )
    assert " global-mean " in process.stdout and process.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "heavy_modules"),
    [
        (
            ["account", "--release", "gaussian:5:1", "--delta", "1e-6"],
            ("numba", "pandas", "scipy.optimize", "dpmf_core.data", "dpmf_core.algorithms"),
        ),
        (
            ["fit", "--dataset", "small", "--algorithm", "global-mean"],
            (
                *("numba", "scipy.special", "scipy.linalg", "scipy.sparse", "pydantic_settings"),
                *("pandas", "sklearn", "pooch", "dask", "dpmf_core.papers"),
                *("dpmf_core.engine.executor", "dpmf_core.algorithms.dpals"),
            ),
        ),
    ],
)
def test_a_command_loads_no_more_than_it_uses(
    arguments: list[str], heavy_modules: tuple[str, ...], tmp_path: Path
) -> None:
    process = subprocess.run(
        [sys.executable, "-c", LISTING.format(arguments=arguments, heavy=heavy_modules)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "DPMF_DATA": str(tmp_path)},
    )
    assert process.stdout and process.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("group", [program, runs], ids=["program", "runs"])
def test_the_list_says_of_each_command_what_it_says_of_itself(group: LazyGroup) -> None:
    context = click.Context(group)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    assert all(command is not None for command in commands.values())
    whole = click.Group(group.name, params=group.params, help=group.help, commands=commands)
    options = {"terminal_width": 80, "prog_name": "dpmf"}
    output, expected = (CliRunner().invoke(it, ["--help"], **options) for it in (group, whole))
    lines = output.output.partition("Commands:")[2]
    assert lines == expected.output.partition("Commands:")[2] and len(lines.splitlines()) > 5
    for name, place in group.places.items():
        command = commands[name]
        assert command is not None and command.name == name
        assert place.words == command.get_short_help_str(10_000)


def test_an_unknown_command_is_refused_in_words() -> None:
    result = CliRunner().invoke(program, ["nothing"])
    assert result.exit_code == 2 and "No such command 'nothing'" in result.output


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_as_before_once_a_command_is_loaded(collects: bool) -> None:
    (gc.enable if collects else gc.disable)()
    try:
        assert Place("dpmf_core.cli.app:app", "").load().name == "app"
        assert gc.isenabled() is collects
        with pytest.raises(ModuleNotFoundError):
            Place("dpmf_core.cli.nothing:nothing", "").load()
        assert gc.isenabled() is collects
    finally:
        gc.enable()
