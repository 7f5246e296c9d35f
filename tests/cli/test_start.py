"""Commands load what they use; what a shell completes; `doctor`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import dpmf_core
from dpmf_core.cli import program

HEAVY = (
    "numpy", "pydantic", "numba", "scipy", "scipy.optimize", "streamlit", "dpmf_core.algorithms",
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("arguments", "heavy_modules"),
    [
        (
            ["account", "--release", "gaussian:5:1", "--delta", "1e-6"],
            ("numba", "pandas", "dpmf_core.data", "dpmf_core.algorithms"),
        ),
        (
            ["fit", "--dataset", "small", "--algorithm", "global-mean"],
            (
                *("numba", "scipy.special", "scipy.linalg", "scipy.sparse", "pydantic_settings"),
                *("pandas", "sklearn", "pooch", "dask", "dpmf_core.papers"),
                *("dpmf_core.jobs.engine", "dpmf_core.algorithms.dpals"),
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


def test_commands_options_and_ids_are_completed(tmp_path: Path) -> None:
    """As bash asks for them."""

    def completions(words: str) -> list[str]:
        variables = {"_DPMF_COMPLETE": "bash_complete", "COMP_WORDS": words}
        variables |= {"DPMF_DATA": str(tmp_path), "DPMF_CATALOGUE": "dpmf_datasets"}
        process = subprocess.run(
            [sys.executable, "-c", "import sys; sys.argv = ['dpmf']; "
             "from dpmf_core.__main__ import start; start()"],
            env={**os.environ, **variables, "COMP_CWORD": str(len(words.split()) - 1)},
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        return [line.partition(",")[2] for line in process.stdout.splitlines()]

    assert completions("dpmf do") == ["doctor"]
    assert completions("dpmf fit --alg") == ["--algorithm"]
    assert completions("dpmf fit --algorithm ada") == ["ada-dpals"]
    assert completions("dpmf sweep --algorithms als,dpf") == ["als,dpfw", "als,dpfw-oja"]
    assert completions("dpmf fit --dataset cinema-s") == ["cinema-small"]


def test_stored_runs_are_completed(say: Any) -> None:
    key = say("fit", "--dataset", "small", "--algorithm", "bias", "--json").json["key"]
    command = program.get_command(click.Context(program), "runs")
    assert isinstance(command, click.Group)
    show = command.get_command(click.Context(command), "show")
    assert show is not None
    (argument,) = (it for it in show.params if it.name == "key")
    items = argument.shell_complete(click.Context(show), key[:3])
    assert [it.value for it in items] == [key[:8]]


def test_the_version_is_told(say: Any) -> None:
    assert dpmf_core.__version__ in say("--version").out


def test_no_summary_of_a_command_is_cut(say: Any) -> None:
    for arguments in (["--help"], ["runs", "--help"]):
        assert "..." not in say(*arguments).out.split("Commands:")[1]


def test_options_are_listed_in_groups(say: Any) -> None:
    text = say("fit", "--help").out
    places = [text.index(it) for it in (
        "Options:", "--algorithm", "Data:", "--dataset", "Privacy:", "--epsilon", "Split:",
        "--test-fraction", "Output:", "--save",
    )]  # fmt: skip
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        (["fit", "--dataset", "RATINGS?bounds=1,5", "--algorithm", "bias"], "pyarrow", "files"),
        (
            ["tune", "--dataset", "cinema-small", "--algorithm", "bias", "--vary", "damping"],
            "optuna",
            "tune",
        ),
        (["app"], "streamlit", "app"),
    ],
)
def test_a_command_without_its_package_names_the_extra(
    command: list[str], package: str, extra: str, tmp_path: Path
) -> None:
    """In a process, where nothing has loaded the package before."""
    file = tmp_path / "ratings.csv"
    file.write_text("user,item,rating\n1,1,3\n")
    code = (
        f"import sys; sys.modules[{package!r}] = None\nfrom dpmf_core.base import extras\n"
        "extras.installed = lambda: dict.fromkeys(extras.EXTRAS, False)\n"
        "from dpmf_core.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, *(it.replace("RATINGS", str(file)) for it in command)],
        env={**os.environ, "DPMF_DATA": str(tmp_path / "data"), "DPMF_CATALOGUE": "dpmf_datasets"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2 and f'pip install "dpmf[{extra}]"' in process.stderr
    assert package in process.stderr and "Traceback" not in process.stderr


def test_a_sound_machine_is_described(say: Any, tmp_path: Path) -> None:
    found = {it["what"]: it["found"] for it in say("doctor", "--quick", "--json").json}
    assert str(tmp_path / "home") in found["data folder"]
    assert f"{os.cpu_count()} cores" in found["machine"]
    assert found["stored runs"] == "0 runs"
