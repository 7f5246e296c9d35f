"""The domain of the proofs: the rows for which sensitivities are proved."""

from dataclasses import dataclass

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput


class OutsideDomain(BadInput):
    """Rows for which no sensitivity is proved."""


@dataclass(frozen=True)
class Domain:
    """Rows of numbers on which the sensitivity of every statistic is proved.

    A row holds at most one number for each column, in ascending order of the columns. Every number
    is a finite float32 within the declared bounds. Readers repair or refuse other rows, by a rule
    that looks at one row alone. A curator checks every block before it adds up anything.

    Parameters
    ----------
    n_rows, n_columns : int
        Public shape of the rows.
    low, high : float
        Declared bounds, which the nearest float32 may exceed by its rounding.
    """

    n_rows: int
    n_columns: int
    low: float
    high: float

    def check(
        self, values: Array, columns: Array | None = None, starts: Array | None = None
    ) -> None:
        """Raise OutsideDomain unless the rows lie in the domain.

        Parameters
        ----------
        values : float32 (n_values,), or (n_rows, n_columns) of a dense matrix
        columns : (n_values,), optional
            The column of each value.
        starts : (n_rows + 1,), optional
            Row i holds values starts[i] to starts[i + 1].
        """
        if values.dtype != np.float32:
            raise OutsideDomain(
                f"The numbers of the rows must be float32. Got {values.dtype}."
            )
        shape = (self.n_rows, self.n_columns)
        if columns is not None and starts is not None:
            self._check_order(len(values), columns, starts)
        elif values.shape != shape:
            raise OutsideDomain(
                f"The rows must have the shape {shape}. Got {values.shape}."
            )
        lowest = np.float32(self.low)
        highest = np.float32(self.high)
        # NaN fails both comparisons
        if values.size and not (values.min() >= lowest and values.max() <= highest):
            raise OutsideDomain(
                f"Every number of the rows must be finite, from {self.low:g} to {self.high:g}. Got"
                f" {values.min():g} to {values.max():g}."
            )

    def _check_order(self, n_values: int, columns: Array, starts: Array) -> None:
        lengths = np.diff(starts)
        if len(starts) != self.n_rows + 1 or starts[0] != 0 or starts[-1] != n_values:
            raise OutsideDomain(
                f"There must be {self.n_rows} rows with {n_values} numbers in all. Check `starts`."
            )
        if (lengths < 0).any() or len(columns) != n_values:
            raise OutsideDomain("Every row must end where the next one begins.")
        if not n_values:
            return
        if columns.min() < 0 or columns.max() >= self.n_columns:
            raise OutsideDomain(
                f"Columns must be numbers from 0 to {self.n_columns - 1}. Got {columns.min()} to"
                f" {columns.max()}."
            )
        ascends = columns[1:] > columns[:-1]
        ascends[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < n_values)] - 1] = True
        if not ascends.all():
            raise OutsideDomain("The columns of a row must ascend, each at most once.")
