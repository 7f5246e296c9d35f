"""Runs run elsewhere: once, watched, cancelled, killed, and never half-kept."""

import os
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import Engine
from dpmf_core.runs.record import Run
from dpmf_core.runs.store import Store
from tests.support.engines import CATALOGUE, LONG, QUICK, spec

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
    with sqlite3.connect(engine.store.path) as db:
        db.execute("UPDATE runs SET model = x'00' WHERE key = ?", (job.key,))
    assert engine.submit(spec(QUICK, seed=3)).result(30).record.cached is False
    assert engine.store.check() == []


# ---- watched and cancelled -----------------------------------------------------------------------


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
        "import sys, dpmf_core.jobs; print([name for name in ('distributed', 'dask', 'sklearn',"
        " 'dp_accounting') if name in sys.modules])"
    )
    assert python(code, tmp_path).communicate(timeout=60)[0].strip() == "[]"


def test_workers_do_not_run_the_main_script_again(tmp_path: Path) -> None:
    """A page has no `if __name__ == "__main__"`; spawned workers must not need one."""
    code = f"""
        print("once", flush=True)
        from dpmf_core.jobs.engine import engine
        from dpmf_core.runs.specification import RunSpec
        print(engine().submit(RunSpec.parse(**{QUICK!r})).result(60).record.metrics["rmse"] > 0)
    """
    child = python(code, tmp_path, stderr=subprocess.PIPE)
    out, errors = child.communicate(timeout=60)
    assert out.split() == ["once", "True"]
    assert child.returncode == 0 and errors == ""
