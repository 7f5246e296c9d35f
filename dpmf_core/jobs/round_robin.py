"""Whose work is next: askers take turns, and each asker's own work goes in the order of its
places.
"""

import itertools
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)
Place = tuple[Any, ...]  # sorts the items of one asker; the smallest goes first


def _always(item: Any, asker: str) -> bool:
    return True


class Turns(Generic[Item]):
    """Waiting items, each wanted by one asker or several. An asker is a session; work that no
    session asked for has the asker ''.

    After an asker's item was taken, every other asker with something to take comes before her
    again. It is not thread-safe.
    """

    def __init__(self) -> None:
        self._lines: dict[str, dict[Item, Place]] = {}  # whoever stands first has the next turn

    def add(self, item: Item, asker: str, place: Place) -> None:
        """Let an item wait for an asker; a new asker has her turn after all who wait."""
        self._lines.setdefault(asker, {})[item] = place

    def remove(self, item: Item, asker: str | None = None) -> None:
        """Take an item out of one asker's line, or of all. One that does not wait is no error."""
        for name in [asker] if asker is not None else list(self._lines):
            line = self._lines.get(name, {})
            line.pop(item, None)
            if not line:
                self._lines.pop(name, None)

    def take(self, allowed: Callable[[Item, str], bool] = _always) -> tuple[Item, str] | None:
        """The next item that is allowed, and for whom; None where there is none.

        It waits no longer, for nobody.
        """
        for asker, line in self._lines.items():
            ready = [item for item in line if allowed(item, asker)]
            if ready:
                item = min(ready, key=line.__getitem__)
                self._lines[asker] = self._lines.pop(asker)  # to the end
                self.remove(item)
                return item, asker
        return None

    def ahead(self, item: Item) -> int:
        """How many items are taken before this one, if all are allowed and no more are added; 0
        where it does not wait.
        """
        return min(
            (self._ahead(item, asker) for asker, line in self._lines.items() if item in line),
            default=0,
        )

    def _ahead(self, item: Item, asker: str) -> int:
        """As `ahead`, by the turns of one of its askers: in each round before hers everybody
        takes one, in hers those who stand before her.
        """
        own = self._lines[asker]
        rounds = sum(place < own[item] for place in own.values())
        before, count = True, rounds
        for name, line in self._lines.items():
            if name == asker:
                before = False
            else:
                count += min(len(line), rounds + before)
        return count

    def __len__(self) -> int:
        return len(set().union(*self._lines.values())) if self._lines else 0

    def items(self) -> list[Item]:
        """Everything that waits, in the order in which it is taken if all is allowed."""
        lines = [sorted(line, key=line.__getitem__) for line in self._lines.values()]
        rounds = itertools.chain.from_iterable(itertools.zip_longest(*lines))
        return list(dict.fromkeys(item for item in rounds if item is not None))
