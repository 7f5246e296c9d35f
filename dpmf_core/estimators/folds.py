"""A division of ratings into folds in which nobody's folds depend on others."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.data.frames import pairs_of
from dpmf_core.data.hashing import keyed_uniform, keys_of_ids
from dpmf_core.errors import BadInput


class RatingFolds:
    """Folds for `cross_validate` and `GridSearchCV`: the fold of a rating is a hash of (seed, user,
    item).

    With one user more or less all other ratings keep their folds, so that neighbouring data have
    neighbouring folds and the fits compose. scikit-learn's own splitters count rows: one user more
    moves the rows of others, and which row went where is then taken as public.
    """

    def __init__(self, n_splits: int = 5, *, seed: int = 0) -> None:
        if not (isinstance(n_splits, int) and n_splits >= 2):
            raise BadInput(f"n_splits, the number of folds, is at least 2. Got {n_splits!r}.")
        self.n_splits = n_splits
        self.seed = seed

    def __repr__(self) -> str:
        return f"RatingFolds(n_splits={self.n_splits}, seed={self.seed})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Places of the rows that train and of those that test, for each fold. X: as of
        `PrivateRecommender.fit`. Raises BadInput.
        """
        pairs = pairs_of(X)
        users, items = (keys_of_ids(pairs[role].to_numpy()) for role in ("user", "item"))
        fold = np.floor(keyed_uniform(self.seed, users, items) * self.n_splits)
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
