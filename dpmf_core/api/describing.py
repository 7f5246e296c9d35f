"""`dpmf.algorithms`: every algorithm with its guarantee, its parameters and its deviations."""

import dataclasses
from typing import Any, Literal

import pandas as pd

from dpmf_core.algorithms import REGISTRY, Algorithm
from dpmf_core.base.errors import BadInput

FIRST = ("title", "task", "status", "unit", "source", "words", "parameters")  # columns


def algorithms(task: Literal["ratings", "samples"] | None = None) -> pd.DataFrame:
    """List the algorithms, their sources, guarantees and parameters.

    Parameters
    ----------
    task
        "ratings" or "samples"; by default both.

    Returns
    -------
    DataFrame
        One row for each, by its id: title, task, status of the guarantee, the unit that it
        protects, source, a description, and `parameters`, which maps each name to its description,
        type, range and default. Then the version, the guarantee in words, and `deviations` from the
        papers' algorithms.

    Raises
    ------
    BadInput
        If there is no such task.

    Examples
    --------
    >>> import dpmf
    >>> table = dpmf.algorithms("ratings")
    >>> table.loc["spectral", ["title", "status"]].tolist()
    ['Spectral', 'PROVEN']
    >>> table.loc["dpals", "parameters"]["rank"]["description"]
    'number of latent factors'
    """
    if task not in (None, "ratings", "samples"):
        raise BadInput(f"task is ratings, samples or None. Got {task!r}.")
    kinds = [kind for kind in REGISTRY.values() if task in (None, kind.task)]
    rows = [_row(description(kind)) for kind in kinds]
    frame = pd.DataFrame(rows).set_index("id")
    return frame[[*FIRST, *(name for name in frame if name not in FIRST)]]


def _row(described: dict[str, Any]) -> dict[str, Any]:
    """A description as a row of the table."""
    guarantee = described["guarantee"]
    return {
        **described,
        "status": guarantee["status"],
        "guarantee": guarantee["words"],
        "parameters": described["parameters"].get("properties", {}),
    }


def description(kind: type[Algorithm]) -> dict[str, Any]:
    """An algorithm as JSON: facts, guarantee, parameters as a JSON schema, and deviations."""
    guarantee = kind().guarantee()
    return {
        "id": kind.id,
        "title": kind.title,
        "words": kind.words,
        "source": kind.source,
        "task": kind.task,
        "version": kind.version,
        "unit": guarantee.unit,
        "guarantee": {"status": str(guarantee.status), "words": guarantee.words},
        "parameters": kind.model_json_schema(),
        "deviations": _deviations(kind.id),
    }


def _deviations(algorithm: str) -> list[dict[str, str]]:
    """Where an algorithm departs from the papers' algorithms, and what that costs."""
    from dpmf_core.papers.deviations import cost_words  # slow to load, needed only here
    from dpmf_core.papers.registry import DEVIATIONS, PAPERS

    return [
        {
            "source": PAPERS[paper].short,
            **dataclasses.asdict(deviation),
            "cost": cost_words(algorithm, deviation),
        }
        for paper, by_algorithm in DEVIATIONS.items()
        for deviation in by_algorithm.get(algorithm, ())
    ]
