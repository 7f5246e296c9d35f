"""Ratings as numbers: how a column writes them, and the value of each cell by itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpmf_core.base.arrays import Doubles, Flags
from dpmf_core.data.row_rules import NOTHING

PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
INFINITE = r"(?i)^[+-]?inf(inity)?$"
GERMAN_THOUSANDS = r"^[+-]?\d{1,3}(\.\d{3})+,\d+$"
ENGLISH_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+\.\d+$"
# where commas separate columns, a quoted 1,234 may be a thousand
CLEAR_DECIMAL = r"^[+-]?\d+,(\d{1,2}|\d{4,})$"


@dataclass(frozen=True)
class NumberFormat:
    """The format of the ratings of a table, which is part of its public layout.

    Attributes
    ----------
    decimal_comma : bool
        Whether every comma is a decimal sign.
    thousands : str
        The sign between thousands; "" for none.
    """

    decimal_comma: bool = False
    thousands: str = ""

    @classmethod
    def of(cls, sample: Sequence[str], decimal_comma: bool) -> "NumberFormat":
        """The format of a column that begins with these cells.

        Parameters
        ----------
        sample : sequence of str
            The first cells.
        decimal_comma : bool
            Whether commas may be decimal signs, because they separate no columns.

        Returns
        -------
        NumberFormat
            The format of the whole column.
        """
        cells = pa.array([cell.strip() for cell in sample], pa.string())
        if decimal_comma and _any(cells, GERMAN_THOUSANDS):
            return cls(True, ".")
        if _any(cells, ENGLISH_THOUSANDS):
            return cls(False, ",")
        return cls(decimal_comma)

    def read(self, text: pa.Array) -> tuple[Doubles, Flags, int]:
        """The value of each cell.

        Parameters
        ----------
        text
            Cells (n,) without surrounding blanks.

        Returns
        -------
        values : float64 (n,)
            NaN for a cell that is no number.
        is_empty : bool (n,)
            Which cells say that there is no rating.
        n_commas : int
            How many cells have a comma that was read as the decimal sign.
        """
        if not self.thousands and b"," not in bytes_of(text):
            try:
                return _floats(text), np.zeros(len(text), np.bool_), 0
            except pa.ArrowInvalid:
                pass  # some cell is not a number, so each is looked at
        plain, n_commas = self._with_points(text)
        is_number = pc.match_substring_regex(plain, PLAIN)
        values = np.full(len(plain), np.nan)
        values[np.asarray(is_number)] = _floats(plain.filter(is_number))
        values[np.asarray(pc.match_substring_regex(plain, INFINITE))] = np.inf
        lower = pc.utf8_lower(plain)
        values[np.asarray(pc.equal(lower, "true"))] = 1.0
        values[np.asarray(pc.equal(lower, "false"))] = 0.0
        return values, np.asarray(pc.is_in(lower, pa.array(NOTHING))), n_commas

    def _with_points(self, text: pa.Array) -> tuple[pa.Array, int]:
        """Cells with a point as the decimal sign, and how many had a comma there."""
        if self.thousands:
            text = pc.replace_substring(text, self.thousands, "")
        if self.decimal_comma:
            has_comma = pc.match_substring(text, ",")
        elif self.thousands:
            return text, 0
        else:
            has_comma = pc.match_substring_regex(text, CLEAR_DECIMAL)
        with_points = pc.replace_substring(text, ",", ".")
        return pc.if_else(has_comma, with_points, text), pc.sum(has_comma).as_py() or 0


def bytes_of(text: pa.Array) -> bytes:
    """The bytes of all cells, one after the other."""
    return bytes(text.buffers()[2] or b"")


def _any(text: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


def _floats(text: pa.Array) -> Doubles:
    """Cells that match `PLAIN` as numbers."""
    return np.array(text.cast(pa.float64()))
