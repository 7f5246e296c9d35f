"""Stored copies of private ratings whose users had other keys are refused in words."""

import json
from dataclasses import replace

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.data.frames import ratings_of
from dpmf_core.data.samples import Samples
from dpmf_datasets import npz_folder, partitions

TABLE = "user,item,rating\n1,10,5\n1,20,4\n2,10,3\n2,20,1\n"


@pytest.fixture
def as_before(monkeypatch):
    """What an earlier version wrote."""
    monkeypatch.setattr(npz_folder, "FORMAT", 2)


def ratings():
    return ratings_of(
        (np.array([1, 1, 2]), np.array([1, 2, 1]), np.array([1.0, 2, 3])), (1, 5)
    )


def test_a_copy_of_private_ratings(tmp_path, as_before):
    npz_folder.write(ratings(), tmp_path / "own.npz")
    with pytest.raises(
        BadInput, match=r"other keys of its users.*account of the file stays"
    ):
        npz_folder.read_file(tmp_path / "own.npz", "own")


def test_what_has_no_keys_is_still_read(tmp_path, as_before):
    documents = Samples.of(
        np.eye(3, dtype=np.float32),
        unit="document",
        name="three",
    )
    for name, data in {
        "films": replace(ratings(), public=True),
        "texts": documents,
    }.items():
        npz_folder.write(data, tmp_path / f"{name}.npz")
        assert len(npz_folder.read_file(tmp_path / f"{name}.npz", name)) == 3


@pytest.mark.usefixtures("data_folder")
def test_private_ratings_in_partitions(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(TABLE)
    datasets.import_partitions("mine", f"{file}?bounds=1,5", n_partitions=2)
    account = datasets.load("mine").account
    manifest = partitions.folder_of("mine") / partitions.MANIFEST
    facts = json.loads(manifest.read_text())
    assert facts["format"] == 3
    manifest.write_text(json.dumps(facts | {"format": 2}))
    with pytest.raises(BadInput, match=r"other keys of its users.*--replace"):
        datasets.load("mine")
    datasets.import_partitions(
        "mine",
        f"{file}?bounds=1,5",
        n_partitions=2,
        replace=True,
    )
    assert datasets.load("mine").account == account
