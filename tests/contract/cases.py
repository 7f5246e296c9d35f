"""Algorithms with a proof, and the corners of parameters in which they are tried: few, in which
any two choices meet; in the slow suite any three, with other numbers.
"""

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.privacy import Status
from dpmf_core.testing.homes import CASES, Home, case_name
from dpmf_core.testing.parameters import Field, choices_of, corners, fields

Case = tuple[type[Algorithm], Home]


@functools.cache
def covering(kind: type[Algorithm], shape: Any, together: int = 2) -> list[dict[str, Any]]:
    """Of the corners, so many that any two choices (or three) are met together: of 576 11 (26)."""
    names = [name for name, field in fields(kind).items() if choices_of(field)]
    subsets = list(itertools.combinations(names, min(together, len(names))))
    remaining = [
        (corner, {(subset, *(corner[name] for name in subset)) for subset in subsets})
        for corner in corners(kind, shape, seed=together - 2)
    ]
    unmet = set().union(*(groups for _, groups in remaining))
    chosen: list[dict[str, Any]] = []
    while not chosen or unmet:
        corner, groups = max(remaining, key=lambda one: len(one[1] & unmet))
        chosen.append(corner)
        unmet -= groups
    return chosen


def proven(case: Case, together: int = 2) -> list[Algorithm]:
    """The algorithm where it claims a proof, in the corners that cover two choices, or three."""
    kind, home = case
    algorithms = [kind(**corner) for corner in covering(kind, home.world().shape, together)]
    return [algorithm for algorithm in algorithms if algorithm.guarantee().status is Status.PROVEN]


def proven_private(case: Case, together: int = 2) -> list[PrivateAlgorithm]:
    """Those of them that release anything."""
    return [one for one in proven(case, together) if isinstance(one, PrivateAlgorithm)]


MOST_STEPS = 12  # of numbers that only repeat a release, so that fits stay short
REPEATED = ("steps", "rounds", "passes", "iterations", "points")


def from_whole_range(kind: type[Algorithm], shape: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Parameters drawn from the whole of every field's range, log-uniform up to its ends.

    A number whose range begins at 0 is 0 one time in four. Whole numbers that only repeat a
    release are few, and a rank is no larger than the number of items.
    """
    return {
        name: _from_whole_range(name, field, shape, rng) for name, field in fields(kind).items()
    }


def _from_whole_range(name: str, field: Field, shape: Any, rng: np.random.Generator) -> Any:
    if choices := choices_of(field):
        return choices[int(rng.integers(len(choices)))]
    low, high = float(field["minimum"]), float(field["maximum"])
    if name == "rank" or name == "n_components":
        high = float(getattr(shape, "n_items", 0) or shape.n_features)
    elif any(word in name for word in REPEATED):
        high = max(low, MOST_STEPS)
    if low <= 0 and rng.random() < 0.25:
        return type(field["default"])(0)
    least = low if low > 0 else (1.0 if field["type"] == "integer" else 1e-6)
    value = float(np.exp(rng.uniform(np.log(least), np.log(max(high, least)))))
    if low < 0 and rng.random() < 0.5:
        value *= low / high
    value = min(max(value, low), high)
    return round(value) if field["type"] == "integer" else value


in_corners = pytest.mark.parametrize(
    "together", [2, pytest.param(3, marks=pytest.mark.slow)], ids=["two choices", "three"]
)
PROVEN = [case for case in CASES if proven(case)]
every = pytest.mark.parametrize("case", PROVEN, ids=case_name)
asking = pytest.mark.parametrize(
    "case", [case for case in PROVEN if proven_private(case)], ids=case_name
)
