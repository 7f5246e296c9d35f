"""A worker of a scheduler elsewhere has no account of the private data that it works on: that lies
with whoever asks for the work (`account_keeper`).

Before it draws, it asks for an entry, and waits until it is told that its whole plan is charged;
afterwards it tells what it drew. Each attempt of a task asks for an entry of its own, so that one
which Dask begins again after a worker was lost draws nothing for free.
"""

import json
import queue
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.privacy.account_files import plain_charge
from dpmf_core.privacy.accounts import State
from dpmf_core.privacy.events import Ledger, ledger_rows
from dpmf_core.privacy.odometer import Charge

PATIENCE = 120.0  # seconds in which whoever asked for the work answers
LOOK = 0.5  # seconds between two looks at whether the work was called off

Answer = BadInput | Cancelled | None  # why nothing may be drawn; None where it may

_pending_answers: dict[str, "queue.SimpleQueue[Answer]"] = {}  # entries that this worker waits for


@dataclass(frozen=True)
class RemoteAccount:
    """A `Keeper`. account: `Private.account`. tell: sends words to whoever asked for the work.
    called_off: whether it is wanted no more.
    """

    account: str
    tell: Callable[[dict[str, Any]], None]
    called_off: Callable[[], bool]

    def enter(self, charge: Charge) -> str:
        """The name of a new entry. Raises what the answer is, Cancelled where it is waited for in
        vain; then there is none.
        """
        entry = uuid.uuid4().hex
        answers = _pending_answers[entry] = queue.SimpleQueue()
        self.tell(
            {
                "entry": entry,
                "account": self.account,
                "charge": json.dumps(plain_charge(charge)),
            }
        )
        try:
            answer = self._wait_for(answers)
        except (Cancelled, RuntimeError):
            self.settle(entry, charge, (), "failed")  # where it was entered meanwhile
            raise
        finally:
            del _pending_answers[entry]
        if answer is not None:
            raise answer
        return entry

    def _wait_for(self, answers: "queue.SimpleQueue[Answer]") -> Answer:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                return answers.get(timeout=LOOK)
            except queue.Empty:
                if self.called_off():
                    raise Cancelled from None
        raise RuntimeError(
            "Whoever asked for this run did not say within two minutes that it is charged, so"
            " nothing was drawn. Start it again."
        )

    def settle(self, entry: str, charge: Charge, ledger: Ledger, state: State) -> None:
        self.tell(
            {
                "entry": entry,
                "drawn": json.dumps(ledger_rows(ledger)),
                "state": state,
                "settled": json.dumps(plain_charge(charge)),
            }
        )


def deliver_answer(entry: str, answer: Answer) -> None:
    """Whoever asked for the work answers an entry, on the worker; too late is no error."""
    if (answers := _pending_answers.get(entry)) is not None:
        answers.put(answer)
