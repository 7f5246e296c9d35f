"""Recommendations of a finished run for one of its users.

A user's list follows from the released model and the user's own ratings. Only the user sees it, so
it is no release. An unknown user raises BadInput.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import top_items
from dpmf_core.runs.data_access import own_history
from dpmf_core.runs.record import Run


@dataclass(frozen=True)
class Suggestion:
    """An item with its predicted rating, or with the rating that its user gave."""

    item: int
    title: str
    rating: float


def top_rated(run: Run, user: int, k: int = 10) -> tuple[Suggestion, ...]:
    """What a user rated highest in the training ratings. Only the user may see it."""
    own = own_history(run, user).ratings
    best = np.argsort(-own.values, kind="stable")[:k]
    return _suggestions(own, own.items[best], own.values[best])


def recommend(run: Run, user: int, k: int = 10) -> tuple[Suggestion, ...]:
    """The k best items that a user has not rated, best first, with predicted ratings."""
    own, model = own_history(run, user), run.model
    personal = model.personal(own.ratings)
    best = top_items(model, personal, own.ratings, np.array([own.row]), k)[0]
    items = best[best >= 0]
    ratings = model.predict(personal, np.full(len(items), own.row), items)
    return _suggestions(own.ratings, items, ratings)


def _suggestions(own: Ratings, items: Any, ratings: Any) -> tuple[Suggestion, ...]:
    titles = own.titles
    return tuple(
        Suggestion(item, titles[item] if titles else f"item {item}", rating)
        for item, rating in zip(items.tolist(), ratings.tolist(), strict=True)
    )


def someone(run: Run) -> int:
    """A user with a rich history to start with."""
    return own_history(run).rich
