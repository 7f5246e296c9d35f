"""Errors of ratings as sums over them, so that those of parts add up."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput

Array = npt.NDArray[Any]


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
    squared: float = 0.0

    def add(self, errors: Array) -> None:
        self.count += len(errors)
        self.total += float(errors.sum())
        self.absolute += float(np.abs(errors).sum())
        self.squared += float(np.square(errors).sum())

    def merge(self, other: "ErrorSums") -> None:
        """Add those of other ratings."""
        self.count += other.count
        self.total += other.total
        self.absolute += other.absolute
        self.squared += other.squared

    @property
    def rmse(self) -> float:
        return float(np.sqrt(self.squared / self.count)) if self.count else float("nan")

    @property
    def normal(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        if not self.count:
            return float("nan"), float("nan")
        mean = self.total / self.count
        return mean, float(np.sqrt(max(self.squared / self.count - mean**2, 0.0)))


def unit_row_sums(train: Ratings, errors: Array) -> tuple[float, float]:
    """Squared errors (n_train,) of rows of norm 1, and how many ratings these rows have."""
    energies, squares = (
        np.bincount(train.users, np.square(values, dtype=np.float64), train.n_users)
        for values in (train.values, errors)
    )
    kept = energies > 0
    rated = np.diff(train.by_user)[kept].sum()
    return float((squares[kept] / energies[kept]).sum()), float(rated)
