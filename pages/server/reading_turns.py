"""Whose uploaded file is read now.

At most two files are read at once, in a quick and a long place. A reading begins in the quick
place. If others wait and it has taken some seconds, it goes to the long place, or, if that is
taken, it ends and starts anew there later. So a file that takes a minute delays a small one by a
few seconds at most. A session or login reads one file at a time, and those who have read least
recently go first.
"""

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal, TypeVar

from dpmf_core.base.errors import BadInput

ReadingPlace = Literal["quick", "long"]
TRIAL = 3.0  # seconds in the quick place while others wait
LOOK = 0.2  # seconds between checks that a waiting page is still wanted
MOST_ASKERS = 1_000  # their last turns are known
Result = TypeVar("Result")


class GivesWay(Exception):
    """A reading must leave the quick place, and the long place is taken."""


class Turn:
    """One reading, from its first wait to its end. A session may hold it as background work."""

    def __init__(self, turns: "ReadingTurns", asker: str) -> None:
        self.asker = asker
        self.place: ReadingPlace | None = None
        self.waits_for: ReadingPlace | None = None
        self.number = 0
        self.start = 0.0
        self.busy = True
        self.is_cancelled = False
        self._turns = turns

    def advance(self) -> None:
        """Do nothing: a child process reads."""

    def cancel(self) -> None:
        """End the wait or the reading soon."""
        self._turns.cancel(self)

    def run(
        self,
        act: Callable[[Callable[[], None]], Result],
        watch: Callable[[int], object],
    ) -> Result:
        """The result of `act`, which is called in turn.

        Parameters
        ----------
        act
            The reading. It gets a function that it calls repeatedly, and it lets that function's
            exceptions pass.
        watch
            Called repeatedly with the number of readings ahead; 0 once the reading has begun. Its
            exception ends the reading.

        Raises
        ------
        BadInput
            After `cancel`.
        """
        try:
            self._turns.enter(self, "quick", watch)
            try:
                return act(lambda: self._check(watch))
            except GivesWay:
                self._turns.enter(self, "long", watch)
                return act(lambda: self._check(watch))
        finally:
            self._turns.leave(self)

    def _check(self, watch: Callable[[int], object]) -> None:
        self._turns.check(self)
        watch(0)


class ReadingTurns:
    """The turns of all readings on this server. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._reading: dict[ReadingPlace, Turn] = {}
        self._waiting: list[Turn] = []
        self._numbers = itertools.count(1)
        # the number of each asker's last turn
        self._last: OrderedDict[str, int] = OrderedDict()

    def join(self, asker: str) -> Turn:
        """A new turn of a session or login."""
        return Turn(self, asker)

    def enter(
        self, turn: Turn, place: ReadingPlace, watch: Callable[[int], object]
    ) -> None:
        """Wait for a place and take it."""
        with self._changed:
            self._free(turn)
            turn.waits_for = place
            turn.number = next(self._numbers)
            self._waiting.append(turn)
            self._changed.notify_all()
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._is_due(turn) or turn.is_cancelled, LOOK
                )
                _go_on(turn)
                if self._is_due(turn):
                    self._take(turn, place)
                    return
                ahead = self._n_ahead(turn)
            watch(ahead)

    def check(self, turn: Turn) -> None:
        """Raise an exception if a reading must end; move it after its time in the quick place."""
        with self._changed:
            _go_on(turn)
            is_on_trial = turn.place == "quick" and self._clock() < turn.start + TRIAL
            if turn.place == "long" or is_on_trial or not self._able("quick"):
                return
            if "long" in self._reading or self._able("long"):
                raise GivesWay
            self._free(turn)
            turn.place = "long"
            self._reading["long"] = turn

    def leave(self, turn: Turn) -> None:
        """End a turn, at whatever point it is."""
        with self._changed:
            self._free(turn)
            if turn in self._waiting:
                self._waiting.remove(turn)
            turn.busy = False
            self._changed.notify_all()

    def cancel(self, turn: Turn) -> None:
        with self._changed:
            turn.is_cancelled = True
            self._changed.notify_all()

    def _take(self, turn: Turn, place: ReadingPlace) -> None:
        self._waiting.remove(turn)
        self._reading[place] = turn
        turn.place = place
        turn.start = self._clock()
        self._last[turn.asker] = next(self._numbers)
        self._last.move_to_end(turn.asker)
        while len(self._last) > MOST_ASKERS:
            self._last.popitem(last=False)

    def _free(self, turn: Turn) -> None:
        if turn.place is not None:
            del self._reading[turn.place]
            turn.place = None
            self._changed.notify_all()

    def _is_due(self, turn: Turn) -> bool:
        """Whether the turn is the first one for a free place, and its asker reads nothing else."""
        if turn.waits_for in self._reading or self._is_reading(turn.asker):
            return False
        return min(self._able(turn.waits_for), key=self._order) is turn

    def _order(self, turn: Turn) -> tuple[int, int]:
        return self._last.get(turn.asker, 0), turn.number

    def _is_reading(self, asker: str) -> bool:
        return any(turn.asker == asker for turn in self._reading.values())

    def _able(self, place: ReadingPlace | None) -> list[Turn]:
        """The turns that wait for a place and read nothing else."""
        rivals = [turn for turn in self._waiting if turn.waits_for == place]
        return [turn for turn in rivals if not self._is_reading(turn.asker)]

    def _n_ahead(self, turn: Turn) -> int:
        rivals = [rival for rival in self._waiting if rival.waits_for == turn.waits_for]
        earlier = [rival for rival in rivals if self._order(rival) < self._order(turn)]
        return len(self._reading) + len(earlier)


def _go_on(turn: Turn) -> None:
    """Raise BadInput if the turn was cancelled."""
    if turn.is_cancelled:
        raise BadInput(
            "Reading was cancelled, because its page was closed. Open it again."
        )


turns = ReadingTurns()
