"""The notebooks of `examples/` run from top to bottom."""

from pathlib import Path

import pytest

from tests.support.notebooks import check_format, execute

FOLDER = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks_and_the_folder_lists_each() -> None:
    contents = (FOLDER / "README.md").read_text("utf-8")
    assert len(NOTEBOOKS) >= 5
    assert [it.name for it in NOTEBOOKS if f"({it.name})" not in contents] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda it: it.stem)
def test_a_notebook_is_well_formed(path: Path) -> None:
    check_format(path.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda it: it.stem)
def test_a_notebook_runs_as_it_is(path: Path, tmp_path: Path) -> None:
    assert execute(path.read_text("utf-8"), tmp_path).text
