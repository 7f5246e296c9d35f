"""Recommendations of a finished run: for one user, or for all users as a Parquet file.

A user's list follows from the released model and the user's own ratings. Only the user sees it, so
it is no release.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core import algorithms
from dpmf_core.algorithms import Recommender
from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.top_items import top_items
from dpmf_core.runs.data_access import (
    open_anywhere,
    own_in_parts,
    ratings_anywhere,
    ratings_of,
    rows_of,
    some_in_parts,
    split_of,
)
from dpmf_core.runs.record import ItemNames, Run

Ints = npt.NDArray[np.int64]
RICH = 40  # ratings from which a history is rich
SCORES = 16e6  # users times items whose scores are held together


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


# ---- everyone's lists ----------------------------------------------------------------------------


def write_lists(
    run: Run,
    file: Path,
    k: int = 10,
    progress: Callable[[int, int], None] = lambda count, total: None,
) -> int:
    """Write every user's `k` best unrated items with predicted ratings; returns the rows written.

    user: their number in the data set. item: its id, or its number. title: of public data that have
    titles, else null. progress: called with users done and to do. Raises BadInput if the run
    recommends nothing, k is below 1, or the file cannot be written.
    """
    if not issubclass(algorithms.find(run.spec.algorithm).model_type, Recommender):
        raise BadInput(
            f"{run.title} recommends nothing: only runs on ratings have lists. Choose one."
        )
    if k < 1:
        raise BadInput(f"A list must have at least 1 item. Got {k}.")
    with extra("files"):
        from pyarrow import parquet
    data = ratings_anywhere(run)
    names, n_rows, count = ItemNames.of(data), 0, 0
    ids = np.array(names.ids, object)
    titles = np.array(names.titles or [None] * len(ids), object)
    aside = file.with_name(f".{file.name}.part")
    try:
        with parquet.ParquetWriter(aside, _schema()) as writer:
            for users, items, ratings in _lists(run, data, k):
                table = _table(users, items, ratings, (ids, titles))
                writer.write_table(table)
                n_rows += len(table)
                count += len(users)
                progress(count, data.n_users)
        aside.replace(file)
    except OSError as error:
        raise BadInput(
            f"{file} cannot be written ({error.strerror}). Name another file or free some space."
        ) from error
    finally:
        aside.unlink(missing_ok=True)
    return n_rows


def _lists(
    run: Run, data: Ratings | PartitionedRatings, k: int
) -> Iterator[tuple[Ints, Ints, npt.NDArray[np.float32]]]:
    """Numbers of some users, their items (n, k) padded with -1, and predictions."""
    each, model = max(1, int(SCORES / data.n_items)), run.model
    for ids, rows, own in _parts(run, data):
        personal = model.personal(own)
        for first in range(0, len(ids), each):
            users = rows[first : first + each]
            items = top_items(model, personal, own, users, k).astype(np.int64)
            valid_items = np.maximum(items, 0)
            ratings = model.predict(personal, users.repeat(items.shape[1]), valid_items.ravel())
            yield ids[first : first + each], items, ratings.reshape(items.shape)


def _parts(run: Run, data: Ratings | PartitionedRatings) -> Iterator[tuple[Ints, Ints, Ratings]]:
    """Numbers of some users, their places in the rows, and the rows."""
    if isinstance(data, PartitionedRatings):
        for part in data.parts:
            yield part.ids, np.arange(len(part.ids), dtype=np.int64), part.rows
    else:
        rows = rows_of(run)
        yield np.arange(len(rows), dtype=np.int64), rows, data


def _schema() -> Any:
    import pyarrow as pa

    kinds = {
        "user": pa.int64(),
        "rank": pa.int32(),
        "item": pa.string(),
        "title": pa.string(),
        "rating": pa.float32(),
    }
    return pa.schema(list(kinds.items()))


def _table(
    users: Ints,
    items: Ints,
    ratings: npt.NDArray[np.float32],
    names: tuple[npt.NDArray[np.object_], ...],
) -> Any:
    import pyarrow as pa

    there = items >= 0
    ranks = np.broadcast_to(np.arange(1, items.shape[1] + 1, dtype=np.int32), items.shape)
    columns = [
        np.broadcast_to(users[:, None], items.shape)[there],
        ranks[there],
        *(pa.array(it[items[there]], pa.string()) for it in names),
        ratings[there].astype(np.float32),
    ]
    return pa.Table.from_arrays([pa.array(it) for it in columns], schema=_schema())
