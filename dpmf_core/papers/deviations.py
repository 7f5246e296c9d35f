"""Deviations: where an algorithm of ours departs from the algorithm that its source prints.

Each paper's `paper.toml` declares its deviations with the ids of the algorithms, and its
`printed.py` holds the algorithm as printed. Tests apply the deviations to the printed version and
find the results of ours. What they cost is measured by `python -m benchmarks.deviations_private`,
`_ratings` and `_samples`.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from dpmf_core.papers.figures import texts

COSTS_FILE = Path(__file__).parent / "deviations.json"


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """One place where an algorithm here differs from its source.

    Attributes
    ----------
    algorithms
        The ids of the algorithms.
    place
        The place in the paper.
    paper
        What the paper does, in a short quotation or its symbols.
    ours
        What the algorithm here does.
    why
        The reason.
    cost
        The key of the measured cost in error, which a command records; '' if nothing is measured.
    every_run
        Whether no parameter avoids the deviation.
    """

    algorithms: tuple[str, ...]
    place: str
    paper: str
    ours: str
    why: str
    cost: str = ""
    every_run: bool = False


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Mean test RMSE of the algorithm as printed, and with one deviation, on one data set.

    Attributes
    ----------
    on
        The data and settings.
    printed
        The error of the algorithm as printed.
    ours
        Its error with the deviation.
    draws
        The number of draws of noise, starts and split, the same for both.
    measure
        The name of the error.
    """

    on: str
    printed: float
    ours: float
    draws: int
    measure: str = "RMSE"

    @property
    def words(self) -> str:
        return (
            f"{self.measure} {self.ours:.4f} instead of {self.printed:.4f} on {self.on}"
        )


DEVIATIONS = TypeAdapter(tuple[Deviation, ...])
COSTS = TypeAdapter(dict[str, dict[str, Cost]])


def read_deviations(package: str) -> dict[str, tuple[Deviation, ...]]:
    """The deviations of a paper's folder, by the id of the algorithm."""
    deviations: dict[str, tuple[Deviation, ...]] = {}
    for deviation in DEVIATIONS.validate_python(texts(package)["deviations"]):
        for algorithm in deviation.algorithms:
            deviations[algorithm] = (*deviations.get(algorithm, ()), deviation)
    return deviations


@functools.cache
def recorded_costs() -> Mapping[str, Mapping[str, Cost]]:
    """The recorded costs, by the id of the algorithm and the key of the deviation."""
    return COSTS.validate_json(COSTS_FILE.read_bytes())


def cost_words(algorithm: str, deviation: Deviation) -> str:
    """What a deviation of an algorithm costs in error, as recorded; "not measured" otherwise."""
    cost = recorded_costs().get(algorithm, {}).get(deviation.cost)
    if cost is None:
        return "not measured"
    return cost.words
