"""Results as Jupyter notebooks (nbformat 4.5) whose cells run as they are, where the package is
installed; in a place without it, as Colab, from a wheel beside the notebook.

A notebook holds settings and code: no figure of private rows.
"""

import json
from collections.abc import Sequence
from typing import Any

from dpmf_core import algorithms
from dpmf_core.runs.record import RunRecord

Cell = dict[str, Any]
INSTALL = """# Where dpmf is missing, as in Colab, put its wheel beside this notebook first.
import importlib.util
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("dpmf_core") is None:
    wheel = next(Path().glob("dpmf-*.whl"))
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", str(wheel)], check=True)"""
CURVES = """import pandas as pd
import plotly.express as px

# held-out figures by step: computed on raw data, not released
curves = pd.DataFrame(result.record.curves).set_index("step")
px.line(curves, markers=True).show()"""
POINTS = """import pandas as pd

from dpmf_core.runs.execution import run

runs = {}
for point in points:
    if point.key not in runs:
        runs[point.key] = run(point.spec)
frame = pd.DataFrame(rows(points, runs))
frame"""
CHART = """import plotly.express as px

if "{metric}" in frame:  # of private data there is none
    medians = frame.groupby(["label", "epsilon"])["{metric}"].median().reset_index()
    px.line(medians, x="epsilon", y="{metric}", color="label", log_x=True, markers=True).show()"""


def words(text: str) -> Cell:
    """A cell of Markdown."""
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def code(text: str) -> Cell:
    """A cell of Python that was not run yet."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": text.splitlines(keepends=True),
    }


def as_json(cells: Sequence[Cell]) -> str:
    """A notebook of these cells."""
    numbered_cells = [{**cell, "id": f"cell-{place}"} for place, cell in enumerate(cells)]
    return json.dumps(
        {
            "cells": numbered_cells,
            "metadata": {
                "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
                "language_info": {"name": "python"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        ensure_ascii=False,
        indent=1,
    )


def of_run(record: RunRecord) -> str:
    """A notebook that does a run again, exactly on public data.

    Whatever the record holds enters its code as literals alone.
    """
    spec = record.spec
    fields = spec.model_dump(mode="json")
    lines = "".join(f"    {name}={value!r},\n" for name, value in fields.items())
    title = algorithms.find(spec.algorithm).title
    return as_json(
        [
            words(f"# {title}, again\n\n{_note(record)}"),
            code(INSTALL),
            code(
                "from dpmf_core.runs.specification import RunSpec\n\n"
                f"spec = RunSpec.parse(\n{lines})"
            ),
            code(
                "from dpmf_core.cli import output\nfrom dpmf_core.runs.execution import run\n\n"
                "result = run(spec)\nprint(output.run(result.record))"
            ),
            code(CURVES),
        ]
    )


def _note(record: RunRecord) -> str:
    """What a reader must know of the figures that come out."""
    if record.from_file:
        return "The record of this run came as a file; its figures were not checked."
    if record.public:
        return "The data are public and the noise follows from the seed: the figures come again."
    return (
        "The data are private: the noise comes from the operating system, so figures differ from"
        " run to run, and every run enters the account of the data."
    )


def of_points(title: str, points: str, metric: str) -> str:
    """A notebook that makes every run of a sweep. points: code that leaves `points` and `rows`;
    metric: what its chart shows.
    """
    return as_json(
        [
            words(f"# {title}, again"),
            code(INSTALL),
            code(points),
            code(POINTS),
            code(CHART.format(metric=metric)),
        ]
    )
