"""Cinemas that are made part by part: each person's ratings follow from the seed and her number."""

from dataclasses import replace

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import digest_of
from dpmf_datasets.registry import LARGE
from dpmf_datasets.simulated import large_cinema
from dpmf_datasets.simulated.large_cinema import AT_ONCE, Films, ratings_of

DIGEST = "a5e18e1ef6c2c29775fef0a71eb7dd7ff3759b09a822d4ced239c7dd915308ac"


def cinema(n_users, seed=0):
    return large_cinema.large_cinema(
        replace(LARGE["cinema-10m"], n_users=n_users), seed
    )


@pytest.fixture(scope="module")
def films():
    return Films.of(0)


def test_a_persons_ratings_do_not_depend_on_who_else_is_asked_for(films):
    many, few = (ratings_of(3, count, films, 0) for count in (AT_ONCE, 700))
    count = len(few[0])
    assert few[0].max() < 700 <= many[0][count]
    for one, other in zip(few, many, strict=True):
        assert np.array_equal(one, other[:count])


def test_parts_are_the_same_whenever_they_are_made(films):
    second = cinema(33_000).parts[1]
    assert np.array_equal(second.ids, np.arange(32_768, 33_000))
    again = ratings_of(32_768 // AT_ONCE, len(second.ids), films, 0)
    assert np.array_equal(second.rows.items, again[1])


def test_what_is_made_is_fixed(films):
    """Another digest is another set: raise VERSION then."""
    assert large_cinema.VERSION == 1
    assert digest_of(*ratings_of(0, 50, films, 0)) == DIGEST


@pytest.mark.parametrize("name", LARGE)
def test_large_cinemas_are_listed_and_present(name):
    entry = datasets.entry_of(name)
    assert entry in datasets.in_parts()
    assert entry not in datasets.catalogue()
    assert datasets.present(name)
    assert datasets.stamp(name) == ()
    data = datasets.load(name)
    assert data.public
    assert data.shape.n_users == entry.n_users
    assert data.n_items == len(data.titles or ())
    with pytest.raises(BadInput, match="catalogue"):
        datasets.import_partitions(name, "ratings.csv?bounds=1,5")
    with pytest.raises(BadInput, match="machine"):
        datasets.fetch(name, accept_licence=True)
    with pytest.raises(BadInput, match="machine"):
        datasets.import_(name, "ratings.csv")
