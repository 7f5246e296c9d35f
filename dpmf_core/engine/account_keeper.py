"""Keeps the accounts of private data that workers elsewhere compute on, with whoever asks for it.

What a worker wants to draw is entered whole before it may, each attempt of a task by itself; in the
end it becomes what the worker says that it drew. An entry of which no worker says that, as it was
lost or whoever asks went away, stays whole.
"""

import contextlib
import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from dpmf_core.data.catalogue import is_own
from dpmf_core.engine.jobs import Task
from dpmf_core.engine.remote_account import Answer
from dpmf_core.errors import BadInput, Cancelled, words_of
from dpmf_core.privacy import normal_form
from dpmf_core.privacy.account_files import charge_of_plain
from dpmf_core.privacy.accounts import Account, State, account_of
from dpmf_core.privacy.events import event_of_rows
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import data_access

log = logging.getLogger(__name__)
ATTEMPTS = 2  # to draw, of one task: the first, and one after its worker was lost


@dataclass(frozen=True)
class _Entry:
    """What was charged and is not settled."""

    task: Task
    account: Account
    number: int
    charge: Charge


@dataclass(eq=False)
class AccountKeeper:
    """Enters what workers ask for and settles what they drew, in the order in which they say it.

    task_of: the task that a worker has under a ticket. answer: tells a worker, an entry's name and
    the answer.
    """

    task_of: Callable[[str], Task | None]
    answer: Callable[[str, str, Answer], None]
    _open: dict[str, _Entry] = field(default_factory=dict)
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "dpmf-accounts")
    )

    def receive(self, message: dict[str, Any]) -> None:
        """What a worker says of an entry; returns at once."""
        with contextlib.suppress(RuntimeError):  # closed
            self._pool.submit(self._act, message)

    def over(self, task: Task) -> None:
        """A task has its outcome: all that was heard of it is done, and what other attempts drew
        is known no more.
        """
        with contextlib.suppress(RuntimeError):  # closed
            self._pool.submit(self._give_up, lambda it: it.task is task, "failed").result()

    def close(self) -> None:
        """Nothing more is heard; what is open stays whole."""
        self._pool.shutdown()
        self._give_up(lambda it: True, "cancelled")

    def _act(self, message: dict[str, Any]) -> None:
        try:
            if "charge" in message:
                self._enter(message)
            else:
                self._settle(message)
        except Exception as error:  # the worker draws nothing, or the entry stays whole
            log.warning("An entry of an account could not be kept: %s.", words_of(error))

    def _enter(self, message: dict[str, Any]) -> None:
        answer: Answer = None
        try:
            self._open[message["entry"]] = self._make_entry(message)
        except (BadInput, Cancelled) as error:
            answer = error
        self.answer(message["worker"], message["entry"], answer)

    def _make_entry(self, message: dict[str, Any]) -> _Entry:
        task = self.task_of(message["ticket"])
        if task is None or task.settled.is_set():
            raise Cancelled
        if task.entries == ATTEMPTS:
            raise BadInput(
                "A worker was lost while computing this run, twice; most often because memory ran"
                " out. Both are charged, for they may have drawn. Choose fewer ratings, items or"
                " factors."
            )
        account = _account_of(task.spec.data.id, message["account"])
        charge = charge_of_plain(json.loads(message["charge"]))
        number = account.enter(charge)
        task.entries += 1
        return _Entry(task, account, number, charge)

    def _settle(self, message: dict[str, Any]) -> None:
        if (entry := self._open.pop(message["entry"], None)) is not None:
            releases = normal_form(event_of_rows(json.loads(message["drawn"])))
            charge = charge_of_plain(json.loads(message["settled"]))
            entry.account.settle(entry.number, charge, releases, message["state"])

    def _give_up(self, which: Callable[[_Entry], bool], state: State) -> None:
        """Nobody will tell any more what was drawn under these entries: they stay whole."""
        for name, entry in list(self._open.items()):
            if which(entry):
                del self._open[name]
                with contextlib.suppress(BadInput):  # it is whole already, only its state is old
                    entry.account.settle(entry.number, entry.charge, None, state)


def _account_of(data_id: str, name: str) -> Account:
    """The account of the data that a worker reads. Raises BadInput where they are others here."""
    data = data_access.open_raw(data_id)
    account = account_of(data, lasting=not is_own(data_id))
    if account is None or data.account != name:
        raise BadInput(
            f"The worker's data set {data_id} holds something else than the one here, so nothing"
            " was drawn. Ask again."
        )
    return account
