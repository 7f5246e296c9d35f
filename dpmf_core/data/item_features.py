"""A public table of item features, known without any ratings."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpmf_core.base.hashing import digest_of

SEPARATOR = ": "  # between a table's column and the word of a feature


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """Features of items.

    names: of the columns (n_features,). values: float32 (n_items, n_features), finite; a category
    is a column of 0 and 1. Raises ValueError if the two do not fit.
    """

    names: tuple[str, ...]
    values: npt.NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names):
            raise ValueError(
                f"A table of {len(self.names)} item features must have that many columns. Got the"
                f" shape {self.values.shape}."
            )
        if not np.isfinite(self.values).all():
            raise ValueError("Item features must be finite numbers. Remove NaN and infinity.")

    def keeping(self, item_ids: npt.NDArray[np.int64]) -> "ItemFeatures":
        """The rows of the items under an index, in its order, with the columns that differ in them.

        So nothing of other items is left.
        """
        values = self.values[item_ids]
        columns = np.flatnonzero((values != values[:1]).any(axis=0))
        return ItemFeatures(tuple(self.names[j] for j in columns), values[:, columns])

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's own columns that the features come from."""
        return tuple(dict.fromkeys(name.partition(SEPARATOR)[0] for name in self.names))

    @cached_property
    def is_category(self) -> npt.NDArray[np.bool_]:
        """Which columns hold only 0 and 1 (n_features,)."""
        return np.asarray(((self.values == 0) | (self.values == 1)).all(axis=0))

    @property
    def categories(self) -> npt.NDArray[np.float64]:
        """The columns of 0 and 1."""
        return self.values[:, self.is_category].astype(np.float64)

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The other columns."""
        return self.values[:, ~self.is_category].astype(np.float64)

    @property
    def fingerprint(self) -> str:
        """A hash of names and values."""
        return digest_of(self.values) + repr(self.names)
