"""Runs run elsewhere: once, watched, cancelled, killed, and never half-kept."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.engine import workers
from dpmf_core.engine.executor import Engine
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.runs.execution import Progress
from dpmf_core.runs.record import Run
from dpmf_core.runs.store import Store
from tests.support.engines import CATALOGUE, LONG, QUICK, spec, wait_for, wait_for_start

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("two_sets")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One worker process, so that a second run waits."""
    os.environ["DPMF_CATALOGUE"] = CATALOGUE  # workers inherit it when they start
    new_engine = Engine(Store(tmp_path_factory.mktemp("runs")), workers=1)
    new_engine.submit(spec(LONG, parameters={"rank": 32, "steps": 1})).result(
        120
    )  # kernels are compiled
    yield new_engine
    new_engine.close()
    del os.environ["DPMF_CATALOGUE"]


@pytest.fixture
def threads(tmp_path: Path) -> Iterator[Engine]:
    new_engine = Engine(Store(tmp_path), processes=False, workers=2)
    yield new_engine
    new_engine.close()


# ---- once ----------------------------------------------------------------------------------------


def test_a_run_is_computed_elsewhere_and_kept(engine: Engine) -> None:
    job = engine.submit(spec(QUICK, seed=1))
    run = job.result(30)
    assert job.state == "done" and job.error is None and not job.bad_input
    assert run.record.cached is False and run.key == job.key
    stored_run = engine.store.get(job.key)
    assert stored_run is not None
    assert stored_run.record == run.record.model_copy(update={"cached": True})


def test_a_stored_run_is_done_at_once(engine: Engine) -> None:
    first = engine.submit(spec(QUICK, seed=2)).result(30)
    began = time.perf_counter()
    again = engine.submit(spec(QUICK, seed=2))
    assert again.state == "done"
    assert time.perf_counter() - began < 0.1
    assert again.result().record == first.record.model_copy(update={"cached": True})


def test_identical_runs_in_flight_are_computed_once(engine: Engine) -> None:
    jobs = [
        engine.submit(spec(LONG, parameters={"rank": 16, "steps": 3}, seed=seed))
        for seed in (5, 5, 5)
    ]
    first, *others = [job.result(30).record for job in jobs]
    assert first.cached is False
    assert all(record is first for record in others)
    assert [row["key"] for row in engine.store.rows()].count(jobs[0].key) == 1


def test_a_budget_that_buys_nothing_is_no_other_run(engine: Engine) -> None:
    plain = engine.submit(spec(LONG, seed=6))
    other = engine.submit(spec(LONG, seed=6, budget={"epsilon": 3.0, "delta": 1e-6}))
    assert plain.key == other.key
    assert len([job for job in engine.jobs() if job.key == plain.key]) == 1
    plain.cancel()
    other.cancel()


def test_a_damaged_run_is_computed_again(engine: Engine) -> None:
    job = engine.submit(spec(QUICK, seed=3))
    job.result(30)
    artefact = max(
        (engine.store.folder / "artefacts").iterdir(), key=lambda path: path.stat().st_mtime_ns
    )
    artefact.write_bytes(b"not what was written")
    assert engine.submit(spec(QUICK, seed=3)).result(30).record.cached is False
    assert engine.store.check() == []


# ---- watched and cancelled -----------------------------------------------------------------------


def test_progress_comes_step_by_step(engine: Engine) -> None:
    job = engine.submit(spec(LONG, parameters={"rank": 32, "steps": 25}, seed=7))
    reports: list[Progress] = []

    def more() -> bool:
        if (now := job.progress) and (not reports or now.step > reports[-1].step):
            reports.append(now)
        return job.state == "done"

    wait_for(more)
    assert len(reports) >= 5 and reports[0].step < 10
    assert all(now.steps == 25 for now in reports)
    assert all(now.curves[-1]["step"] <= now.step for now in reports)
    curves = job.result().record.curves
    assert reports[-1].curves == curves[: len(reports[-1].curves)]
    assert [point["step"] for point in curves] == [1, 3, 5, 8, 10, 12, 14, 16, 18, 21, 23, 25]


def test_cancel_is_seen_within_a_second_and_frees_the_worker(engine: Engine) -> None:
    engine.submit(spec(QUICK, seed=10)).result(30)
    job = wait_for_start(engine.submit(spec(LONG, seed=8)))
    assert job.state == "running"
    began = time.monotonic()
    job.cancel()
    assert job.state == "cancelled" and time.monotonic() - began < 1.0
    with pytest.raises(Cancelled):
        job.result(0)
    engine.submit(spec(QUICK, seed=11)).result(1.5)  # the only worker is free again
    assert not engine.store.has(job.key)
    assert job.key not in [other.key for other in engine.jobs()]


def test_a_cancelled_run_can_be_asked_for_again(engine: Engine) -> None:
    parts = spec(LONG, parameters={"rank": 32, "steps": 30}, seed=9)
    wait_for_start(engine.submit(parts)).cancel()
    again = engine.submit(parts)
    assert again.result(60).record.curves[-1]["step"] == 30


def test_a_waiting_run_says_how_many_are_ahead_and_is_cancelled_at_once(engine: Engine) -> None:
    running = wait_for_start(engine.submit(spec(LONG, seed=20)))
    second, third = engine.submit(spec(LONG, seed=21)), engine.submit(spec(LONG, seed=22))
    assert (second.state, third.state) == ("waiting", "waiting")
    assert (running.ahead, second.ahead, third.ahead) == (0, 0, 1)
    second.cancel()
    assert second.state == "cancelled" and third.ahead == 0
    third.cancel()
    running.cancel()
    assert engine.jobs() == []
    engine.submit(spec(QUICK, seed=23)).result(2.0)


def test_a_run_that_two_wait_for_goes_on_when_one_leaves(engine: Engine) -> None:
    parts = spec(LONG, parameters={"rank": 32, "steps": 20}, seed=30)
    one, other = wait_for_start(engine.submit(parts)), engine.submit(parts)
    one.cancel()
    assert one.state == "cancelled" and other.state == "running"
    assert other.result(30).record.curves[-1]["step"] == 20


def test_a_dropped_handle_neither_cancels_nor_holds(engine: Engine) -> None:
    parts = spec(LONG, seed=31)
    wait_for_start(engine.submit(parts))  # dropped here: a page that was rerun
    last = engine.submit(parts)
    assert last.state == "running"
    last.cancel()
    wait_for(lambda: engine.jobs() == [], 1.0)


def test_single_runs_go_before_a_sweep(engine: Engine) -> None:
    running = wait_for_start(engine.submit(spec(LONG, seed=32)))
    low, high = (
        engine.submit(spec(LONG, seed=33), priority=-10),
        engine.submit(spec(QUICK, seed=34)),
    )
    assert (low.ahead, high.ahead) == (1, 0)
    wait_for(lambda: low._task.in_line and high._task.in_line)
    order: list[tuple[str, int]] = []
    high.listen(lambda _: order.append((low.state, low.progress.step if low.progress else 0)))
    running.cancel()
    high.result(30)
    wait_for(lambda: order != [])
    ((state, step),) = order
    assert state != "done" and step < 100  # of 200: it came after
    low.cancel()


# ---- what goes wrong -----------------------------------------------------------------------------

BAD = {
    "epsilon that the source cannot calibrate": (
        {**QUICK, "budget": {"epsilon": 2.0, "delta": 1e-5, "calibration": "source"}},
        "calibration",
    ),
    "rank above the items": (
        {**LONG, "data": {"id": "small"}, "parameters": {"rank": 41}},
        "at most the number of items, 40",
    ),
    "unknown parameter": ({**LONG, "parameters": {"rnak": 4}}, "Did you mean 'rank'"),
    "unknown algorithm": ({**QUICK, "algorithm": "dplas"}, "Did you mean 'dpals'"),
    "unknown data": ({**QUICK, "data": {"id": "smal"}}, "no data set 'smal'"),
    "no budget": ({**QUICK, "budget": None}, "give an epsilon"),
    "nothing left": (
        {**QUICK, "data": {"id": "small", "min_user_count": 1000}},
        "after the filters",
    ),
}


@pytest.mark.parametrize(("parts", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_a_sentence(threads: Engine, parts: dict[str, Any], words: str) -> None:
    job = threads.submit(spec(parts))
    with pytest.raises(BadInput, match=words):
        job.result(30)
    assert job.state == "failed" and job.bad_input
    assert job.error is not None and words in job.error
    assert threads.store.rows() == [] and threads.jobs() == []


def worker_pids(engine: Engine) -> list[int]:
    return list(engine._dispatcher.cluster.connect().run(os.getpid, on_error="ignore").values())


def test_a_run_survives_the_death_of_its_worker(engine: Engine) -> None:
    job = wait_for_start(engine.submit(spec(LONG, parameters={"rank": 32, "steps": 40}, seed=40)))
    os.kill(worker_pids(engine)[0], signal.SIGKILL)
    run = job.result(60)
    steps = [point["step"] for point in run.record.curves]
    assert (steps[0], steps[-1], len(steps)) == (1, 40, 12)
    assert engine.store.check() == []


@pytest.mark.slow
def test_a_run_whose_worker_dies_twice_fails_in_words(engine: Engine) -> None:
    job = wait_for_start(engine.submit(spec(LONG, seed=41)))
    first = worker_pids(engine)
    os.kill(first[0], signal.SIGKILL)
    second = wait_for(
        lambda: [pid for pid in worker_pids(engine) if pid not in first and job.state == "running"]
    )
    os.kill(second[0], signal.SIGKILL)
    with pytest.raises(RuntimeError, match="worker process died"):
        job.result(60)
    assert job.state == "failed" and not job.bad_input and not engine.store.has(job.key)
    assert engine.submit(spec(QUICK, seed=42)).result(60).key


def test_the_store_is_not_written_when_it_cannot_be(
    threads: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(run: Run, owner: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(threads.store, "put", full)
    job = threads.submit(spec(QUICK))
    with pytest.raises(RuntimeError, match="No space left"):
        job.result(30)
    assert not job.bad_input


@pytest.mark.slow
def test_a_scheduler_elsewhere_serves_two_engines_and_is_missed_in_words(tmp_path: Path) -> None:
    """Two servers share one scheduler; when it goes, runs fail in words."""
    with workers.processes(1) as scheduler:
        one, other = (Engine(Store(tmp_path / name), scheduler) for name in ("one", "other"))
        pids = [worker_pids(it) for it in (one, other) if it.submit(spec(QUICK)).result(30)]
        assert pids[0] == pids[1] and pids[0] != [os.getpid()]
        job = wait_for_start(one.submit(spec(LONG)))
    with pytest.raises(RuntimeError, match="went away"):
        job.result(60)
    assert not job.bad_input
    for it in (one, other):
        it.close()


@pytest.mark.slow
def test_workers_load_what_runs_need_while_they_start() -> None:
    modules = [os.environ["DPMF_CATALOGUE"], "dpmf_core.runs.execution", "scipy.sparse.linalg"]
    with workers.processes(1) as scheduler, scheduler.client() as client:
        loaded_modules = client.run(
            lambda: [name for name in modules if name in __import__("sys").modules]
        )
    assert list(loaded_modules.values()) == [modules]


@pytest.mark.slow
def test_local_workers_that_are_gone_are_started_again(tmp_path: Path) -> None:
    own_engine = Engine(Store(tmp_path), workers=1)
    job = wait_for_start(own_engine.submit(spec(LONG)))
    # the process above the workers leads its group
    os.kill(os.getpgid(worker_pids(own_engine)[0]), signal.SIGKILL)
    with pytest.raises(RuntimeError, match="went away"):
        job.result(60)
    assert own_engine.submit(spec(QUICK)).result(60).record.cached is False
    own_engine.close()


# ---- sweeps --------------------------------------------------------------------------------------


def test_a_sweep_yields_what_finishes_and_what_fails(threads: Engine) -> None:
    specs = [spec(QUICK, seed=seed) for seed in range(4)] + [spec(QUICK, budget=None)]
    outcomes = {s.model_dump_json(): outcome for s, outcome in threads.sweep(specs)}
    assert len(outcomes) == 5
    assert isinstance(outcomes[specs[4].model_dump_json()], BadInput)
    assert sum(isinstance(outcome, Run) for outcome in outcomes.values()) == 4
    assert all(
        outcome.record.cached for _, outcome in threads.sweep(specs[:4]) if isinstance(outcome, Run)
    )


def test_a_sweep_that_is_left_cancels_its_rest(engine: Engine) -> None:
    going = engine.sweep([spec(QUICK, seed=50), *(spec(LONG, seed=seed) for seed in (51, 52))])
    assert isinstance(next(going)[1], Run)
    going.close()  # type: ignore[attr-defined]
    assert engine.jobs() == []


# ---- processes -----------------------------------------------------------------------------------


def python(code: str, tmp_path: Path, **popen: Any) -> subprocess.Popen[str]:
    script = tmp_path / "page.py"
    script.write_text(textwrap.dedent(code))
    env = {
        **os.environ,
        "DPMF_CATALOGUE": CATALOGUE,
        "DPMF_DATA": str(tmp_path / "data"),
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.Popen(
        [sys.executable, str(script)], env=env, stdout=subprocess.PIPE, text=True, **popen
    )


def test_importing_the_engine_imports_no_scheduler(tmp_path: Path) -> None:
    code = (
        "import sys, dpmf_core.engine; print([name for name in ('distributed', 'dask', 'sklearn',"
        " 'dp_accounting') if name in sys.modules])"
    )
    assert python(code, tmp_path).communicate(timeout=60)[0].strip() == "[]"


def test_workers_do_not_run_the_main_script_again(tmp_path: Path) -> None:
    """A page has no `if __name__ == "__main__"`; spawned workers must not need one."""
    code = f"""
        print("once", flush=True)
        from dpmf_core.engine.executor import engine
        from dpmf_core.runs.specification import RunSpec
        print(engine().submit(RunSpec.parse(**{QUICK!r})).result(60).record.metrics["rmse"] > 0)
    """
    child = python(code, tmp_path, stderr=subprocess.PIPE)
    out, errors = child.communicate(timeout=60)
    assert out.split() == ["once", "True"]
    assert child.returncode == 0 and errors == ""


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_a_killed_server_leaves_no_process_and_a_whole_store(tmp_path: Path) -> None:
    code = f"""
        import os, time
        from dpmf_core.engine.executor import engine
        from dpmf_core.runs.specification import RunSpec
        engine().submit(RunSpec.parse(**{QUICK!r})).result(60)
        job = engine().submit(RunSpec.parse(**{LONG!r}))
        while not job.progress:
            time.sleep(0.01)
        print(*engine()._dispatcher.cluster.connect().run(os.getpid).values(), flush=True)
        job.result()
    """
    child = python(code, tmp_path)
    assert child.stdout is not None
    pids = [int(pid) for pid in child.stdout.readline().split()]
    assert pids and all(map(alive, pids))
    child.kill()
    child.wait(10)
    wait_for(lambda: not any(map(alive, pids)), 5.0)
    store = Store(tmp_path / "data" / "runs")
    assert store.check() == []
    assert [row["algorithm"] for row in store.rows()] == ["private-bias"]
    assert len(list((store.folder / "artefacts").iterdir())) == 1
