"""What a loader found in a file: how much it read, what it repaired or refused, and where."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    ROUNDED_ID = "id was rounded by a spreadsheet, row left out"
    RAGGED_LINE = "another number of columns, row left out"
    NOT_RATED = "value declared as not rated, row left out"
    OUTSIDE = "rating outside the bounds, row left out"
    CLAMPED_VALUE = "rating outside the bounds, set to the nearest bound"
    DUPLICATE = "same user and item again, averaged"
    WRONG_COUNT = "count differs from the ratings in the row, ratings taken"
    NO_TIME = "time cannot be read, 0 taken instead"


DateOrder = Literal["dmy", "mdy"]  # of day and month in dates such as 03/04/2021
# what is done with a rating outside the declared bounds
Outside = Literal["leave-out", "clamp", "refuse"]
# how a column was recognised
DECLARED = "declared"
BY_NAME = "by its name"
BY_PLACE = "by its place"
LINES_SHOWN = 5
VALUES_NAMED = 5  # of ratings outside the bounds
LETTERS_SHOWN = 60  # of an example
# unusable rows
UNUSABLE = (
    Kind.MISSING,
    Kind.NOT_A_NUMBER,
    Kind.INFINITE,
    Kind.ROUNDED_ID,
    Kind.RAGGED_LINE,
)


@dataclass(frozen=True)
class Problem:
    """One kind of problem: its count, the first lines (or files), and the first value there.

    Attributes
    ----------
    kind : str
        What is wrong, a comma, and what was done about it.
    commonest : tuple
        For ratings outside the bounds, the most common values with their counts.
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
        if self.lines:
            return f"{self.where} {lines}{more}"
        return ""

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
    def reason(self) -> str:
        """What is wrong; of rows that were changed also what was done."""
        what, _, repair = self.kind.partition(", ")
        if self.is_left_out or not repair:
            return what
        return f"{what}: {repair}"

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
        """Its count, what is wrong and what was done, the first places and an example."""
        if self.examples:
            such_as = f"such as '{self.examples[:LETTERS_SHOWN]}'"
        else:
            such_as = ""
        details = "; ".join(filter(None, [self.place, such_as]))
        return f"{self.count:,} x {self.kind}{f' ({details})' if details else ''}"

    def to_dict(self) -> dict[str, Any]:
        """The value for JSON, with everything known about it."""
        return {
            "kind": self.kind,
            "count": self.count,
            "left_out": self.is_left_out,
            "where": self.where,
            "places": self.lines,
            "example": self.example,
            "commonest": self.commonest,
        }


def outside_of(problems: Sequence[Problem]) -> Problem | None:
    """The ratings outside the declared bounds, whatever was done with them; None without any."""
    return next(
        (
            problem
            for problem in problems
            if problem.kind in (Kind.CLAMPED_VALUE, Kind.OUTSIDE)
        ),
        None,
    )


@dataclass(frozen=True, kw_only=True)
class Report:
    """The account of one file.

    Printed, it is sentences. Iterating yields its problems.

    Attributes
    ----------
    read : int
        The number of rows that are not blank.
    kept : int
        The number of ratings after merging.
    columns : tuple of (str, str)
        Each role with its column, as detected.
    assumed : tuple of str
        The layout, how ambiguous values were read, and other remarks.
    values : tuple of tuple of str
        Some values of each column, for the holder of the file only. `words` do not show them.
    recognised : tuple of (str, str)
        How each role's column was recognised, such as ("user", DECLARED).
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
    recognised: tuple[tuple[str, str], ...] = ()

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def __str__(self) -> str:
        return self.words

    @property
    def words(self) -> str:
        counts = f"{self.kept:,} ratings kept, {self.n_users:,} users, {self.n_items:,} items"
        if self.what:
            counts = f"{self.n_users:,} {self.what[0]}, {self.n_items:,} {self.what[1]}"
        lines = [f"{self.name}: {self.read:,} rows read, {counts}."]
        lines += [f"{problem.words}." for problem in self.problems] or [
            "No problem found."
        ]
        lines += self.assumed
        if self.columns:
            lines.append(f"Columns: {', '.join(self._column_words())}.")
        return "\n".join(lines)

    def _column_words(self) -> Iterator[str]:
        """Each role with its column, and how the column was recognised."""
        ways = dict(self.recognised)
        for role, column in self.columns:
            way = f" ({ways[role]})" if role in ways else ""
            yield f"{role}: {column}{way}"

    @property
    def rows_left_out(self) -> int:
        """Rows that were left out."""
        return sum(problem.count for problem in self.problems if problem.is_left_out)

    @property
    def changed(self) -> int:
        """Rows that were left out or changed."""
        return sum(problem.count for problem in self.problems)

    @property
    def summary(self) -> str:
        """What was left out or changed, in a sentence; "" if nothing was."""
        if not self.problems:
            return ""
        left_out = [problem for problem in self.problems if problem.is_left_out]
        others = [problem for problem in self.problems if not problem.is_left_out]
        unit = self.what[0] if self.what else "rows"
        parts = [f"{self.read - self.rows_left_out:,} of {self.read:,} {unit} used"]
        if left_out:
            parts.append(f"{self.rows_left_out:,} left out ({_reasons(left_out)})")
        if others:
            n_changed = self.changed - self.rows_left_out
            parts.append(f"{n_changed:,} changed ({_reasons(others)})")
        return f"{self.name}: {', '.join(parts)}."

    def line(self, address: str, command: str = "dpmf") -> str:
        """The summary, and the command that shows more; "" if nothing was left out or changed."""
        if not self.problems:
            return ""
        return f"{self.summary} {command} check {shlex.quote(address)} lists them."

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON, for the holder of the file: counts follow from private rows."""
        return {
            **self.facts,
            "read": self.read,
            "kept": self.kept,
            "left_out": self.rows_left_out,
            "changed": self.changed - self.rows_left_out,
            "problems": [problem.to_dict() for problem in self.problems],
            "assumed": self.assumed,
        }

    @property
    def facts(self) -> dict[str, Any]:
        """What may leave the machine: the shape and the columns, but no counts of rows.

        Repairs are in `words`, for the screen.
        """
        names = (
            "name",
            "n_users",
            "n_items",
            "columns",
            "recognised",
            "ignored",
            "what",
        )
        return {name: getattr(self, name) for name in names}


def _reasons(problems: Sequence[Problem]) -> str:
    if len(problems) == 1:
        return problems[0].reason
    return "; ".join(f"{problem.count:,} {problem.reason}" for problem in problems)


def condition_words(assumptions: Sequence[str]) -> str:
    """The sentence on what data leave open for a guarantee."""
    if not assumptions:
        return "These data leave no guarantee conditional."
    return (
        f"A guarantee is CONDITIONAL on these data: it holds provided that"
        f" {' and '.join(assumptions)}."
    )


def place_in_report(problem: Problem) -> int:
    """The place of a problem's kind in a report; that of another source's kind is the last."""
    kinds: list[str] = list(Kind)
    if problem.kind in kinds:
        return kinds.index(problem.kind)
    return len(kinds)


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
            self._problems[kind] = replace(
                old, count=old.count + len(rows), lines=lines
            )
            self._values[kind].update(f"{value:g}" for value in values)

    def problems(
        self, unit: str = "line", line: Callable[[int], int] = lambda row: row + 1
    ) -> list[Problem]:
        """The problems in the order of a report, with positions as lines, or another `unit`."""
        problems = []
        for kind, problem in self._problems.items():
            counts = self._values[kind]
            problems.append(
                replace(
                    problem,
                    lines=tuple(map(line, problem.lines)),
                    where=unit,
                    commonest=tuple(counts.most_common(VALUES_NAMED)),
                )
            )
        return sorted(problems, key=place_in_report)
