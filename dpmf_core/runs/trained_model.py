"""A trained model with the ids of its people and items: it predicts, recommends and is saved."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from dpmf_core.algorithms import Personal, Recommender
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput, HoldsPrivateRatings
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import is_in_parts, lent
from dpmf_core.data.frame_columns import whole_pairs_of
from dpmf_core.data.frames import ids_of
from dpmf_core.data.ids import canonical_texts
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import top_items
from dpmf_core.runs import data_access
from dpmf_core.runs.privacy_record import GuaranteeRecord
from dpmf_core.runs.recommendations import (
    held_out_frame,
    history_of,
    of_everybody,
    places,
    ratings_given,
    shared_side,
    with_nobody,
)
from dpmf_core.runs.record import ItemNames, Run

Ids = pd.Index  # of any kind
HELD_OUT_ARE_PRIVATE = (
    "held_out() returns people's private ratings. A figure of them has no epsilon and is not in the"
    " account. Do not share it; fit(..., measure=0.1) releases one with noise."
)
CELLS = 2_000_000  # users x items with scores that are held together


@dataclass(frozen=True, eq=False)
class Training:
    """What a model was trained on: data in memory (None if unknown), and ids of users and items."""

    data: AnyData | None
    users: "Ids[Any]"
    items: "Ids[Any] | None" = None


@dataclass(frozen=True)
class _People:
    """Own sides of some people: their ids, the row of each, and the ratings in these rows.

    The last row belongs to a person without ratings.
    """

    personal: Personal
    ids: "Ids[Any]"
    rows: Array
    history: Ratings

    def rows_of(self, ids: "pd.Series[Any]") -> Array:
        """The row of each id. Unknown ids get the row of a person without ratings."""
        nobody = self.history.n_users - 1
        return np.append(self.rows, nobody)[places(self.ids, ids)]


@dataclass(frozen=True)
class TrainedModel(Run):
    """A trained model: `fit` and `load_model` return it, and estimators hold it as `run_`.

    Parameters
    ----------
    record
        What was done and what it cost: metrics, ledger, epsilon by every rule.
    arrays
        The shared model's arrays by name.
    items
        Names of the items, if the data cannot be opened again.

    Examples
    --------
    >>> import dpmf
    >>> model = dpmf.fit("cinema-small", "spectral", epsilon=5.0, keep=False)
    >>> len(model.recommend(users=[17], k=3))
    3
    >>> round(model.epsilon, 6)
    5.0
    """

    # by default it was trained on the data set that `record` names, whose users are numbered from 0
    _training: Training | None = field(
        default=None,
        repr=False,
        compare=False,
    )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    @property
    def epsilon(self) -> float | None:
        """The total epsilon of the run; None if none is proved."""
        if self.guarantee.has_epsilon:
            return self.record.epsilon.exact
        return None

    @property
    def guarantee(self) -> GuaranteeRecord:
        """The guarantee and its assumptions."""
        return self.record.guarantee

    @cached_property
    def recommender(self) -> Recommender:
        """The shared side. Raises BadInput if the run factorised samples."""
        model = self.model
        if not isinstance(model, Recommender):
            raise BadInput(
                f"{self.title} factorises samples, so it cannot predict ratings or recommend items."
                " Its components are in model.basis."
            )
        return model

    @cached_property
    def item_ids(self) -> "Ids[Any]":
        """The ids of the items, in the order of the model."""
        names = self.items or ItemNames.of(self._answer(data_access.ratings_anywhere))
        ids: Ids[Any] = pd.Index(names.ids)
        if self._training is None or self._training.items is None:
            return ids
        own = self._training.items
        return own[places(own, pd.Series(names.ids))]

    @property
    def user_ids(self) -> "Ids[Any]":
        """The ids of the people who trained the model."""
        return self._trained[0]

    # -- what it does ------------------------------------------------------------------------------

    def predict(self, X: Any, own: Any = None) -> Array:
        """Predict ratings, within the bounds.

        Parameters
        ----------
        X
            A data frame (pandas, polars, pyarrow) with columns for user and item, or an array
            (n, 2) of these.
        own
            Ratings that people bring: a frame of users, items and ratings, or one person's as a
            mapping from item ids to ratings (the user "me"). Their side is computed from these,
            even if they did not train the model. By default the training ratings are used. A person
            without ratings is predicted from what everyone shares, and an unknown item by its
            user's mean prediction.

        Returns
        -------
        ndarray (n,)

        Raises
        ------
        BadInput
            If X or own cannot be read, or the model factorises samples.
        """
        pairs = whole_pairs_of(X)
        people = self._people(own)
        rows = people.rows_of(pairs["user"])
        items = places(self.item_ids, pairs["item"])
        is_known = items >= 0
        predictions = np.empty(len(pairs))
        known = (people.personal, rows[is_known], items[is_known])
        predictions[is_known] = self.recommender.predict(*known)
        predictions[~is_known] = self._means(people.personal, rows[~is_known])
        return predictions

    def held_out(self) -> pd.DataFrame:
        """The ratings that were held out and their predictions, for a metric of one's own.

        On private data they are people's own ratings, and a warning says so. A figure of them has
        no epsilon: do not share it. `fit(..., measure=0.1)` releases one with noise.

        Returns
        -------
        DataFrame
            Columns user, item, rating and prediction (within the bounds), one row for each rating.

        Raises
        ------
        BadInput
            If nothing was held out, the model does not know its ratings, or it factorises samples.

        Examples
        --------
        >>> import dpmf
        >>> held_out = dpmf.fit("cinema-small", "bias", keep=False).held_out()
        >>> held_out.columns.tolist()
        ['user', 'item', 'rating', 'prediction']
        """
        model = self.recommender
        if self._is_without_ratings:
            raise BadInput(
                "This model does not know the ratings that it was trained on. Call held_out on the"
                " model that fit returned."
            )
        if not self.spec.split.holds_out:
            raise BadInput(
                "No rating was held out: the split is none. Choose another split."
            )
        if not self.record.public:
            warnings.warn(HELD_OUT_ARE_PRIVATE, HoldsPrivateRatings, stacklevel=2)
        ids, rows, _ = self._trained
        parts = self._answer(data_access.split_of)
        return held_out_frame(model, parts, (ids, rows), self.item_ids)

    def recommend(
        self, users: Any = None, k: int = 10, own: Any = None
    ) -> pd.DataFrame:
        """List the best items for each user, without those that the user has rated.

        A user's list follows from the model and the user's own ratings. Show it only to that user.

        Parameters
        ----------
        users
            Ids; by default everyone who trained the model, or everyone in `own`.
        k
            The number of items, at least 1.
        own
            Ratings that people bring; see `predict`.

        Returns
        -------
        DataFrame
            Columns user, rank (from 1), item, rating (predicted, within the bounds).

        Raises
        ------
        BadInput
            On an unknown user, or if the model factorises samples.
        """
        if not (isinstance(k, int | np.integer) and k >= 1):
            raise BadInput(
                "k, the number of items to recommend, must be a whole number of at least 1. Got"
                f" {k!r}."
            )
        people = self._people(own)
        if users is None:
            ids = people.ids
        else:
            ids = pd.Index(np.atleast_1d(np.asarray(users)))
        known = places(people.ids, pd.Series(ids)) >= 0
        if not known.all() or not len(ids):
            missing = "People have"
            if len(ids):
                missing = f"The user '{str(ids[~known][0])[:60]}' has"
            raise BadInput(
                f"{missing} no ratings here. Pass their ratings: recommend(own=frame) takes a frame"
                " with columns user, item and rating."
            )
        model = self.recommender
        rows = people.rows_of(pd.Series(ids))
        distinct, back = np.unique(rows, return_inverse=True)
        best = top_items(model, people.personal, people.history, distinct, int(k))[back]
        at, rank = np.nonzero(best >= 0)
        items = best[at, rank]
        ratings = model.predict(people.personal, rows[at], items)
        columns = {"user": ids[at], "rank": rank + 1, "item": self.item_ids[items]}
        return pd.DataFrame({**columns, "rating": ratings})

    def similar_items(self, item: Any, k: int = 10) -> pd.DataFrame:
        """List the items with the most similar factors.

        Parameters
        ----------
        item
            The item's id.
        k
            The number of items, at least 1.

        Returns
        -------
        DataFrame
            Columns item and cosine, in [-1, 1], most similar first. Items with factors of 0 are
            left out.

        Raises
        ------
        BadInput
            On an unknown item, or if the model has no factors for it.
        """
        (place,) = places(self.item_ids, pd.Series([item]))
        if place < 0:
            raise BadInput(
                f"The model has no item '{str(item)[:60]}'. Its {len(self.item_ids):,} ids are"
                " model.item_ids."
            )
        V = self.recommender.item_factors.astype(float)
        norms = np.linalg.norm(V, axis=1)
        if not norms[place] > 0:
            raise BadInput(
                "The model has no factors for this item, so similar items cannot be found."
                " recommend works without factors."
            )
        cosines = V @ V[place] / np.where(norms > 0, norms * norms[place], 1.0)
        order = np.argsort(-cosines, kind="stable")
        near = order[(order != place) & (norms[order] > 0)][:k]
        return pd.DataFrame({"item": self.item_ids[near], "cosine": cosines[near]})

    def save(
        self, folder: str | Path, *, about: Mapping[str, str] | None = None
    ) -> Path:
        """Write the model into a new folder that can be published, all of its files or none.

        The folder holds the items' factors, offsets and ids, a card and a privacy statement;
        nothing about the people who trained it. If nothing is proved, every file has a warning.

        Parameters
        ----------
        folder
            A folder that does not exist or is empty.
        about
            What only the publisher knows, by the names of `privacy_statement.ABOUT`.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        BadInput
            If the folder is taken or cannot be written, or the model is not of items.
        """
        from dpmf_core.runs.publishing import saving  # loads every algorithm's model

        return saving.save(self, folder, about=about)

    def without_people(self) -> Self:
        """The shared side: nothing that was computed from single people's rows."""
        arrays = self.arrays
        if isinstance(self.model, Recommender):
            arrays = {**arrays, **shared_side(self.model).arrays}
        return replace(
            self.without_raw_figures(),
            arrays=arrays,
            items=self.items or ItemNames(tuple(canonical_texts(self.item_ids))),
            _training=Training(
                None,
                self.user_ids[:0],
                None if self._training is None else self.item_ids,
            ),
        )

    def without_raw_figures(self) -> Self:
        """A copy with a record that may leave the machine."""
        record = self.record.exported().model_copy(update={"model": self.record.model})
        return replace(self, record=record)

    # -- people's own sides ------------------------------------------------------------------------

    @cached_property
    def _trained(self) -> "tuple[Ids[Any], Array, Ratings]":
        """Ids of training users, the row of each, and their ratings with an empty last row."""
        bounds = self.recommender.bounds
        if self._is_without_ratings or is_in_parts(self.spec.data.id):
            nothing = Ratings.of(
                [],
                [],
                [],
                n_users=1,
                n_items=len(self.item_ids),
                bounds=bounds,
            )
            return pd.Index([]), np.zeros(0, np.int64), nothing
        history = with_nobody(self._answer(data_access.split_of).history)
        rows = self._answer(data_access.rows_of)
        ids = (
            pd.RangeIndex(len(rows)) if self._training is None else self._training.users
        )
        return ids, rows, history

    @property
    def _is_without_ratings(self) -> bool:
        """Whether it was loaded, or its ratings were dropped."""
        return self._training is not None and self._training.data is None

    def _answer(self, question: Any) -> Any:
        """The answer of `data_access`, on the training data in memory if there are any."""
        own_data = None if self._training is None else self._training.data
        with lent(self.spec.data.id, own_data):
            return question(self)

    def _people(self, own: Any) -> _People:
        """The training users, or the people in `own`."""
        model = self.recommender
        if own is None:
            ids, rows, history = self._trained
        else:
            model = shared_side(model)
            ids, history = self._own_history(own)
            rows = np.arange(len(ids))
        personal = of_everybody(model.personal(history), history.n_users)
        return _People(personal, ids, rows, history)

    def _own_history(self, own: Any) -> "tuple[Ids[Any], Ratings]":
        """Ids of the people in `own`, and their ratings with an empty last row."""
        if isinstance(own, Mapping):
            columns = {"user": "me", "item": list(own), "rating": list(own.values())}
            own = pd.DataFrame(columns)
            ids: Ids[Any] = pd.Index(["me"])  # even without ratings
        else:
            ids = ids_of(whole_pairs_of(own)["user"])
        bounds = self.recommender.bounds
        pairs = whole_pairs_of(own, ratings_given(own, None, bounds))
        return ids, with_nobody(history_of(pairs, ids, self.item_ids, bounds))

    def _means(self, personal: Personal, rows: Array) -> Array:
        """The mean prediction over all known items of each row (len(rows),)."""
        distinct, back = np.unique(rows, return_inverse=True)
        n_items = len(self.item_ids)
        means = np.empty(len(distinct))
        step = max(CELLS // n_items, 1)
        for start in range(0, len(distinct), step):
            some = distinct[start : start + step]
            every = np.tile(np.arange(n_items), len(some))
            predictions = self.recommender.predict(
                personal, np.repeat(some, n_items), every
            )
            means[start : start + step] = predictions.reshape(len(some), n_items).mean(
                axis=1
            )
        return means[back]


def model_of(run: Run, training: Training | None = None) -> TrainedModel:
    """The model of a run, with the data in memory that it was trained on."""
    return TrainedModel(run.record, run.arrays, run.items, training)


def load_model(folder: str | Path) -> TrainedModel:
    """Read a model that `save` wrote. It knows no people: they bring their ratings (`own`).

    Parameters
    ----------
    folder
        The folder that `save` returned. No pickles are read.

    Returns
    -------
    TrainedModel

    Raises
    ------
    BadInput
        If there is no model, or its files do not fit together.

    Examples
    --------
    >>> import dpmf, tempfile
    >>> model = dpmf.fit("cinema-small", "spectral", epsilon=5.0, keep=False)
    >>> folder = model.save(tempfile.mkdtemp())
    >>> mine = {model.item_ids[0]: 5.0, model.item_ids[1]: 1.0}
    >>> dpmf.load_model(folder).recommend(own=mine, k=2).columns.tolist()
    ['user', 'rank', 'item', 'rating']
    """
    from dpmf_core.runs.publishing import saving  # loads every algorithm's model

    run = saving.read(folder)
    return TrainedModel(run.record, run.arrays, run.items, Training(None, pd.Index([])))
