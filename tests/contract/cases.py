"""Algorithms with a proof, and the corners of parameters in which they are tried: few, in which
any two choices meet, and in the slow suite all.
"""

import pytest

from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.privacy import Status
from dpmf_core.testing.homes import CASES, Home, case_name
from dpmf_core.testing.parameters import corners, covering

Case = tuple[type[Algorithm], Home]


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
