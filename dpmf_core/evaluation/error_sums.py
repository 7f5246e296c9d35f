"""Errors of ratings as sums over them: a user's make everybody's, and those of parts add up."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput

Array = npt.NDArray[Any]
NO_SPREAD = 1e-12  # of a variance in mean squares: what rounding leaves of none


def require_both(n_train: int, n_test: int) -> None:
    """Raises BadInput where a split leaves nothing to learn from, or nothing to judge by."""
    if not n_train or not n_test:
        raise BadInput(
            "The split leaves no rating to train on, or none to test on. Change the test fraction."
        )


@dataclass
class ErrorSums:
    """Sums over ratings of their errors, prediction less rating."""

    count: int = 0
    total: float = 0.0
    absolute: float = 0.0
    squares: float = 0.0

    def add(self, errors: Array) -> None:
        self.count += len(errors)
        self.total += float(errors.sum())
        self.absolute += float(np.abs(errors).sum())
        self.squares += float(np.square(errors).sum())

    def merge(self, other: "ErrorSums") -> None:
        """Add those of other ratings."""
        self.count += other.count
        self.total += other.total
        self.absolute += other.absolute
        self.squares += other.squares

    @property
    def rmse(self) -> float:
        return float(np.sqrt(self.squares / self.count)) if self.count else float("nan")

    @property
    def mae(self) -> float:
        return self.absolute / self.count if self.count else float("nan")

    @property
    def normal(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        if not self.count:
            return float("nan"), float("nan")
        mean, square = self.total / self.count, self.squares / self.count
        variance = square - mean**2
        return mean, float(np.sqrt(variance)) if variance > NO_SPREAD * square else 0.0


@dataclass(frozen=True)
class ErrorsByUser:
    """`ErrorSums` of every user's ratings, each (n_users,)."""

    counts: Array
    total: Array
    absolute: Array
    squares: Array

    @classmethod
    def of(cls, ratings: Ratings, errors: Array) -> "ErrorsByUser":
        """errors: prediction less rating (n_ratings,)."""
        x = np.asarray(errors, np.float64)
        sums = (sums_by_user(ratings, each) for each in (x, np.abs(x), np.square(x)))
        return cls(np.diff(ratings.by_user), *sums)

    def among(self, users: Array | slice = slice(None)) -> ErrorSums:
        """Of the users under a mask (n_users,) together, or of all."""
        return ErrorSums(
            int(self.counts[users].sum()),
            *(float(it[users].sum()) for it in (self.total, self.absolute, self.squares)),
        )


def sums_by_user(ratings: Ratings, values: Array) -> Array:
    """The sum of each user's values, float64 (n_users,). values: (n_ratings,)."""
    sums, active = np.zeros(ratings.n_users), np.flatnonzero(np.diff(ratings.by_user))
    if len(active):  # else there is nothing to add up
        sums[active] = np.add.reduceat(values, ratings.by_user[active])
    return sums


def unit_row_sums(train: Ratings, errors: ErrorsByUser) -> tuple[float, float]:
    """Squared errors of rows of norm 1, and how many ratings these rows have."""
    energies = sums_by_user(train, np.square(train.values, dtype=np.float64))
    mask = energies > 0
    squares = errors.squares[mask] / energies[mask]
    return float(squares.sum()), float(errors.counts[mask].sum())
