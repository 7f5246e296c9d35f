"""Folds of ratings for scikit-learn, and the price of a search before anything is drawn."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    BaseCrossValidator,
    GridSearchCV,
    ParameterGrid,
    check_cv,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from dpmf_core.api.recommenders import PrivateRecommender
from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.frame_columns import pairs_of
from dpmf_core.data.ids import keys_of_ids
from dpmf_core.privacy.odometer import Charge, Total, total


class RatingFolds(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """Folds for `cross_validate` and `GridSearchCV`, by a hash of (seed, user, item).

    If a user joins or leaves, all other ratings keep their folds. So neighbouring data have
    neighbouring folds, and the fits compose. scikit-learn's own splitters count rows: a new user
    moves the rows of others, and the guarantee then takes as public which row went where.

    Parameters
    ----------
    n_splits
        The number of folds, at least 2.
    seed
        The seed of the hash.

    Raises
    ------
    BadInput
        If n_splits is below 2.

    Examples
    --------
    >>> import dpmf
    >>> folds = dpmf.RatingFolds(2).split([["a", 1], ["a", 2], ["b", 1], ["b", 3]])
    >>> sum(len(test) for _, test in folds)
    4
    """

    def __init__(self, n_splits: int = 5, *, seed: int = 0) -> None:
        if not (isinstance(n_splits, int) and n_splits >= 2):
            raise BadInput(
                f"n_splits, the number of folds, must be a whole number of at least 2. Got"
                f" {n_splits!r}."
            )
        self.n_splits = n_splits
        self.seed = seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return self.n_splits

    def _iter_test_indices(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[Any]:
        """Yield the places of test rows for each fold. X: see `PrivateRecommender.fit`."""
        pairs = pairs_of(X)
        users = keys_of_ids(pairs["user"])
        items = keys_of_ids(pairs["item"])
        fold = np.floor(keyed_uniform(self.seed, users, items) * self.n_splits)
        for number in range(self.n_splits):
            yield np.flatnonzero(fold == number)


def privacy_price(estimator: Any, X: Any, y: Any = None, *, cv: Any = None) -> Total:
    """Compose the privacy loss of all fits of a search exactly. Nothing is drawn or charged.

    Choosing by held-out errors uses raw ratings; no price covers that.

    Parameters
    ----------
    estimator
        A `PrivateRecommender`, a `Pipeline` that ends in one, or a `GridSearchCV` over either.
        Every candidate of a search is fitted on every fold, and if it refits, the most expensive
        candidate once more.
    X
        Pairs of users and items; see `PrivateRecommender.fit`.
    y
        Their ratings.
    cv
        The `cv` of `cross_validate`. Its folds are fitted.

    Returns
    -------
    Total
        `epsilon`, `delta`, `relation` and `unit`.

    Raises
    ------
    BadInput
        On another estimator.

    Examples
    --------
    >>> import dpmf, numpy
    >>> private = dpmf.PrivateRecommender("private-bias", epsilon=1, delta=1e-6, bounds=(1, 5))
    >>> pairs, ratings = numpy.argwhere(numpy.ones((9, 8))), numpy.full(72, 4.0)
    >>> f"{dpmf.privacy_price(private, pairs, ratings, cv=dpmf.RatingFolds(4)).epsilon:.2f}"
    '2.12'
    """
    if not isinstance(estimator, GridSearchCV):
        if cv is None:
            charges = [_charge(estimator, X, y)]
        else:
            charges = _of_folds([estimator], X, y, cv)
        return total(charges)
    grid = ParameterGrid(estimator.param_grid)
    candidates = [
        clone(estimator.estimator).set_params(**candidate) for candidate in grid
    ]
    charges = _of_folds(candidates, X, y, estimator.cv)
    if estimator.refit:
        charges.append(
            max(
                (_charge(candidate, X, y) for candidate in candidates),
                key=lambda charge: charge.epsilon or 0.0,
            )
        )
    return total(charges)


def _of_folds(estimators: list[Any], X: Any, y: Any, cv: Any) -> list[Charge]:
    return [
        _charge(
            candidate,
            _safe_indexing(X, rows),
            None if y is None else _safe_indexing(y, rows),
        )
        for rows, _ in check_cv(cv).split(X, y)
        for candidate in estimators
    ]


def _charge(estimator: Any, X: Any, y: Any) -> Charge:
    if isinstance(estimator, Pipeline):
        before = clone(estimator[:-1])
        return _charge(
            estimator[-1], before.fit_transform(X, y) if len(before) else X, y
        )
    if not isinstance(estimator, PrivateRecommender):
        raise BadInput(
            "The price is that of a PrivateRecommender, a Pipeline that ends in one, or a"
            f" GridSearchCV over either. Got {type(estimator).__name__}."
        )
    return estimator.charge_of(X, y)
