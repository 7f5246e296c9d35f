"""Several servers on one store: each run is computed once, and what a server that died had
begun is computed by another.
"""

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpmf_core.engine.executor import Engine
from dpmf_core.engine.leases import FILE, Leases
from dpmf_core.engine.scheduler_security import Scheduler, threads_cluster
from dpmf_core.runs.store import Store
from tests.support.engines import LONG, QUICK, spec, wait_for

pytestmark = pytest.mark.usefixtures("two_sets")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def two(tmp_path: Path, two_sets: None) -> Iterator[list[Engine]]:
    """Two engines with workers and handles of their own on one folder, as two servers have."""
    engines = [Engine(Store(tmp_path), processes=False, workers=1) for _ in range(2)]
    # workers of one process cannot start at the same time
    for seed, engine in enumerate(engines, 1000):
        engine.submit(spec(QUICK, seed=seed)).result(120)
    yield engines
    for engine in engines:
        engine.close()
        engine.store.close()


# ---- leases --------------------------------------------------------------------------------------


def test_one_of_two_holds_a_lease_until_it_is_released(tmp_path: Path) -> None:
    one, other = Leases(tmp_path), Leases(tmp_path)
    assert one.claim("a") and one.claim("a") and not other.claim("a") and other.claim("b")
    one.release("a")
    other.release("a")  # which it does not hold
    assert other.claim("a") and not one.claim("a")
    other.close()
    assert one.claim("a") and one.claim("b")
    one.close()


def expires(folder: Path, key: str) -> float:
    """When a lease runs out, in seconds since 1970."""
    with sqlite3.connect(folder / FILE) as db:
        return float(db.execute("SELECT expires FROM leases WHERE key = ?", (key,)).fetchone()[0])


def test_a_lease_that_is_renewed_lasts_and_one_that_is_not_runs_out(tmp_path: Path) -> None:
    one, other = Leases(tmp_path, length=3.0), Leases(tmp_path, length=3.0)
    assert one.claim("a")
    first = expires(tmp_path, "a")

    def has_outlived() -> bool:
        assert not other.claim("a")
        return expires(tmp_path, "a") > first + 1.0

    wait_for(has_outlived)
    with sqlite3.connect(tmp_path / FILE) as db:  # as a holder leaves it that is no more
        db.execute("INSERT INTO leases VALUES ('b', 'dead', ?)", (time.time() + 0.3,))
    assert not other.claim("b")
    calls: list[str] = []
    other.wait("b", lambda: calls.append("b"), lambda: False)
    other.wait("a", lambda: calls.append("a"), lambda: False)
    wait_for(lambda: calls)
    assert calls == ["b"] and other.claim("b")
    one.close()
    wait_for(lambda: calls == ["b", "a"])
    other.close()


@pytest.mark.parametrize("shift", [-1e6, 1e6])
def test_a_clock_that_jumped_holds_up_nobody(tmp_path: Path, shift: float) -> None:
    one = Leases(tmp_path)
    one.claim("x")
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("INSERT INTO leases VALUES ('a', 'another', ?)", (time.time() + shift,))
    assert one.claim("a")
    one.close()


def test_a_lease_taken_while_another_waited_for_the_file_is_not_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = Leases(tmp_path), Leases(tmp_path)
    assert one.claim("a")
    before = time.time() - 1.0
    with monkeypatch.context() as patch:  # it had looked at the clock before the file was free
        patch.setattr("dpmf_core.engine.leases.time.time", lambda: before)
        assert not other.claim("a")
    one.close()
    other.close()


def test_leases_that_cannot_be_kept_hold_up_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_bytes(b"no database, but long enough to look like one" * 100)
    one = Leases(tmp_path)
    assert one.claim("a")  # the file is made anew
    one.close()
    missing = Leases(tmp_path / "nowhere")
    assert missing.claim("a") and missing.claim("a")
    assert len(caplog.records) == 1 and "cannot be kept" in caplog.text
    missing.close()


# ---- engines -------------------------------------------------------------------------------------


def test_a_run_that_another_server_computes_is_waited_for_and_found(two: list[Engine]) -> None:
    parts = spec(LONG, parameters={"rank": 16, "steps": 30})
    first = two[0].submit(parts)
    wait_for(lambda: first.progress)
    second = two[1].submit(parts)
    assert second.key == first.key and second.state == "waiting"
    assert first.result(60).record.cached is False
    finished_run = second.result(60)
    assert (
        finished_run.record.cached is True
        and finished_run.record.curves == first.result().record.curves
    )
    assert [row["key"] for row in two[1].store.rows()].count(first.key) == 1


def test_many_runs_that_both_ask_for_are_computed_once_each(two: list[Engine]) -> None:
    jobs = [engine.submit(spec(QUICK, seed=seed)) for seed in range(12) for engine in two]
    flags = [job.result(120).record.cached for job in jobs]
    assert sum(not it for it in flags) == 12
    assert (
        len({job.key for job in jobs}) == 12
        and len(two[0].store.rows()) == 12 + 2
        and two[0].store.check() == []
    )


def test_waiting_for_another_server_is_cancelled_at_once_and_harms_it_not(
    two: list[Engine],
) -> None:
    parts = spec(LONG, parameters={"rank": 16, "steps": 30}, seed=1)
    first = two[0].submit(parts)
    wait_for(lambda: first.progress)
    second = two[1].submit(parts)
    assert second.key and second.state == "waiting"
    second.cancel()
    assert second.state == "cancelled" and two[1].jobs() == []
    assert first.result(60).record.cached is False


def test_a_run_that_is_cancelled_there_is_computed_here(two: list[Engine]) -> None:
    parts = spec(LONG, parameters={"rank": 16, "steps": 60}, seed=2)
    first = two[0].submit(parts)
    wait_for(lambda: first.progress)
    second = two[1].submit(parts)
    assert second.key and second.state == "waiting"
    first.cancel()
    assert second.result(60).record.cached is False


def test_two_servers_share_a_scheduler_elsewhere_and_count_its_workers(tmp_path: Path) -> None:
    with threads_cluster(1, tmp_path / "workers") as cluster:
        way = Scheduler(cluster.scheduler_address)
        two = [Engine(Store(tmp_path / "store"), way) for _ in range(2)]
        jobs = [engine.submit(spec(QUICK, seed=seed)) for seed in range(6) for engine in two]
        flags = [job.result(120).record.cached for job in jobs]
        assert sum(not it for it in flags) == 6
        for workers in (3, 1):
            cluster.scale(workers)
            wait_for(lambda workers=workers: {it.width for it in two} == {workers}, 120)
        for engine in two:
            engine.close()
            engine.store.close()


COMPUTE = """
import sys
from pathlib import Path
from dpmf_core.engine.executor import Engine
from dpmf_core.runs.store import Store
from tests.support.engines import LONG, spec

engine = Engine(Store(Path(sys.argv[1])), processes=False, workers=1)
job = engine.submit(spec(LONG))
while not job.progress and not job.wait(0.01):
    pass
print(job.key, flush=True)
job.wait(600)
"""


@pytest.mark.slow
def test_a_run_of_a_server_that_died_is_computed_by_another(tmp_path: Path) -> None:
    engine = Engine(Store(tmp_path), processes=False, workers=1)
    child = subprocess.Popen(
        [sys.executable, "-c", COMPUTE, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    key = child.stdout.readline().strip()
    child.send_signal(signal.SIGSTOP)  # it computes no further, and does not end
    job = engine.submit(spec(LONG))
    assert job.key == key and job.state == "waiting"
    child.send_signal(signal.SIGKILL)
    child.wait()
    wait_for(lambda: job.progress, 120)
    job.cancel()
    engine.close()
    engine.store.close()
