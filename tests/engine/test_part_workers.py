"""Ratings in parts on Dask workers: the bits of the run here, each part counted once, whatever
happens to a worker; and whoever would add up something else adds up nothing.
"""

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core import api
from dpmf_core.data.partitioned import ItemCounts, PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.engine import part_workers
from dpmf_core.engine.part_work import PartialSum, PartRequest, fold_parts
from dpmf_core.engine.part_workers import spread
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.workers import threads
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.paths import workplace
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.worlds import low_rank
from tests.support.clusters import ROOT, Processes, altered_copy
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


def test_workers_keep_the_parts_of_a_run_until_it_ends(
    own: PartitionedRatings, way: Scheduler
) -> None:
    with spread("own", "private-bias", way) as folding:
        execution.run(spec("private-bias"))
        (folder,) = workplace().glob("parts-*")
        assert folder.name == f"parts-{folding.run}"
        of_training, of_judging = (len(list(it.glob("*.part"))) for it in folder.iterdir())
        assert of_training == of_judging == N_PARTS
    assert not list(workplace().glob("parts-*"))


def test_large_sums_are_made_once_for_each_thread(
    own: PartitionedRatings, way: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = execution.run(spec("ada-dpals"))
    monkeypatch.setattr(part_workers, "LARGE", 1.0)
    with spread("own", "ada-dpals", way) as folding:
        assert_same(here, execution.run(spec("ada-dpals")))
        fit = folding._fit()
        assert len(folding._groups(N_PARTS, fit, 2.0)) == 2
        assert len(folding._groups(N_PARTS, fit, 0.0)) == 8
        places = [place for _, some in folding._groups(N_PARTS, fit, 2.0) for place in some]
        assert places == list(range(N_PARTS))


def test_a_part_that_is_counted_twice_is_never_released(
    own: PartitionedRatings, way: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(part_request: PartRequest, work: bytes, *held_parts: Any) -> PartialSum:
        partial_sum = fold_parts(part_request, work, *held_parts)
        return PartialSum((*partial_sum.places, 0), partial_sum.total)

    monkeypatch.setattr(part_workers, "fold_parts", twice)
    with (
        spread("own", "private-bias", way),
        pytest.raises(RuntimeError, match="A part was counted twice, or not at all"),
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
        pytest.raises(BadInput, match="exact sums would travel to tcp://far:8786"),
        spread("own", "private-bias", Scheduler("tcp://far:8786")),
    ):
        pass
    assert api.account("own").total.epsilon == pytest.approx(1.0, rel=1e-3)


def test_a_cancelled_run_ends(own: PartitionedRatings, way: Scheduler) -> None:
    run_spec = spec("dp-sgd", parameters={"steps": 500})
    end = threading.Event()
    threading.Timer(1.0, end.set).start()
    with spread("own", "dp-sgd", way), pytest.raises(Cancelled):
        execution.run(run_spec, stopped=end.is_set)


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


def test_a_scheduler_that_does_not_answer_is_named(
    own: PartitionedRatings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(way: Scheduler) -> None:
        raise ConnectionError(f"the scheduler at {way.address} does not answer")

    monkeypatch.setattr(Scheduler, "client", nobody)
    with (
        pytest.raises(BadInput, match="No part was read: the scheduler at tcp"),
        spread("own", "bias", Scheduler("tcp://127.0.0.1:9")),
    ):
        pass


# ---- real workers --------------------------------------------------------------------------------


def kill_while_adding_up(way: Scheduler, processes: Processes, name: str, pids: list[str]) -> None:
    """Kills a worker while it adds up parts of a late release; its task goes into `found`."""
    with way.client() as client:
        address = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.aliases[name])
        while True:
            names = [str(key[0]) for key in client.processing().get(address, ())]
            late = [it for it in names if it.startswith("parts-") and int(it.split("-")[2]) >= 6]
            if late:
                processes.workers[name].kill()
                pids += late
                return
            time.sleep(0.002)


@pytest.mark.slow
def test_a_killed_worker_an_altered_one_and_one_without_the_data(
    tmp_path: Path,
    own: PartitionedRatings,
    processes: Processes,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run_spec = spec("ada-dpals", parameters={"steps": 3})
    here = execution.run(run_spec)
    folders = {name: tmp_path / f"data of {name}" for name in ("right", "doomed", "altered")}
    for folder in folders.values():
        shutil.copytree(tmp_path / "data", folder)
    common = {"DPMF_CATALOGUE": "dpmf_datasets", "PYTHONPATH": str(ROOT)}
    other = f"{altered_copy(tmp_path / 'other code')}{os.pathsep}{ROOT}"
    way = processes.serve(
        right={**common, "DPMF_DATA": str(folders["right"])},
        doomed={**common, "DPMF_DATA": str(folders["doomed"])},
        altered={**common, "DPMF_DATA": str(folders["altered"]), "PYTHONPATH": other},
        empty={**common, "DPMF_DATA": str(tmp_path / "nothing")},
    )
    pids: list[str] = []
    killer = threading.Thread(
        target=kill_while_adding_up, args=(way, processes, "doomed", pids), daemon=True
    )
    killer.start()
    with caplog.at_level(logging.WARNING), spread("own", "ada-dpals", way) as folding:
        there = execution.run(run_spec)
    killer.join(30)
    assert pids and processes.workers["doomed"].poll() is not None
    assert_same(here, there)  # the ledger too: each release once
    reasons = sorted(refusal.reason for refusal in folding.refusals.values())
    assert len(reasons) == 2
    assert "its code of dpmf" in reasons[1] and "differs from the code that asks" in reasons[1]
    assert "own" in reasons[0]
    for worker, refusal in folding.refusals.items():
        assert f"Worker {worker} is given no part: {refusal.reason}" in caplog.text


@pytest.mark.slow
def test_when_all_workers_are_lost_new_ones_go_on(
    tmp_path: Path, own: PartitionedRatings, processes: Processes
) -> None:
    run_spec = spec("ada-dpals", parameters={"steps": 3})
    here = execution.run(run_spec)
    right = {
        "DPMF_CATALOGUE": "dpmf_datasets",
        "PYTHONPATH": str(ROOT),
        "DPMF_DATA": str(tmp_path / "data"),
    }
    way = processes.serve(doomed=right)
    pids: list[str] = []

    def replace_workers() -> None:
        kill_while_adding_up(way, processes, "doomed", pids)
        processes.join("next", **right)

    killer = threading.Thread(target=replace_workers, daemon=True)
    killer.start()
    with spread("own", "ada-dpals", way):
        assert_same(here, execution.run(run_spec))
    killer.join(30)
    assert pids


@pytest.mark.slow
def test_a_scheduler_that_goes_away_ends_the_run_in_words(
    tmp_path: Path, own: PartitionedRatings, processes: Processes
) -> None:
    right = {
        "DPMF_CATALOGUE": "dpmf_datasets",
        "PYTHONPATH": str(ROOT),
        "DPMF_DATA": str(tmp_path / "data"),
    }
    way = processes.serve(right=right)
    assert processes.scheduler is not None
    steps: list[int] = []

    def report(progress: execution.Progress) -> None:
        if progress.step >= 2 and not steps:
            steps.append(progress.step)
            processes.scheduler.kill()  # type: ignore[union-attr]

    run_spec = spec("dp-sgd", parameters={"steps": 200})
    with pytest.raises(BadInput, match="went away"), spread("own", "dp-sgd", way):
        execution.run(run_spec, report=report)
    assert steps
