"""What a finished run recommends to everybody, as a Parquet file: written block by block of users,
of ratings in memory or in parts.

A user's list follows from the released model and her own ratings: it is hers, and no release.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dpmf_core import algorithms
from dpmf_core.algorithms import Recommender
from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.evaluation.top_items import top_items
from dpmf_core.runs.data_access import ratings_anywhere, rows_of
from dpmf_core.runs.item_names import ItemNames
from dpmf_core.runs.record import Run

Ints = npt.NDArray[np.int64]
SCORES = 16e6  # of users times items that are held at a time
SCHEMA = pa.schema(
    [
        ("user", pa.int64()),
        ("rank", pa.int32()),
        ("item", pa.string()),
        ("title", pa.string()),
        ("rating", pa.float32()),
    ]
)


def write_lists(
    run: Run,
    file: Path,
    k: int = 10,
    progress: Callable[[int, int], None] = lambda count, total: None,
) -> int:
    """Every user's `k` best items that she has not rated, best first, from all her ratings: a row
    for each, with the predicted rating. Returns how many rows there are.

    user: her number in the data set. item: its id, or its number. title: of public data that have
    titles, else null. progress: called with users done
    and to do. Raises BadInput where the run recommends nothing, on a k below 1, and where the
    file cannot be written.
    """
    if not issubclass(algorithms.find(run.spec.algorithm).model_type, Recommender):
        raise BadInput(f"{run.title} recommends nothing: lists are of runs on ratings.")
    if k < 1:
        raise BadInput(f"A list has at least 1 item. Got {k}.")
    data = ratings_anywhere(run)
    names, n_rows, count = ItemNames.of(data), 0, 0
    ids = np.array(names.ids, object)
    titles = np.array(names.titles or [None] * len(ids), object)
    aside = file.with_name(f".{file.name}.part")
    try:
        with pq.ParquetWriter(aside, SCHEMA) as writer:
            for users, items, ratings in _lists(run, data, k):
                table = _table(users, items, ratings, (ids, titles))
                writer.write_table(table)
                n_rows += len(table)
                count += len(users)
                progress(count, data.n_users)
        aside.replace(file)
    except OSError as error:
        raise BadInput(f"{file} cannot be written ({error.strerror}).") from error
    finally:
        aside.unlink(missing_ok=True)
    return n_rows


def _lists(
    run: Run, data: Ratings | PartitionedRatings, k: int
) -> Iterator[tuple[Ints, Ints, npt.NDArray[np.float32]]]:
    """Numbers of some users, their items (n, k), -1 where there are no more, and predictions."""
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
    """Numbers of some users, where each is among the rows, and the rows."""
    if isinstance(data, PartitionedRatings):
        for part in data.parts:
            yield part.ids, np.arange(len(part.ids), dtype=np.int64), part.rows
    else:
        rows = rows_of(run)
        yield np.arange(len(rows), dtype=np.int64), rows, data


def _table(
    users: Ints,
    items: Ints,
    ratings: npt.NDArray[np.float32],
    names: tuple[npt.NDArray[np.object_], ...],
) -> pa.Table:
    there = items >= 0
    ranks = np.broadcast_to(np.arange(1, items.shape[1] + 1, dtype=np.int32), items.shape)
    columns = [
        np.broadcast_to(users[:, None], items.shape)[there],
        ranks[there],
        *(pa.array(it[items[there]], pa.string()) for it in names),
        ratings[there].astype(np.float32),
    ]
    return pa.Table.from_arrays([pa.array(it) for it in columns], schema=SCHEMA)
