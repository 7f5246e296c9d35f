"""Recommenders as scikit-learn regressors: `PrivateRecommender` and `PlainRecommender`."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, Unpack

import numpy as np
import pandas as pd
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from dpmf_core import algorithms
from dpmf_core.api.options import AlgorithmOptions
from dpmf_core.api.releases import (
    AlgorithmParameters,
    RandomState,
    Releasing,
    fitted_before,
    joined,
)
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput, HoldsPrivateRatings
from dpmf_core.data.frame_columns import pairs_of
from dpmf_core.data.frames import Bounds, ratings_of
from dpmf_core.data.ids import canonical_texts
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, Ratings
from dpmf_core.data.report import Outside
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.planning import charge_before
from dpmf_core.runs.recommendations import places, ratings_given
from dpmf_core.runs.trained_model import Training

HELD_RATINGS = (
    "This pickle holds the private ratings that the estimator was trained on. To share the model,"
    " call forget_people() before: the items' side, which was released, stays."
)


class _RatingsEstimator(RegressorMixin, Releasing):  # type: ignore[misc]  # scikit-learn has no types
    """What recommenders share; a `TrainedModel`, `run_`, does the work."""

    bounds: Bounds | None
    items: Sequence[Any] | None
    outside: Outside | None
    missing: float | Sequence[float]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from ratings.

        Parameters
        ----------
        X
            A data frame (pandas, polars, pyarrow) whose columns for user and item are found by
            their names, or an array (n, 2) of users and items.
        y
            Ratings (n,). By default the frame's column of ratings, or, without one and with bounds
            (0, 1), ones. A pair that is rated twice counts once, with its mean. Rows that cannot
            be used are left out, with a `RowsChanged` warning; see `frames.ratings_of`.

        Raises
        ------
        BadInput
            If X, y or a parameter cannot be used, or a budget does not allow the fit.
        """
        ratings, users, items = self._read(X, y)
        self._train(ratings, Training(ratings, users, items))
        self.users_ = users
        self.items_ = items
        return self

    def predict(self, X: Any, own: Any = None) -> Array:
        """Predict the ratings (n,) of pairs.

        Parameters
        ----------
        X
            Pairs of users and items; see `fit`.
        own
            Ratings that people bring; see `TrainedModel.predict`.

        Returns
        -------
        ndarray (n,)
            Within the bounds.

        Raises
        ------
        BadInput
            If X or own cannot be read.
        """
        check_is_fitted(self)
        return self.run_.predict(X, own)

    def recommend(
        self, users: Any = None, k: int = 10, own: Any = None
    ) -> pd.DataFrame:
        """List the k best items for each user; see `TrainedModel.recommend`."""
        check_is_fitted(self)
        return self.run_.recommend(users, k, own)

    def similar_items(self, item: Any, k: int = 10) -> pd.DataFrame:
        """List the k items most similar to one; see `TrainedModel.similar_items`."""
        check_is_fitted(self)
        return self.run_.similar_items(item, k)

    def save(
        self, folder: str | Path, *, about: Mapping[str, str] | None = None
    ) -> Path:
        """Write the shared model into a folder; see `TrainedModel.save`."""
        check_is_fitted(self)
        return self.run_.save(folder, about=about)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R squared of the predictions, at most 1.

        It is computed on raw ratings, so on private data it must not be shared.

        Parameters
        ----------
        X
            Pairs of users and items; see `fit`.
        y
            Their ratings.
        sample_weight
            Weights (n,) of the pairs.

        Raises
        ------
        BadInput
            If X or y cannot be read.
        """
        ratings = ratings_given(X, y, self.bounds)
        return float(r2_score(ratings, self.predict(X), sample_weight=sample_weight))

    def forget_people(self) -> Self:
        """Drop the training ratings and everything that was learned about single users.

        The items' side stays; everyone then brings their ratings (`own`). `account_` is dropped
        too, because its key is a hash of the ratings.
        """
        check_is_fitted(self)
        self.run_ = self.run_.without_people()
        self.model_ = self.run_.model
        self.users_ = self.users_[:0]
        self.__dict__.pop("account_", None)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The state of `Releasing`, after a warning of private ratings."""
        training = self.run_._training if hasattr(self, "run_") else None
        own_data = None if training is None else training.data
        if own_data is not None and not own_data.public:
            warnings.warn(HELD_RATINGS, HoldsPrivateRatings, stacklevel=2)
        return super().__getstate__()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        tags.no_validation = True  # ids are not features
        return tags

    # -- what people bring -------------------------------------------------------------------------

    def _read(self, X: Any, y: Any) -> "tuple[Ratings, pd.Index[Any], pd.Index[Any]]":
        """The ratings, and the ids of users and items in the order of their numbers."""
        kind = algorithms.find(self.algorithm)
        if kind.task != "ratings":
            raise BadInput(
                f"{kind.title} factorises samples: use PrivateNMF or PlainNMF. Algorithms for"
                f" ratings: {', '.join(algorithms.of_task('ratings'))}."
            )
        ratings = ratings_of(
            pairs_of(X, ratings_given(X, y, self.bounds)),
            self.bounds,
            public=self.public,
            outside=self.outside,
            missing=self.missing,
        )
        assert ratings.own_ids is not None
        users, items = ratings.own_ids
        if not self.public:
            premises = dict.fromkeys((*ratings.assumptions, *fitted_before()))
            ratings = replace(ratings, assumptions=tuple(premises))
        if self.items is None:
            return ratings, users, items
        item_ids = pd.Index(list(self.items))
        if not pd.Index(canonical_texts(item_ids)).is_unique:
            raise BadInput(
                "items must hold each item's id once. Remove the repeated ids."
            )
        return self._among(ratings, item_ids, "items"), users, item_ids

    def _among(self, ratings: Ratings, items: "pd.Index[Any]", what: str) -> Ratings:
        """The ratings with these items, in their order. Raises BadInput on others."""
        labels = pd.Series(ratings.labels or ())
        place = places(items, labels)
        if (place < 0).any():
            first = labels[np.flatnonzero(place < 0)[0]]
            raise BadInput(
                f"Every item must be one of the {len(items):,} of {what}. Got '{str(first)[:60]}'"
                f" ({int((place < 0).sum()):,} others). Leave its ratings out, or add it to them."
            )
        return Ratings.of(
            ratings.users,
            place[ratings.items],
            ratings.values,
            n_users=ratings.n_users,
            n_items=len(items),
            bounds=ratings.bounds,
            labels=tuple(canonical_texts(items)),
            name=ratings.name,
            public=ratings.public,
            assumptions=tuple(
                assumption
                for assumption in ratings.assumptions
                if assumption != ITEMS_ARE_PUBLIC
            ),
            origin="" if ratings.public else ratings.account,
            rows_origin="" if ratings.public else ratings.row_digest,
            user_keys=ratings.user_keys,
            report=ratings.report,
        )


class PrivateRecommender(_RatingsEstimator):
    """A recommender with privacy for each user and all their ratings.

    A fit has total privacy loss (epsilon, delta).

    Parameters
    ----------
    algorithm
        The id of a private algorithm for ratings.
    epsilon
        The total privacy loss of a fit, from 1e-4 to 1000.
    delta
        The slack of the bound. By default 1/(10 n) for n people, rounded down.
    bounds
        The lowest and highest possible rating; declared, never read from the data.
    relation
        "add-remove" or "replace-one".
    noise
        "continuous" or "discrete".
    items
        The ids of all items, if known beforehand. By default the set of rated items is taken as
        public.
    outside
        What to do with a rating outside the bounds: "leave-out", "clamp" or "refuse".
    missing
        The values that mean "not rated".
    random_state
        The seed of starting values.
    public
        Whether the ratings are published or simulated. Only then does random_state also seed the
        noise; other noise has a secret key of the operating system.
    ledger
        The file of the account that each fit on private ratings enters. By default an account in
        the data folder, which all fits on data in memory in this process and its child processes
        share, because the folds of a cross-validation hold the same people.
    parameters
        The algorithm's, by name.
    **flat
        The algorithm's parameters one by one, such as `rank=4`, which `GridSearchCV` can search.

    Attributes
    ----------
    run_
        The `TrainedModel`. Its `record` has the ledger and epsilon by every rule.
    model_ : Recommender
        The shared side.
    guarantee_ : Guarantee
        What is proved.
    epsilon_, delta_ : float
        The cost.
    ledger_ : tuple
        What was released, for `privacy.epsilon`.
    account_
        The account that the fit entered; None for public ratings. It is not pickled.
    users_, items_
        The ids, in the order of the model.
    noise_, noise_is_reproducible_
        The noise in words, and whether a seed reproduces it.

    Notes
    -----
    A fitted estimator also holds the ratings, because each user's own side follows from them. So
    the estimator and its pickle are private (`HoldsPrivateRatings` warns). `forget_people` drops
    the ratings.

    If the data only say who used what, give the pairs of what people liked and `bounds=(0, 1)`:
    "spectral" then ranks items by regressions on all others. On `cinema-small` at epsilon 5, 0.30
    of the held-out films that people liked (above 3.5) are among their 20 best, compared with 0.26
    by popularity. DPALS fits only ones and ranks worse than popularity.

    Examples
    --------
    >>> import dpmf, numpy
    >>> pairs, ratings = numpy.argwhere(numpy.ones((9, 8))), numpy.full(72, 4.0)
    >>> model = dpmf.PrivateRecommender("private-bias", epsilon=1.0, bounds=(1, 5), public=True)
    >>> model.fit(pairs, ratings).predict(pairs).shape
    (72,)
    >>> round(model.epsilon_, 6)
    1.0
    """

    def __init__(
        self,
        algorithm: str = "spectral",
        *,
        epsilon: float = 1.0,
        delta: float | None = None,
        bounds: Bounds | None = None,
        relation: Literal["add-remove", "replace-one"] = "add-remove",
        noise: Literal["continuous", "discrete"] = "continuous",
        items: Sequence[Any] | None = None,
        outside: Outside | None = None,
        missing: float | Sequence[float] = (),
        random_state: RandomState = None,
        public: bool = False,
        ledger: str | None = None,
        parameters: AlgorithmParameters = None,
        **flat: Unpack[AlgorithmOptions],
    ) -> None:
        self.algorithm = algorithm
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.relation = relation
        self.noise = noise
        self.items = items
        self.outside = outside
        self.missing = missing
        self.parameters = joined(parameters, flat)
        self.random_state = random_state
        self.public = public
        self.ledger = ledger

    def charge_of(self, X: Any, y: Any = None) -> Charge:
        """What `fit` would charge to the account. Nothing is drawn.

        Parameters
        ----------
        X
            Pairs of users and items; see `fit`.
        y
            Their ratings.

        Raises
        ------
        BadInput
            If X, y or a parameter cannot be used.
        """
        ratings = self._read(X, y)[0]
        return charge_before(self._spec(ratings), ratings)


class PlainRecommender(_RatingsEstimator):
    """A recommender without privacy, to compare with `PrivateRecommender`.

    On private ratings each fit enters their account as a release without a guarantee.

    Parameters
    ----------
    algorithm
        The id of an algorithm for ratings without privacy.
    bounds
        The lowest and highest possible rating; declared, never read from the data.
    items
        The ids of all items, if known beforehand.
    outside
        What to do with a rating outside the bounds: "leave-out", "clamp" or "refuse".
    missing
        The values that mean "not rated".
    random_state
        The seed of starting values.
    public
        Whether the ratings are published or simulated.
    ledger
        The file of the account that a fit on private ratings enters; see `PrivateRecommender`,
        also for the attributes.
    parameters
        The algorithm's, by name.
    **flat
        The algorithm's parameters one by one, such as `rank=4`.

    Examples
    --------
    >>> import dpmf, numpy
    >>> pairs, ratings = numpy.argwhere(numpy.ones((9, 8))), numpy.full(72, 4.0)
    >>> model = dpmf.PlainRecommender("bias", bounds=(1, 5), public=True).fit(pairs, ratings)
    >>> [round(float(it), 3) for it in model.predict(pairs[:2])]
    [4.0, 4.0]
    """

    def __init__(
        self,
        algorithm: str = "als",
        *,
        bounds: Bounds | None = None,
        items: Sequence[Any] | None = None,
        outside: Outside | None = None,
        missing: float | Sequence[float] = (),
        random_state: RandomState = None,
        public: bool = False,
        ledger: str | None = None,
        parameters: AlgorithmParameters = None,
        **flat: Unpack[AlgorithmOptions],
    ) -> None:
        self.algorithm = algorithm
        self.bounds = bounds
        self.items = items
        self.outside = outside
        self.missing = missing
        self.parameters = joined(parameters, flat)
        self.random_state = random_state
        self.public = public
        self.ledger = ledger
