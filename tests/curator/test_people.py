"""People in blocks and what is held beside their rows; the grid, on which sums are exact."""

import gc
import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmf_core.curator import (
    NoisyCurator,
    OpenCurator,
    Statistic,
    grid,
    in_memory,
    in_parts,
    on_grid,
)
from dpmf_core.curator.people import rows_of, split_units
from dpmf_core.privacy import NOTHING, Noise, PlanViolation
from dpmf_core.testing import sample_worlds
from dpmf_core.testing.rating_worlds import world
from tests.support.parts import in_files


@dataclass(frozen=True)
class UnitsSeen(Statistic):
    """Adds (id + 1) x state to the place of each unit."""

    name: ClassVar[str] = "units"
    sensitivity: ClassVar[float] = 1.0

    def empty(self, shape, state):
        return (np.zeros(shape.n_users),)

    def add(self, block, totals, state):
        totals[0][block.ids] += state


def numbers(block, *before):
    """The ids of a block, or one more than what was held."""
    if before:
        return before[0] + 1.0
    return block.ids.astype(float)


PLACES = {
    "memory": lambda data, folder: in_memory(data, 5),
    "parts": lambda data, folder: in_parts(in_files(data, 5, folder), folder),
}


@pytest.mark.parametrize("place", PLACES)
def test_held_state_returns_to_its_own_block(place, tmp_path):
    people = PLACES[place](world(), tmp_path)
    curator = OpenCurator(people, Noise(NOTHING), {})
    local_state = curator.hold(numbers)
    later = curator.hold(numbers, local_state)
    seen = curator.total(UnitsSeen(), local_state)
    assert np.array_equal(seen, np.arange(23))
    seen = curator.total(UnitsSeen(), later)
    assert np.array_equal(seen, np.arange(23) + 1)


@pytest.mark.parametrize("place", PLACES)
def test_state_that_nothing_refers_to_is_freed(place, tmp_path):
    people = PLACES[place](world(), tmp_path)
    curator = NoisyCurator(people, Noise(NOTHING))
    first = curator.hold(numbers)
    copy = pickle.loads(pickle.dumps(first))
    second = curator.hold(numbers, first)
    first_state = people.states[copy.key, 4]
    second_state = people.states[second.key, 4]
    assert np.array_equal(first_state, second_state - 1)
    del first
    gc.collect()
    for block in range(5):
        assert people.states[second.key, block].size
        with pytest.raises((KeyError, FileNotFoundError)):
            people.states[copy.key, block]


def test_two_curators_share_no_state():
    people = in_memory(world())
    one = OpenCurator(people, Noise(NOTHING), {})
    other = OpenCurator(people, Noise(NOTHING), {})
    first = one.hold(numbers)
    second = other.hold(numbers, one.hold(numbers))
    assert not one.total(UnitsSeen(), first)[0]
    assert other.total(UnitsSeen(), second)[0] == 1


def test_blocks_hold_their_units_rows_and_no_others():
    data = world()
    units = np.array([7, 0, 3, 5])
    part = rows_of(data, units)
    assert part.n_users == 4
    for place, unit in enumerate(units):
        hers = data.users == unit
        mine = part.users == place
        assert np.array_equal(part.items[mine], data.items[hers])
        assert np.array_equal(part.values[mine], data.values[hers])
    starts = np.searchsorted(part.users, np.arange(5))
    assert np.array_equal(part.by_user, starts)


@pytest.mark.parametrize("images", [True, False])
def test_a_person_brings_all_her_rows_in_their_order(images):
    rows, people = sample_worlds.rows_and_people()
    data = sample_worlds.of(rows, images).of_people(
        people, sample_worlds.PeopleWorld.COUNT
    )
    units = [np.array([4, 1]), np.array([0, 2, 3, 5, 6, 7, 8])]
    blocks = split_units({"train": data}, units)
    first = blocks[0].rows
    assert first.n_people == 2
    if images:
        dense = first.X
    else:
        dense = first.X.toarray()
    for place, person in enumerate((4, 1)):
        mine = dense[first.people == place]
        hers = rows[people == person]
        assert np.array_equal(mine, hers.astype(np.float32))
    assert sum(len(block.rows) for block in blocks) == len(data)


def test_a_key_reveals_nothing_of_its_state():
    curator = NoisyCurator(in_memory(world()), Noise(NOTHING))
    local_state = curator.hold(numbers)
    assert len(pickle.dumps(local_state)) < 300
    assert not hasattr(local_state, "__dict__")


@settings(deadline=None)  # the first call compiles
@given(
    bound=st.floats(1e-6, 1e6),
    n_units=st.integers(1, 10**10),
    factors=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_every_sum_of_n_products_is_a_whole_number_below_two_to_the_53(
    bound, n_units, factors, seed
):
    """In exact arithmetic: the largest sum there can be is held by a float64 without rounding."""
    values = np.random.default_rng(seed).uniform(-bound, bound, 20)
    step = Fraction(grid.grid_step(bound, n_units, factors))
    grid_values = []
    for value in on_grid(values, bound, n_units, factors):
        grid_values.append(Fraction(float(value)) / step)
    assert all(x.denominator == 1 for x in grid_values)
    (largest,) = on_grid(np.array([bound]), bound, n_units, factors)
    largest = Fraction(float(largest)) / step
    assert n_units * largest**factors <= 2**53


@settings(deadline=None)  # the first call compiles
@given(
    bound=st.floats(1e-6, 1e6), n_units=st.integers(1, 10**9), seed=st.integers(0, 99)
)
def test_rounding_is_towards_zero_and_by_less_than_a_step(bound, n_units, seed):
    values = np.random.default_rng(seed).uniform(-bound, bound, 50)
    values[:3] = 0.0, bound, -bound
    grid_values = on_grid(values, bound, n_units)
    step = grid.grid_step(bound, n_units)
    assert (np.abs(grid_values) <= np.abs(values)).all()
    assert (grid_values * values >= 0).all()
    assert (np.abs(grid_values - values) < step).all()
    assert np.array_equal(on_grid(grid_values, bound, n_units), grid_values)


@dataclass(frozen=True)
class PartOfCounts(Statistic):
    """The number of ratings of some of the items."""

    name: ClassVar[str] = "counts"
    sensitivity: ClassVar[float] = 10.0

    def empty(self, shape, at):
        start, stop = at
        return (np.zeros(stop - start),)

    def add(self, block, totals, at):
        start, stop = at
        totals[0][:] += np.bincount(block.rows.items, minlength=stop)[start:stop]


@pytest.mark.parametrize(
    "ranges",
    [[(0, 5), (0, 5)], [(0, 5), (4, 9)], [(5, 9), (0, 5)], [(-5, 0)], [(3, 2)]],
)
def test_no_sum_is_returned_twice_in_the_parts_of_one_release(ranges):
    noise = Noise(PartOfCounts().event(1.0), np.random.SeedSequence(1))
    curator = NoisyCurator(in_memory(world()), noise)
    with pytest.raises(PlanViolation, match="must not overlap"):
        curator.release_parts(PartOfCounts(), ranges)
    assert not noise.ledger


def test_parts_in_order_are_one_release():
    noise = Noise(PartOfCounts().event(1.0), np.random.SeedSequence(1))
    curator = NoisyCurator(in_memory(world()), noise)
    parts = list(curator.release_parts(PartOfCounts(), [(0, 5), (5, 9)]))
    assert [len(part) for _, part in parts] == [5, 4]
    ((_, count),) = noise.ledger
    assert count == 1
