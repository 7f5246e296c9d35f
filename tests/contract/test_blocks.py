"""The same bits for one block, many blocks, blocks of one, permuted units, from memory and from
disk, on one thread and on two.
"""

from pathlib import Path
from typing import Any

import pytest

from dpmf_core.algorithms import Algorithm
from dpmf_core.testing import curator_laws as laws
from dpmf_core.testing import worlds
from dpmf_core.testing.homes import CASES, RATINGS, Home, case_name
from dpmf_core.testing.parameters import corners as all_corners

Case = tuple[type[Algorithm], Home]
CORNERS = 4  # of each algorithm's parameters in the slow suite; the fast one has the first


def proven(case: Case) -> list[Algorithm]:
    """A few of the corners in which an algorithm has a proof, and so speaks to a curator."""
    kind, home = case
    algorithms = [kind(**parameters) for parameters in all_corners(kind, home.world().shape, 0)]
    some = [one for one in algorithms if one.guarantee().has_epsilon]
    return some[:: max(1, len(some) // CORNERS)]


CURATOR_CASES = [case for case in CASES if proven(case)]


def data_of(home: Home) -> Any:
    return worlds.low_rank(n_users=90, n_items=17) if home is RATINGS else home.world()


@pytest.mark.parametrize(
    "corners", [slice(1), pytest.param(slice(1, None), marks=pytest.mark.slow)], ids=["one", "more"]
)
@pytest.mark.parametrize("case", CURATOR_CASES, ids=case_name)
def test_blocks_change_no_bit(case: Case, corners: slice, tmp_path: Path) -> None:
    data = data_of(case[1])
    for place, algorithm in enumerate(proven(case)[corners]):
        folder = tmp_path / str(place)
        folder.mkdir()
        laws.check_blocks(algorithm, data, folder)
