"""Sums over partitions in other processes equal those here, whatever happens to a worker."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpmf
from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.data.partitioned import ItemCounts
from dpmf_core.jobs import partition_reading, partition_sums, worker
from dpmf_core.jobs.partition_pools import WorkersLost
from dpmf_core.jobs.partition_reading import PartialSum, WorkerRefuses, add_up
from dpmf_core.jobs.partition_sums import spread
from dpmf_core.jobs.worker import Worker
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.parts import in_files

BUDGET = {"epsilon": 2.0, "delta": 1e-6}
N_PARTS = 9


class PoolHere:
    """Two workers in this process; `before` is called with each chunk and its worker's name."""

    folder: Path

    def __init__(self, folder):
        self.folder = folder
        self.there = {"one": 1, "two": 1}
        self.before = lambda worker, places: None

    def workers(self):
        return dict(self.there)

    def share(self, content, workers):
        return content

    def map(self, function, request, chunks, contents, workers):
        for at, places in enumerate(chunks):
            self.before(workers[at * len(workers) // len(chunks)], places)
            yield function(request, places, *contents)

    def close(self, run): ...


def spec(algorithm, **parts):
    data = {"id": "own"} | parts.pop("data", {})
    return RunSpec.parse(data=data, algorithm=algorithm, budget=BUDGET, **parts)


def write_parts(ratings, folder):
    """The ratings in partitions as the set `own` of a data folder."""
    (folder / "parts" / "own").mkdir(parents=True)
    return in_files(ratings, N_PARTS, folder / "parts" / "own")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Ratings in partitions that this process finds by the id `own`."""
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    data_access.forget()
    yield write_parts(low_rank(n_users=300), tmp_path / "data")
    data_access.forget()


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """What `spread` takes for local processes."""
    one = PoolHere(tmp_path / "held")
    monkeypatch.setattr(partition_sums, "LocalPool", lambda count, folder: one)
    monkeypatch.setenv("DPMF_THREADS", "1")
    return one


def assert_same(one, other):
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
        spec(
            "private-bias",
            data={"top_items": 20, "min_user_count": 3, "most_per_user": 9},
        ),
        spec("private-bias", data={"min_item_count": 30, "positives_above": 3.0}),
        spec("private-bias", data={"item_choice": "private", "row_count": "private"}),
        spec("spectral", split={"kind": "users"}),
        spec("ada-dpals", split={"validation_fraction": 0.1}),
        spec("dp-sgd", parameters={"steps": 4}),
        spec("dpfw-oja"),
        spec("dp-nmf"),
        RunSpec.parse(
            data={"id": "own"}, algorithm="nmf", parameters={"iterations": 20}
        ),
        RunSpec.parse(data={"id": "own"}, algorithm="bias"),
        RunSpec.parse(
            data={"id": "own"}, algorithm="als", parameters={"rank": 3, "steps": 3}
        ),
    ],
    ids=lambda spec: f"{spec.algorithm} {spec.data.top_items or spec.data.item_choice}",
)
def test_a_distributed_run_has_the_bits_of_a_local_run(run_spec, own, pool):
    here = execution.run(run_spec)
    with spread("own", run_spec.algorithm):
        there = execution.run(run_spec)
    assert_same(here, there)


def test_a_partition_that_is_counted_twice_is_never_released(own, pool, monkeypatch):
    def twice(*arguments):
        partial_sum = add_up(*arguments)
        places = (*partial_sum.places, 0)
        return PartialSum(places, partial_sum.total)

    monkeypatch.setattr(partition_sums, "add_up", twice)
    with spread("own", "private-bias"), pytest.raises(RuntimeError):
        execution.run(spec("private-bias"))


def test_what_travels_holds_no_noise_and_no_rows(own, pool, monkeypatch):
    messages = []
    monkeypatch.setattr(
        PoolHere,
        "share",
        lambda pool, content, workers: messages.append(content) or content,
    )
    with spread("own", "ada-dpals"):
        execution.run(spec("ada-dpals"))
    assert len(messages) > 5
    for content in messages:
        for word in (
            b"Noise",
            b"SeedSequence",
            b"Generator",
            b"RunSpec",
            b"PartitionedRatings",
        ):
            assert word not in content


@pytest.mark.parametrize("algorithm", ["dp-sgd", "private-bias"])
def test_a_worker_that_is_lost_in_mid_sum_changes_no_bit(algorithm, own, pool):
    """What it held is made again."""
    parameters = {}
    if algorithm == "dp-sgd":
        parameters = {"steps": 4}
    run_spec = spec(algorithm, parameters=parameters)
    here = execution.run(run_spec)
    calls = []

    def lose(worker, places):
        calls.append(worker)
        if len(calls) in (3, 12):
            pool.there.pop(worker)
            pool.there[f"after {worker}"] = 1
            for path in pool.folder.glob("held-*/*"):
                path.unlink()
            raise WorkersLost

    pool.before = lose
    with spread("own", algorithm):
        assert_same(here, execution.run(run_spec))
    assert len(pool.there) == 2
    assert any(process.startswith("after") for process in pool.there)


def test_workers_that_are_lost_again_and_again_end_in_an_error(own, pool):
    def lose(worker, places):
        raise WorkersLost

    pool.before = lose
    with spread("own", "private-bias"), pytest.raises(BadInput):
        execution.run(spec("private-bias"))


def test_a_worker_that_refuses_gets_no_partition_and_is_named(own, pool):
    here = execution.run(spec("private-bias"))
    asked = []

    def refuse(worker, places):
        asked.append(worker)
        if worker == "one":
            raise WorkerRefuses(worker, "it has another dpmf")

    pool.before = refuse
    with spread("own", "private-bias") as sums:
        assert_same(here, execution.run(spec("private-bias")))
        assert sums.refusals == {"one": "it has another dpmf"}
        assert asked.count("one") == 1
        pool.there.pop("two")
        with pytest.raises(BadInput, match="one: it has another dpmf"):
            execution.run(spec("private-bias", seed=1))


def test_a_worker_with_other_code_or_data_refuses(own, monkeypatch):
    requirement = partition_reading.Requirement.of("bias", "own", own.fingerprint)
    assert requirement.unmet() == ""
    for other in (
        *(
            replace(requirement, versions=requirement.versions | {name: "another"})
            for name in requirement.versions
        ),
        replace(requirement, fingerprint="another"),
        replace(requirement, data_id="none"),
        replace(requirement, algorithm="none"),
    ):
        assert other.unmet()


def test_a_damaged_partition_is_a_reason_to_refuse(own, pool):
    file = Path(os.environ["DPMF_DATA"]) / "parts" / "own" / "00003.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    data_access.forget()
    with spread("own", "bias"), pytest.raises(BadInput, match="Partition 3 of"):
        partitions = data_access.open_anywhere(spec("private-bias").data)
        partitions.fold(ItemCounts(30))


def test_a_cancelled_run_reads_no_further(own, pool):
    read = []
    pool.before = lambda worker, places: read.append(places)
    with spread("own", "private-bias"), pytest.raises(Cancelled):
        execution.run(spec("private-bias"), stopped=lambda: len(read) >= 2)
    assert len(read) == 2


def test_private_ratings_are_charged_once_by_the_asker(tmp_path, monkeypatch, pool):
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    data_access.forget()
    write_parts(replace(low_rank(n_users=200), public=False), tmp_path)
    run = dpmf.fit("own", "private-bias", epsilon=1.0, delta=1e-6, spread=True)
    assert not run.record.public
    epsilon = dpmf.account("own").total.epsilon
    assert epsilon == pytest.approx(1.0, rel=1e-3)
    with pytest.raises(BadInput), spread("own", "private-bias", "tcp://far:8786"):
        pass
    assert dpmf.account("own").total.epsilon == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dpmf.fit("cinema", "bias", spread=True),
        lambda: dpmf.fit(low_rank(), "bias", spread=True),
        lambda: dpmf.fit("own", "bias", spread="nowhere"),
        lambda: dpmf.fit("none", "bias", spread=True),
    ],
)
def test_what_cannot_be_spread_is_refused(call, own):
    with pytest.raises(BadInput):
        call()


@pytest.mark.slow
def test_processes_of_this_machine(own, monkeypatch):
    monkeypatch.setattr(worker, "Worker", Worker)
    run_spec = spec("dp-sgd", parameters={"steps": 2})
    here = execution.run(run_spec)
    with spread("own", "dp-sgd", workers=2) as sums:
        pool = sums.pool

        counts = own.fold(ItemCounts(own.n_items))
        counted = sums.fold(own, ItemCounts(own.n_items), ())
        assert np.array_equal(counted, counts)
        for each in pool._workers:
            each.kill()
        counted = sums.fold(own, ItemCounts(own.n_items), ())
        assert np.array_equal(counted, counts)
        assert_same(here, execution.run(run_spec))


@pytest.mark.slow
def test_workers_of_a_dask_scheduler(own):
    distributed = pytest.importorskip("distributed")
    run_spec = spec("dp-sgd", parameters={"steps": 2})
    here = execution.run(run_spec)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster, spread("own", "dp-sgd", cluster.scheduler_address) as sums:
        assert_same(here, execution.run(run_spec))
        pool = sums.pool
        pool._client.retire_workers([min(pool.workers())])
        assert np.array_equal(
            sums.fold(own, ItemCounts(own.n_items), ()),
            own.fold(ItemCounts(own.n_items)),
        )
