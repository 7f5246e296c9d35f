"""The family of simulated worlds: the same everywhere, of the declared shape, and varied."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_datasets import entry_of, is_stand_in, load, present, stamp, world_ids
from dpmf_datasets.declared_worlds import DeclaredWorld
from dpmf_datasets.simulated.worlds import (
    COUNT,
    GRADES,
    MOST_EXPLAINED,
    PRIOR,
    family,
    ratings_of,
)

SHAPE = (300, 40, 12.0, (1.0, 5.0), 1.0)
DIGEST = "60c6d81ff030a53d"
ELSEWHERE = (
    "from tests.datasets.test_worlds import digest\n"
    "import numpy\nnumpy.random.seed(1)\nprint(digest())"
)


def digest():
    """Of all ratings of three worlds."""
    whole = hashlib.sha256()
    for number in (0, 5, 11):
        data = load(world_ids(*SHAPE)[number])
        for column in (data.users, data.items, data.values):
            whole.update(np.ascontiguousarray(column, np.float32).tobytes())
    return whole.hexdigest()[:16]


def test_a_world_is_the_same_in_another_process_with_another_number_of_threads():
    environment = os.environ | {
        "OPENBLAS_NUM_THREADS": "1",
        "OPENBLAS_CORETYPE": "Haswell",
    }
    command = [sys.executable, "-c", ELSEWHERE]
    output = subprocess.run(
        command,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert digest() == DIGEST
    assert output.strip() == DIGEST


@pytest.mark.parametrize("shape", [SHAPE, (60, 500, 90.0, (-10.0, 10.0), None)])
def test_every_world_has_the_declared_shape(shape):
    n_users, n_items, each, bounds, step = shape
    for data_id in world_ids(*shape):
        data = load(data_id)
        entry = entry_of(data_id)
        assert data.n_users == n_users
        assert data.n_items == n_items
        assert data.bounds == bounds
        assert entry.n_users == n_users
        assert entry.n_items == n_items
        assert entry.bounds == bounds
        assert data.public
        assert entry.public
        assert data.name == data_id
        assert is_stand_in(data_id)
        assert present(data_id)
        assert stamp(data_id) == ()
        assert len(data.users) / n_users == pytest.approx(each, rel=0.01)
        assert np.bincount(data.users, minlength=n_users).min() >= 1
        assert data.values.min() >= bounds[0]
        assert data.values.max() <= bounds[1]
        if step is not None:
            assert set(np.unique(data.values)) <= {1, 2, 3, 4, 5}


def test_nobody_rates_nearly_everything_where_few_items_are_declared():
    data = load(world_ids(50, 10, 30.0, (1.0, 5.0), 1.0)[0])
    assert np.bincount(data.users).max() <= 9


def test_the_family_covers_each_part_of_the_prior_once():
    worlds = family()
    assert len(worlds) == COUNT == len(set(worlds))
    low, high = PRIOR["mean"]
    parts = sorted(int(COUNT * (world.mean - low) / (high - low)) for world in worlds)
    assert parts == list(range(COUNT))
    assert {world.grades for world in worlds} == set(GRADES)
    assert min(world.noise for world in worlds) >= 1 - MOST_EXPLAINED - 1e-12


def test_taste_and_quality_explain_what_is_said_of_them():
    """Of a large sample without rounding, the variance within people is as drawn."""
    calm = next(world for world in family() if world.grades == 0)
    data = ratings_of(
        calm,
        2_000,
        200,
        60,
        bounds=(-100.0, 100.0),
        seed=1,
    )
    means = np.bincount(data.users, data.values) / np.bincount(data.users)
    within = (data.values - means[data.users]).var() / 100**2
    assert within == pytest.approx(calm.within, rel=0.25)


@pytest.mark.parametrize(
    "data_id",
    [
        "world?number=13&users=100&items=20&each=5&bounds=1,5",
        "world?number=1&users=100&items=20&each=19&bounds=1,5",
        "world?number=1&users=100&items=20&each=5&bounds=5,1",
        "world?number=1&users=100&items=20&each=5&bounds=1,5&step=9",
        "world?number=1&users=100&items=20&each=5&bounds=1,5&more=1",
        "world?number=1&users=9&items=20&each=5&bounds=1,5",
        "world?number=1&users=100&items=20&each=nan&bounds=1,5",
        "world?number=1&users=1000000&items=1000000&each=5&bounds=1,5",
        "world?users=100",
    ],
)
def test_an_impossible_world_is_refused_in_a_sentence(data_id):
    with pytest.raises(BadInput, match="A simulated world must be written"):
        entry_of(data_id)


def test_an_id_names_the_world_that_it_is_read_as():
    for data_id in world_ids(*SHAPE):
        assert DeclaredWorld.parse(data_id).id == data_id
