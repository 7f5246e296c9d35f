"""A trained model with the ids of its people and items: it predicts, recommends and is saved."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpmf_core import kernels
from dpmf_core.algorithms import Personal, Recommender
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import is_in_parts, lent
from dpmf_core.data.frames import ids_of, pairs_of
from dpmf_core.data.ratings import Ratings
from dpmf_core.runs import data_access
from dpmf_core.runs.own_ratings import (
    history_of,
    of_everybody,
    places,
    ratings_given,
    shared_side,
    with_nobody,
)
from dpmf_core.runs.privacy_record import GuaranteeRecord
from dpmf_core.runs.publishing import released_model, saving
from dpmf_core.runs.record import ItemNames, Run, RunRecord

Array = npt.NDArray[Any]
Ids = pd.Index  # of any kind
CELLS = 2_000_000  # of users x items held at a time


@dataclass(frozen=True, eq=False)
class Training:
    """What a model was trained on: data in memory, None where they are not known here, and the ids
    of their users and items.
    """

    data: AnyData | None
    users: "Ids[Any]"
    items: "Ids[Any] | None" = None


@dataclass(frozen=True)
class _People:
    """Own sides of some people: their ids, the row of each, and the ratings in these rows. The last
    row is that of a person without ratings.
    """

    personal: Personal
    ids: "Ids[Any]"
    rows: Array
    history: Ratings

    def rows_of(self, ids: "pd.Series[Any]") -> Array:
        """The row of each id; of unknown ones that of a person without ratings."""
        nobody = self.history.n_users - 1
        return np.append(self.rows, nobody)[places(self.ids, ids)]


@dataclass(frozen=True)
class TrainedModel(Run):
    """A trained model: what `fit` and `load_model` return, and what the estimators hold as `run_`.

    Parameters
    ----------
    record
        What was done and what it cost: metrics, ledger, epsilon by every rule.
    arrays
        Of the shared model.
    items
        Names of the items, where the data cannot be opened again.
    training
        Data in memory that it was trained on, with their own ids. By default the data set that
        `record` names, whose users are numbered from 0.

    Examples
    --------
    >>> import dpmf
    >>> model = dpmf.fit("cinema-small", "spectral", epsilon=5.0, keep=False)
    >>> len(model.recommend(users=[17], k=3))
    3
    >>> round(model.epsilon, 6)
    5.0
    """

    training: Training | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, run: Run, training: Training | None = None) -> Self:
        """The model of a run."""
        return cls(run.record, run.arrays, run.items, training)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    @property
    def epsilon(self) -> float | None:
        """The total epsilon of the run; None where none is proven."""
        return self.record.epsilon.exact if self.guarantee.has_epsilon else None

    @property
    def guarantee(self) -> GuaranteeRecord:
        """What is promised, and what it rests on."""
        return self.record.guarantee

    @cached_property
    def recommender(self) -> Recommender:
        """The shared side. Raises BadInput where the run factorised samples."""
        model = self.model
        if not isinstance(model, Recommender):
            raise BadInput(
                f"{self.title} factorises samples, so it cannot predict ratings or recommend items."
                " Its components are in model.basis."
            )
        return model

    @cached_property
    def item_ids(self) -> "Ids[Any]":
        """The ids of the items, in their order in the model."""
        names = self.items or ItemNames.of(self._answer(data_access.ratings_anywhere))
        ids: Ids[Any] = pd.Index(names.ids)
        own = None if self.training is None else self.training.items
        return ids if own is None else own[own.map(str).get_indexer(ids)]

    @property
    def user_ids(self) -> "Ids[Any]":
        """The ids of the people whose own side follows from what trained."""
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
            also where they did not train. By default it follows from what trained the
            model. A person without ratings is predicted from what everyone shares, and an unknown
            item by what its user is predicted to give on average.

        Returns
        -------
        ndarray (n,)

        Raises
        ------
        BadInput
            Where X or own cannot be read, or the model factorises samples.
        """
        pairs, people = pairs_of(X), self._people(own)
        rows, items = people.rows_of(pairs["user"]), places(self.item_ids, pairs["item"])
        is_known = items >= 0
        predictions = np.empty(len(pairs))
        predictions[is_known] = self.recommender.predict(
            people.personal, rows[is_known], items[is_known]
        )
        if not is_known.all():
            predictions[~is_known] = self._means(people.personal, rows[~is_known])
        return predictions

    def recommend(self, users: Any = None, k: int = 10, own: Any = None) -> pd.DataFrame:
        """List the best items for each user, without those that the user has rated.

        A user's list follows from the model and the user's own ratings: it is theirs, and no
        release.

        Parameters
        ----------
        users
            Ids; by default everyone who trained the model, or who is in `own`.
        k
            How many items, at least 1.
        own
            Ratings that people bring, as of `predict`.

        Returns
        -------
        DataFrame
            Columns user, rank (from 1), item, rating (predicted, within the bounds).

        Raises
        ------
        BadInput
            On an unknown user, or where the model factorises samples.
        """
        if not (isinstance(k, int | np.integer) and k >= 1):
            raise BadInput(
                "k, the number of items to recommend, must be a whole number of at least 1. Got"
                f" {k!r}."
            )
        people = self._people(own)
        ids = people.ids if users is None else pd.Index(np.atleast_1d(np.asarray(users)))
        known = places(people.ids, pd.Series(ids)) >= 0
        if not known.all() or not len(ids):
            missing = f"The user '{str(ids[~known][0])[:60]}' has" if len(ids) else "People have"
            raise BadInput(
                f"{missing} no ratings here. Pass their ratings: recommend(own=frame) takes a frame"
                " with columns user, item and rating."
            )
        rows, step = people.rows_of(pd.Series(ids)), max(CELLS // max(len(self.item_ids), 1), 1)
        parts = [
            self._lists(people, ids[start : start + step], rows[start : start + step], int(k))
            for start in range(0, len(rows), step)
        ]
        return pd.concat(parts, ignore_index=True)

    def similar_items(self, item: Any, k: int = 10) -> pd.DataFrame:
        """List the items whose factors point most nearly the same way.

        Parameters
        ----------
        item
            Its id.
        k
            How many, at least 1.

        Returns
        -------
        DataFrame
            Columns item and cosine, in [-1, 1], the nearest first. Items whose factors are 0 are
            left out.

        Raises
        ------
        BadInput
            On an unknown item, and where the model has no factors for it.
        """
        (place,) = places(self.item_ids, pd.Series([item]))
        if place < 0:
            raise BadInput(
                f"The model has no item '{str(item)[:60]}'. Its {len(self.item_ids):,} ids are"
                " model.item_ids."
            )
        near, cosines = released_model.nearest(self.recommender.item_factors, int(place), k)
        return pd.DataFrame({"item": self.item_ids[near], "cosine": cosines})

    def save(self, folder: str | Path, *, about: Mapping[str, str] | None = None) -> Path:
        """Write the model into a new folder that can be published, all of its files or none.

        The folder holds the items' factors, offsets and ids, a card, a privacy statement and a
        reader that needs numpy alone; nothing of the people who trained it. Where nothing is
        proved, every file has a warning.

        Parameters
        ----------
        folder
            One that does not exist or is empty.
        about
            What only the publisher knows, by the names of `privacy_statement.ABOUT`.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        BadInput
            Where the folder is taken or cannot be written, or the model is not of items.
        """
        items = self.items or ItemNames.of(data_access.ratings_anywhere(self))
        return saving.save(replace(self, items=items), folder, about=about)

    def without_people(self) -> Self:
        """The shared side alone: nothing that was computed from single people's rows."""
        arrays = self.arrays
        if isinstance(self.model, Recommender):
            arrays = {**arrays, **shared_side(self.model).arrays}
        return replace(
            self.without_raw_figures(),
            arrays=arrays,
            items=self.items or ItemNames(tuple(map(str, self.item_ids))),
            training=Training(
                None, self.user_ids[:0], None if self.training is None else self.item_ids
            ),
        )

    def without_raw_figures(self) -> Self:
        """The same with a record that may leave the machine."""
        record = self.record.exported().model_copy(update={"model": self.record.model})
        return replace(self, record=record)

    # -- people's own sides ------------------------------------------------------------------------

    @cached_property
    def _trained(self) -> "tuple[Ids[Any], Array, Ratings]":
        """Ids of those who trained, the row of each, and their ratings with an empty row behind."""
        self.recommender  # noqa: B018  # raises where samples were factorised
        is_gone = self.training is not None and self.training.data is None
        if is_gone or is_in_parts(self.spec.data.id):
            return pd.Index([]), np.zeros(0, np.int64), self._no_ratings()
        history = with_nobody(self._answer(data_access.split_of).history)
        rows = self._answer(data_access.rows_of)
        ids = pd.RangeIndex(len(rows)) if self.training is None else self.training.users
        return ids, rows, history

    def _no_ratings(self) -> Ratings:
        none: list[int] = []
        bounds = self.recommender.bounds
        return Ratings.of(none, none, none, n_users=1, n_items=len(self.item_ids), bounds=bounds)

    def _answer(self, question: Any) -> Any:
        """The answer of `data_access` about this run, on the data in memory if it was of these."""
        data = None if self.training is None else self.training.data
        with contextlib.nullcontext() if data is None else lent(self.spec.data.id, data):
            return question(self)

    def _people(self, own: Any) -> _People:
        """Those who trained, or those who bring ratings."""
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
        """Ids of the people who bring ratings, and these with an empty row behind."""
        if isinstance(own, Mapping):
            columns = {"user": "me", "item": list(own), "rating": list(own.values())}
            own = pd.DataFrame(columns)
            ids: Ids[Any] = pd.Index(["me"])  # also where they bring nothing
        else:
            ids = ids_of(pairs_of(own)["user"])
        bounds = self.recommender.bounds
        pairs = pairs_of(own, ratings_given(own, None, bounds))
        return ids, with_nobody(history_of(pairs, ids, self.item_ids, bounds))

    def _lists(self, people: _People, ids: "Ids[Any]", rows: Array, k: int) -> pd.DataFrame:
        model, history = self.recommender, people.history
        scores = np.asarray(model.scores(people.personal, rows), np.float32)
        n_best = min(k, scores.shape[1])
        best = kernels.best_unseen(scores, rows, history.by_user, history.items, n_best)
        at, rank = np.nonzero(best >= 0)
        items = best[at, rank]
        ratings = model.predict(people.personal, rows[at], items)
        columns = {"user": ids[at], "rank": rank + 1, "item": self.item_ids[items]}
        return pd.DataFrame({**columns, "rating": ratings})

    def _means(self, personal: Personal, rows: Array) -> Array:
        """The mean prediction over all known items of each row (len(rows),)."""
        distinct, back = np.unique(rows, return_inverse=True)
        n_items = len(self.item_ids)
        means, step = np.empty(len(distinct)), max(CELLS // n_items, 1)
        for start in range(0, len(distinct), step):
            some = distinct[start : start + step]
            every = np.tile(np.arange(n_items), len(some))
            predictions = self.recommender.predict(personal, np.repeat(some, n_items), every)
            means[start : start + step] = predictions.reshape(len(some), n_items).mean(axis=1)
        return means[back]


def load_model(folder: str | Path) -> TrainedModel:
    """Read a model that `save` wrote. It knows no people: they bring their ratings (`own`).

    Parameters
    ----------
    folder
        What `save` was given. No pickles are read.

    Returns
    -------
    TrainedModel

    Raises
    ------
    BadInput
        Where there is none, or where its files do not fit together.

    Examples
    --------
    >>> import dpmf, tempfile
    >>> model = dpmf.fit("cinema-small", "spectral", epsilon=5.0, keep=False)
    >>> folder = model.save(tempfile.mkdtemp())
    >>> mine = {model.item_ids[0]: 5.0, model.item_ids[1]: 1.0}
    >>> dpmf.load_model(folder).recommend(own=mine, k=2).columns.tolist()
    ['user', 'rank', 'item', 'rating']
    """
    released = released_model.load_model(folder)
    place = Path(folder).expanduser() / released_model.SETTINGS_FILE
    content = json.loads(place.read_text("utf-8"))
    if "record" not in content:
        raise BadInput(
            f"The model in '{folder}' was saved by an older version. Its recommend.py still reads"
            " it; save it again to load it here."
        )
    settings = {**released.settings, "bounds": released.bounds}
    names = ItemNames(released.item_ids, released.titles)
    arrays = {name: it for name, it in released.arrays.items() if name not in saving.NAMES}
    try:
        record = RunRecord.model_validate({**content["record"], "model": settings})
        model = TrainedModel(record, arrays, names, Training(None, pd.Index([])))
        _ = model.recommender
    except (ValueError, TypeError) as error:
        raise BadInput(
            f"The model in '{folder}' cannot be read: {str(error)[:200]}. Save or fetch it again."
        ) from None
    return model
