"""Commands as processes: output, pipes and interrupts; and what there is."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from dpmf_core import algorithms
from dpmf_core.base.interrupts import SENTENCE
from dpmf_core.runs.store import Store
from tests.cli.test_bad_input import BUDGET
from tests.cli.test_cli import DPALS
from tests.support.engines import WAIT
from tests.support.interrupted import after

ROOT = Path(__file__).parents[2]


def spawn(*arguments, **env):
    command = [sys.executable, "-m", "dpmf", *arguments]
    with default_interrupts():
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@contextlib.contextmanager
def default_interrupts():
    """A shell starts what runs in its background deaf to Ctrl-C, and children would inherit it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_lists_are_lists(say):
    kinds = say("algorithms", "--json").json
    ids = [kind["id"] for kind in kinds]
    assert ids == list(algorithms.REGISTRY)
    dpals = next(kind for kind in kinds if kind["id"] == "dpals")
    assert dpals["guarantee"]["status"] == "PROVEN"
    assert dpals["unit"] == "user"
    assert dpals["parameters"]["properties"]["rank"]["minimum"] == 1
    sets = {row["id"]: row for row in say("datasets", "--json").json}
    assert sets["cinema"]["present"] is True
    assert sets["ml-1m"]["present"] is False
    assert sets["ml-1m"]["licence"]
    assert say("runs", "--json").json == []
    for command in ("algorithms", "datasets", "runs"):
        assert say(command).code == 0


def test_a_run_is_shown_exported_and_deleted(say):
    record = say(*DPALS, *BUDGET, "--json").json
    start = record["key"][:6]
    key = say("runs", "--json").json[0]["key"]
    assert key == record["key"]
    assert say("runs", "show", start, "--json").json == {**record, "cached": True}
    assert say("runs", "export", start, "--json").json == {**record, "cached": True}
    assert say("runs", "delete", start, "--json").json == {"deleted": record["key"]}
    assert say("runs", "--json").json == []


def test_an_exported_script_gives_the_same_figures(say, capsys):
    record = say(*DPALS, *BUDGET, "--json").json
    exec(say("runs", "export", record["key"], "--script").out, {"__name__": "__main__"})
    assert capsys.readouterr().out.splitlines()[0] == str(record["metrics"])


def test_json_is_alone_on_standard_output_and_bad_input_exits_with_2():
    good = spawn(*DPALS, *BUDGET, "--json")
    bad = spawn(*DPALS, "--epsilon", "NaN", "--json")
    out, _ = good.communicate(timeout=WAIT)
    assert good.returncode == 0
    assert json.loads(out)["metrics"]["rmse"] > 0
    out, err = bad.communicate(timeout=WAIT)
    assert bad.returncode == 2
    assert out == ""
    assert "Got nan" in err
    assert "Traceback" not in err


def interrupted(function, calls, *words):
    """What a command says that Ctrl-C reaches there."""
    with default_interrupts():
        done = subprocess.run(
            after(function, calls, signal.SIGINT, words),
            cwd=ROOT,
            env={**os.environ},
            capture_output=True,
            text=True,
            timeout=WAIT,
            check=False,
        )
    assert done.returncode == 130
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


LONG = ("--dataset", "small", "--param", "rank=8", "--param", "steps=50")


def test_ctrl_c_leaves_nothing_of_a_fit():
    step = "dpmf_core.runs.execution:_Watcher._tell"
    assert interrupted(step, 1, "fit", "--algorithm", "als", *LONG, "--json")
    assert Store().rows() == []
    assert Store().check() == []


def test_ctrl_c_while_a_kernel_is_compiled(tmp_path, monkeypatch):
    """In a callback of the compiler, which swallows the first KeyboardInterrupt."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    callback = "numba.core.codegen:CPUCodeLibrary._object_compiled_hook"
    words = ("fit", "--algorithm", "private-bias", "--dataset", "small", *BUDGET)
    assert interrupted(callback, 1, *words).splitlines()[-1] == SENTENCE
    assert Store().rows() == []
    assert Store().check() == []


def test_ctrl_c_keeps_what_a_sweep_has_finished(tmp_path):
    words = ("sweep", "--algorithms", "als", *LONG, "--seeds", "0-99")
    out = ("--out", str(tmp_path / "all.csv"), "--json")
    assert interrupted("dpmf_core.runs.store:Store.put", 2, *words, *out)
    assert not (tmp_path / "all.csv").exists()
    assert Store().check() == []
    assert 2 <= len(Store().rows()) < 100
