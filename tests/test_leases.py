"""Several servers on one store: each run is computed once, and what a server that died had begun is computed by another."""

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.engine import Engine
from dpmf_core.experiment import RunSpec
from dpmf_core.leases import FILE, Leases
from dpmf_core.store import Store

ROOT = Path(__file__).parents[1]
LONG: dict[str, Any] = {"data": {"id": "medium"}, "algorithm": "als", "parameters": {"rank": 32, "steps": 200}}
QUICK: dict[str, Any] = {"data": {"id": "small"}, "algorithm": "private-bias", "budget": {"epsilon": 2.0, "delta": 1e-5}}


def spec(parts: dict[str, Any], **more: Any) -> RunSpec:
    return RunSpec.parse(**{**parts, **more})


def wait_for(what: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (answer := what()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return answer


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "tests.two_sets")


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[Engine]]:
    """Two engines with workers and handles of their own on one folder, as two servers have."""
    made = [Engine(Store(tmp_path), processes=False, workers=1) for _ in range(2)]
    for seed, engine in enumerate(made, 1000):  # workers of one process cannot start at the same time
        engine.submit(spec(QUICK, seed=seed)).result(120)
    yield made
    for engine in made:
        engine.close()
        engine.store.close()


# ---- leases -------------------------------------------------------------------------------------------------------------


def test_one_of_two_holds_a_lease_until_it_is_released(tmp_path: Path) -> None:
    one, other = Leases(tmp_path), Leases(tmp_path)
    assert one.claim("a") and one.claim("a") and not other.claim("a") and other.claim("b")
    one.release("a")
    other.release("a")  # which it does not hold
    assert other.claim("a") and not one.claim("a")
    other.close()
    assert one.claim("a") and one.claim("b")
    one.close()


def test_a_lease_that_is_renewed_lasts_and_one_that_is_not_runs_out(tmp_path: Path) -> None:
    one, other = Leases(tmp_path, length=1.0), Leases(tmp_path, length=1.0)
    assert one.claim("a")
    began = time.monotonic()
    while time.monotonic() - began < 2.0:
        assert not other.claim("a")
        time.sleep(0.05)
    with sqlite3.connect(tmp_path / FILE) as db:  # as a holder leaves it that is no more
        db.execute("INSERT INTO leases VALUES ('b', 'dead', ?)", (time.time() + 0.3,))
    assert not other.claim("b")
    called: list[str] = []
    other.wait("b", lambda: called.append("b"), lambda: False)
    other.wait("a", lambda: called.append("a"), lambda: False)
    wait_for(lambda: called)
    assert called == ["b"] and other.claim("b")
    one.close()
    wait_for(lambda: called == ["b", "a"])
    other.close()


@pytest.mark.parametrize("shift", [-1e6, 1e6])
def test_a_clock_that_jumped_holds_up_nobody(tmp_path: Path, shift: float) -> None:
    one = Leases(tmp_path)
    one.claim("x")
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("INSERT INTO leases VALUES ('a', 'another', ?)", (time.time() + shift,))
    assert one.claim("a")
    one.close()


def test_leases_that_cannot_be_kept_hold_up_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE).write_bytes(b"no database, but long enough to look like one" * 100)
    one = Leases(tmp_path)
    assert one.claim("a")  # the file is made anew
    one.close()
    missing = Leases(tmp_path / "nowhere")
    assert missing.claim("a") and missing.claim("a")
    assert len(caplog.records) == 1 and "cannot be kept" in caplog.text
    missing.close()


# ---- engines ------------------------------------------------------------------------------------------------------------


def test_a_run_that_another_server_computes_is_waited_for_and_found(two: list[Engine]) -> None:
    parts = spec(LONG, parameters={"rank": 16, "steps": 30})
    first = two[0].submit(parts)
    wait_for(lambda: first.progress)
    second = two[1].submit(parts)
    assert second.key == first.key and second.state == "waiting"
    assert first.result(60).record["cached"] is False
    found = second.result(60)
    assert found.record["cached"] is True and found.record["curves"] == first.result().record["curves"]
    assert [row["key"] for row in two[1].store.rows()].count(first.key) == 1


def test_many_runs_that_both_ask_for_are_computed_once_each(two: list[Engine]) -> None:
    jobs = [engine.submit(spec(QUICK, seed=seed)) for seed in range(12) for engine in two]
    cached = [job.result(120).record["cached"] for job in jobs]
    assert sum(not it for it in cached) == 12
    assert len({job.key for job in jobs}) == 12 and len(two[0].store.rows()) == 12 + 2 and two[0].store.check() == []


def test_waiting_for_another_server_is_cancelled_at_once_and_harms_it_not(two: list[Engine]) -> None:
    parts = spec(LONG, parameters={"rank": 16, "steps": 30}, seed=1)
    first = two[0].submit(parts)
    wait_for(lambda: first.progress)
    second = two[1].submit(parts)
    assert second.key and second.state == "waiting"
    second.cancel()
    assert second.state == "cancelled" and two[1].jobs() == []
    assert first.result(60).record["cached"] is False


def test_a_run_that_is_cancelled_there_is_computed_here(two: list[Engine]) -> None:
    parts = spec(LONG, parameters={"rank": 16, "steps": 60}, seed=2)
    first = two[0].submit(parts)
    wait_for(lambda: first.progress)
    second = two[1].submit(parts)
    assert second.key and second.state == "waiting"
    first.cancel()
    assert second.result(60).record["cached"] is False


COMPUTE = """
import sys
from pathlib import Path
from dpmf_core.engine import Engine
from dpmf_core.store import Store
from tests.test_leases import LONG, spec

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
    child = subprocess.Popen([sys.executable, "-c", COMPUTE, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
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
