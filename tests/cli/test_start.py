"""Commands load what they use; what a shell completes; `doctor`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


def test_commands_and_options_are_completed() -> None:
    """As bash asks for them."""

    def completions(words: str) -> list[str]:
        variables = {"_DPMF_COMPLETE": "bash_complete", "COMP_WORDS": words}
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


def test_a_sound_machine_is_described(say: Any, tmp_path: Path) -> None:
    found = {it["what"]: it["found"] for it in say("doctor", "--quick", "--json").json}
    assert str(tmp_path / "home") in found["data folder"]
    assert f"{os.cpu_count()} cores" in found["machine"]
    assert found["stored runs"] == "0 runs"
