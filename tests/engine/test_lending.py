"""Small data sets travel with a run to workers that lack them, private ones sealed and over TLS;
others stay, in words.
"""

import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag

from dpmf_core.data.catalogue import lent
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.engine import lending, workers
from dpmf_core.engine.cluster import must_be_protected
from dpmf_core.engine.executor import Engine
from dpmf_core.engine.jobs import Task
from dpmf_core.engine.lending import Lending, Loan
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.sealing import fresh_key, sealed, unsealed
from dpmf_core.engine.verification import Refusal, expected
from dpmf_core.engine.workers import threads, verified_work
from dpmf_core.errors import BadInput
from dpmf_core.runs import data_access, execution, memory
from dpmf_core.runs.specification import DataSpec, run_key
from dpmf_core.runs.store import Store
from dpmf_core.testing.worlds import low_rank
from tests.support.clusters import ROOT, Processes
from tests.support.engines import QUICK, spec, wait_for

TLS = Scheduler("tls://far:8786")


def lending_without(data_id: str, way: Scheduler = TLS) -> Lending:
    lending = Lending(way)
    lending.lacks(Refusal("tcp://w", "it has no such data", everything=False, lacks=data_id))
    return lending


def table(folder: Path) -> str:
    lines = [f"{user},{item},3" for user in range(5) for item in range(4)]
    (folder / "some.csv").write_text("\n".join(["user,item,rating", *lines]))
    return f"{folder / 'some.csv'}?bounds=1,5"


def test_what_nobody_lacks_is_not_sent() -> None:
    assert lending_without("cinema").lent(None, "lowrank") == (None, {}, "")


def test_what_stays_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    monkeypatch.setattr(lending, "MOST_BYTES", 1e4)
    far = Scheduler("tcp://far:8786")
    for data_id, words in (
        (table(tmp_path), "is private, and is sent over TLS alone: take a scheduler at tls://"),
        ("cinema-10m", "is kept in parts, which are not sent"),
        ("cinema-small", "and at most 0 MB are sent"),
        ("digits", "and at most 0 MB are sent"),
    ):
        loan, lacking, why = lending_without(data_id, far).lent(None, data_id)
        assert loan is None and list(lacking) == ["tcp://w"]
        assert words in why


def test_a_set_is_sent_once_and_again_when_it_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    with threads(1) as way, way.client() as client:
        lending = lending_without("lowrank", way)
        first, again = (lending.lent(client, "lowrank")[0] for _ in range(2))
        assert first is not None and first is again and not first.key
        assert np.array_equal(first.data.result().values, data_access.open_raw("lowrank").values)
        first.data.cancel()
        lending.recall(())  # public ones stay
        anew = lending.lent(client, "lowrank")[0]
        assert anew is not None and anew.data.result() is not None


def test_a_private_set_is_sealed_on_its_way_and_recalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    data_id = table(tmp_path)
    with threads(1) as way, way.client() as client:
        lending = lending_without(data_id, way)
        loan, again = (lending.lent(client, data_id)[0] for _ in range(2))
        assert loan is not None and loan is again
        text, data = loan.data.result(), data_access.open_raw(data_id)
        assert isinstance(data, Ratings)
        assert data.values.tobytes() not in text and b"Ratings" not in text
        assert unsealed(text, loan.key).fingerprint == data.fingerprint
        with pytest.raises(InvalidTag):
            unsealed(text, fresh_key())
        assert sealed(data, loan.key) != text  # no nonce twice
        name = loan.data.key
        lending.recall({data_id})
        assert name in client.who_has()
        lending.recall({"another"})
        del loan, again
        wait_for(lambda: name not in client.who_has(), 10.0)


def test_what_goes_wrong_with_private_data_is_sealed_and_in_no_log(
    two_sets: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that nobody foresaw may hold a rating, and Dask writes what a task raises."""

    def fail(*arguments: Any, **more: Any) -> None:
        raise ValueError("user 17 rated item 4 with 5 stars")

    monkeypatch.setattr(execution, "run", fail)
    run_spec = spec(QUICK, data={"id": "own"})
    data, key = data_access.open_anywhere(run_spec.data), fresh_key()
    work = run_spec, expected(run_spec, run_key(run_spec, data)), "ticket", "topic"
    with threads(1) as way, way.client() as client:
        loan = client.scatter(sealed(data, key), hash=False)
        text = client.submit(verified_work, *work, data=loan, seal=key).result()
        outcome = unsealed(text, key)
        assert "stars" not in str(client.get_worker_logs())
    assert isinstance(outcome, RuntimeError)
    assert str(outcome) == "The run failed: ValueError: user 17 rated item 4 with 5 stars"


def test_keys_are_in_no_message() -> None:
    key = fresh_key()
    assert repr(key) not in repr(Loan(None, key)) + repr(Task("", spec(QUICK), seal=key))


def test_a_line_that_anybody_reads_carries_nothing_private() -> None:
    for address in ("tls://far:1", "inproc://1.2/3", "tcp://127.0.0.1:1", "localhost:1"):
        Scheduler(address).must_protect("own", "it")
    for address in ("tcp://far:1", "far:1", "ucx://10.0.0.1:1"):
        with pytest.raises(BadInput, match=f"it would travel to {address} for anybody to read"):
            Scheduler(address).must_protect("own", "it")


def test_no_run_on_private_data_is_told_over_such_a_line(two_sets: None) -> None:
    far = Scheduler("tcp://far:8786")
    must_be_protected(spec(QUICK), far)  # public
    with pytest.raises(BadInput, match=r"own is private, and what is computed on it would travel"):
        must_be_protected(spec(QUICK, data={"id": "own"}), far)


def test_documents_are_as_large_as_their_words_in_reading_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    news = data_access.open_raw("news")
    assert isinstance(news, Samples) and news.texts is not None
    table = news.X.data.nbytes + news.X.indices.nbytes + news.X.indptr.nbytes
    monkeypatch.setattr(lending, "MOST_BYTES", table + news.texts.ids.nbytes)
    loan, _, why = lending_without("news").lent(None, "news")
    assert loan is None and "are sent to them" in why


def test_what_is_lent_takes_the_place_of_what_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    data_spec, other = DataSpec(id="lowrank"), low_rank(seed=9)
    before = data_access.open_anywhere(data_spec).fingerprint
    with lent("lowrank", other):
        assert data_access.open_anywhere(data_spec).fingerprint == other.fingerprint != before
        with lent("another", low_rank()):
            assert data_access.open_anywhere(data_spec).fingerprint == before
    assert data_access.open_anywhere(data_spec).fingerprint == before


def test_nothing_of_private_data_that_were_lent_stays_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    run_spec = spec(QUICK, data={"id": "lowrank"})
    caches = (data_access._raw, data_access._prepared_data, data_access._split)
    with data_access.lent_for_a_run("lowrank", low_rank(seed=9)):
        data_access.open_split(run_spec)
    assert all(it.cache_info().currsize for it in caches)
    with data_access.lent_for_a_run("lowrank", replace(low_rank(seed=9), public=False)):
        data_access.open_split(run_spec)
    assert not any(it.cache_info().currsize for it in caches)


def test_memory_of_private_data_is_given_back_once_nobody_holds_them(
    two_sets: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    references, there = list[weakref.ref[Any]](), list[bool]()
    original = workers.unsealed

    def opened_and_watched(text: bytes, key: bytes) -> Any:
        data = original(text, key)
        references.append(weakref.ref(data))
        return data

    monkeypatch.setattr(workers, "unsealed", opened_and_watched)
    monkeypatch.setattr(
        memory, "give_back", lambda: there.append(any(it() is not None for it in references))
    )
    run_spec = spec(QUICK, data={"id": "own"})
    data, key = data_access.open_anywhere(run_spec.data), fresh_key()
    work = run_spec, expected(run_spec, run_key(run_spec, data)), "ticket", "topic"
    with threads(1) as way, way.client() as client:
        loan = client.scatter(sealed(data, key), hash=False)
        future = client.submit(verified_work, *work, data=loan, seal=key)
        assert unsealed(future.result(), key).key == run_key(run_spec, data)
    assert references and there[-1] is False


@pytest.mark.slow
def test_workers_without_the_data_are_given_them(
    tmp_path: Path, processes: Processes, two_sets: None
) -> None:
    empty = {
        "PYTHONPATH": str(ROOT),
        "DPMF_CATALOGUE": "dpmf_datasets",
        "DPMF_DATA": str(tmp_path / "nothing"),
    }
    way: Scheduler = processes.serve(one=empty, other=empty)
    engine = Engine(Store(tmp_path / "runs"), way)
    try:
        specs = [spec(QUICK, seed=seed) for seed in range(5)]
        for it, job in zip(specs, [engine.submit(it) for it in specs], strict=True):
            assert job.result(120).record.metrics == execution.run(it).record.metrics
        assert len(engine._dispatcher.cluster._lending._loans) == 1
        assert engine._dispatcher.cluster.unfit == {}
    finally:
        engine.close()
