"""Cinemas that are made part by part: each person's ratings follow from the seed and her number."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.data.hashing import digest_of
from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.errors import BadInput
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_datasets.registry import LARGE
from dpmf_datasets.simulated import large_cinema
from dpmf_datasets.simulated.large_cinema import AT_ONCE, Films, ratings_of

DIGEST = "a5e18e1ef6c2c29775fef0a71eb7dd7ff3759b09a822d4ced239c7dd915308ac"


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


def test_what_is_made_is_fixed(films: Films) -> None:
    """Another digest is another set: raise VERSION then."""
    assert large_cinema.VERSION == 1
    assert digest_of(*ratings_of(0, 50, films, 0)) == DIGEST


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


def test_people_see_more_of_what_they_like(films: Films) -> None:
    users, items, _ = ratings_of(0, AT_ONCE, films, 0)
    random = np.random.Generator(np.random.SFC64(np.random.SeedSequence([0, 1896, 2, 0])))
    taste = random.standard_normal((AT_ONCE, films.character.shape[1]), np.float32) * 0.9
    kin = random.standard_normal((AT_ONCE, 2), np.float32) * 0.5
    taste[:, :8] += kin @ large_cinema.KINSHIP.T.astype(np.float32)
    main = films.character[:, :8].argmax(axis=1)[items]
    share = np.bincount(users, main == 0, AT_ONCE) / np.bincount(users, minlength=AT_ONCE)
    assert np.corrcoef(share, taste[:, 0])[0, 1] > 0.3


def test_another_seed_is_another_cinema() -> None:
    one, other = cinema(5_000, 0), cinema(5_000, 1)
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == cinema(5_000).fingerprint != cinema(5_001).fingerprint
    assert one.titles != other.titles
    with pytest.raises(BadInput, match="whole number from 0"):
        cinema(5_000, -1)


@pytest.mark.parametrize("name", LARGE)
def test_large_cinemas_are_listed_and_present(name: str) -> None:
    entry: Any = datasets.entry_of(name)
    assert entry in datasets.in_parts() and entry not in datasets.catalogue()
    assert datasets.present(name) and datasets.stamp(name) == ()
    data = datasets.load(name)
    assert isinstance(data, PartitionedRatings) and data.public
    assert data.shape.n_users == entry.n_users and data.n_items == len(data.titles or ())
    with pytest.raises(BadInput, match="is a data set of the catalogue"):
        datasets.import_parts(name, "ratings.csv?bounds=1,5")
    with pytest.raises(BadInput, match="is on this machine, in parts"):
        datasets.fetch(name, accept_licence=True)
    with pytest.raises(BadInput, match="is on this machine, in parts"):
        datasets.import_(name, "ratings.csv")


def test_a_private_run_on_one_beats_the_mean() -> None:
    data = cinema(3_000)
    spec = RunSpec.parse(
        data={"id": "cinema-10m", "top_items": 300},
        algorithm="private-bias",
        budget={"epsilon": 4.0, "delta": 1e-6},
    )
    mean = spec.on("user-mean", budget=None)
    assert run(spec, input_data=data).record.metric("rmse") < run(
        mean, input_data=data
    ).record.metric("rmse")
