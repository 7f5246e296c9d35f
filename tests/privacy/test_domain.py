"""Rows are checked where they enter and where they are added; releases are finite."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array

from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.algorithms.base import Recommender
from dpmf_core.algorithms.gradient import ItemGradient
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import NoisyCurator, Statistic, in_memory, on_grid
from dpmf_core.curator.grid import grid_step
from dpmf_core.curator.people import split_units
from dpmf_core.data.domain import Domain, OutsideDomain
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.privacy import Noise
from dpmf_core.privacy.noise import PlanViolation
from dpmf_core.testing.parameter_sets import fields
from dpmf_core.testing.rating_worlds import world

PRIVATE = [kind for kind in REGISTRY.values() if issubclass(kind, PrivateAlgorithm)]


@pytest.mark.parametrize("value", [1e39, 1.5e30, math.inf, math.nan, -1.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_samples_outside_the_domain_are_refused(value, sparse):
    X = np.ones((8, 5))
    X[7, 2] = value
    with pytest.raises(BadInput):
        Samples.of(csr_array(X) if sparse else X)


def ratings(**changes):
    users = [0, 0, 2]
    items = [1, 3, 0]
    made = Ratings.of(users, items, [1, 5, 2], n_users=3, n_items=4, bounds=(1, 5))
    return replace(made, **changes)


BROKEN = {
    "infinite": {"values": np.array([1, np.inf, 2], np.float32)},
    "not a number": {"values": np.array([1, np.nan, 2], np.float32)},
    "beyond the bounds": {"values": np.array([1, 5.5, 2], np.float32)},
    "float64": {"values": np.array([1.0, 5.0, 2.0])},
    "a pair twice": {"items": np.array([1, 1, 0], np.int32)},
    "items descend": {"items": np.array([3, 1, 0], np.int32)},
    "an unknown item": {"items": np.array([1, 4, 0], np.int32)},
    "users descend": {"users": np.array([2, 0, 0], np.int32)},
    "an unknown user": {"users": np.array([0, 0, 3], np.int32)},
}


@pytest.mark.parametrize("changes", BROKEN.values(), ids=BROKEN)
def test_a_curator_takes_no_ratings_outside_the_domain(changes):
    in_memory(ratings())
    with pytest.raises(OutsideDomain):
        in_memory(ratings(**changes))


@pytest.mark.parametrize("value", [np.inf, np.nan, -1.0])
def test_a_curator_takes_no_samples_outside_the_domain(value):
    X = np.ones((4, 3), np.float32)
    X[1, 2] = value
    for rows in (X, csr_array(X)):
        with pytest.raises(OutsideDomain):
            in_memory(Samples(rows))


def test_rows_may_end_anywhere():
    """Empty rows first, in a row and last; a column may repeat from one row to the next."""
    starts = np.array([0, 0, 2, 2, 3, 3])
    values = np.ones(3, np.float32)
    domain = Domain(5, 9, 0, 1)
    domain.check(values, np.array([4, 8, 8]), starts)
    with pytest.raises(OutsideDomain):
        domain.check(values, np.array([8, 8, 4]), starts)
    nothing = np.ones(0, np.float32)
    Domain(2, 9, 0, 1).check(nothing, np.array([], int), np.zeros(3, int))


@dataclass(frozen=True)
class Broken(Statistic):
    """A sum that is not finite."""

    name: ClassVar[str] = "broken"
    sensitivity: ClassVar[float] = 1.0

    def empty(self, shape, *shared, **part):
        return (np.zeros(2),)

    def add(self, block, totals, *shared, **part):
        totals[0][1] = np.nan


def test_values_that_are_not_finite_are_neither_released_nor_recorded():
    noise = Noise(Broken().event(1.0))
    curator = NoisyCurator(in_memory(world()), noise)
    with pytest.raises(PlanViolation):
        curator.release(Broken())
    assert noise.ledger == ()


@pytest.mark.parametrize("factors", [1, 2])
def test_the_grid_bounds_every_value_and_takes_what_overflowed_as_0(factors):
    values = np.array([0.3, -0.3, 7.0, -1e300, np.inf, -np.inf, np.nan, 5e-324])
    step = grid_step(0.5, 1000, factors)
    rounded = on_grid(values, 0.5, 1000, factors)
    clipped = np.array([0.3, -0.3, 0.5, -0.5, 0, 0, 0, 0])
    expected = np.trunc(clipped / step) * step
    assert np.array_equal(rounded, expected)


@pytest.mark.parametrize("factor", [3e38, np.inf, np.nan])
def test_gradients_on_factors_that_overflowed_stay_within_the_clip(factor):
    """Item factors are released numbers, and may be anything."""
    rows = world()
    factors = np.full((rows.n_items, 2), factor, np.float32)
    factors[0] = (-factor, 1.0)
    model = Recommender.of_means(rows.shape, item_factors=factors, ridge=20.0)
    statistic = ItemGradient(0.5)
    with np.errstate(all="ignore"):
        units = [np.array([user]) for user in range(rows.n_users)]
        for block in split_units({"train": rows}, units):
            totals = statistic.empty(rows.shape, model)
            (total,) = totals
            whole = replace(block, n_units=rows.n_users)
            statistic.add(whole, totals, model)
            assert np.linalg.norm(total) <= 0.5


@pytest.mark.parametrize("kind", PRIVATE, ids=lambda kind: kind.id)
def test_every_number_of_a_private_algorithm_has_closed_ends(kind):
    for name, field in fields(kind).items():
        if field.get("type") in ("number", "integer"):
            assert math.isfinite(field["minimum"]), name
            assert math.isfinite(field["maximum"]), name


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("sgld", {"prior_precision": 1e-80}),
        ("dpals", {"clip_norm": 1e-42}),
        ("ada-dpals", {"rating_clip": 1e-303}),
        ("dp-nmf", {"start_share": 1e-9}),
    ],
)
def test_parameters_outside_the_range_of_their_proof_are_refused(name, parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        REGISTRY[name](**parameters)
