"""The engine for sessions: turns, limits of a run, what is called off, machines with little
memory.
"""

import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpmf_core.errors import BadInput
from dpmf_core.jobs import machine
from dpmf_core.jobs.engine import Engine
from dpmf_core.jobs.machine import Limits
from dpmf_core.runs.store import Store
from dpmf_core.serving.settings import settings
from tests.support.engines import QUICK, spec

pytestmark = pytest.mark.usefixtures("two_sets")
LIMITS = Limits(run_seconds=60.0, run_memory=1e9, session_seconds=1000.0)


def engine_with(folder: Path, limits: Limits = LIMITS, workers: int = 1) -> Engine:
    return Engine(Store(folder), processes=False, workers=workers, limits=limits)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    new_engine = engine_with(tmp_path)
    yield new_engine
    new_engine.close()


def test_a_session_that_asks_for_too_much_is_refused_and_others_are_not(tmp_path: Path) -> None:
    own_engine = engine_with(tmp_path, Limits(session_seconds=100.0))
    job = own_engine.submit(spec(QUICK), asker="hostile", cost=200.0)
    assert job.bad_input
    assert own_engine.submit(spec(QUICK), asker="student", cost=50.0).result(60).key
    # what has ended is not owed
    assert own_engine.submit(spec(QUICK, seed=1), asker="student", cost=90.0).result(60).key
    own_engine.close()


def test_a_light_answer_has_the_record_alone_and_others_get_all(engine: Engine) -> None:
    whole = engine.submit(spec(QUICK)).result(60)
    light = engine.submit(spec(QUICK), light=True).result(0)
    stored_run = engine.store.get(whole.key)
    assert stored_run is not None and light.record == stored_run.record and not light.arrays
    assert engine.submit(spec(QUICK)).result(0).arrays


# ---- the machine ---------------------------------------------------------------------------------

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
def test_limits_of_control_groups_are_read(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert machine.memory(tmp_path) == 1000.0 and machine.is_small(tmp_path)


def test_without_a_limit_the_machine_s_memory_counts(tmp_path: Path) -> None:
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e6
    assert machine.memory(tmp_path) == whole
    folder = tmp_path / "sys/fs/cgroup"
    folder.mkdir(parents=True)
    (folder / "memory.max").write_text("not a number")
    assert machine.memory(tmp_path) == whole


@pytest.mark.parametrize(
    ("small", "variable", "processes", "workers"),
    [
        (True, "", False, 1),
        (True, "processes", True, 1),
        (False, "threads", False, None),
        (False, "", True, None),
    ],
)
def test_where_memory_is_little_one_thread_computes(
    small: bool,
    variable: str,
    processes: bool,
    workers: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "is_small", lambda: small)
    monkeypatch.setenv("DPMF_ENGINE", variable)
    own_engine = Engine.from_environment(Store(tmp_path))
    assert own_engine._dispatcher.cluster.processes is processes
    assert workers is None or own_engine.width == workers
    own_engine.close()


def test_another_engine_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_ENGINE", "thread")
    with pytest.raises(BadInput):
        Engine.from_environment(Store(tmp_path))


def test_what_whoever_runs_the_server_set_bounds_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {
        "SECONDS_PER_RUN": "7",
        "RUNS_IN_FLIGHT": "2",
        "ESTIMATED_SECONDS": "unlimited",
        "MEMORY_PER_RUN": "300",
        "CONFIRM_SECONDS": "9",
    }
    for name, value in variables.items():
        monkeypatch.setenv(f"DPMF_{name}", value)
    settings.cache_clear()
    try:
        assert Limits.from_settings() == Limits(7, 300, 2, math.inf, 9)
    finally:
        monkeypatch.undo()
        settings.cache_clear()


@pytest.mark.parametrize(("text", "part"), [("half", 0.5), ("unlimited", math.inf)])
def test_memory_may_be_half_of_all_or_without_limit(
    monkeypatch: pytest.MonkeyPatch, text: str, part: float
) -> None:
    monkeypatch.setenv("DPMF_MEMORY_PER_RUN", text)
    settings.cache_clear()
    try:
        assert Limits.from_settings().run_memory == machine.memory() * part
    finally:
        monkeypatch.undo()
        settings.cache_clear()


# ---- a run that does not end by itself -----------------------------------------------------------
