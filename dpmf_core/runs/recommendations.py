"""Recommendations from a user's own ratings, of a finished run or passed by people.

A user's list follows from the released model and the user's own ratings. Only the user sees it, so
it is not a release.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpmf_core.algorithms import Personal, Recommender
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.data.frame_columns import pairs_of, ratings_column
from dpmf_core.data.frames import Bounds
from dpmf_core.data.ids import canonical_texts
from dpmf_core.data.rating_bounds import INTERACTIONS
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import Split
from dpmf_core.evaluation.metrics import top_items
from dpmf_core.runs.data_access import own_history
from dpmf_core.runs.record import Run

# ---- of a finished run's users; an unknown one raises BadInput -----------------------------------


@dataclass(frozen=True)
class Suggestion:
    """An item that is recommended, or that its user rated."""

    item: int
    title: str


def top_rated(run: Run, user: int, k: int = 10) -> tuple[Suggestion, ...]:
    """What a user rated highest in the training ratings. Only the user may see it."""
    own = own_history(run, user).ratings
    return _suggestions(own, own.items[np.argsort(-own.values, kind="stable")[:k]])


def recommend(run: Run, user: int, k: int = 10) -> tuple[Suggestion, ...]:
    """The k best items that a user has not rated, best first."""
    own = own_history(run, user)
    model = run.model
    personal = model.personal(own.ratings)
    best = top_items(model, personal, own.ratings, np.array([own.row]), k)[0]
    return _suggestions(own.ratings, best[best >= 0])


def _suggestions(own: Ratings, items: Array) -> tuple[Suggestion, ...]:
    titles = own.titles
    return tuple(
        Suggestion(item, titles[item] if titles else f"item {item}")
        for item in items.tolist()
    )


def someone(run: Run) -> int:
    """A user with a rich history to start with."""
    return own_history(run).rich


# ---- of ratings that people pass -----------------------------------------------------------------


def ratings_given(X: Any, y: Any, bounds: Bounds | None = None) -> Array:
    """Ratings (n,): y, else the frame's column, else ones if the bounds are (0, 1).

    Raises BadInput if there are none.
    """
    column = ratings_column(X) if y is None else np.asarray(y)
    if column is not None:
        return column
    if bounds is not None and tuple(bounds) == INTERACTIONS:
        return np.ones(len(pairs_of(X)))
    raise BadInput(
        "There are no ratings: y is None, and X has no column of ratings. Give y with one rating"
        " per row, or bounds=(0, 1) if each row only says that a user had an item."
    )


def places(ids: "pd.Index[Any]", names: "pd.Series[Any]") -> npt.NDArray[np.int64]:
    """The place of each among the ids (n,), -1 if unknown, by their canonical texts."""
    known_places = pd.Series(np.arange(len(ids)), canonical_texts(ids))
    # a model that an earlier version saved may have both 1 and 1.0
    known_places = known_places[~known_places.index.duplicated()]
    return known_places.reindex(canonical_texts(names), fill_value=-1).to_numpy(
        np.int64
    )


def history_of(
    pairs: pd.DataFrame, users: "pd.Index[Any]", items: "pd.Index[Any]", bounds: Bounds
) -> Ratings:
    """Ratings that people pass. Raises BadInput on unknown items and on ratings out of bounds."""
    what = places(items, pairs["item"])
    if (what < 0).any():
        at = int(np.flatnonzero(what < 0)[0])
        raise BadInput(
            f"The model has no item '{str(pairs['item'][at])[:60]}' (row {at + 1:,} of own). Leave"
            f" it out. The {len(items):,} known ones are item_ids, or items_ of an estimator."
        )
    values = pd.to_numeric(pairs["rating"], errors="coerce").to_numpy(
        np.float64, na_value=np.nan
    )
    wrong = ~((values >= bounds[0]) & (values <= bounds[1]))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise BadInput(
            f"A rating lies between {bounds[0]:g} and {bounds[1]:g}. Got"
            f" '{str(pairs['rating'][at])[:40]}' in row {at + 1:,} of own."
        )
    return Ratings.of(
        places(users, pairs["user"]),
        what,
        values,
        n_users=len(users),
        n_items=len(items),
        bounds=bounds,
    )


def with_nobody(ratings: Ratings) -> Ratings:
    """The ratings with one more user, who has none."""
    return replace(ratings, n_users=ratings.n_users + 1, user_keys=None)


def shared_side(model: Recommender) -> Recommender:
    """A model without values of single users, which some methods without a guarantee learn."""
    user_sizes = {"user_factors": (0, 0), "user_offsets": (0,)}
    empty_sides: dict[str, Any] = {
        name: np.zeros(size)
        for name, size in user_sizes.items()
        if hasattr(model, name)
    }
    if empty_sides:
        return replace(model, **empty_sides)
    return model


def of_everybody(personal: Personal, count: int) -> Personal:
    """Own sides with `count` rows; users that a model did not learn get zeros."""
    factors, offsets = (
        np.concatenate(
            [side, np.zeros((count - len(side), *side.shape[1:]), side.dtype)]
        )
        for side in (personal.factors, personal.offsets)
    )
    return replace(personal, factors=factors, offsets=offsets)


def held_out_frame(
    model: Recommender,
    parts: Split,
    users: "tuple[pd.Index[Any], Array]",
    items: "pd.Index[Any]",
) -> pd.DataFrame:
    """The test ratings of a split and their predictions, with the ids of users and items.

    Parameters
    ----------
    model
        The model.
    parts
        The split.
    users
        The ids of the users, and the row of each in the split.
    items
        The ids of the items.
    """
    ids, rows = users
    place = np.empty(parts.history.n_users, np.int64)
    place[rows] = np.arange(len(rows))
    test = parts.test
    personal = of_everybody(model.personal(parts.history), parts.history.n_users)
    return pd.DataFrame(
        {
            "user": ids[place[test.users]],
            "item": items[test.items],
            "rating": test.values,
            "prediction": model.predict(personal, test.users, test.items),
        }
    )
