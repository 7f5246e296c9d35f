"""Blocks, their order, storage and threads change no bit of a model."""

import numpy as np
import pytest

from dpmf_core.algorithms import Streams
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.curator import Blocks, NoisyCurator, in_memory, in_parts
from dpmf_core.curator.people import FileStates, rows_of, split_units
from dpmf_core.data.partitioned import Members, Part, PartitionedRatings
from dpmf_core.data.ratings import FACTS, Ratings
from dpmf_core.privacy import Noise
from dpmf_core.testing import rating_worlds
from dpmf_core.testing.homes import CASES, RATINGS, case_name
from dpmf_core.testing.parameter_sets import corners as all_corners
from tests.contract.models import as_bits

CORNERS = (
    4  # of each algorithm's parameters in the slow suite; the fast one has the first
)


def permuted(data, blocks):
    order = np.random.default_rng(3).permutation(data.shape.n_units)
    blocks = min(blocks, len(order))
    return split_units({"train": data}, np.array_split(order, blocks))


PEOPLE = {
    "blocks of one": lambda data, folder: in_memory(data, data.shape.n_units),
    "64 blocks, permuted, states on disk": lambda data, folder: Blocks(
        data.shape, permuted(data, 64), FileStates(folder)
    ),
}
OF_RATINGS = {
    "7 parts": lambda data, folder: in_parts(in_hashed_parts(data, 7), folder)
}


def in_hashed_parts(ratings, n_parts):
    """The same ratings, in parts by the hash of their users."""
    members = Members(ratings.n_users, n_parts)
    parts = []
    for place in range(n_parts):
        ids = members.of_part(place)
        parts.append(Part(ids, rows_of(ratings, ids)))
    facts = {name: getattr(ratings, name) for name in FACTS}
    return PartitionedRatings(parts, fingerprint=ratings.fingerprint, **facts)


def check_blocks(algorithm, data, folder):
    """The same model, bit for bit, however the people lie; one thread first, two for the others."""
    with single_threaded_blas, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPMF_THREADS", "1")
        expected = _bits_of_a_fit(algorithm, in_memory(data))
        patch.setenv("DPMF_THREADS", "2")
        places = {**PEOPLE}
        places |= OF_RATINGS if isinstance(data, Ratings) else {}
        for place, (how, people) in enumerate(places.items()):
            (folder / str(place)).mkdir()
            bits = _bits_of_a_fit(algorithm, people(data, folder / str(place)))
            assert bits == expected, f"another model from {how}"


def _bits_of_a_fit(algorithm, people):
    plan = algorithm.plan(people.shape, 0.3)
    noise = Noise(plan, np.random.SeedSequence(1))
    curator = NoisyCurator(people, noise, algorithm.guarantee().assumptions)
    rng = Streams(np.random.default_rng(2), 3)
    *_, model = algorithm.fit(curator, rng)
    return as_bits({**model.arrays, **model.settings})


def proven(case):
    """A few of the corners in which an algorithm has a proof, and so speaks to a curator."""
    kind, home = case
    shape = home.world().shape
    some = []
    for parameters in all_corners(kind, shape, 0):
        algorithm = kind(**parameters)
        if algorithm.guarantee().has_epsilon:
            some.append(algorithm)
    return some[:: max(1, len(some) // CORNERS)]


CURATOR_CASES = [case for case in CASES if proven(case)]


def data_of(home):
    if home is RATINGS:
        return rating_worlds.low_rank(n_users=90, n_items=17)
    return home.world()


in_corners = pytest.mark.parametrize(
    "corners",
    [slice(1), pytest.param(slice(1, None), marks=pytest.mark.slow)],
    ids=["one", "more"],
)


@in_corners
@pytest.mark.parametrize("case", CURATOR_CASES, ids=case_name)
def test_blocks_change_no_bit(case, corners, tmp_path):
    data = data_of(case[1])
    for place, algorithm in enumerate(proven(case)[corners]):
        folder = tmp_path / str(place)
        folder.mkdir()
        check_blocks(algorithm, data, folder)
