"""Small data sets travel with a run to workers that lack them, private ones sealed and over TLS;
others stay, in words.
"""

from typing import Any

import numpy as np
import pytest

from dpmf_core.data.catalogue import lent
from dpmf_core.engine.cluster import must_be_protected
from dpmf_core.engine.jobs import Task
from dpmf_core.engine.lending import Lending, Loan
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.sealing import fresh_key, sealed, unsealed
from dpmf_core.engine.verification import Refusal, expected
from dpmf_core.engine.workers import threads, verified_work
from dpmf_core.errors import BadInput
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.specification import DataSpec, run_key
from dpmf_core.testing.worlds import low_rank
from tests.support.engines import QUICK, spec

TLS = Scheduler("tls://far:8786")


def lending_without(data_id: str, way: Scheduler = TLS) -> Lending:
    lending = Lending(way)
    lending.lacks(Refusal("tcp://w", "it has no such data", everything=False, lacks=data_id))
    return lending


def test_what_nobody_lacks_is_not_sent() -> None:
    assert lending_without("cinema").lent(None, "lowrank") == (None, {}, "")


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


def test_keys_are_in_no_message() -> None:
    key = fresh_key()
    assert repr(key) not in repr(Loan(None, key)) + repr(Task("", spec(QUICK), seal=key))


def test_a_line_that_anybody_reads_carries_nothing_private() -> None:
    for address in ("tls://far:1", "inproc://1.2/3", "tcp://127.0.0.1:1", "localhost:1"):
        Scheduler(address).must_protect("own", "it")
    for address in ("tcp://far:1", "far:1", "ucx://10.0.0.1:1"):
        with pytest.raises(BadInput):
            Scheduler(address).must_protect("own", "it")


def test_no_run_on_private_data_is_told_over_such_a_line(two_sets: None) -> None:
    far = Scheduler("tcp://far:8786")
    must_be_protected(spec(QUICK), far)  # public
    with pytest.raises(BadInput):
        must_be_protected(spec(QUICK, data={"id": "own"}), far)


def test_what_is_lent_takes_the_place_of_what_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    data_spec, other = DataSpec(id="lowrank"), low_rank(seed=9)
    before = data_access.open_anywhere(data_spec).fingerprint
    with lent("lowrank", other):
        assert data_access.open_anywhere(data_spec).fingerprint == other.fingerprint != before
        with lent("another", low_rank()):
            assert data_access.open_anywhere(data_spec).fingerprint == before
    assert data_access.open_anywhere(data_spec).fingerprint == before
