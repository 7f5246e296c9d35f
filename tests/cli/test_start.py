"""Commands load what they use; what a shell completes."""

import os
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete

import dpmf
from dpmf_core.base.program import program as program_name
from dpmf_core.cli import program

LISTING = """
import sys
from dpmf_core.cli import main
code = main({arguments})
print([name for name in {heavy} if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""


HEAVY = (
    "numpy", "pydantic", "numba", "scipy", "scipy.optimize", "streamlit", "dpmf_core.algorithms",
)  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "heavy_modules"),
    [
        (["app", "--help"], HEAVY),
        (
            ["fit", "--dataset", "small", "--algorithm", "global-mean"],
            (
                "scipy.special",
                "scipy.sparse",
                "pandas",
                "sklearn",
                "pooch",
                "dask",
                "dpmf_core.papers",
                "dpmf_core.jobs.engine",
                "dpmf_core.algorithms.dpals",
            ),
        ),
    ],
)
def test_a_command_loads_no_more_than_it_uses(arguments, heavy_modules, tmp_path):
    process = subprocess.run(
        [
            sys.executable,
            "-c",
            LISTING.format(arguments=arguments, heavy=heavy_modules),
        ],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "DPMF_DATA": str(tmp_path)},
    )
    assert process.stdout
    assert process.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "incomplete", "completions"),
    [
        ("", "cho", ["choose"]),
        ("fit", "--alg", ["--algorithm"]),
        ("fit --algorithm", "private-b", ["private-bias"]),
        ("sweep --algorithms", "als,private-b", ["als,private-bias"]),
        ("fit --dataset", "cinema-s", ["cinema-small"]),
        ("choose --dataset", "cinema-s", ["cinema-small"]),
        ("check", "cinema-s", ["cinema-small"]),
        ("sweep --preset", "chien-fig2", ["chien-fig2"]),
    ],
)
def test_commands_options_and_ids_are_completed(words, incomplete, completions):
    shell = BashComplete(program, {}, "dpmf", "_DPMF_COMPLETE")
    values = [
        completion.value
        for completion in shell.get_completions(words.split(), incomplete)
    ]
    assert values == completions


@pytest.mark.usefixtures("data_folder")
def test_stored_runs_and_files_are_completed(monkeypatch):
    monkeypatch.delenv("DPMF_CATALOGUE", raising=False)
    key = dpmf.fit("cinema-small", "bias").key
    shell = BashComplete(program, {}, "dpmf", "_DPMF_COMPLETE")
    values = [item.value for item in shell.get_completions(["runs", "show"], key[:6])]
    assert values == [key]
    (item,) = shell.get_completions(["check"], "ratings")
    assert item.value == "ratings"
    assert item.type == "file"


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("/opt/env/bin/dpmf", "dpmf"),
        ("dpmf", "dpmf"),
        ("/clone/dpmf.py", "python -m dpmf"),
    ],
)
def test_usage_lines_name_the_command_as_it_was_started(monkeypatch, first, name):
    monkeypatch.setattr(sys, "argv", [first])
    monkeypatch.setenv("PATH", "")
    program_name.cache_clear()
    assert program_name() == name
    program_name.cache_clear()


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        (
            ["fit", "--dataset", "RATINGS?bounds=1,5", "--algorithm", "bias"],
            "pyarrow",
            "files",
        ),
        (
            [
                "tune",
                "--dataset",
                "cinema-small",
                "--algorithm",
                "bias",
                "--vary",
                "damping",
            ],
            "optuna",
            "tune",
        ),
        (["app"], "streamlit", "app"),
    ],
)
def test_a_command_without_its_package_names_the_extra(
    command, package, extra, tmp_path
):
    """In a process, where nothing has loaded the package before."""
    file = tmp_path / "ratings.csv"
    file.write_text("user,item,rating\n1,1,3\n")
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from dpmf_core.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            *(word.replace("RATINGS", str(file)) for word in command),
        ],
        env={
            **os.environ,
            "DPMF_DATA": str(tmp_path / "data"),
            "DPMF_CATALOGUE": "dpmf_datasets",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert f'pip install "dpmf[{extra}]"' in process.stderr
    assert package in process.stderr
    assert "Traceback" not in process.stderr
