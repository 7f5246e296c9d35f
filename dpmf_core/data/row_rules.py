"""Which rows of a table are ratings: the same rules for files, frames, arrays and matrices.

Each row is judged by itself, with the declared bounds and facts. Only a refusal depends on all
rows together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpmf_core.base.arrays import Doubles, Flags
from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import REQUIRED_ROLES
from dpmf_core.data.report import UNUSABLE, Kind, Outside, Problem, Tally, outside_of

NOTHING = ("", "na", "n/a", "null", "none")  # how a missing rating is written
LARGEST_FLOAT = int(np.finfo(np.float64).max)
MOST_OUTSIDE = 10  # at most one rating in this many may lie outside the declared bounds


@dataclass(frozen=True)
class RowRules:
    """The declared facts that decide about a row.

    Attributes
    ----------
    bounds
        The lowest and highest possible rating.
    outside
        What to do with a rating outside them. None: its row is left out, and a table with more than
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

    def unusable(
        self, problems: Sequence[Problem], read: int
    ) -> tuple[int, Problem] | None:
        """How many rows cannot be used, and the commonest reason, if over half of those read."""
        unusable = [problem for problem in problems if problem.kind in UNUSABLE]
        count = sum(problem.count for problem in unusable)
        if 2 * count <= read:
            return None
        return count, max(unusable, key=lambda problem: problem.count)

    def over_bounds(
        self, problems: Sequence[Problem], read: int
    ) -> tuple[Problem, int] | None:
        """The ratings outside the bounds and the number of all ratings, if the table is refused."""
        outside = outside_of(problems)
        if outside is None or self.outside in ("clamp", "leave-out"):
            return None
        others = (*UNUSABLE, Kind.NOT_RATED)
        n_rated = read - sum(
            problem.count for problem in problems if problem.kind in others
        )
        if self.outside == "refuse" or MOST_OUTSIDE * outside.count > n_rated:
            return outside, n_rated
        return None


@dataclass(frozen=True)
class ReadRows:
    """Some rows with their ratings, before any is left out.

    Attributes
    ----------
    values : float64 (n,)
        NaN if there is no number.
    no_user, no_item, no_rating : bool (n,)
        Which cells are empty.
    example
        The cells of a row in some roles, as text.
    are_rounded : tuple of bool (n,) or None
        Which users and which items have an id that a spreadsheet rounded; None for none.
    first : int
        The place of the first row in the table.
    is_wide : bool
        Whether a row without a rating is a cell of a wide table, and no row.
    """

    values: Doubles
    no_user: Flags
    no_item: Flags
    no_rating: Flags
    example: Callable[[int, Sequence[str]], str]
    are_rounded: tuple[Flags | None, ...] = ()
    first: int = 0
    is_wide: bool = False

    @property
    def are_read(self) -> Flags:
        """Which rows (n,) are not blank."""
        if self.is_wide:
            return ~self.no_rating
        return ~(self.no_user & self.no_item & self.no_rating)

    def kept_by(self, rules: RowRules, tally: Tally) -> Flags:
        """The rows (n,) that are ratings; each of the others is counted under one problem."""
        low, high = rules.bounds
        if rules.outside == "clamp":
            of_outside = Kind.CLAMPED_VALUE
        else:
            of_outside = Kind.OUTSIDE
        reasons = [
            (Kind.MISSING, self.no_user | self.no_item | self.no_rating),
            (Kind.NOT_A_NUMBER, np.isnan(self.values)),
            (Kind.INFINITE, np.isinf(self.values)),
            *(
                (Kind.ROUNDED_ID, where)
                for where in self.are_rounded
                if where is not None
            ),
            *((Kind.NOT_RATED, self.values == value) for value in rules.missing),
            (of_outside, (self.values < low) | (self.values > high)),
        ]
        kept_rows = self.are_read
        for kind, where in reasons:
            self._count(kind, np.flatnonzero(kept_rows & where), tally)
            if kind != Kind.CLAMPED_VALUE:
                kept_rows = kept_rows & ~where
        return kept_rows

    def _count(self, kind: Kind, rows: npt.NDArray[np.intp], tally: Tally) -> None:
        if not len(rows):
            return
        has_values = kind in (Kind.OUTSIDE, Kind.CLAMPED_VALUE)
        values = self.values[rows].tolist() if has_values else ()
        roles: tuple[str, ...] = ("rating",)
        if kind in (Kind.MISSING, Kind.ROUNDED_ID):
            roles = REQUIRED_ROLES
        tally.add(kind, self.first + rows, self.example(int(rows[0]), roles), values)


def numbers_in(column: "pd.Series[float]") -> tuple[Doubles, Flags]:
    """The numbers of a column (n,), NaN for a cell that is none; and which cells are empty."""
    is_empty = np.array(column.isna(), np.bool_)
    if isinstance(column.dtype, pd.CategoricalDtype):
        cells = column.astype(object)
    else:
        cells = column
    if cells.dtype == object:  # pandas refuses a column with an int that no float holds
        is_huge = [
            isinstance(cell, int) and abs(cell) > LARGEST_FLOAT for cell in cells
        ]
        cells = cells.mask(np.array(is_huge, np.bool_), "a number too large")
    values = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    if not pd.api.types.is_numeric_dtype(cells.dtype):
        for row in np.flatnonzero(np.isnan(values) & ~is_empty):
            is_empty[row] = str(cells.iloc[row]).strip().lower() in NOTHING
    return values, is_empty
