"""Runs that version 0.1.0 stored, before records were typed: they are read, shown, compared and
exported as they were. The JSON beside each is what that version exported.
"""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core import algorithms
from dpmf_core.data import Data
from dpmf_core.runs import old_store
from dpmf_core.runs.filters import filtered
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import run_key
from dpmf_core.runs.store import Store, to_json
from dpmf_core.testing.sample_worlds import of, table
from dpmf_core.testing.worlds import low_rank
from tests.support.records import altered

FOLDER = Path(__file__).parent / "stored_runs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))


def read_run(name: str) -> Run:
    return altered(old_store.unpack((FOLDER / f"{name}.npz").read_bytes())[0], cached=True)


@pytest.fixture
def store(tmp_path):
    """A store that finds the files in its folder, as after a move to a newer version."""
    folder = tmp_path / "runs" / "artefacts"
    folder.mkdir(parents=True)
    for name in NAMES:
        shutil.copy(FOLDER / f"{name}.npz", folder)
    return Store(tmp_path)


def test_the_store_takes_them_in_whole(store):
    assert store.check() == []
    assert store.count() == len(NAMES) == 5
    (row,) = [row for row in store.rows() if row["algorithm"] == "sketch"]
    assert (row["note"], row["tags"], row["guarantee"]) == ("a note", "first, second", "UNPROVEN")
    store.annotate(row["key"], "another note", "")
    again = store.get(row["key"])
    assert again.record == read_run("sketch").record


def test_the_model_is_the_one_that_was_fitted():
    model = read_run("dpals-conditional").model
    with np.load(FOLDER / "dpals-conditional.npz") as file:
        np.testing.assert_array_equal(model.item_factors, file["item_factors"])


@pytest.mark.parametrize("name", NAMES)
def test_its_key_is_still_the_key_of_its_specification(name, monkeypatch):
    """Otherwise a stored run would be computed again."""
    record = read_run(name).record
    data_sets: dict[str, Data] = {
        "own": dataclasses.replace(low_rank(), public=False),
        "films": low_rank(),
        "notes": of(table(), False),
    }
    monkeypatch.setattr(algorithms.find(record.spec.algorithm), "version", record.version)
    data = filtered(data_sets[record.spec.data.id], record.spec.data)
    assert run_key(record.spec, data) == record.key


def read_fields(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return fields


@pytest.mark.parametrize("name", NAMES)
def test_what_is_exported_is_what_was(name):
    new, old = json.loads(to_json(read_run(name).export())), read_fields(name)
    guarantee = new.pop("guarantee")
    assert {part: guarantee.pop(part) for part in ("assumptions", "claim", "reason")} == {
        "assumptions": [],
        "claim": "",
        "reason": "",
    }
    assert guarantee == old.pop("guarantee")
    assert new == old | {"cached": True}
