"""What a loader found in a file: how much it read, what it repaired or refused, and where."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import numpy.typing as npt


class Kind(StrEnum):
    """The problems of a row of ratings, and what was done about each, in the order of a report."""

    MISSING = "no user or no item or no rating, row left out"
    NOT_A_NUMBER = "rating is not a number, row left out"
    INFINITE = "rating is infinite, row left out"
    RAGGED_LINE = "another number of columns, row left out"
    OUTSIDE = "rating outside the bounds, row left out"
    CLAMPED_VALUE = "rating outside the bounds, set to the nearest bound"
    DUPLICATE = "same user and item again, averaged"
    WRONG_COUNT = "count differs from the ratings in the row, ratings taken"
    NO_TIME = "time cannot be read, no rating's order is used"
    EMPTY_USER = "user without a usable rating, kept as an empty row"


Order = Literal["dmy", "mdy"]  # of day and month in dates such as 03/04/2021
# what is done with a rating outside the declared bounds
Outside = Literal["leave-out", "clamp", "refuse"]
LINES_SHOWN = 5
VALUES_NAMED = 5  # of ratings outside the bounds
# unusable rows
UNUSABLE = (Kind.MISSING, Kind.NOT_A_NUMBER, Kind.INFINITE, Kind.RAGGED_LINE)


@dataclass(frozen=True)
class Problem:
    """One kind of problem: its count, the first lines (or files), and the first value there.

    kind: what is wrong, a comma, and what was done about it. commonest: for ratings outside the
    bounds, the most common values with their counts.
    """

    kind: str
    count: int
    lines: tuple[int, ...] = ()
    example: str = ""
    where: str = "line"
    commonest: tuple[tuple[str, int], ...] = ()

    @property
    def place(self) -> str:
        """The first places."""
        more = ", ..." if self.count > len(self.lines) else ""
        lines = ", ".join(f"{line:,}" for line in self.lines)
        return f"{self.where} {lines}{more}" if self.lines else ""

    @property
    def examples(self) -> str:
        """The values there: the most common ones, else the first one."""
        values = ", ".join(f"{value} ({count:,} x)" for value, count in self.commonest)
        return values or self.example

    @property
    def is_left_out(self) -> bool:
        """Whether the rows or files were left out, rather than changed."""
        return self.kind.endswith("left out")

    @property
    def row(self) -> dict[str, str]:
        """A row of the table for the holder of the file."""
        what, _, repair = self.kind.partition(", ")
        return {
            "What": what,
            "How often": f"{self.count:,}",
            "Where": self.place,
            "Such as": self.examples,
            "What was done": repair,
        }

    @property
    def words(self) -> str:
        return f"{self.count:,} x {self.kind}{f' ({self.place})' if self.place else ''}"


def outside_of(problems: Sequence[Problem]) -> Problem | None:
    """The ratings outside the declared bounds, whatever was done with them; None without any."""
    return next((it for it in problems if it.kind in (Kind.CLAMPED_VALUE, Kind.OUTSIDE)), None)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The account of one file.

    read: rows that are not blank; kept: ratings after merging; columns: (role, column) pairs as
    detected. assumed: how ambiguous values were read, and other remarks. values: some values of
    each column, for the holder of the file only; `words` do not show them.
    """

    name: str
    read: int
    kept: int
    n_users: int
    n_items: int
    problems: tuple[Problem, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    assumed: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    what: tuple[str, ...] = ()  # for samples: what rows and columns are
    ignored: tuple[str, ...] = ()  # columns without a role

    @property
    def words(self) -> str:
        counts = f"{self.kept:,} ratings kept, {self.n_users:,} users, {self.n_items:,} items"
        if self.what:
            counts = f"{self.n_users:,} {self.what[0]}, {self.n_items:,} {self.what[1]}"
        lines = [f"{self.name}: {self.read:,} rows read, {counts}."]
        lines += [f"{problem.words}." for problem in self.problems] or ["No problem found."]
        lines += self.assumed
        if self.columns:
            lines.append(f"Columns: {', '.join(f'{role}: {it}' for role, it in self.columns)}.")
        return "\n".join(lines)

    @property
    def rows_left_out(self) -> int:
        """Rows that were left out."""
        return sum(it.count for it in self.problems if it.is_left_out)

    @property
    def facts(self) -> dict[str, Any]:
        """What may leave the machine: the shape and the columns, and nothing counted in rows.

        Repairs are in `words`, for the screen.
        """
        names = ("name", "n_users", "n_items", "columns", "ignored", "what")
        return {name: getattr(self, name) for name in names}


class Tally:
    """Counts problems while a file is read, by row position."""

    def __init__(self) -> None:
        self._problems: dict[str, Problem] = {}
        self._values: dict[str, Counter[str]] = defaultdict(Counter)

    def add(
        self,
        kind: str,
        rows: npt.NDArray[np.integer[Any]],
        example: object = "",
        values: Iterable[float] = (),
    ) -> None:
        """Count `rows` under `kind`; `example` is the value in the first of them."""
        if len(rows):
            old = self._problems.get(kind, Problem(kind, 0, example=str(example)))
            lines = (*old.lines, *rows[: LINES_SHOWN - len(old.lines)].tolist())
            self._problems[kind] = replace(old, count=old.count + len(rows), lines=lines)
            self._values[kind].update(f"{it:g}" for it in values)

    def problems(self, line: Callable[[int], int], unit: str = "line") -> list[Problem]:
        """The counted problems, with positions converted to lines, or to another `unit`."""
        return [
            replace(
                problem,
                lines=tuple(map(line, problem.lines)),
                where=unit,
                commonest=tuple(self._values[kind].most_common(VALUES_NAMED)),
            )
            for kind, problem in self._problems.items()
        ]
