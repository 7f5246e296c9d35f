"""Notebooks that do runs again."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from dpmf_core.runs.execution import run
from dpmf_core.runs.reports import notebook_of_run
from dpmf_core.runs.specification import RunSpec
from tests.support.notebooks import check_format, execute

SPEC = RunSpec.parse(
    data={"id": "cinema-small"},
    algorithm="dpals",
    parameters={"rank": 2, "steps": 2},
    budget={"epsilon": 5, "delta": 5e-5},
    seed=3,
)


def numbers(axis: dict[str, str]) -> list[float]:
    """Of an axis as Plotly packs it."""
    values: list[float] = np.frombuffer(base64.b64decode(axis["bdata"]), axis["dtype"]).tolist()
    return values


@pytest.mark.slow
def test_a_run_comes_again_with_its_figures(tmp_path: Path) -> None:
    record = run(SPEC).record
    text = notebook_of_run(record)
    check_format(text)
    output = execute(text, tmp_path)
    words = output.text
    assert f"held-out RMSE {record.metrics['rmse']:.3f}." in words
    assert "epsilon = 5.00 (delta = 5e-5, per user, add/remove, exact)" in words
    ((curve, *_),) = (figure["data"] for figure in output.figures)
    assert numbers(curve["x"]) == [point["step"] for point in record.curves]


def test_hostile_words_stay_literals() -> None:
    """What a record names enters the code as a literal: no line of its own, no closed string."""
    nasty = SPEC.model_copy(
        update={"data": SPEC.data.model_copy(update={"id": "x'\n)\nimport os\n#"})}
    )
    record = run(SPEC).record.model_copy(update={"spec": nasty})
    cells = json.loads(notebook_of_run(record))["cells"]
    assert not any("\nimport os\n" in "".join(cell["source"]) for cell in cells)
