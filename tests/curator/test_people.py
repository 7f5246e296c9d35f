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
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing import sample_worlds
from dpmf_core.testing.worlds import world
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
    return before[0] + 1.0 if before else block.ids.astype(float)


PLACES = {
    "memory": lambda data, folder: in_memory(data, 5),
    "parts": lambda data, folder: in_parts(in_files(data, 5, folder), folder),
}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_held_meets_its_own_block_again(place, tmp_path):
    people = PLACES[place](world(), tmp_path)
    curator = OpenCurator(people, Noise(NOTHING), {})
    local_state = curator.hold(numbers)
    later = curator.hold(numbers, local_state)
    assert np.array_equal(curator.total(UnitsSeen(), local_state), np.arange(23))
    assert np.array_equal(curator.total(UnitsSeen(), later), np.arange(23) + 1)


@pytest.mark.parametrize("place", PLACES)
def test_what_nobody_names_any_more_is_let_go(place, tmp_path):
    people = PLACES[place](world(), tmp_path)
    curator = NoisyCurator(people, Noise(NOTHING))
    first = curator.hold(numbers)
    copy = pickle.loads(pickle.dumps(first))
    second = curator.hold(numbers, first)
    assert np.array_equal(people.states[copy.key, 4], people.states[second.key, 4] - 1)
    del first
    gc.collect()
    for block in range(5):
        assert people.states[second.key, block].size
        with pytest.raises((KeyError, FileNotFoundError)):
            people.states[copy.key, block]


def test_two_curators_on_the_same_people_do_not_meet():
    people = in_memory(world())
    one, other = (OpenCurator(people, Noise(NOTHING), {}) for _ in range(2))
    first, second = one.hold(numbers), other.hold(numbers, one.hold(numbers))
    assert not one.total(UnitsSeen(), first)[0]
    assert other.total(UnitsSeen(), second)[0] == 1


def test_blocks_hold_their_units_rows_and_no_others():
    data = world()
    units = np.array([7, 0, 3, 5])
    part = rows_of(data, units)
    assert part.n_users == 4
    for place, unit in enumerate(units):
        hers, mine = data.users == unit, part.users == place
        assert np.array_equal(part.items[mine], data.items[hers])
        assert np.array_equal(part.values[mine], data.values[hers])
    assert np.array_equal(part.by_user, np.searchsorted(part.users, np.arange(5)))


@pytest.mark.parametrize("images", [True, False])
def test_a_person_brings_all_her_rows_in_their_order(images):
    rows, people = sample_worlds.rows_and_people()
    data = sample_worlds.of(rows, images).of_people(
        people, sample_worlds.PeopleWorld.COUNT
    )
    blocks = split_units(
        {"train": data}, [np.array([4, 1]), np.array([0, 2, 3, 5, 6, 7, 8])]
    )
    first = blocks[0].rows
    assert first.n_people == 2
    dense = first.X if images else first.X.toarray()
    for place, person in enumerate((4, 1)):
        mine = dense[first.people == place]
        assert np.array_equal(mine, rows[people == person].astype(np.float32))
    assert sum(len(block.rows) for block in blocks) == len(data)


def test_a_key_tells_nothing_of_what_it_stands_for():
    local_state = NoisyCurator(in_memory(world()), Noise(NOTHING)).hold(numbers)
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
    grid_values = [
        Fraction(float(x)) / step for x in on_grid(values, bound, n_units, factors)
    ]
    assert all(x.denominator == 1 for x in grid_values)
    largest = (
        Fraction(float(on_grid(np.array([bound]), bound, n_units, factors)[0])) / step
    )
    assert n_units * largest**factors <= 2**53


@settings(deadline=None)  # the first call compiles
@given(
    bound=st.floats(1e-6, 1e6), n_units=st.integers(1, 10**9), seed=st.integers(0, 99)
)
def test_rounding_is_towards_zero_and_by_less_than_a_step(bound, n_units, seed):
    values = np.random.default_rng(seed).uniform(-bound, bound, 50)
    values[:3] = 0.0, bound, -bound
    grid_values, step = on_grid(values, bound, n_units), grid.grid_step(bound, n_units)
    assert (np.abs(grid_values) <= np.abs(values)).all()
    assert (grid_values * values >= 0).all()
    assert (np.abs(grid_values - values) < step).all()
    assert np.array_equal(on_grid(grid_values, bound, n_units), grid_values)
