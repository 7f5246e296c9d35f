"""What PROVEN algorithms ask their curator, for any two choices (slow: three) together."""

import zlib

import numpy as np
import pytest

from dpmf_core.privacy import Status, normal_form
from dpmf_core.testing import privacy_laws as laws
from dpmf_core.testing.homes import case_name
from dpmf_core.testing.parameter_sets import from_whole_range
from tests.contract.cases import asking, in_corners, proven_private


@asking
def test_the_plan_is_made_of_the_declared_statistics(case):
    for algorithm in proven_private(case, together=3):
        laws.check_plan(algorithm, case[1].world().shape)


# Two first messages lie at most 1.94 apart, for their counts never cancel; second ones nearly 2.
LOOSE = {"every user's message": 0.97}


@in_corners
@asking
def test_no_unit_answers_more_than_declared_and_every_bound_is_reached(case, together):
    """For small random clip norms the worst units come within 1% of each bound."""
    home = case[1]
    largest = {}
    statistics = set()
    algorithms = proven_private(case, together)
    stride = max(1, min(4, len(algorithms) // 3))
    for place, algorithm in enumerate(algorithms):
        plan = algorithm.plan(home.world().shape, 1.0)
        spread = {"home": home, "first": place % stride, "stride": stride}
        statistics |= {leaf.statistic for leaf, _ in normal_form(plan)}
        for answers in (
            laws.check_units(algorithm, **spread),
            laws.check_units(algorithm, home.crowd(), level=0.01, **spread),
        ):
            for name, share in answers.items():
                largest[name] = max(share, largest.get(name, 0.0))
    assert largest.keys() == statistics
    assert {
        name: share for name, share in largest.items() if share < LOOSE.get(name, 0.99)
    } == {}


@in_corners
@asking
def test_every_statistic_is_a_sum_over_units(case, together):
    for seed, algorithm in enumerate(proven_private(case, together)):
        laws.check_sums(algorithm, seed, case[1])


@pytest.mark.parametrize("draws", [3, pytest.param(20, marks=pytest.mark.slow)])
@asking
def test_no_unit_answers_more_than_declared_from_end_to_end_of_every_range(case, draws):
    """Every number log-uniform between the ends of its range, and so the noise."""
    kind, home = case
    rng = np.random.default_rng(zlib.crc32(case_name(case).encode()))
    for draw in range(draws):
        world = home.world(draw, draw % 3)
        algorithm = kind(**from_whole_range(kind, world.shape, rng))
        level = 10.0 ** rng.uniform(-2, 4)
        if algorithm.guarantee().status is Status.PROVEN:
            try:
                laws.check_units(
                    algorithm, world, level=level, home=home, first=draw % 3, stride=3
                )
            except Exception as error:
                error.add_note(f"with {algorithm!r} at noise {level:g}")
                raise
