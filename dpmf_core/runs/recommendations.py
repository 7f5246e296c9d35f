"""One user's list from a finished run: her side is computed from her own ratings, here and now,
and kept nowhere.
"""

from dataclasses import dataclass

import numpy as np

from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.evaluation.top_items import top_items
from dpmf_core.runs.data_access import ratings_of, rows_of, split_of
from dpmf_core.runs.record import Run


@dataclass(frozen=True)
class Suggestion:
    """An item with its predicted rating, or with the rating that its user gave."""

    item: int
    title: str
    rating: float


def _title(data: Ratings, item: int) -> str:
    return data.titles[item] if data.titles else f"item {item}"


def _history(run: Run, user: int) -> Ratings:
    history = split_of(run).history
    if not 0 <= user < history.n_users:
        raise BadInput(
            f"There is no user {user}. Users are numbered from 0 to {history.n_users - 1:,}."
        )
    return history.only(history.users == rows_of(run)[user])


def liked(run: Run, user: int, k: int = 10) -> tuple[Suggestion, ...]:
    """What a user rated highest among the ratings that train.

    Hers to see, private to everyone else.

    Raises BadInput on an unknown user.
    """
    own, data = _history(run, user), ratings_of(run)
    best = np.argsort(-own.values, kind="stable")[:k]
    return tuple(
        Suggestion(int(own.items[at]), _title(data, int(own.items[at])), float(own.values[at]))
        for at in best
    )


def recommend(run: Run, user: int, k: int = 10) -> tuple[Suggestion, ...]:
    """The k best items that a user has not rated, best first, with predicted ratings.

    Raises BadInput on an unknown user.
    """
    own, data, model = _history(run, user), ratings_of(run), run.model
    personal = model.personal(own)
    items = (
        top_items(
            model, personal, own, np.array([rows_of(run)[user]]), min(k, own.n_items - len(own))
        )[0]
        if len(own) < own.n_items
        else np.array([], int)
    )
    ratings = model.predict(personal, np.full(len(items), rows_of(run)[user]), items)
    return tuple(
        Suggestion(int(item), _title(data, int(item)), float(rating))
        for item, rating in zip(items, ratings, strict=True)
    )


def someone(run: Run) -> int:
    """A user with a rich history, to start with: the first by number with at least 40 ratings,
    or else the busiest.
    """
    counts = np.diff(split_of(run).history.by_user)[rows_of(run)]
    rich = np.flatnonzero(counts >= 40)
    return int(rich[0] if len(rich) else np.argmax(counts))
