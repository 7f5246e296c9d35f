"""What goes wrong around the app: disks that are full or read-only, clocks that jump, commands and
schedulers that are killed. Results survive.

Workers and servers that are killed, and stores that are cut while they are written, are in
`test_engine` and `test_store`.
"""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import Engine
from dpmf_core.runs import store as stores
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from tests.support.interrupted import after

SMALL = {
    "data": {"id": "cinema-small"},
    "algorithm": "private-bias",
    "budget": {"epsilon": 2.0, "delta": 1e-5},
}
ROOT = Path(__file__).parents[2]


def spec(**more: Any) -> RunSpec:
    return RunSpec.parse(**{**SMALL, **more})


def command(data: Path, *words: str, **more: Any) -> subprocess.Popen[str]:
    env = {**os.environ, "DPMF_DATA": str(data), "DPMF_ENGINE": "threads"}
    return subprocess.Popen(
        [sys.executable, "-m", "dpmf_core", *words],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def in_a_child(act: Callable[[], str]) -> str:
    """What a function says in a process that nobody else shares: it may give up rights or
    limits.
    """
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            answer = act()
        except BaseException as error:  # whatever it is, it is told
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


# ---- disks ---------------------------------------------------------------------------------------


def test_a_full_disk_is_told_and_the_app_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(Store(tmp_path), processes=False, workers=1)
    insert, full = Store._insert, [True]

    def no_room(store: Store, *row: Any) -> None:
        insert(store, *row)
        if full[0]:
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "_insert", no_room)
    try:
        job = engine.submit(spec())
        with pytest.raises(BadInput):
            job.result(60)
        assert engine.store.check() == [] and engine.store.rows() == []
        full[0] = False
        assert engine.submit(spec()).result(60).record.cached is False
        assert engine.submit(spec()).result(60).record.cached is True
    finally:
        engine.close()
        engine.store.close()


def test_files_that_may_not_grow_leave_a_whole_store(tmp_path: Path) -> None:
    """For real: the system refuses every byte after the first few thousand of a file."""
    first = run(spec())
    own_store = Store(tmp_path)
    own_store.put(first)
    own_store.close()

    def act() -> str:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        store = Store(tmp_path)
        store.put(run(spec(seed=1)))
        return "written"

    assert in_a_child(act).startswith("BadInput: ")
    store = Store(tmp_path)
    assert store.check() == [] and [row["key"] for row in store.rows()] == [first.key]
    store.close()


def test_a_read_only_store_is_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    store = Store(folder)
    store.put(run(spec()))
    store.close()
    folder.chmod(0o555)
    store.path.chmod(0o444)
    tmp_path.chmod(0o755)
    for above in tmp_path.parents[:2]:
        above.chmod(0o755)  # pytest's own folders are for their owner alone

    def act() -> str:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        Store(folder)
        return "opened"

    answer = in_a_child(act)
    assert answer.startswith("BadInput: ") and str(folder) in answer
    folder.chmod(0o755)
    store.path.chmod(0o644)
    again = Store(folder)
    assert len(again.rows()) == 1 and again.check() == []
    again.close()


# ---- clocks --------------------------------------------------------------------------------------


def test_a_clock_that_jumps_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(
        [
            datetime(2030, 1, 1, tzinfo=UTC),
            datetime(1970, 1, 1, tzinfo=UTC),
            datetime.now(UTC) + timedelta(days=3650),
        ]
    )

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return next(moments)

    monkeypatch.setattr(stores, "datetime", Clock)
    monkeypatch.setattr(time, "time", lambda: -1e9)
    store = Store(tmp_path)
    runs = [run(spec(seed=seed)) for seed in range(3)]
    for one in runs:
        store.put(one)
    assert {row["key"] for row in store.rows()} == {one.key for one in runs}
    assert store.rows()[-1]["created"].startswith("1970") and store.check() == []
    assert all(store.get(one.key) is not None for one in runs)
    store.close()


# ---- commands and schedulers ---------------------------------------------------------------------


def test_a_sweep_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    words = (
        *("sweep", "--dataset", "cinema-small", "--algorithms", "dpals,private-bias"),
        *("--epsilons", "1,2,5", "--seeds", "0-3", "--delta", "1e-5", "--json"),
    )
    environment = {**os.environ, "DPMF_DATA": str(tmp_path), "DPMF_ENGINE": "threads"}
    killed = subprocess.run(
        after("dpmf_core.runs.store:Store.put", 3, signal.SIGKILL, words),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    out, _ = command(tmp_path, *words).communicate(timeout=120)
    records = json.loads(out)
    assert len(records) == 24
    assert 3 <= sum(record["cached"] for record in records) < 24
    store = Store(tmp_path)
    assert store.check() == [] and len(store.rows()) == 24
    store.close()


def test_two_processes_on_one_store_at_a_time(tmp_path: Path) -> None:
    words = (
        "sweep", "--dataset", "cinema-small", "--algorithms", "private-bias", "--epsilons",
        "1,2", "--seeds", "0-3", "--delta", "1e-5", "--json",
    )  # fmt: skip
    both = [command(tmp_path, *words) for _ in range(2)]
    outputs = [json.loads(one.communicate(timeout=120)[0]) for one in both]
    assert [one.returncode for one in both] == [0, 0]
    errors = [
        {record["key"]: record["metrics"]["rmse"] for record in records} for records in outputs
    ]
    assert errors[0] == errors[1] and len(errors[0]) == 8
    store = Store(tmp_path)
    assert store.check() == [] and len(store.rows()) == 8
    store.close()
