"""Jobs: computed once, shared, queued, cancelled, limited and retried, in threads."""

import sqlite3
import threading

import pytest

from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.jobs import machine, worker
from dpmf_core.jobs.machine import Limits
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.store import Store
from tests.support.engines import (
    LONG,
    QUICK,
    WAIT,
    Gated,
    ThreadWorker,
    gated,
    gates,
    spec,
    thread_engine,
)

pytestmark = pytest.mark.usefixtures("two_sets")


@pytest.fixture
def engine(tmp_path):
    """One worker, so that a second task waits."""
    new_engine = thread_engine(tmp_path)
    yield new_engine
    for gate in gates.values():
        gate.open.set()
    new_engine.close()


def test_a_run_is_computed_and_kept_and_then_read(engine):
    job = engine.submit(spec(QUICK, seed=1))
    run = job.result(WAIT)
    assert job.state == "done"
    assert job.error is None
    assert not job.bad_input
    assert run.record.cached is False
    assert run.key == job.key
    again = engine.submit(spec(QUICK, seed=1))
    assert again.state == "done"
    read = run.record.model_copy(update={"cached": True})
    assert again.result().record == read
    both = [spec(QUICK, seed=1), spec(QUICK, seed=2)]
    assert engine.known_runs.find_all(both)[1] is None
    found = engine.known_runs.find(spec(QUICK, seed=1))
    assert found.record == again.result().record


def test_looking_up_many_runs_checks_their_data_files_once(engine, monkeypatch):
    engine.submit(spec(QUICK, seed=0)).result(WAIT)
    stamps = []
    stamp_of = data_access._stamp
    monkeypatch.setattr(
        data_access, "_stamp", lambda data: stamps.append(data) or stamp_of(data)
    )
    known = engine.known_runs
    one = [spec(QUICK, seed=0)]
    many = [spec(QUICK, seed=seed) for seed in range(20)]
    for look in (known.find_runs, known.find_all, known.lacking):
        counts = []
        for specs in (one, many):
            stamps.clear()
            look(specs)
            counts.append(len(stamps))
        assert counts[0] == counts[1]
    is_known = [run is not None for run in known.find_runs(many)]
    assert is_known == [True] + 19 * [False]
    assert known.lacking(many) == many[1:]


def test_work_that_two_ask_for_is_computed_once(engine):
    work = gated("shared")
    first = engine.submit(work, asker="a")
    second = engine.submit(work, asker="b")
    assert gates["shared"].has_begun()
    assert len(engine.jobs()) == 1
    first.cancel()  # the other still wants it
    assert first.state == "cancelled"
    assert second.state == "running"
    gates["shared"].open.set()
    assert second.result(WAIT) == "shared"
    assert gates["shared"].times == 1
    assert engine.submit(work).state == "done"
    assert gates["shared"].times == 1


def test_what_another_process_stores_meanwhile_is_not_computed(engine, monkeypatch):
    engine.submit(gated("before"))
    assert gates["before"].has_begun()
    waiting = engine.submit(spec(QUICK))
    other_store = Store(engine.store.folder)
    other_store.put(execution.run(spec(QUICK)))
    other_store.close()
    monkeypatch.setattr(execution, "run", pytest.fail)
    assert waiting.key
    gates["before"].open.set()
    assert waiting.result(WAIT).record.cached is True


def test_a_run_whose_data_change_while_it_waits_is_not_computed(engine, monkeypatch):
    """Other data may be private, and nobody asked for a run on them."""
    engine.submit(gated("before"))
    assert gates["before"].has_begun()
    job = engine.submit(spec(QUICK))
    assert job.key
    monkeypatch.setattr("dpmf_core.jobs.engine.stamp_of", lambda _: "another file")
    gates["before"].open.set()
    with pytest.raises(BadInput):
        job.result(WAIT)


def test_a_damaged_run_is_computed_again(engine):
    job = engine.submit(spec(QUICK, seed=3))
    job.result(WAIT)
    with sqlite3.connect(engine.store.path) as db:
        db.execute("UPDATE runs SET model = x'00' WHERE key = ?", (job.key,))
    job = engine.submit(spec(QUICK, seed=3))
    cached = job.result(WAIT).record.cached
    assert cached is False
    assert engine.store.check() == []


def test_a_running_job_is_cancelled_at_once_and_its_worker_goes_on(engine):
    job = engine.submit(gated("job"))
    later = engine.submit(gated("later"))
    assert gates["job"].has_begun()
    job.cancel()
    assert job.state == "cancelled"
    with pytest.raises(Cancelled):
        job.result(0)
    gates["later"].open.set()
    assert later.result(WAIT) == "later"
    assert not gates["job"].open.is_set()


def test_a_job_that_waits_is_cancelled_and_never_begins(engine):
    engine.submit(gated("before"))
    job = engine.submit(gated("job"), asker="a")
    job.stop()
    last = engine.submit(gated("last"))
    for name in ("before", "last"):
        gates[name].open.set()
    last.result(WAIT)
    assert job.state == "cancelled"
    assert gates["job"].times == 0


def test_closing_cancels_all_jobs(tmp_path):
    engine = thread_engine(tmp_path)
    running = engine.submit(gated("running"))
    waiting = engine.submit(gated("waiting"))
    assert gates["running"].has_begun()
    engine.close()
    assert running.state == "cancelled"
    assert waiting.state == "cancelled"
    assert engine.jobs() == []


BAD = {
    "rank above the items": {
        **LONG,
        "data": {"id": "small"},
        "parameters": {"rank": 41},
    },
    "unknown algorithm": {**QUICK, "algorithm": "dplas"},
    "unknown data": {**QUICK, "data": {"id": "smal"}},
    "no budget": {**QUICK, "budget": None},
    "nothing left": {**QUICK, "data": {"id": "small", "min_user_count": 1000}},
}


@pytest.mark.parametrize("parts", BAD.values(), ids=BAD)
def test_bad_input_is_reported_and_nothing_is_stored(engine, parts):
    job = engine.submit(spec(parts))
    with pytest.raises(BadInput):
        job.result(WAIT)
    assert job.state == "failed"
    assert job.bad_input
    assert job.error
    assert engine.store.rows() == []
    assert engine.jobs() == []


def test_a_failed_measurement_is_reported(engine):
    assert engine.submit(Gated("bad")).bad_input
    job = engine.submit(Gated("no such gate"))
    with pytest.raises(RuntimeError):
        job.result(WAIT)
    assert job.state == "failed"
    assert not job.bad_input


def test_a_store_that_cannot_be_written_is_reported(engine, monkeypatch):
    def full(run, owner):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(engine.store, "put", full)
    job = engine.submit(spec(QUICK))
    with pytest.raises(RuntimeError, match="No space left"):
        job.result(WAIT)
    assert not job.bad_input


def limited(folder, **limits):
    return thread_engine(folder, limits=Limits(**limits))


def test_a_run_over_its_time_is_stopped_between_two_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "GRACE", WAIT)
    engine = limited(tmp_path, run_seconds=0.0)
    job = engine.submit(gated("job"), asker="a")
    with pytest.raises(BadInput):
        job.result(WAIT)
    threads = [thread.worker for thread in engine._threads]
    assert threads[0] is not None
    assert threads[0].is_alive  # it ended its step
    engine.submit(gated("unlimited"))  # no session asked for it
    assert gates["unlimited"].has_begun()
    assert not gates["unlimited"].stopped()
    engine.close()


def test_a_run_that_does_not_stop_in_time_ends_with_its_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "GRACE", 0.0)
    engine = limited(tmp_path, run_seconds=0.0)
    engine.start()
    (thread,) = engine._threads
    first = thread.worker
    with pytest.raises(BadInput):
        engine.submit(gated("job", heeds=False), asker="a").result(WAIT)
    assert not first.is_alive
    gates["job"].open.set()
    gated("next")
    gates["next"].open.set()
    assert engine.submit(Gated("next")).result(WAIT) == "next"
    engine.close()


def test_a_run_over_its_memory_ends_with_its_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "LOOK", 0.01)
    engine = limited(tmp_path, run_memory=100.0)
    job = engine.submit(gated("job"), asker="a")
    assert gates["job"].has_begun()
    assert job.state == "running"
    monkeypatch.setattr(ThreadWorker, "memory", 101.0)
    with pytest.raises(BadInput):
        job.result(WAIT)
    (thread,) = engine._threads
    assert not thread.worker.is_alive
    engine.close()


def kill_worker(engine):
    (thread,) = engine._threads
    thread.worker.kill()


@pytest.mark.parametrize(("deaths", "state"), [(1, "done"), (2, "failed")])
def test_a_run_on_public_data_is_tried_once_more(deaths, state, engine, monkeypatch):
    attempts = [threading.Event() for _ in range(3)]
    kills = [threading.Event() for _ in range(3)]
    compute = execution.run
    numbers = iter(range(3))

    def run(*arguments, **more):
        number = next(numbers)
        attempts[number].set()
        if number < deaths:
            kills[number].wait(WAIT)
            raise Cancelled
        return compute(*arguments, **more)

    monkeypatch.setattr(execution, "run", run)
    job = engine.submit(spec(QUICK))
    for attempt, killed in zip(attempts[:deaths], kills, strict=False):
        assert attempt.wait(WAIT)
        kill_worker(engine)
        killed.set()
    assert job.wait(WAIT)
    assert job.state == state
    assert attempts[1].is_set()
    assert not attempts[2].is_set()


def test_a_run_on_private_data_is_not_tried_again(engine, monkeypatch):
    """It may have drawn noise, and would draw again."""
    begun = threading.Event()
    killed = threading.Event()
    attempts = []

    def run(*_, **__):
        attempts.append(None)
        begun.set()
        killed.wait(WAIT)
        raise Cancelled

    monkeypatch.setattr(execution, "run", run)
    job = engine.submit(spec(QUICK, data={"id": "own"}))
    assert begun.wait(WAIT)
    kill_worker(engine)
    killed.set()
    with pytest.raises(RuntimeError):
        job.result(WAIT)
    assert len(attempts) == 1
    assert engine.store.rows() == []


GROUPS = {
    "version 2": {"sys/fs/cgroup/memory.max": "1000000000\n"},
    "version 2, no limit above": {
        "sys/fs/cgroup/memory.max": "max\n",
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/memory.max": "1000000000",
    },
    "version 1": {"sys/fs/cgroup/memory/memory.limit_in_bytes": "1000000000"},
    "version 1, a group within": {
        "proc/self/cgroup": "5:memory:/docker/x\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "1000000000",
    },
}


@pytest.mark.parametrize("files", GROUPS.values(), ids=GROUPS)
def test_limits_of_control_groups_are_read(files, tmp_path):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert machine.memory(tmp_path) == 1000.0
    assert machine.is_small(tmp_path)
