"""Cinemas that are made part by part: each person's ratings follow from the seed and her number."""

from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_datasets.registry import LARGE
from dpmf_datasets.simulated import large_cinema
from dpmf_datasets.simulated.large_cinema import AT_ONCE, Films, ratings_of


def cinema(n_users: int, seed: int = 0) -> PartitionedRatings:
    return large_cinema.large_cinema(replace(LARGE["cinema-10m"], n_users=n_users), seed)


@pytest.fixture(scope="module")
def films() -> Films:
    return Films.of(0)


def test_a_persons_ratings_do_not_depend_on_who_else_is_asked_for(films: Films) -> None:
    many, few = (ratings_of(3, count, films, 0) for count in (AT_ONCE, 700))
    count = len(few[0])
    assert few[0].max() < 700 <= many[0][count]
    for one, other in zip(few, many, strict=True):
        assert np.array_equal(one, other[:count])


def test_parts_are_the_same_whenever_they_are_made() -> None:
    large, small = cinema(60_000), cinema(40_000)
    assert [len(part.ids) for part in large.parts] == [32_768, 60_000 - 32_768]
    one, other = large.parts[1], small.parts[1]
    count = len(other.rows)
    assert np.array_equal(one.rows.items[:count], other.rows.items)
    assert np.array_equal(one.rows.values[:count], large.parts[1].rows.values[:count])
    assert np.array_equal(one.ids, np.arange(32_768, 60_000))


def test_it_looks_like_a_cinema() -> None:
    rows = cinema(8_000).parts[0].rows
    counts = np.diff(rows.by_user)
    assert 90 < counts.mean() < 115 and counts.min() >= 1
    assert np.quantile(counts, 0.9) > 4 * np.quantile(counts, 0.2)
    popularity = np.sort(np.bincount(rows.items, minlength=rows.n_items))
    assert popularity[-1000:].sum() > 0.3 * popularity.sum()
    assert set(np.unique(rows.values)) <= set(np.arange(0.5, 5.1, 0.5))
    assert 3.2 < rows.values.mean() < 3.8
    pairs = rows.users.astype(np.int64) * rows.n_items + rows.items
    assert (np.diff(pairs) > 0).all()
