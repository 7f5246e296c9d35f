"""Several small runs go to a worker as one task, and are still runs of their own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.engine import run_queue
from dpmf_core.engine.executor import Engine
from dpmf_core.engine.jobs import Task
from dpmf_core.engine.quotas import Limits
from dpmf_core.engine.run_queue import Lanes
from dpmf_core.runs.store import Store
from tests.support.engines import LONG, QUICK, spec

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
