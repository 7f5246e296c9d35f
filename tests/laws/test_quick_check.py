"""`make check` tries every module that has changed."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = runpy.run_path(str(ROOT / ".ci" / "changed.py"))


def test_every_module_has_tests() -> None:
    modules = CHECK["product_modules"]()
    assert len(modules) > 400
    assert [path for path in modules if not CHECK["tests_of"](path)] == []


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("dpmf_core/runs/store.py", "tests/runs/test_store.py"),  # its mirror
        ("datasets/readers/dates.py", "tests/datasets/test_dates.py"),  # imported under a name
        ("dpmf_core/engine/dispatcher.py", "tests/engine/test_executor.py"),  # by its importers
        ("dpmf_core/cli/admin.py", "tests/cli/test_cli.py"),  # found by its path
        ("pages/tradeoff/page.py", "tests/pages/test_tradeoff.py"),
        ("tests/runs/test_store.py", "tests/runs/test_store.py"),
    ],
)
def test_a_module_is_tried_by_its_own_tests(module: str, test: str) -> None:
    assert Path(test) in CHECK["tests_of"](Path(module))
