"""Several small runs go to a worker as one task, and are still runs of their own."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.engine import run_queue
from dpmf_core.engine import workers as worker_code
from dpmf_core.engine.executor import Engine
from dpmf_core.engine.jobs import Job, Task
from dpmf_core.engine.quotas import Limits
from dpmf_core.engine.run_queue import Lanes
from dpmf_core.engine.verification import expected
from dpmf_core.errors import Cancelled
from dpmf_core.runs import execution
from dpmf_core.runs.data_access import open_data
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import run_key
from dpmf_core.runs.store import Store
from tests.support.engines import LONG, QUICK, spec, wait_for

pytestmark = pytest.mark.usefixtures("two_sets")
LIMITS = Limits()


# ---- which go together ---------------------------------------------------------------------------


def line_up(
    lanes: Lanes, seed: int, asker: str = "a", priority: int = 0, parts: Any = QUICK, **facts: Any
) -> Task:
    new_task = Task(f"{parts} {seed}", spec(parts, seed=seed), number=seed, public=True)
    for name, value in facts.items():
        setattr(new_task, name, value)
    lanes.enter(new_task, asker, priority)
    lanes.line_up(new_task)
    return new_task


def next_of(lanes: Lanes) -> list[Task]:
    first = lanes.next()
    assert first is not None
    return [first, *lanes.together_with(first)]


def lanes_with(count: int, seconds: float, limits: Limits = LIMITS) -> Lanes:
    """Lanes that know how long quick runs take."""
    lanes = Lanes(count, limits)
    lanes.took(Task("", spec(QUICK)), seconds)
    return lanes


def test_small_runs_share_out_the_workers() -> None:
    lanes = lanes_with(2, 0.01)
    tasks = [line_up(lanes, seed) for seed in range(10)]
    one, other = next_of(lanes), next_of(lanes)
    assert one == tasks[:5] and other == tasks[5:8]  # those that wait, divided by two, go along
    assert lanes.next() is None  # both are busy
    lanes.land(one[0])
    assert lanes.next() is None and lanes.beside(one[1]) == one[2:]
    for it in one[1:]:
        lanes.land(it)
    assert next_of(lanes) == tasks[8:9]


@pytest.mark.parametrize(("seconds", "together"), [(0.101, 1), (0.1, 2), (0.05, 5), (0.001, 16)])
def test_together_they_take_no_longer_than_others_may_wait(seconds: float, together: int) -> None:
    lanes = lanes_with(1, seconds)
    for seed in range(40):
        line_up(lanes, seed)
    assert len(next_of(lanes)) == together


def test_what_is_not_known_to_be_small_and_public_goes_alone() -> None:
    lanes = Lanes(1, LIMITS)
    unknown, _ = (line_up(lanes, seed) for seed in range(2))
    assert next_of(lanes) == [unknown]
    lanes = Lanes(1, LIMITS)
    tasks = [line_up(lanes, seed, cost=0.01) for seed in range(2)]
    assert next_of(lanes) == tasks
    lanes = lanes_with(1, 0.01)
    private, _ = (line_up(lanes, seed, public=seed > 0) for seed in range(2))
    assert next_of(lanes) == [private]
    lanes = lanes_with(1, 0.01)
    quick, _ = line_up(lanes, 1), line_up(lanes, 2, parts=LONG)
    assert next_of(lanes) == [quick]


def test_sessions_still_take_turns_and_priorities_stay_apart() -> None:
    lanes = lanes_with(1, 0.01)
    hers = [line_up(lanes, seed, "a") for seed in range(3)]
    his = [line_up(lanes, seed, "b") for seed in range(3, 6)]
    behind = line_up(lanes, 6, "a", priority=-10)
    for expected_next in (hers, his, [behind]):
        batch = next_of(lanes)
        assert batch == expected_next and {it.turn_of for it in batch} == {expected_next[0].turn_of}
        for it in batch:
            lanes.land(it)


def test_a_session_has_no_more_workers_than_it_may() -> None:
    lanes = lanes_with(3, 0.01, Limits(session_runs=1))
    for seed in range(9):
        line_up(lanes, seed)
    assert len(next_of(lanes)) == 1 + 8 // 3
    assert lanes.next() is None
    other = line_up(lanes, 9, "b")
    assert next_of(lanes) == [other]


# ---- what becomes of them ------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run whose kind has been seen counts as small."""
    monkeypatch.setattr(run_queue, "SMALL", 60.0)
    monkeypatch.setattr(run_queue, "TOGETHER", 600.0)


@pytest.fixture
def engine(tmp_path: Path, small: None) -> Iterator[Engine]:
    new_engine = Engine(Store(tmp_path), processes=False, workers=1)
    yield new_engine
    new_engine.close()


def block(engine: Engine, count: int, parts: Any = QUICK, **more: Any) -> list[Job]:
    """So many runs that wait until the worker has ended another one, and then go to it together."""
    for data in ({"id": "small"}, {"id": "medium"}):  # opened, so that all wait at once
        engine.submit(spec(QUICK, data=data, seed=99, parameters={})).result(120)
    if parts is not QUICK:
        engine._lanes.took(Task("", spec(parts, **more)), 0.01)
    first = engine.submit(spec(LONG, parameters={"rank": 16, "steps": 5}))
    wait_for(lambda: first.state == "running")
    jobs = [engine.submit(spec(parts, seed=seed, **more)) for seed in range(count)]
    wait_for(lambda: all(job.is_queued for job in jobs))
    return jobs


def lanes_of(jobs: list[Job]) -> set[str]:
    return {job._task.lane for job in jobs}


def test_each_is_the_run_that_it_is_alone(engine: Engine) -> None:
    jobs = block(engine, 6)
    for seed, job in enumerate(jobs):
        run = job.result(60)
        assert run.record.metrics == execution.run(spec(QUICK, seed=seed)).record.metrics
        assert engine.store.has(job.key)
    assert len(lanes_of(jobs)) == 1
    assert not engine._lanes._handed_tasks and engine._tasks == {}


def test_one_that_is_called_off_leaves_the_others(engine: Engine) -> None:
    steps = {"rank": 16, "steps": 10}
    jobs = block(engine, 4, LONG, parameters=steps)
    wait_for(lambda: jobs[0].progress)
    assert len(lanes_of(jobs)) == 1
    assert [job.state for job in jobs] == ["running", "waiting", "waiting", "waiting"]
    jobs[0].cancel()
    jobs[2].cancel()
    for job in (jobs[1], jobs[3]):
        assert job.result(120).record.key == job.key
    assert [engine.store.has(job.key) for job in jobs] == [False, True, False, True]
    wait_for(lambda: not engine._lanes._handed_tasks)


def test_what_breaks_one_breaks_no_other_and_what_was_stopped_is_not_begun(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = []
    whole = execution.run

    def run(run_spec: Any, **more: Any) -> Run:
        began.append(run_spec.seed)
        if run_spec.seed == 1:
            raise ZeroDivisionError("no")
        return whole(run_spec, **more)

    monkeypatch.setattr(worker_code.execution, "run", run)
    engine.start()
    wait_for(lambda: engine._dispatcher.cluster._client)
    client, works = engine._dispatcher.cluster._client, []
    for seed in range(4):
        small_spec = spec(QUICK, seed=seed)
        works.append(
            (
                small_spec,
                expected(small_spec, run_key(small_spec, open_data(small_spec.data))),
                f"t{seed}",
            )
        )
    worker_code.stop("t2")
    outcomes = client.submit(worker_code.verified_works, works, "nobody").result(60)
    assert [type(it) for it in outcomes] == [Run, RuntimeError, Cancelled, Run]
    assert "ZeroDivisionError" in str(outcomes[1])
    assert began == [0, 1, 3] and not worker_code.is_stopped("t2")


@pytest.mark.slow
def test_a_worker_that_dies_twice_breaks_the_task_and_not_its_runs(
    tmp_path: Path, small: None
) -> None:
    engine = Engine(Store(tmp_path), workers=1)
    try:
        jobs = block(engine, 3, LONG, parameters={"rank": 32, "steps": 40})
        for _ in range(2):
            wait_for(lambda: jobs[0].progress, 120.0)
            assert len(lanes_of(jobs)) == 1
            [pid] = engine._dispatcher.cluster._client.run(os.getpid).values()
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: not jobs[0].progress or len(lanes_of(jobs)) == 3, 120.0)
        for job in jobs:
            assert job.result(120).key == job.key
        assert len(lanes_of(jobs)) == 3
    finally:
        engine.close()
