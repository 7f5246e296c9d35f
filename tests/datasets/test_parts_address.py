"""Ratings in parts at an address of fsspec: those of the folder, and what is wrong is said."""

from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core import api
from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.errors import BadInput
from dpmf_core.jobs.workers import threads
from dpmf_core.runs import data_access
from dpmf_core.testing.worlds import low_rank
from dpmf_datasets import parts_address
from tests.support.parts import in_files

THERE = "memory://bucket/own"


def copy_there(folder: Path) -> None:
    fsspec.filesystem("memory").put(f"{folder}/", "/bucket/own/", recursive=True)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PartitionedRatings]:
    """The same ratings in the data folder, as the set `own`, and at an address."""
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    data_access.forget()
    folder = tmp_path / "parts" / "own"
    folder.mkdir(parents=True)
    ratings = in_files(low_rank(n_users=200), 5, folder)
    copy_there(folder)
    yield ratings
    fsspec.filesystem("memory").rm("/bucket", recursive=True)
    data_access.forget()


def test_it_holds_what_the_folder_holds(own: PartitionedRatings) -> None:
    ratings = datasets.load(THERE)
    assert isinstance(ratings, PartitionedRatings)
    assert ratings.fingerprint == own.fingerprint
    assert ratings.account == own.account
    for one, other in zip(ratings.parts, own.parts, strict=True):
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(one.rows.values, other.rows.values)


def test_each_worker_reads_it_there(own: PartitionedRatings) -> None:
    here = api.fit("own", "private-bias", epsilon=1, delta=1e-6, keep=False)
    with threads(2) as way:
        there = api.fit(THERE, "private-bias", epsilon=1, delta=1e-6, spread=way.address)
    assert np.array_equal(here.arrays["item_offsets"], there.arrays["item_offsets"])
    assert here.record.metrics == there.record.metrics


def test_another_manifest_is_another_set(own: PartitionedRatings, tmp_path: Path) -> None:
    before = datasets.stamp(THERE), datasets.load(THERE).fingerprint
    assert datasets.stamp(THERE) == before[0]
    in_files(low_rank(n_users=200, seed=3), 5, tmp_path / "parts" / "own")
    copy_there(tmp_path / "parts" / "own")
    assert datasets.stamp(THERE) != before[0]
    assert datasets.load(THERE).fingerprint != before[1]


def damage() -> str:
    with fsspec.open("memory://bucket/own/00002.parquet", "ab") as file:
        file.write(b"more")
    return THERE


def nonsense() -> str:
    with fsspec.open("memory://bucket/own/manifest.json", "w") as file:
        file.write("[]")
    return THERE


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (lambda: "memory://bucket/nothing", "manifest"),
        (lambda: "file:///nowhere/at/all", "manifest"),
        (damage, "manifest"),
        (nonsense, "manifest"),
        (lambda: "sftp://me:secret@host/own", "password"),
        (lambda: "abfs://bucket/own", "installed"),
        (lambda: "postgresql://host/ratings?bounds=1,5", "database"),
    ],
)
def test_what_is_wrong_is_said(
    address: Callable[[], str], words: str, own: PartitionedRatings
) -> None:
    with pytest.raises(BadInput, match=words) as error:
        list(datasets.load(address()).parts)  # type: ignore[union-attr]
    assert "secret" not in str(error.value)


def test_paths_and_ids_are_no_addresses() -> None:
    for text in ("cinema", "ratings.csv?bounds=1,5", "C:\\data\\a.csv", "sqlite:///a.db", "/a/b"):
        assert not parts_address.is_address(text)
