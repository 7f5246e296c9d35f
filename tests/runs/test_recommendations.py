"""A user's list from a run on ratings in partitions is the list in memory."""

from dataclasses import replace

import pytest

from dpmf_core.runs import data_access, filters
from dpmf_core.runs.execution import run
from dpmf_core.runs.recommendations import recommend, top_rated
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.parts import CountedParts, in_files

USERS = 60
PRIVATE_ROWS = {"row_count": "private"}


@pytest.fixture
def films():
    titles = tuple(f"film {item}" for item in range(low_rank(n_users=USERS).n_items))
    return replace(low_rank(n_users=USERS), titles=titles)


@pytest.fixture
def parts(films, catalogue, tmp_path):
    """In the catalogue as "parts", beside the same in one memory as "whole"."""
    (tmp_path / "kept").mkdir()
    parts_data = in_files(films, 4, tmp_path / "kept")
    reads = CountedParts(parts_data.parts)
    data = replace(parts_data, parts=reads)
    catalogue(whole=films, parts=data)
    filters._known_counts.clear()
    return data, reads


def spec(data_id, **data):
    return RunSpec.of(
        dataset=data_id, algorithm="spectral", epsilon=5.0, delta=1e-6, **data
    )


def both(**data):
    """The same run on ratings in one memory, and in parts."""
    return run(spec("whole", **data)), run(spec("parts", **data))


@pytest.mark.parametrize(
    "data", [{}, {"top_items": 12}, {"most_per_user": 9}, PRIVATE_ROWS], ids="-".join
)
def test_lists_from_parts_are_those_from_memory(data, parts):
    whole, there = both(**data)
    for user in range(USERS):
        assert recommend(there, user, 5) == recommend(whole, user, 5)
        assert top_rated(there, user) == top_rated(whole, user)


@pytest.mark.parametrize("public", [True, False])
def test_counts_of_private_items_are_forgotten_with_the_data(public, parts):
    data, reads = parts
    own = replace(data, public=public)
    few = DataSpec(id="parts", top_items=12)
    filters.filtered(own, few)
    reads.read.clear()
    data_access.forget()
    filters.filtered(own, few)
    assert reads.read == ([] if public else [0, 1, 2, 3])
