"""Every PROVEN algorithm keeps the four laws for any two choices (slow: three) together."""

import numpy as np
import pytest

from dpmf_core.algorithms import REGISTRY
from dpmf_core.privacy import normal_form
from dpmf_core.testing import privacy_laws as laws
from dpmf_core.testing.homes import RATINGS, case_name
from dpmf_core.testing.probes import blind
from tests.contract.cases import PROVEN, every, in_corners, proven

releasing = pytest.mark.parametrize(
    "case",
    [
        case
        for case in PROVEN
        if normal_form(proven(case)[0].plan(case[1].world().shape, 1.0))
    ],
    ids=case_name,
)


@releasing
def test_no_neighbour_moves_a_release_further_than_declared(case):
    """From end to end, on one set of parameters: single units answer for all others."""
    laws.check_sensitivity(proven(case)[0], home=case[1], stride=2)


@in_corners
@every
def test_blindfold(case, together):
    for algorithm in proven(case, together):
        laws.check_blindfold(algorithm, case[1])


@in_corners
@every
def test_locality(case, together):
    for place, algorithm in enumerate(proven(case, together)):
        laws.check_locality(algorithm, place, case[1])


@every
def test_noise_is_fresh(case):
    for algorithm in proven(case):
        laws.check_fresh_noise(blind(algorithm, case[1].world()))


FEW = [
    ("dpals", {"frequent_fraction": 0.2}),
    (
        "dpals",
        {
            "frequent_fraction": 0.2,
            "sampling": "adaptive",
            "biases": False,
            "centring": "none",
        },
    ),
    ("ada-dpals", {"frequent_fraction": 0.2}),
    ("ada-dpals", {"frequent_fraction": 0.2, "biases": False, "centring": "none"}),
    ("svd-cleansing", {}),
]


@pytest.mark.parametrize(
    ("name", "parameters"),
    FEW,
    ids=[f"{name} {len(parameters)}" for name, parameters in FEW],
)
def test_no_bound_counts_more_items_than_there_are(name, parameters):
    """Users may give more entries than there are items; still every bound is reached."""
    if "als" in name:
        biting = {"rank": 2, "clip_norm": 0.05, "rating_clip": 0.1, "steps": 2}
    else:
        biting = {"rank": 2, "row_clip": 0.1}
    algorithm = REGISTRY[name](**{**biting, **parameters}, ratings_per_user=100)
    shares = laws.check_sensitivity(algorithm, level=0.01) | laws.check_sensitivity(
        algorithm, RATINGS.crowd(), level=0.01
    )
    assert {
        statistic: share for statistic, share in shares.items() if share < 0.99
    } == {}


@every
def test_the_own_row_of_an_empty_unit_is_zero(case):
    home = case[1]
    for algorithm in proven(case):
        model = blind(algorithm, home.world()).model
        for side in home.own_rows(model, home.nobody()):
            assert not np.asarray(side).any()
