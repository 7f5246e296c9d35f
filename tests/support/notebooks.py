"""Running a notebook as a person would: in Jupyter's kernel, from top to bottom."""

import itertools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class NotebookOutput:
    """What the cells printed, the JSON of Plotly figures, and the executed notebook."""

    text: str
    figures: list[Any]
    book: Any


def check_format(text: str) -> None:
    """Raises nbformat.ValidationError where it is no notebook of version 4.5."""
    nbformat.validate(nbformat.reads(text, as_version=4))


def execute(text: str, folder: Path) -> NotebookOutput:
    """Run all cells with `folder` as working folder and data folder; a cell that fails raises."""
    book = nbformat.reads(text, as_version=4)
    ours = {"DPMF_DATA": str(folder / "data"), "PYTHONPATH": str(ROOT)}
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(book, timeout=300, resources=place, record_timing=False)
    client.execute(env={**os.environ, **ours, "PLOTLY_RENDERER": "plotly_mimetype"})
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    output = "".join(
        output.text for output in outputs if output.output_type == "stream"
    )
    data = [output.data for output in outputs if "data" in output]
    kind = "application/vnd.plotly.v1+json"
    return NotebookOutput(
        output, [shown[kind] for shown in data if kind in shown], book
    )


def kinds_of_outputs(book: Any) -> list[list[str]]:
    """For each cell the streams (each once) and kinds of data that it puts out."""
    return [
        [kind for kind, _ in itertools.groupby(map(_kind, cell.get("outputs", [])))]
        for cell in book.cells
    ]


def _kind(output: Any) -> str:
    return output.get("name") or "+".join(sorted(output.get("data", ())))
