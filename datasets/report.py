"""What a loader found in a file: how much it read, what it repaired or refused, and where."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

MISSING = "missing"
NOT_A_NUMBER = "not a number"
INFINITE = "infinite"
CLAMPED = "out of declared bounds, clamped"
DUPLICATE = "duplicate (user, item), averaged"
RAGGED = "wrong number of columns"
EMPTY_USER = "user without a usable rating, kept as an empty row"
WRONG_COUNT = "count that differs from the ratings in the row, the ratings are taken"
NO_FILM = "rating without a film of the catalogue before it"
NO_TIME = "time that cannot be read, so the order of the ratings is not used"

DROPPED = (MISSING, NOT_A_NUMBER, INFINITE, RAGGED, NO_FILM)  # the rows these kinds count are left out
KINDS = (*DROPPED, CLAMPED, DUPLICATE, WRONG_COUNT, NO_TIME, EMPTY_USER)  # in the order of telling
LINES_SHOWN = 5


@dataclass(frozen=True)
class Problem:
    """One kind of problem: how often, on which first lines (or files), and the first value found there."""

    kind: str
    count: int
    lines: tuple[int, ...] = ()
    example: str = ""
    where: str = "line"

    @property
    def words(self) -> str:
        at = ", ".join(f"{line:,}" for line in self.lines)
        more = ", ..." if self.count > len(self.lines) else ""
        where = f" ({self.where} {at}{more})" if self.lines else ""
        return f"{self.count:,} x {self.kind}{where}"


@dataclass(frozen=True, kw_only=True)
class Report:
    """The account of one file. read: rows that are not blank; kept: ratings after merging; columns: (role, column) pairs as detected.

    assumed: how what can be read in two ways was read. values: some values of each of the columns, for the eyes of whoever has the file; they are
    in `on_screen`, and neither in `words` nor in what `facts` gives to files.
    """

    name: str
    read: int
    kept: int
    n_users: int
    n_items: int
    problems: tuple[Problem, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    note: str = ""
    assumed: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    what: tuple[str, ...] = ()  # of samples: what rows and columns are

    @property
    def words(self) -> str:
        counts = f"{self.kept:,} ratings kept, {self.n_users:,} users, {self.n_items:,} items"
        if self.what:
            counts = f"{self.n_users:,} {self.what[0]}, {self.n_items:,} {self.what[1]}"
        lines = [f"{self.name}: {self.read:,} rows read, {counts}."]
        lines += [f"{problem.words}." for problem in self.problems] or ["No problem found."]
        lines += self.assumed
        return "\n".join([*lines, self.note] if self.note else lines)

    @property
    def on_screen(self) -> str:
        """`words`, and what the chosen columns hold."""
        shown = [f"{role}: {column} ({', '.join(some) or 'empty'})" for (role, column), some in zip(self.columns, self.values, strict=False)]
        return "\n".join([self.words, *(["Columns, with the first values of each:", *shown] if shown else [])])

    @property
    def facts(self) -> dict[str, Any]:
        """What may stand in a file: no value of anybody."""
        facts = asdict(self)
        del facts["values"]
        return {**facts, "problems": [{name: fact for name, fact in problem.items() if name != "example"} for problem in facts["problems"]]}


@dataclass
class Tally:
    """Counts problems while a file is read, by row position."""

    counts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, list[int]] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, rows: npt.NDArray[np.int64], example: object = "") -> None:
        """Counts `rows` under `kind`; `example` is the value in the first of them."""
        if not len(rows):
            return
        self.counts[kind] = self.counts.get(kind, 0) + len(rows)
        first = self.rows.setdefault(kind, [])
        first += rows[: LINES_SHOWN - len(first)].tolist()
        self.examples.setdefault(kind, str(example))

    def problems(self, line: Callable[[int], int]) -> list[Problem]:
        """What was counted, with positions turned into lines."""
        return [Problem(kind, count, tuple(map(line, self.rows[kind])), self.examples[kind]) for kind, count in self.counts.items()]
