"""Real worker processes."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from dpmf_core.jobs.engine import Engine
from dpmf_core.jobs.worker import Worker
from dpmf_core.runs.store import Store
from tests.support.engines import CATALOGUE, LONG, QUICK, WAIT, spec

ROOT = Path(__file__).parents[2]


@pytest.fixture
def engine(tmp_path, two_sets):
    new_engine = Engine(Store(tmp_path), workers=1, start_worker=Worker)
    yield new_engine
    new_engine.close()


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_its_run_is_made(engine):
    engine.start()
    first = engine._threads[0].worker
    assert first is not None
    assert engine.worker_memory()[0] > 0
    job = engine.submit(spec(LONG, parameters={"rank": 4, "steps": 2}))
    assert job.key
    os.kill(first._process.pid, 9)
    assert job.result(WAIT).record.cached is False
    assert engine._threads[0].worker is not first
    key = engine.submit(spec(QUICK)).result(WAIT).key
    assert key
    assert len(engine.store.rows()) == 2


@pytest.mark.slow
def test_workers_end_with_the_process_that_started_them(tmp_path):
    """A page has no `if __name__ == "__main__"`; workers must not run its script again."""
    code = f"""
        import os
        print("once", flush=True)
        from dpmf_core.jobs.engine import engine
        from dpmf_core.runs.specification import RunSpec
        own = engine()
        assert own.submit(RunSpec.parse(**{QUICK!r})).result({WAIT}).record.metrics["rmse"] > 0
        os.kill(os.getpid(), 9)
    """
    child = python(code, tmp_path, DPMF_THREADS="1", stderr=subprocess.STDOUT)
    # the pipe closes when the worker has ended too
    out, _ = child.communicate(timeout=WAIT)
    assert child.returncode == -9
    assert out.split() == ["once"]


def python(code, folder, **more):
    script = folder / "page.py"
    script.write_text(textwrap.dedent(code))
    variables = {name: str(more.pop(name)) for name in list(more) if name.isupper()}
    env = {
        **os.environ,
        "DPMF_CATALOGUE": CATALOGUE,
        "DPMF_DATA": str(folder / "data"),
        "PYTHONPATH": str(ROOT),
        **variables,
    }
    return subprocess.Popen(
        [sys.executable, str(script)],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        **more,
    )
