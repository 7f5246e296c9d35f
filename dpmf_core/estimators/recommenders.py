"""Recommenders as scikit-learn has regressors: `PrivateRecommender(epsilon=1, bounds=(1,
5)).fit(X, y)`, then `predict` and `recommend`.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from dpmf_core import algorithms, kernels
from dpmf_core.algorithms import Personal
from dpmf_core.base.errors import BadInput, HoldsPrivateRatings
from dpmf_core.data.frames import Bounds, ids_of, pairs_of, ratings_of
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, Ratings
from dpmf_core.estimators.own_ratings import (
    history_of,
    of_everybody,
    places,
    ratings_given,
    shared_side,
    with_nobody,
)
from dpmf_core.estimators.releases import RandomState, Releasing, joined
from dpmf_core.privacy import Budget
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.planning import PreparedRun

Array = npt.NDArray[Any]
CELLS = 2_000_000  # of users x items held at a time
HELD_RATINGS = (
    "This pickle holds the private ratings that the estimator was trained on. To share the model,"
    " call forget_people() before: the items' side, which was released, stays."
)


class _RatingsEstimator(RegressorMixin, Releasing):  # type: ignore[misc]  # scikit-learn has no types
    """What recommenders share."""

    bounds: Bounds | None
    items: Sequence[Any] | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from ratings.

        X: a data frame (pandas, polars, pyarrow) whose columns for user and item are found by their
        names, or an array (n, 2) of users and items. y (n,): their ratings; where None, the frame's
        column of ratings. A pair that is rated twice counts once, with its mean. Raises BadInput.
        """
        ratings, users, items = self._read(X, y)
        self._train(ratings, *self._plan_for(ratings))
        self.users_, self.items_ = users, items
        self._history = with_nobody(ratings)
        return self

    def predict(self, X: Any, own: Any = None) -> Array:
        """Predicted ratings (n,), within the bounds, of pairs as of `fit`.

        own: ratings that people bring, a frame of users, items and ratings; their side is then
        computed from these, also where they did not train. Else it follows from what they trained
        with; whoever did not is predicted as somebody without ratings. An item that is not known
        gets what its user is predicted to give on average. Raises BadInput.
        """
        check_is_fitted(self)
        pairs = pairs_of(X)
        personal, users, _ = self._people(own)
        nobody = len(users)  # the row of whoever is unknown
        who = places(users, pairs["user"])
        who[who < 0] = nobody
        what = places(self.items_, pairs["item"])
        is_known = what >= 0
        predictions = np.empty(len(pairs))
        predictions[is_known] = self.model_.predict(personal, who[is_known], what[is_known])
        if not is_known.all():
            predictions[~is_known] = self._means(personal, who[~is_known])
        return predictions

    def recommend(self, users: Any = None, k: int = 10, own: Any = None) -> pd.DataFrame:
        """The k best items for each user, without those she has rated: columns user, rank (from 1),
        item, rating (predicted, within the bounds). A user's own list is hers, and no release.

        users: ids; all who trained where None. own: ratings that people bring, as of `predict`;
        whoever is in it need not have trained. Raises BadInput on an unknown user.
        """
        check_is_fitted(self)
        if not (isinstance(k, int | np.integer) and k >= 1):
            raise BadInput(f"k, how many items to recommend, is a whole number from 1. Got {k!r}.")
        personal, known_users, history = self._people(own)
        ids = known_users if users is None else pd.Index(np.atleast_1d(np.asarray(users)))
        who = places(known_users, pd.Series(ids))
        if (who < 0).any():
            missing = ids[np.flatnonzero(who < 0)[0]]
            raise BadInput(
                f"The user '{str(missing)[:60]}' has no ratings here. Bring some: recommend(own="
                "frame) takes a frame with columns user, item and rating."
            )
        parts, step = [], max(CELLS // max(len(self.items_), 1), 1)
        for start in range(0, len(who), step):
            some = who[start : start + step]
            scores = np.asarray(self.model_.scores(personal, some), np.float32)
            best = kernels.best_unseen(
                scores, some, history.by_user, history.items, min(int(k), scores.shape[1])
            )
            at, rank = np.nonzero(best >= 0)
            what = best[at, rank]
            parts.append(
                pd.DataFrame(
                    {
                        "user": ids[start + at],
                        "rank": rank + 1,
                        "item": self.items_[what],
                        "rating": self.model_.predict(personal, some[at], what),
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R squared of the predictions, at most 1; y as of `fit`. It is computed on raw ratings,
        and no release. Raises BadInput.
        """
        return float(r2_score(ratings_given(X, y), self.predict(X), sample_weight=sample_weight))

    def forget_people(self) -> Self:
        """Drop the ratings that trained, and all that was learnt of single users.

        What stays is the items' side; everybody then brings their ratings (`own`). `account_` goes
        too: its key is a hash of the ratings.
        """
        check_is_fitted(self)
        self._history = self._history.only(np.zeros(len(self._history), bool))
        self._history = replace(self._history, n_users=1, origin="", user_keys=None)
        self.users_ = self.users_[:0]
        self.model_ = shared_side(self.model_)
        self.__dict__.pop("account_", None)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """As of `Releasing`; warn of private ratings."""
        history = getattr(self, "_history", None)
        if history is not None and len(history) and not history.public:
            warnings.warn(HELD_RATINGS, HoldsPrivateRatings, stacklevel=2)
        return super().__getstate__()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        tags.non_deterministic = True
        tags.no_validation = True  # ids are no features
        return tags

    # -- what people bring -------------------------------------------------------------------------

    def _read(self, X: Any, y: Any) -> "tuple[Ratings, pd.Index[Any], pd.Index[Any]]":
        """The ratings, and the ids of users and items in the order of their numbers."""
        pairs = pairs_of(X, ratings_given(X, y))
        ratings = ratings_of(pairs, self.bounds, public=self.public)
        users = ids_of(pairs["user"])
        if self.items is None:
            return ratings, users, ids_of(pairs["item"])
        item_ids = pd.Index(list(self.items))
        if not item_ids.map(str).is_unique:
            raise BadInput("items holds the id of each item once. Some are there twice.")
        return self._among(ratings, item_ids, "items"), users, item_ids

    def _among(self, ratings: Ratings, items: "pd.Index[Any]", what: str) -> Ratings:
        """The same ratings with these items, in their order. Raises BadInput on others."""
        labels = pd.Series(ratings.labels or ())
        place = places(items, labels)
        if (place < 0).any():
            first = labels[np.flatnonzero(place < 0)[0]]
            raise BadInput(
                f"Every item is one of the {len(items):,} of {what}. Got '{str(first)[:60]}'"
                f" ({int((place < 0).sum()):,} others). Leave its ratings out, or add it."
            )
        return Ratings.of(
            ratings.users,
            place[ratings.items],
            ratings.values,
            n_users=ratings.n_users,
            n_items=len(items),
            bounds=ratings.bounds,
            labels=tuple(map(str, items)),
            name=ratings.name,
            public=ratings.public,
            assumptions=tuple(it for it in ratings.assumptions if it != ITEMS_ARE_PUBLIC),
            origin="" if ratings.public else ratings.account,
            user_keys=ratings.user_keys,
        )

    def _plan_for(self, ratings: Ratings) -> tuple[PreparedRun, Budget | None]:
        kind = algorithms.find(self.algorithm)
        if kind.task != "ratings":
            raise BadInput(
                f"{kind.title} factorises samples: use PrivateNMF. Algorithms for ratings:"
                f" {', '.join(algorithms.of_task('ratings'))}."
            )
        return self._plan(ratings)

    # -- people's own sides ------------------------------------------------------------------------

    def _people(self, own: Any) -> "tuple[Personal, pd.Index[Any], Ratings]":
        """Own sides of those who trained, or of those who bring ratings; their ids; their ratings.
        One more row is that of somebody without ratings.
        """
        model, users, history = self.model_, self.users_, self._history
        if own is not None:
            model = shared_side(model)
            pairs = pairs_of(own, ratings_given(own, None))
            users = ids_of(pairs["user"])
            history = with_nobody(history_of(pairs, users, self.items_, history.bounds))
        return of_everybody(model.personal(history), history.n_users), users, history

    def _means(self, personal: Personal, users: Array) -> Array:
        """Each user's mean prediction over all known items (len(users),)."""
        distinct, back = np.unique(users, return_inverse=True)
        n_items = len(self.items_)
        means, step = np.empty(len(distinct)), max(CELLS // n_items, 1)
        for start in range(0, len(distinct), step):
            some = distinct[start : start + step]
            every = np.tile(np.arange(n_items), len(some))
            predictions = self.model_.predict(personal, np.repeat(some, n_items), every)
            means[start : start + step] = predictions.reshape(len(some), n_items).mean(axis=1)
        return means[back]


class PrivateRecommender(_RatingsEstimator):
    """A recommender with privacy for each user and all their ratings.

    A fit has total privacy loss (epsilon, delta).

    Parameters
    ----------
    algorithm
        Id of a private algorithm for ratings.
    epsilon, delta
        Total privacy loss of a fit; delta is 1/(10 n) by default.
    bounds
        The lowest and highest rating that can be given; declared, never read off the data.
    relation
        "add-remove" or "replace-one".
    noise
        "continuous" or "discrete".
    items
        All items, known beforehand. By default those that are rated are taken as public.
    random_state
        Of starting values.
    public
        Whether the ratings are published or simulated. Only then random_state seeds the noise too;
        other noise has a secret key of the operating system.
    ledger
        The file of the account that each fit on other than public ratings enters. By default an
        account in the data folder that all fits on data in memory in this process, and in those
        that it starts, share: the folds of a cross-validation are the same people.
    parameters
        Of the algorithm, by name. They may also be given one by one, as `rank=4`, and be searched
        so by `GridSearchCV`.

    Attributes
    ----------
    model_ (what was released), guarantee_, epsilon_, delta_, ledger_, account_ (None: public; not
    in pickles), users_, items_, noise_is_reproducible_, noise_ (in words). A fitted estimator also
    holds the ratings, from which each user's own side follows: it is private, and so is its pickle
    (`HoldsPrivateRatings` warns). `forget_people` drops them.
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
        random_state: RandomState = None,
        public: bool = False,
        ledger: str | None = None,
        parameters: dict[str, Any] | None = None,
        **flat: Any,
    ) -> None:
        self.algorithm = algorithm
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.relation = relation
        self.noise = noise
        self.items = items
        self.parameters = joined(parameters, flat)
        self.random_state = random_state
        self.public = public
        self.ledger = ledger

    def charge_of(self, X: Any, y: Any = None) -> Charge:
        """What `fit` would enter in the account. Nothing is drawn. Raises BadInput."""
        return self._charge(*self._plan_for(self._read(X, y)[0]))


class PlainRecommender(_RatingsEstimator):
    """A recommender without privacy, as what private ones are compared with. The parameters and
    attributes are those of `PrivateRecommender`; on ratings that are not public each fit enters
    their account, as one that nothing limits.
    """

    def __init__(
        self,
        algorithm: str = "als",
        *,
        bounds: Bounds | None = None,
        items: Sequence[Any] | None = None,
        random_state: RandomState = None,
        public: bool = False,
        ledger: str | None = None,
        parameters: dict[str, Any] | None = None,
        **flat: Any,
    ) -> None:
        self.algorithm = algorithm
        self.bounds = bounds
        self.items = items
        self.parameters = joined(parameters, flat)
        self.random_state = random_state
        self.public = public
        self.ledger = ledger
