"""Private data travel to workers of a scheduler elsewhere, over TLS; what is drawn on them there is
charged where they live, before it is drawn and once, whatever becomes of the worker.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core.engine.executor import Engine
from dpmf_core.engine.jobs import Job
from dpmf_core.errors import BadInput
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.events import Repeat, event_of_rows, normal_form, sequence
from dpmf_core.runs import data_access, planning, spending
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.tuning.private_selection import SelectionSpec
from dpmf_core.tuning.search import TuneSpec
from tests.support.clusters import ROOT, Processes
from tests.support.engines import wait_for, wait_for_start

pytestmark = pytest.mark.slow
OWN = "some.csv?bounds=1,5"  # in the folder in which this process works, and no worker
QUICK: dict[str, Any] = {"algorithm": "private-bias"}
LONG: dict[str, Any] = {"algorithm": "dp-sgd", "parameters": {"steps": 500}}
DELTA = 1e-5


def spec(parts: dict[str, Any], seed: int = 0, epsilon: float = 2.0) -> RunSpec:
    budget = {"epsilon": epsilon, "delta": DELTA}
    return RunSpec.parse(data={"id": OWN}, budget=budget, seed=seed, **parts)


def plan(run_spec: RunSpec) -> Any:
    """What the run releases, as it is found here."""
    return planning.charge_before(run_spec, data_access.open_anywhere(run_spec.data)).ledger


def total_epsilon(*run_specs: RunSpec) -> float:
    """Epsilon of these runs' whole plans together."""
    leaves = [Repeat(leaf, count) for it in run_specs for leaf, count in plan(it)]
    return exactly(sequence(*leaves), DELTA)


def table(file: Path) -> None:
    """Ratings of 1500 users, 40 each of 200 items."""
    rng = np.random.default_rng(3)
    rows = [
        f"{user},{item},{rng.integers(1, 6)}"
        for user in range(1500)
        for item in rng.choice(200, 40, replace=False)
    ]
    file.write_text("\n".join(["user,item,rating", *rows]))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which this process works and has the data."""
    folder = tmp_path / "here"
    folder.mkdir()
    table(folder / "some.csv")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    monkeypatch.setenv("DPMF_DATA", str(folder / "data"))
    data_access.forget()
    yield folder
    data_access.forget()


class Elsewhere:
    """Workers with a data folder of their own, and the engine that gives them work. have: whether
    they have the data too.
    """

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        have: bool,
        names: tuple[str, ...] = ("one", "other"),
    ) -> None:
        if have:  # workers work in that folder
            table(folder / "some.csv")
        self.lent, self.theirs = not have, folder / "theirs"
        self.environment = {"PYTHONPATH": str(ROOT), "DPMF_DATA": str(self.theirs)}
        self.way = processes.serve(**dict.fromkeys(names, self.environment))
        self.engine = Engine(Store(folder / "runs"), self.way)

    def kill_worker_of(self, job: Job) -> None:
        with self.way.client() as client:
            pid = client.run(os.getpid, workers=[job._task.worker])[job._task.worker]
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=[False, True], ids=["lent", "there"])
def elsewhere(
    tls_processes: Processes, tmp_path: Path, here: Path, request: pytest.FixtureRequest
) -> Iterator[Elsewhere]:
    place = Elsewhere(tls_processes, tmp_path, request.param)
    yield place
    place.engine.close()


def account() -> Account:
    own_account = spending.account_of(OWN)
    assert own_account is not None
    return own_account


def test_every_end_of_a_run_is_charged_where_the_data_live(elsewhere: Elsewhere) -> None:
    engine = elsewhere.engine
    # two that finish
    specs = [spec(QUICK, seed) for seed in (1, 2)]
    for it, job in zip(specs, [engine.submit(it) for it in specs], strict=True):
        record = job.result(120).record
        assert not record.noise_is_reproducible and record.key == job.key
        assert normal_form(event_of_rows([it.model_dump() for it in record.ledger])) == plan(it)
    assert [it.state for it in account().entries] == ["finished"] * 2
    assert account().total.epsilon == pytest.approx(total_epsilon(*specs), rel=1e-9)
    # one that is called off costs what it drew
    job = wait_for_start(engine.submit(spec(LONG, 3)))
    assert [it.state for it in account().entries][2:] == ["running"]
    assert account().entries[2].charge.ledger == plan(spec(LONG, 3))
    job.cancel()
    wait_for(lambda: account().entries[2].state == "cancelled")
    releases = sum(count for _, count in account().entries[2].charge.ledger)
    assert 0 < releases < sum(count for _, count in plan(spec(LONG, 3)))
    # one whose worker is killed costs all of it, and is charged anew with the next worker
    before = len(account().entries)
    job = wait_for_start(engine.submit(spec(LONG, 4)))
    elsewhere.kill_worker_of(job)
    assert job.result(300).key
    first, second = account().entries[before:]
    assert (first.state, second.state) == ("failed", "finished")
    assert first.charge.ledger == second.charge.ledger == plan(spec(LONG, 4))
    # one that the budget does not allow draws nothing
    account().set_budget(account().total.epsilon + 0.01, DELTA)
    with pytest.raises(BadInput, match="so nothing was drawn"):
        engine.submit(spec(QUICK, 5)).result(120)
    assert len(account().entries) == before + 2
    # all of it is here, and nothing there
    assert not list(elsewhere.theirs.rglob("accounts.sqlite"))
    # and none of the data
    with elsewhere.way.client() as client:
        wait_for(lambda: not client.who_has(), 10.0)
        if elsewhere.lent:
            assert set(client.run(n_held_sets).values()) == {0}


def test_a_private_selection_takes_its_data_along(elsewhere: Elsewhere) -> None:
    search = {"algorithm": "private-bias", "search": {"prior_deviation": (0.3, 0.5)}}
    budget = {"epsilon": 2.0, "delta": DELTA}
    selection_spec = SelectionSpec.parse(
        search=TuneSpec.parse(**search, data={"id": OWN}, budget=budget), trials=3.0
    )
    job = elsewhere.engine.measure(selection_spec)
    assert job.result(120).epsilon == selection_spec.epsilon and job._task.lent == elsewhere.lent
    [entry] = account().entries
    assert (entry.state, entry.charge.price) == ("finished", selection_spec.charge.price)
    assert not list(elsewhere.theirs.rglob("accounts.sqlite"))


def test_data_that_were_lost_with_a_worker_are_sent_again(
    tls_processes: Processes, tmp_path: Path, here: Path
) -> None:
    elsewhere = Elsewhere(tls_processes, tmp_path, have=False, names=("one",))
    try:
        job = wait_for_start(elsewhere.engine.submit(spec(LONG)))
        tls_processes.join("other", **elsewhere.environment)
        with elsewhere.way.client() as client:
            client.wait_for_workers(2, timeout=120)
            [[holder], *_] = client.who_has().values()
        assert holder == job._task.worker
        elsewhere.kill_worker_of(job)
        assert job.result(300).key and job._task.worker_lost
        first, second = account().entries
        assert (first.state, second.state) == ("failed", "finished")
        assert first.charge.ledger == second.charge.ledger == plan(spec(LONG))
    finally:
        elsewhere.engine.close()


def n_held_sets() -> int:
    """How many data sets a worker has in memory."""
    caches = (data_access._raw, data_access._prepared_data, data_access._split)
    return sum(it.cache_info().currsize for it in caches)
