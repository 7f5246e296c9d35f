"""Ratings in parts on Dask workers: the bits of the run here, each part counted once, whatever
happens to a worker; and whoever would add up something else adds up nothing.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core import api
from dpmf_core.data.partitioned import ItemCounts, PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.jobs import part_workers
from dpmf_core.jobs.part_work import PartialSum, PartRequest, fold_parts
from dpmf_core.jobs.part_workers import spread
from dpmf_core.jobs.scheduler_security import Scheduler
from dpmf_core.jobs.workers import threads
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.worlds import low_rank
from tests.support.parts import in_files

BUDGET = {"epsilon": 2.0, "delta": 1e-6}
N_PARTS = 9


def spec(algorithm: str, **parts: Any) -> RunSpec:
    data = {"id": "own"} | parts.pop("data", {})
    return RunSpec.parse(data=data, algorithm=algorithm, budget=BUDGET, **parts)


def write_parts(ratings: Ratings, folder: Path) -> PartitionedRatings:
    """The ratings in parts as the set `own` of a data folder."""
    (folder / "parts" / "own").mkdir(parents=True)
    return in_files(ratings, N_PARTS, folder / "parts" / "own")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PartitionedRatings]:
    """Ratings in parts that this process finds by the id `own`."""
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(part_workers, "PAUSE", 0.05)
    data_access.forget()
    yield write_parts(low_rank(n_users=300), tmp_path / "data")
    data_access.forget()


@pytest.fixture(scope="module")
def way() -> Iterator[Scheduler]:
    """A scheduler with two workers in this process."""
    with threads(2) as scheduler:
        yield scheduler


def assert_same(one: Run, other: Run) -> None:
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        assert np.array_equal(array, other.arrays[name]), name
    assert one.record.metrics == other.record.metrics
    assert one.record.buckets == other.record.buckets
    assert one.record.ledger == other.record.ledger
    assert one.record.shape == other.record.shape
    assert one.record.curves == other.record.curves


@pytest.mark.parametrize(
    "run_spec",
    [
        spec("private-bias", data={"top_items": 20, "min_user_count": 3, "most_per_user": 9}),
        spec("private-bias", data={"min_item_count": 30, "positives_above": 3.0}),
        spec("private-bias", data={"item_choice": "private", "row_count": "private"}),
        spec("spectral", split={"kind": "users"}),
        spec("ada-dpals", split={"validation_fraction": 0.1}),
        spec("dp-sgd", parameters={"steps": 4}),
        spec("dpfw-oja"),
        spec("dp-nmf"),
        RunSpec.parse(data={"id": "own"}, algorithm="nmf", parameters={"iterations": 20}),
        RunSpec.parse(data={"id": "own"}, algorithm="bias"),
        RunSpec.parse(data={"id": "own"}, algorithm="als", parameters={"rank": 3, "steps": 3}),
    ],
    ids=lambda it: f"{it.algorithm} {it.data.top_items or it.data.item_choice}",
)
def test_the_run_has_the_bits_of_the_run_here(
    run_spec: RunSpec, own: PartitionedRatings, way: Scheduler
) -> None:
    here = execution.run(run_spec)
    with spread("own", run_spec.algorithm, way):
        there = execution.run(run_spec)
    assert_same(here, there)


def test_a_part_that_is_counted_twice_is_never_released(
    own: PartitionedRatings, way: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(part_request: PartRequest, work: bytes, *held_parts: Any) -> PartialSum:
        partial_sum = fold_parts(part_request, work, *held_parts)
        return PartialSum((*partial_sum.places, 0), partial_sum.total)

    monkeypatch.setattr(part_workers, "fold_parts", twice)
    with (
        spread("own", "private-bias", way),
        pytest.raises(RuntimeError),
    ):
        execution.run(spec("private-bias"))


def test_what_travels_holds_no_noise_and_no_rows(
    own: PartitionedRatings, way: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[bytes] = []
    original = part_workers._pickle

    def record_message(work: Any, ratings: PartitionedRatings) -> bytes:
        messages.append(original(work, ratings))
        return messages[-1]

    monkeypatch.setattr(part_workers, "_pickle", record_message)
    with spread("own", "ada-dpals", way):
        execution.run(spec("ada-dpals"))
    assert len(messages) > 5
    for work in messages:
        for word in (b"Noise", b"SeedSequence", b"Generator", b"RunSpec", b"PartitionedRatings"):
            assert word not in work


def test_private_ratings_are_charged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Scheduler
) -> None:
    from dataclasses import replace

    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    data_access.forget()
    write_parts(replace(low_rank(n_users=200), public=False), tmp_path)
    run = api.fit("own", "private-bias", epsilon=1.0, delta=1e-6, spread=way.address)
    assert not run.record.public
    assert api.account("own").total.epsilon == pytest.approx(1.0, rel=1e-3)
    with (
        pytest.raises(BadInput),
        spread("own", "private-bias", Scheduler("tcp://far:8786")),
    ):
        pass
    assert api.account("own").total.epsilon == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: api.fit("cinema", "bias", spread=True), "cinema is in one memory"),
        (lambda: api.fit(low_rank(), "bias", spread=True), "Got data in memory"),
        (lambda: api.fit("own", "bias", spread="nowhere"), "--scheduler is an address as tls://"),
        (lambda: api.fit("none", "bias", spread=True), "none"),
    ],
)
def test_what_cannot_be_spread_is_said(
    call: Callable[[], Any], words: str, own: PartitionedRatings
) -> None:
    with pytest.raises(BadInput, match=words):
        call()


def test_a_damaged_part_is_a_reason_to_refuse(own: PartitionedRatings, way: Scheduler) -> None:
    file = Path(os.environ["DPMF_DATA"]) / "parts" / "own" / "00003.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    data_access.forget()
    with spread("own", "bias", way), pytest.raises(BadInput, match=r"A part of .* cannot be read"):
        data_access.open_anywhere(spec("private-bias").data).fold(ItemCounts(30))  # type: ignore[union-attr]


# ---- real workers --------------------------------------------------------------------------------
