"""Recommendations of a finished run for one of its users.

A user's list follows from the released model and the user's own ratings. Only the user sees it, so
it is no release.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import top_items
from dpmf_core.runs.data_access import (
    open_anywhere,
    own_in_parts,
    ratings_of,
    rows_of,
    some_in_parts,
    split_of,
)
from dpmf_core.runs.record import Run

Ints = npt.NDArray[np.int64]
RICH = 40  # ratings from which a history is rich


@dataclass(frozen=True)
class Suggestion:
    """An item with its predicted rating, or with the rating that its user gave."""

    item: int
    title: str
    rating: float


@dataclass(frozen=True)
class _Own:
    """One user's training ratings, and the user's row in them. titles: of all items."""

    ratings: Ratings
    row: int
    titles: tuple[str, ...] | None

    def title(self, item: int) -> str:
        return self.titles[item] if self.titles else f"item {item}"


def _own(run: Run, user: int) -> _Own:
    """The user's ratings. Raises BadInput on an unknown user."""
    if is_in_parts(run.spec.data.id):
        _require_user(user, open_anywhere(run.spec.data).shape.n_units)
        own = own_in_parts(run, user)
        return _Own(own, 0, own.titles)
    history, rows = split_of(run).history, rows_of(run)
    _require_user(user, len(rows))
    row = int(rows[user])
    return _Own(history.only(history.users == row), row, ratings_of(run).titles)


def _require_user(user: int, n_users: int) -> None:
    if not 0 <= user < n_users:
        raise BadInput(f"There is no user {user}. Users are numbered from 0 to {n_users - 1:,}.")


def top_rated(run: Run, user: int, k: int = 10) -> tuple[Suggestion, ...]:
    """What a user rated highest in the training ratings. Only the user may see it.

    Raises BadInput on an unknown user.
    """
    own = _own(run, user)
    own_ratings = own.ratings
    best = np.argsort(-own_ratings.values, kind="stable")[:k]
    return tuple(
        Suggestion(
            int(own_ratings.items[at]),
            own.title(int(own_ratings.items[at])),
            float(own_ratings.values[at]),
        )
        for at in best
    )


def recommend(run: Run, user: int, k: int = 10) -> tuple[Suggestion, ...]:
    """The k best items that a user has not rated, best first, with predicted ratings.

    Raises BadInput on an unknown user.
    """
    own, model = _own(run, user), run.model
    own_ratings = own.ratings
    personal = model.personal(own_ratings)
    items = (
        top_items(
            model,
            personal,
            own_ratings,
            np.array([own.row]),
            min(k, own_ratings.n_items - len(own_ratings)),
        )[0]
        if len(own_ratings) < own_ratings.n_items
        else np.array([], int)
    )
    ratings = model.predict(personal, np.full(len(items), own.row), items)
    return tuple(
        Suggestion(int(item), own.title(int(item)), float(rating))
        for item, rating in zip(items, ratings, strict=True)
    )


def someone(run: Run) -> int:
    """A user with a rich history to start with.

    It is the first with at least 40 ratings, or else the most active; for ratings in partitions one
    of user 0's partition.
    """
    users, counts = some_in_parts(run) if is_in_parts(run.spec.data.id) else _everybody(run)
    rich = np.flatnonzero(counts >= RICH)
    return int(users[rich[0] if len(rich) else np.argmax(counts)])


def _everybody(run: Run) -> tuple[Ints, Ints]:
    """Numbers of users, ascending, and how many of their ratings train."""
    counts = np.diff(split_of(run).history.by_user)[rows_of(run)]
    return np.arange(len(counts)), counts
