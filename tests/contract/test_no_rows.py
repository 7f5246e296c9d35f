"""An algorithm with a proof fits in a process that has only a pipe to a curator."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dpmf_core.algorithms import Streams
from dpmf_core.algorithms.baselines import PrivateBias
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.curator import NoisyCurator, in_memory
from dpmf_core.privacy import Noise
from dpmf_core.testing.homes import RATINGS, case_name
from tests.contract.models import as_bits
from tests.contract.room import Room
from tests.contract.test_blocks import CURATOR_CASES, in_corners, proven


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """Opened while a script runs that would end it, as a page drawn in a test stays `__main__`."""
    folder = tmp_path_factory.mktemp("nothing")
    script = ModuleType("__main__")
    script.__file__ = str(folder / "page.py")
    Path(script.__file__).write_text("raise SystemExit(1)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPMF_DATA", str(folder))
        patch.setitem(sys.modules, "__main__", script)
        new_room = Room()
    yield new_room
    new_room.close()


def check_room(algorithm, home, room):
    """In a process that holds a pipe to the curator and no rows, it makes the same models."""
    people = in_memory(home.world(), 2)
    plan = algorithm.plan(people.shape, 1.0)
    facts = algorithm.guarantee().assumptions
    here = NoisyCurator(people, Noise(plan, np.random.SeedSequence(1)), facts)
    there = NoisyCurator(people, Noise(plan, np.random.SeedSequence(1)), facts)
    elsewhere = room.fit(algorithm, there, 2, 3)
    with single_threaded_blas:
        rng = Streams(np.random.default_rng(2), 3)
        models = list(algorithm.fit(here, rng))
    assert [as_bits(model.arrays) for model in models] == [
        as_bits(model.arrays) for model in elsewhere
    ]
    assert facts or not room.rows_seen, "rows came through the pipe"


@in_corners
@pytest.mark.parametrize("case", CURATOR_CASES, ids=case_name)
def test_an_algorithm_fits_in_a_process_without_rows(case, corners, room):
    for algorithm in proven(case)[corners]:
        check_room(algorithm, case[1], room)


class Reaching(PrivateBias):
    """Looks behind the curator."""

    def fit(self, curator, rng):
        assert curator._people.blocks[0].rows
        yield from super().fit(curator, rng)


def fit_in(room, algorithm):
    people = in_memory(RATINGS.world())
    plan = algorithm.plan(people.shape, 1.0)
    noise = Noise(plan, np.random.SeedSequence(1))
    room.fit(algorithm, NoisyCurator(people, noise), 2, 3)


def test_an_algorithm_that_reaches_for_rows_fails_in_that_process(room):
    with pytest.raises(RuntimeError):
        fit_in(room, Reaching())
    fit_in(room, PrivateBias())
    assert not room.rows_seen
