"""Workers that would compute something else than was asked for are refused their work."""

import dataclasses
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from dpmf_core import cli
from dpmf_core.data.catalogue import lent
from dpmf_core.engine.executor import Engine
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.verification import Expected, expected, refusal
from dpmf_core.runs import execution
from dpmf_core.runs.data_access import open_data
from dpmf_core.runs.installation import current_installation
from dpmf_core.runs.specification import run_key
from dpmf_core.runs.store import Store
from dpmf_core.testing.worlds import low_rank
from dpmf_core.tuning.private_selection import SelectionSpec
from dpmf_core.tuning.search import TuneSpec
from tests.support.clusters import ROOT, Processes, altered_copy
from tests.support.engines import CATALOGUE, QUICK, spec, wait_for

pytestmark = pytest.mark.usefixtures("two_sets")
HERE = current_installation()


def asked_for() -> tuple[Any, Expected]:
    run_spec = spec(QUICK)
    return run_spec, expected(run_spec, run_key(run_spec, open_data(run_spec.data)))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"dpmf": "0.1"}, f"it has dpmf {HERE.dpmf}, and 0.1 is wanted"),
        ({"libraries": (("numpy", "1.0"), *HERE.libraries[1:])}, "and 1.0 is wanted"),
        ({"libraries": HERE.libraries[1:]}, "and none is wanted"),
        ({"code": "0"}, f"its code of dpmf {HERE.dpmf} differs from the code that asks"),
    ],
)
def test_what_differs_is_named(other: dict[str, Any], words: str) -> None:
    run_spec, requirement = asked_for()
    assert refusal(run_spec, requirement, "tcp://w") is None
    requirement = dataclasses.replace(requirement, installation=dataclasses.replace(HERE, **other))
    answer = refusal(run_spec, requirement, "tcp://w")
    assert answer is not None and words in answer.reason and answer.everything


def test_another_python_is_no_reason() -> None:
    run_spec, requirement = asked_for()
    other = dataclasses.replace(requirement.installation, python="3.99")
    assert (
        refusal(run_spec, dataclasses.replace(requirement, installation=other), "tcp://w") is None
    )


def test_other_data_another_algorithm_or_none_refuse_that_run_alone() -> None:
    run_spec, requirement = asked_for()
    for changes in ({"key": "0" * 32}, {"algorithm": "0"}):
        answer = refusal(run_spec, dataclasses.replace(requirement, **changes), "tcp://w")
        assert answer is not None and not answer.everything
    unknown = run_spec.model_copy(
        update={"data": run_spec.data.model_copy(update={"id": "nowhere"})}
    )
    answer = refusal(unknown, requirement, "tcp://w")
    assert answer is not None and "nowhere" in answer.reason and not answer.everything


def test_what_is_no_run_needs_the_same_data_too() -> None:
    search = {"algorithm": "dpals", "search": {"rank": (2, 3)}, "data": {"id": "own"}}
    selection_spec = SelectionSpec.parse(
        search=TuneSpec.parse(**search, budget={"epsilon": 2.0, "delta": 1e-6})
    )
    requirement = expected(selection_spec, "", elsewhere=True)
    assert refusal(selection_spec, requirement, "tcp://w") is None
    with lent("own", low_rank()):
        answer = refusal(selection_spec, requirement, "tcp://w")
    assert answer is not None and not answer.everything
    assert (answer.reason, answer.lacks) == ("its data set own holds something else", "own")
    # workers of this machine have what is here, and it is not opened for that
    assert expected(selection_spec, "").key == ""
    assert refusal(selection_spec, expected(selection_spec, ""), "tcp://w") is None


# ---- real workers --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_with_other_code_and_one_without_the_data_compute_nothing(
    tmp_path: Path,
    processes: Processes,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = {"PYTHONPATH": str(ROOT), "DPMF_CATALOGUE": CATALOGUE}
    way = processes.serve(
        right=here,
        altered={**here, "PYTHONPATH": f"{altered_copy(tmp_path / 'altered')}{os.pathsep}{ROOT}"},
        empty={**here, "DPMF_CATALOGUE": "dpmf_datasets"},
    )
    engine = Engine(Store(tmp_path / "runs"), way)
    try:
        specs = [spec(QUICK, seed=seed) for seed in range(6)]
        runs = [job.result(120) for job in [engine.submit(it) for it in specs]]
        for it, run in zip(specs, runs, strict=True):
            assert run.record.metrics == execution.run(it).record.metrics
        [first_refusal] = engine._dispatcher.cluster.unfit.values()
        assert "differs from the code that asks" in first_refusal.reason
        wait_for(lambda: engine._dispatcher.cluster.count() or engine.width == 2)
        monkeypatch.setenv("DPMF_SCHEDULER", way.address)
        assert cli.main(["workers", "check", "--json"]) == 1
        by_worker = {it["worker"]: it for it in json.loads(capsys.readouterr().out)}
        assert len(by_worker) == 3
        assert [name for name, it in by_worker.items() if it["problem"]] == [first_refusal.worker]
        assert min(len(it["data"]) for it in by_worker.values()) >= 1
        assert cli.main(["workers", "check"]) == 1
        words = capsys.readouterr().out
        assert words.count("differs from the code that asks") == 1 and words.count(" yes") == 2
    finally:
        engine.close()


def test_without_a_scheduler_there_is_nothing_to_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DPMF_SCHEDULER", raising=False)
    assert cli.main(["workers", "check"]) == 2
    assert "DPMF_SCHEDULER names no scheduler" in capsys.readouterr().err


def test_a_scheduler_that_does_not_answer_costs_one_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts, is_asked = [], threading.Event()

    def nobody(way: Scheduler) -> None:
        is_asked.wait(60)
        attempts.append(way)
        raise ConnectionError(f"the scheduler at {way.address} does not answer")

    monkeypatch.setattr(Scheduler, "client", nobody)
    engine = Engine(Store(tmp_path / "runs"), Scheduler("tcp://127.0.0.1:9"))
    try:
        jobs = [engine.submit(spec(QUICK, seed=seed)) for seed in range(5)]
        is_asked.set()
        for job in jobs:
            with pytest.raises(RuntimeError, match="does not answer"):
                job.result(60)
        assert len(attempts) == 1
        with pytest.raises(RuntimeError, match="does not answer"):
            engine.submit(spec(QUICK, seed=9)).result(60)
        assert len(attempts) == 2
    finally:
        engine.close()


@pytest.mark.slow
def test_a_run_that_every_worker_refuses_fails_in_words(
    tmp_path: Path, processes: Processes
) -> None:
    env = {"PYTHONPATH": f"{altered_copy(tmp_path / 'altered')}{os.pathsep}{ROOT}"}
    engine = Engine(
        Store(tmp_path / "runs"), processes.serve(altered={**env, "DPMF_CATALOGUE": CATALOGUE})
    )
    try:
        for seed in (1, 2):
            with pytest.raises(RuntimeError, match=r"No worker can compute this.*its code of dpmf"):
                engine.submit(spec(QUICK, seed=seed)).result(120)
        assert engine.store.rows() == []
    finally:
        engine.close()
