"""The notebooks of `examples/` run from top to bottom, and hold what they put out.

`python -m pytest tests/examples --renew` stores their outputs anew.
"""

from pathlib import Path

import nbformat
import pytest

from tests.support.notebooks import check_format, execute, kinds_of_outputs

FOLDER = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks_and_the_folder_lists_each():
    contents = (FOLDER / "README.md").read_text("utf-8")
    assert len(NOTEBOOKS) >= 5
    names = [
        notebook.name for notebook in NOTEBOOKS if f"({notebook.name})" not in contents
    ]
    assert names == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_well_formed(path):
    check_format(path.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_holds_its_outputs(path, tmp_path, pytestconfig):
    """Noise on private data differs from run to run, so the kinds of outputs are compared."""
    output = execute(path.read_text("utf-8"), tmp_path)
    assert output.text
    if pytestconfig.getoption("renew"):
        content = nbformat.writes(output.book).replace(str(tmp_path), ".")
        path.write_text(content + "\n", "utf-8")
    stored = nbformat.read(path, as_version=4)
    assert kinds_of_outputs(stored) == kinds_of_outputs(output.book)
    assert str(tmp_path) not in path.read_text("utf-8")
