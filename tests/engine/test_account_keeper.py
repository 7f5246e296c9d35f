"""Accounts of private data that workers elsewhere compute on: an entry is made before a draw, each
attempt pays for itself, and what nobody tells stays whole.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core.engine import remote_account
from dpmf_core.engine.account_keeper import AccountKeeper
from dpmf_core.engine.executor import Engine
from dpmf_core.engine.jobs import Task
from dpmf_core.engine.remote_account import RemoteAccount, deliver_answer
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.workers import threads
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.privacy import Gaussian, Repeat, Status, accounts
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import data_access, spending
from dpmf_core.runs.store import Store
from dpmf_core.tuning.private_selection import SelectionSpec
from dpmf_core.tuning.search import TuneSpec
from tests.support.engines import QUICK, spec

CHARGE = Charge("a run", ((Gaussian(2.0, "a", 1.0), 3),), Status.PROVEN, delta=1e-5)
OWN = spec(QUICK, data={"id": "own"})


@pytest.fixture(autouse=True)
def own(two_sets: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    monkeypatch.setattr(remote_account, "LOOK", 0.01)
    data_access.forget()


def account() -> Account:
    own_account = spending.account_of("own")
    assert own_account is not None
    return own_account


def states() -> list[str]:
    return [it.state for it in account().entries]


class Both:
    """A clerk with one task, and workers of it that speak with the clerk directly. listens: whether
    the clerk hears.
    """

    def __init__(self) -> None:
        self.task, self.listens, self.called_off = Task("", OWN), True, False
        self.clerk = AccountKeeper({self.task.ticket: self.task}.get, self._answer)
        self.ticket, self.name = self.task.ticket, data_access.open_raw("own").account

    def _answer(self, worker: str, entry: str, answer: Any) -> None:
        deliver_answer(entry, answer)

    def _tell(self, words: dict[str, Any]) -> None:
        if self.listens:
            self.clerk.receive({"ticket": self.ticket, "worker": "tcp://w", **words})

    @property
    def worker(self) -> RemoteAccount:
        return RemoteAccount(self.name, self._tell, lambda: self.called_off)


@pytest.fixture
def both() -> Iterator[Both]:
    pair = Both()
    yield pair
    pair.clerk.close()


def draw(both: Both, times: int, error: Exception | None = None) -> None:
    """A worker draws so many of the three planned releases, and may fail then."""
    data = data_access.open_raw("own")
    with (
        accounts.kept_elsewhere(lambda name: RemoteAccount(name, both._tell, lambda: False)),
        accounts.charging(data, CHARGE) as paid,
    ):
        assert states()[-1] == "running" and account().entries[-1].charge == CHARGE
        noise = paid.noise(Repeat(Gaussian(2.0, "a", 1.0), 3))
        assert not noise.is_reproducible
        for _ in range(times):
            noise.vector("a", np.zeros(2), sensitivity=1.0)
        if error is not None:
            raise error


def test_an_entry_is_whole_before_the_draw_and_what_was_drawn_after(both: Both) -> None:
    draw(both, 3)
    with pytest.raises(Cancelled):
        draw(both, 2, Cancelled())
    both.clerk.over(both.task)
    assert states() == ["finished", "cancelled"]
    assert [it.charge.ledger[0][1] for it in account().entries] == [3, 2]


def test_what_fails_before_it_draws_costs_nothing(both: Both) -> None:
    with pytest.raises(BadInput):
        draw(both, 0, BadInput("no"))
    both.clerk.over(both.task)
    assert account().entries == ()


def test_each_attempt_pays_and_a_third_draws_nothing(both: Both) -> None:
    for _ in range(2):
        both.worker.enter(CHARGE)  # and the worker is lost
    with pytest.raises(BadInput):
        both.worker.enter(CHARGE)
    both.clerk.over(both.task)
    assert states() == ["failed", "failed"]
    assert [it.charge for it in account().entries] == [CHARGE, CHARGE]


def test_what_a_lost_worker_tells_too_late_changes_nothing(both: Both) -> None:
    entry = both.worker.enter(CHARGE)
    both.clerk.over(both.task)
    both.worker.settle(entry, CHARGE, (), "failed")
    both.clerk.over(both.task)
    assert [(it.state, it.charge) for it in account().entries] == [("failed", CHARGE)]


def test_what_is_open_when_the_asker_goes_stays_whole() -> None:
    both = Both()
    both.worker.enter(CHARGE)
    both.clerk.close()
    assert [(it.state, it.charge) for it in account().entries] == [("cancelled", CHARGE)]


def test_who_is_not_answered_draws_nothing(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_account, "PATIENCE", 0.05)
    monkeypatch.setattr(Both, "_answer", lambda *words: None)
    deaf = Both()
    with pytest.raises(RuntimeError, match="nothing was drawn"):
        deaf.worker.enter(CHARGE)
    deaf.called_off = True
    monkeypatch.setattr(remote_account, "PATIENCE", 60.0)
    with pytest.raises(Cancelled):
        deaf.worker.enter(CHARGE)
    deaf.clerk.close()
    assert account().entries == () and not remote_account._pending_answers


def test_who_was_called_off_or_reads_other_data_or_has_no_budget_draws_nothing(both: Both) -> None:
    both.name = "0" * 64
    with pytest.raises(BadInput):
        both.worker.enter(CHARGE)
    both = Both()
    account().set_budget(0.5, 1e-5)
    with pytest.raises(BadInput):
        both.worker.enter(CHARGE)
    both.ticket = "unknown"
    with pytest.raises(Cancelled):
        both.worker.enter(CHARGE)
    both.ticket = both.task.ticket
    both.task.settle(Cancelled())
    with pytest.raises(Cancelled):
        both.worker.enter(CHARGE)
    assert account().entries == ()
    both.clerk.close()


def test_public_data_have_no_account_anywhere() -> None:
    def nobody(name: str) -> RemoteAccount:
        raise AssertionError(name)

    with accounts.kept_elsewhere(nobody):
        assert not accounts.charging(data_access.open_raw("small"), CHARGE).__enter__()._private


@pytest.mark.slow
def test_runs_and_private_selections_elsewhere_enter_the_account_here(tmp_path: Path) -> None:
    search = {"algorithm": "dpals", "search": {"rank": (2, 3)}, "data": {"id": "own"}}
    budget = {"epsilon": 2.0, "delta": 1e-6}
    selection = SelectionSpec.parse(search=TuneSpec.parse(**search, budget=budget))
    with threads(2) as way:
        engine = Engine(Store(tmp_path / "runs"), Scheduler(way.address))
        try:
            whole = engine.submit(OWN).result(60)
            assert not whole.record.noise_is_reproducible
            assert states() == ["finished"]
            result = engine.measure(selection).result(60)
        finally:
            engine.close()
    assert [it.charge.price for it in account().entries][1:] == [selection.charge.price]
    assert result.epsilon == selection.epsilon
