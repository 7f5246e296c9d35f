"""Algorithms with a proof, and the corners of parameters in which they are tried: few, in which
any two choices meet, and in the slow suite all.
"""

import itertools
from typing import Any

import pytest

from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.privacy import Status
from dpmf_core.testing.homes import CASES, Home, case_name
from dpmf_core.testing.parameters import corners, fields, is_choice

Case = tuple[type[Algorithm], Home]


def covering(kind: type[Algorithm], shape: Any, seed: int = 0) -> list[dict[str, Any]]:
    """Of the corners, so many that any two choices are met together: a tenth of 144."""
    names = [name for name, field in fields(kind).items() if is_choice(field)]
    together = list(itertools.combinations(names, min(2, len(names))))
    remaining = corners(kind, shape, seed)

    def groups_of(corner: dict[str, Any]) -> set[tuple[Any, ...]]:
        return {(group, *(corner[name] for name in group)) for group in together}

    out: list[dict[str, Any]] = []
    groups: set[tuple[Any, ...]] = set()
    every = groups.union(*map(groups_of, remaining))
    while not out or groups < every:
        best = max(remaining, key=lambda corner: len(groups_of(corner) - groups))
        remaining.remove(best)
        out.append(best)
        groups |= groups_of(best)
    return out


def proven(case: Case, whole: bool = False) -> list[Algorithm]:
    """The algorithm where it claims a proof: in the corners that cover two choices, or in all
    (`whole`).
    """
    kind, home = case
    choose = corners if whole else covering
    algorithms = [kind(**parameters) for parameters in choose(kind, home.world().shape)]
    return [algorithm for algorithm in algorithms if algorithm.guarantee().status is Status.PROVEN]


def proven_private(case: Case, whole: bool = False) -> list[PrivateAlgorithm]:
    """Those of them that release anything."""
    return [one for one in proven(case, whole) if isinstance(one, PrivateAlgorithm)]


in_corners = pytest.mark.parametrize(
    "whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["two choices", "all"]
)
PROVEN = [case for case in CASES if proven(case)]
every = pytest.mark.parametrize("case", PROVEN, ids=case_name)
asking = pytest.mark.parametrize(
    "case", [case for case in PROVEN if proven_private(case)], ids=case_name
)
