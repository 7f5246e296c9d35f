"""Algorithms with a proof, and the corners of parameters in which they are tried: few, in which
any two choices meet; in the slow suite any three, with other numbers.
"""

import functools
import itertools
from typing import Any

import pytest

from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.privacy import Status
from dpmf_core.testing.homes import CASES, Home, case_name
from dpmf_core.testing.parameter_sets import choices_of, corners, fields

Case = tuple[type[Algorithm], Home]


@functools.cache
def covering(
    kind: type[Algorithm], shape: Any, together: int = 2
) -> list[dict[str, Any]]:
    """Of the corners, so many that any two choices (or three) are met together: of 576 11 (26)."""
    names = [name for name, field in fields(kind).items() if choices_of(field)]
    subsets = list(itertools.combinations(names, min(together, len(names))))
    remaining = []
    for corner in corners(kind, shape, seed=together - 2):
        met = {(subset, *(corner[name] for name in subset)) for subset in subsets}
        remaining.append((corner, met))
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
    algorithms = [
        kind(**corner) for corner in covering(kind, home.world().shape, together)
    ]
    return [
        algorithm
        for algorithm in algorithms
        if algorithm.guarantee().status is Status.PROVEN
    ]


def proven_private(case: Case, together: int = 2) -> list[PrivateAlgorithm]:
    """Those of them that release anything."""
    return [one for one in proven(case, together) if isinstance(one, PrivateAlgorithm)]


in_corners = pytest.mark.parametrize(
    "together",
    [2, pytest.param(3, marks=pytest.mark.slow)],
    ids=["two choices", "three"],
)
PROVEN = [case for case in CASES if proven(case)]
every = pytest.mark.parametrize("case", PROVEN, ids=case_name)
asking = pytest.mark.parametrize(
    "case", [case for case in PROVEN if proven_private(case)], ids=case_name
)
