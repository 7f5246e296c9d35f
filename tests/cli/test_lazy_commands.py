"""Commands load what they use, and the list of them says what they say themselves."""

import os
import subprocess
import sys
from pathlib import Path

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
