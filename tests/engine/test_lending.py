"""Small public data sets travel with a run to workers that lack them; others stay, in words."""

from pathlib import Path

import numpy as np
import pytest

from dpmf_core.data.catalogue import lent
from dpmf_core.engine import lending
from dpmf_core.engine.executor import Engine
from dpmf_core.engine.lending import Lending
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.verification import Refusal
from dpmf_core.engine.workers import threads
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.store import Store
from dpmf_core.testing.worlds import low_rank
from tests.support.clusters import ROOT, Processes
from tests.support.engines import QUICK, spec


def lacked(data_id: str) -> Lending:
    found = Lending()
    found.lacks(Refusal("tcp://w", "it has no such data", everything=False, lacks=data_id))
    return found


def table(folder: Path) -> str:
    lines = [f"{user},{item},3" for user in range(5) for item in range(4)]
    (folder / "some.csv").write_text("\n".join(["user,item,rating", *lines]))
    return f"{folder / 'some.csv'}?bounds=1,5"


def test_what_nobody_lacks_is_not_sent() -> None:
    assert lacked("cinema").lent(None, "lowrank") == (None, {}, "")


def test_what_stays_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    monkeypatch.setattr(lending, "MOST_BYTES", 1e4)
    for data_id, words in (
        (table(tmp_path), "is private, and so is not sent"),
        ("cinema-10m", "is kept in parts, which are not sent"),
        ("cinema-small", "and at most 0 MB are sent"),
        ("digits", "and at most 0 MB are sent"),
    ):
        data, lacking, why = lacked(data_id).lent(None, data_id)
        assert data is None and list(lacking) == ["tcp://w"]
        assert words in why


def test_a_set_is_sent_once_and_again_when_it_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    with threads(1) as way, way.client() as client:
        found = lacked("lowrank")
        first, again = (found.lent(client, "lowrank")[0] for _ in range(2))
        assert first is again
        assert np.array_equal(first.result().values, data_access.open_raw("lowrank").values)
        first.cancel()
        assert found.lent(client, "lowrank")[0].result() is not None


def test_what_is_lent_takes_the_place_of_what_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    asked, other = DataSpec(id="lowrank"), low_rank(seed=9)
    before = data_access.open_anywhere(asked).fingerprint
    with lent("lowrank", other):
        assert data_access.open_anywhere(asked).fingerprint == other.fingerprint != before
        with lent("another", low_rank()):
            assert data_access.open_anywhere(asked).fingerprint == before
    assert data_access.open_anywhere(asked).fingerprint == before


@pytest.mark.slow
def test_workers_without_the_data_are_given_them(
    tmp_path: Path, processes: Processes, two_sets: None
) -> None:
    empty = {
        "PYTHONPATH": str(ROOT),
        "DPMF_CATALOGUE": "dpmf_datasets",
        "DPMF_DATA": str(tmp_path / "nothing"),
    }
    way: Scheduler = processes.served(one=empty, other=empty)
    engine = Engine(Store(tmp_path / "runs"), way)
    try:
        asked = [spec(QUICK, seed=seed) for seed in range(5)]
        for it, job in zip(asked, [engine.submit(it) for it in asked], strict=True):
            assert job.result(120).record.metrics == execution.run(it).record.metrics
        assert len(engine._dispatcher.cluster._lending._sent) == 1
        assert engine._dispatcher.cluster.unfit == {}
    finally:
        engine.close()
