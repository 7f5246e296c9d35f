"""Privacy laws with discrete noise: values on the grid that move no more than declared."""

import numpy as np
import pytest

from dpmf_core.privacy import DiscreteGaussian, Gaussian, normal_form
from dpmf_core.privacy.events import on_grids
from dpmf_core.testing import probes
from dpmf_core.testing.homes import CASES, case_name
from dpmf_core.testing.parameter_sets import corners
from dpmf_core.testing.privacy_laws import (
    check_blindfold,
    check_locality,
    check_sensitivity,
)
from dpmf_core.testing.probes import record


def takes_discrete(case):
    kind, home = case
    plan = kind().plan(home.world().shape, 1.0)
    leaves = [leaf for leaf, _ in normal_form(plan)]
    return bool(leaves) and all(isinstance(leaf, Gaussian) for leaf in leaves)


discrete = pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if takes_discrete(case) and case[0]().guarantee().has_epsilon
    ],
    ids=case_name,
)


@pytest.fixture(autouse=True)
def _on_grids(monkeypatch):
    monkeypatch.setattr(probes, "as_planned", on_grids)


@discrete
def test_nothing_shared_tells_two_data_sets_apart(case):
    check_blindfold(case[0](), case[1])


@discrete
def test_statistics_lie_on_their_grid_and_are_as_many_as_the_plan_allows(case):
    kind, home = case
    shape = home.world().shape
    for parameters in corners(kind, shape)[:12]:
        algorithm = kind(**parameters)
        if not algorithm.guarantee().has_epsilon:
            continue
        for entry in record(algorithm, home.world()).log:
            step, scale = entry.leaf.grid(entry.size)
            assert isinstance(entry.leaf, DiscreteGaussian)
            assert entry.scale == scale
            assert entry.size <= algorithm.coordinates(entry.leaf.statistic, shape)
            for part in (*entry.exact, *entry.noisy):
                assert np.array_equal(part, np.rint(part / step) * step), (
                    entry.leaf.statistic
                )


@pytest.mark.slow
@discrete
def test_no_rounded_statistic_moves_more_than_the_ledger_says(case):
    """Neighbours of every kind, all releases held fixed."""
    check_sensitivity(case[0](), stride=3, home=case[1])


@pytest.mark.slow
@discrete
def test_a_unit_s_own_row_does_not_notice_the_others(case):
    check_locality(case[0](), home=case[1])
