"""Which rows of a table in memory are ratings, as for a file.

What becomes of a row follows from that row, the declared bounds and the declared facts. Only a
refusal follows from all rows together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpmf_core.base.errors import BadInput, quoted
from dpmf_core.data.column_names import REQUIRED_ROLES
from dpmf_core.data.report import UNUSABLE, Kind, Outside, Problem, Tally

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
NOTHING = ("", "na", "n/a", "null", "none")  # how a missing rating is written
MOST_OUTSIDE = 10  # at most one rating in this many may lie outside the declared bounds


@dataclass(frozen=True)
class RowRules:
    """The declared facts that decide about a row.

    Attributes
    ----------
    bounds
        The lowest and highest possible rating.
    outside
        What becomes of a rating outside them. None: its row is left out, and a table with more than
        a tenth of such ratings is refused.
    missing
        The values that mean "not rated".
    """

    bounds: tuple[float, float]
    outside: Outside | None = None
    missing: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.outside not in (None, "leave-out", "clamp", "refuse"):
            raise BadInput(
                "outside must be 'leave-out', 'clamp' or 'refuse': whether the row of a rating"
                " outside the bounds is left out, the rating is set to the nearest bound, or the"
                f" whole table is refused. Got {self.outside!r}."
            )


@dataclass(frozen=True)
class Rows:
    """Some rows with their ratings, before any is left out.

    Attributes
    ----------
    values : float64 (n,)
        NaN if there is no number.
    no_user, no_item, no_rating : bool (n,)
        Which cells are empty.
    example
        The cells of a row in some roles, as text.
    unit
        What a row is called.
    """

    values: Values
    no_user: Flags
    no_item: Flags
    no_rating: Flags
    example: Callable[[int, Sequence[str]], str]
    source: str
    unit: str = "row"
    tally: Tally = field(default_factory=Tally)

    def kept_by(self, rules: RowRules) -> Flags:
        """The rows (n,) that are ratings; the others are counted. Raises BadInput."""
        is_used = ~(self.no_user & self.no_item & self.no_rating)
        low, high = rules.bounds
        is_outside = (self.values < low) | (self.values > high)
        of_outside = Kind.CLAMPED_VALUE if rules.outside == "clamp" else Kind.OUTSIDE
        kept_rows = is_used
        for kind, where in (
            (Kind.MISSING, self.no_user | self.no_item | self.no_rating),
            (Kind.NOT_A_NUMBER, np.isnan(self.values)),
            (Kind.INFINITE, np.isinf(self.values)),
            (Kind.NOT_RATED, np.isin(self.values, rules.missing)),
            (of_outside, is_outside),
        ):
            self._count(kind, np.flatnonzero(kept_rows & where))
            if kind != Kind.CLAMPED_VALUE:
                kept_rows = kept_rows & ~where
        self._require_usable(rules, int(is_used.sum()))
        return kept_rows

    def problems(self) -> tuple[Problem, ...]:
        """The problems so far, in the order of a report."""
        problems = self.tally.problems(lambda row: row + 1, self.unit)
        kinds = list(Kind)
        return tuple(sorted(problems, key=lambda problem: kinds.index(Kind(problem.kind))))

    def _count(self, kind: Kind, rows: npt.NDArray[np.intp]) -> None:
        if len(rows):
            has_values = kind in (Kind.OUTSIDE, Kind.CLAMPED_VALUE)
            values = self.values[rows].tolist() if has_values else ()
            roles = REQUIRED_ROLES if kind == Kind.MISSING else ("rating",)
            self.tally.add(kind, rows, self.example(int(rows[0]), roles), values)

    def _require_usable(self, rules: RowRules, read: int) -> None:
        """Raise BadInput if too few rows can be used, or too many lie outside the bounds."""
        problems = {problem.kind: problem for problem in self.problems()}
        unusable = [problems[kind] for kind in UNUSABLE if kind in problems]
        count = sum(problem.count for problem in unusable)
        if 2 * count > read:
            worst = max(unusable, key=lambda problem: problem.count)
            raise BadInput(
                f"{count:,} of the {read:,} {self.unit}s of the {self.source} cannot be used, more"
                f" than half. The first with '{worst.kind.partition(',')[0]}' is {self.unit}"
                f" {worst.lines[0]:,}: {quoted(worst.example)}. Every {self.unit} needs a user, an"
                " item and a number."
            )
        outside = problems.get(Kind.OUTSIDE)
        if outside is None or rules.outside == "leave-out":
            return
        not_rated = problems.get(Kind.NOT_RATED)
        total = read - count - (not_rated.count if not_rated else 0)
        if rules.outside == "refuse":
            self._refuse(rules, outside, f"{total:,} ratings")
        if MOST_OUTSIDE * outside.count > total:
            self._refuse(rules, outside, f"{total:,} ratings, more than a tenth,")

    def _refuse(self, rules: RowRules, outside: Problem, of_all: str) -> None:
        low, high = rules.bounds
        raise BadInput(
            f"{outside.count:,} of the {of_all} of the {self.source} lie outside the declared"
            f" bounds {low:g} to {high:g}. The first is {self.unit} {outside.lines[0]:,}:"
            f" {quoted(outside.example)}. Declare other bounds, the values that mean 'not rated'"
            " (missing=...), or what becomes of such ratings: outside='leave-out' or 'clamp'."
        )


def numbers_in(column: "pd.Series[float]") -> tuple[Values, Flags]:
    """The numbers of a column (n,), NaN for a cell that is none; and which cells are empty."""
    is_empty = np.array(column.isna(), np.bool_)
    cells = column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
    values = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    if not pd.api.types.is_numeric_dtype(cells.dtype):
        for row in np.flatnonzero(np.isnan(values) & ~is_empty):
            is_empty[row] = str(cells.iloc[row]).strip().lower() in NOTHING
    return values, is_empty
